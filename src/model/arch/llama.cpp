// Llama 1 to 3, Mistral (sliding windows in its first release), Mixtral and their many descendants. Llama 3's RoPE scaling
// comes as the tensor rope_freqs.weight.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kLlama = {
    .name = "llama",
    .interleaved_rope = true,
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .mlp_bias = Presence::optional,
    .experts = Presence::optional,
};

}  // namespace inlay
