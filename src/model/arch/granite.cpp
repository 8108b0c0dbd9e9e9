// Granite 3 (dense): Llama with multipliers of embeddings, residuals, scores and logits.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kGranite = {
    .name = "granite",
    .interleaved_rope = true,
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .mlp_bias = Presence::optional,
    .multipliers = true,
};

}  // namespace inlay
