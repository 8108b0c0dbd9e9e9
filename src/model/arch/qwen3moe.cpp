// Qwen3 with experts.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen3Moe = {
    .name = "qwen3moe",
    .interleaved_rope = false,
    .qkv_bias = Presence::never,
    .qk_norm = Presence::required,
    .experts = Presence::required,
};

}  // namespace inlay
