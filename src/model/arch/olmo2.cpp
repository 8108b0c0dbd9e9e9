// OLMo 2 and 3: no norms before attention and feed-forward but after them, Q and K normalized over all heads. OLMo 3 has
// windows in three of four layers, which do not take its RoPE scaling.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kOlmo2 = {
    .name = "olmo2",
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .qk_norm = QkNorm::width,
    .input_norms = false,
    .post_norms = true,
    .window = {.period = 4, .unscaled_rope = true},
};

}  // namespace inlay
