#include "kernels/cpu/avx2/vec16.h"

#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/simd/elementwise.h"

namespace inlay::cpu::avx2 {

void add_elementwise(Kernels& table) {
  table.rms_norm = rms_norm;
  table.rope = rope;
  table.silu_mul = gated<silu>;
  table.gelu_mul = gated<gelu>;
  table.soft_cap = soft_cap;
  table.add_scaled = add_scaled;
}

}  // namespace inlay::cpu::avx2
