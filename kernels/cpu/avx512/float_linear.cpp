#include "kernels/cpu/avx512/vec16.h"

#include "kernels/cpu/simd/float_linear.h"

namespace inlay::cpu::avx512 {

void prepare_f32(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, void* out) {
  prepare_f32_rows(x, n_cols, ld_x, m_begin, m_end, out);
}

void add_float_linear(Kernels& table) {
  table.linear[static_cast<size_t>(DType::f32)] = float_kernel(DType::f32, ActivationForm::f32, linear<StepF32, 64>);
  table.linear[static_cast<size_t>(DType::f16)] = float_kernel(DType::f16, ActivationForm::f32, linear<StepF16, 32>);
  table.linear[static_cast<size_t>(DType::bf16)] =
      float_kernel(DType::bf16, ActivationForm::f32, linear<StepBf16Pair, 64>);
  table.linear[static_cast<size_t>(DType::f8_e4m3)] = fp8_kernel();
}

}  // namespace inlay::cpu::avx512
