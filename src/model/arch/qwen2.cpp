// Qwen2 and Qwen2.5: biases on Q, K and V.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen2 = {
    .name = "qwen2",
    .interleaved_rope = false,
    .qkv_bias = Presence::required,
    .qk_norm = Presence::never,
};

}  // namespace inlay
