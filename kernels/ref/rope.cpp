#include "kernels/ref/rope.h"

#include <cmath>

namespace inlay::ref {

void rope(const RopeArgs& a, int64_t m_begin, int64_t m_end) {
  const int64_t half = a.n_rot / 2;
  for (int64_t j = m_begin; j < m_end; ++j) {
    for (int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(a.positions[j]) * a.inv_freq[i];
      const float c = static_cast<float>(std::cos(angle) * a.magnitude);
      const float s = static_cast<float>(std::sin(angle) * a.magnitude);
      for (int64_t h = 0; h < a.n_heads; ++h) {
        float* x = a.x + j * a.ld_x + h * a.d_head;
        const float x0 = x[i], x1 = x[i + half];
        x[i] = x0 * c - x1 * s;
        x[i + half] = x0 * s + x1 * c;
      }
    }
  }
}

}  // namespace inlay::ref
