// Qwen1.5-MoE and Qwen2-MoE: experts of which the weights keep their softmax over all, and one more that every row goes
// through, times the sigmoid of a projection.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen2Moe = {
    .name = "qwen2moe",
    .qkv_bias = Presence::optional,
    .experts = Presence::required,
    .normalized_experts = false,
    .shared_expert = true,
};

}  // namespace inlay
