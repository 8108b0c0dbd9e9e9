// BF16 weights times BF16 activations with VDPBF16PS: a step multiplies a column pair of 16 rows. The instruction takes
// subnormal inputs as zero and rounds to nearest even, whatever the thread's modes are.
#include "kernels/cpu/avx512/vec16.h"

#include "kernels/cpu/simd/float_linear.h"

namespace inlay::cpu {
namespace {

struct StepBf16Dot {
  static constexpr int kActivationBytes = 4;
  static constexpr int kColumns = 2;
  static constexpr int kRows = Vec16::kRows;
  using Weights = __m512i;
  static Weights load(const char* w) { return _mm512_loadu_si512(w); }
  static Vec16 add(const Weights& w, const char* a, const Vec16& acc) {
    int32_t pair;
    memcpy(&pair, a, 4);
    return {_mm512_dpbf16_ps(acc.v, (__m512bh)w, (__m512bh)_mm512_set1_epi32(pair))};
  }
};

}  // namespace

namespace avx512bf16 {

void prepare_bf16(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, void* out) {
  const size_t row_bytes = float_activation_row_bytes(2, n_cols);
  for (int64_t j = m_begin; j < m_end; ++j) {
    char* to = static_cast<char*>(out) + static_cast<size_t>(j) * row_bytes;
    int64_t k = 0;
    for (; k < n_cols; k += 16) {
      const int64_t n = n_cols - k < 16 ? n_cols - k : 16;
      const __m256bh rounded = _mm512_cvtneps_pbh(Vec16::load_n(x + j * ld_x + k, n).v);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k * 2), (__m256i)rounded);
    }
    memset(to + k * 2, 0, row_bytes - static_cast<size_t>(k) * 2);
  }
}

void add_float_linear(Kernels& table) {
  table.linear[static_cast<size_t>(DType::bf16)] =
      float_kernel(DType::bf16, ActivationForm::bf16, linear<StepBf16Dot, 64>);
}

}  // namespace avx512bf16
}  // namespace inlay::cpu
