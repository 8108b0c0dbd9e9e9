#include "kernels/ref/rms_norm.h"

#include <cmath>

namespace inlay::ref {

void rms_norm(const RmsNormArgs& a, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; ++j) {
    const float* x = a.x + j * a.ld_x;
    float* out = a.out + j * a.ld_out;
    double sum = 0;
    for (int64_t i = 0; i < a.n; ++i) sum += static_cast<double>(x[i]) * x[i];
    const float scale = static_cast<float>(1.0 / std::sqrt(sum / static_cast<double>(a.n) + a.epsilon));
    for (int64_t i = 0; i < a.n; ++i) out[i] = x[i] * scale * a.weight[i];
  }
}

}  // namespace inlay::ref
