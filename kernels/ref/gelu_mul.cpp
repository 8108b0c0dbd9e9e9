#include "kernels/ref/gelu_mul.h"

#include <cmath>

namespace inlay::ref {

void gelu_mul(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end) {
  const double root = std::sqrt(2.0 / 3.14159265358979323846);
  for (int64_t j = m_begin; j < m_end; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      float& g = gate[j * ld + i];
      const double x = g;
      g = static_cast<float>(0.5 * x * (1.0 + std::tanh(root * (x + 0.044715 * x * x * x))) * up[j * ld + i]);
    }
  }
}

}  // namespace inlay::ref
