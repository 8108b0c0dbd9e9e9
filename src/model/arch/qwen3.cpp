// Qwen3 (dense): no biases, each head of Q and K normalised before RoPE.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kQwen3 = {
    .name = "qwen3",
    .interleaved_rope = false,
    .qkv_bias = Presence::never,
    .qk_norm = Presence::required,
};

}  // namespace inlay
