// Qwen2 and Qwen2.5: biases on Q, K and V.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen2 = {
    .name = "qwen2",
    .qkv_bias = Presence::required,
};

}  // namespace inlay
