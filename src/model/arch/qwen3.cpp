// Qwen3 (dense): no biases, each head of Q and K normalized before RoPE.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen3 = {
    .name = "qwen3",
    .qk_norm = QkNorm::head,
};

}  // namespace inlay
