// Gemma 3 (text): as Gemma 2, but head norms in place of soft caps, and five layers with a window and a RoPE of their own
// for each that sees all.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kGemma3 = {
    .name = "gemma3",
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .qk_norm = QkNorm::head,
    .activation = Activation::gelu_tanh,
    .post_norms = true,
    .scaled_embedding = true,
    .wide_scale_layers = 62,
    .window = {.period = 6, .rope_base = 10000, .unscaled_rope = true, .can_be_halved = true},
};

}  // namespace inlay
