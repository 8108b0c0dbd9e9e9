// Qwen3 (dense): usually without biases, each head of Q and K normalized before RoPE.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen3 = {
    .name = "qwen3",
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .qk_norm = QkNorm::head,
};

}  // namespace inlay
