// Qwen3 with experts.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen3Moe = {
    .name = "qwen3moe",
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .qk_norm = QkNorm::head,
    .experts = Presence::required,
};

}  // namespace inlay
