// Phi-3, Phi-3.5, Phi-4 and their mini models: Q, K and V in one tensor, gate and up in one, some with LongRoPE and with
// RoPE of a part of each head.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kPhi3 = {
    .name = "phi3",
    .fused_gate_up = true,
};

}  // namespace inlay
