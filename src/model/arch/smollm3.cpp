// SmolLM 3: every fourth layer without RoPE.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kSmollm3 = {
    .name = "smollm3",
    .interleaved_rope = true,
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .mlp_bias = Presence::optional,
    .no_rope_period = 4,
};

}  // namespace inlay
