#include "kernels/ref/silu_mul.h"

#include <cmath>

namespace inlay::ref {

void silu_mul(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      float& g = gate[j * ld + i];
      g = g / (1.0f + std::exp(-g)) * up[j * ld + i];
    }
  }
}

}  // namespace inlay::ref
