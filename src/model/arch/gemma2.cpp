// Gemma 2: norms before and after, soft caps, every other layer with a window. The norms' weights are those of GGUF, which
// has 1 added to them. The 27B model scales scores by its width, which its files do not say.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kGemma2 = {
    .name = "gemma2",
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .activation = Activation::gelu_tanh,
    .post_norms = true,
    .scaled_embedding = true,
    .attn_softcap = 50,
    .logit_softcap = 30,
    .wide_scale_layers = 46,
    .window = {.period = 2, .fallback = 4096},
};

}  // namespace inlay
