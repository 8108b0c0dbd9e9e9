#include "kernels/cpu/avx512/vec16.h"

#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/simd/elementwise.h"

namespace inlay::cpu::avx512 {

void add_elementwise(Kernels& table) {
  table.rms_norm = rms_norm;
  table.rope = rope;
  table.gated[static_cast<size_t>(Activation::silu)] = gated<silu_of>;
  table.gated[static_cast<size_t>(Activation::gelu_tanh)] = gated<gelu_of>;
  table.gated[static_cast<size_t>(Activation::clamped_swiglu)] = gated<clamped_swiglu_of>;
  table.soft_cap = soft_cap;
  table.add_scaled = add_scaled;
}

}  // namespace inlay::cpu::avx512
