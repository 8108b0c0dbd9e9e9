#include "kernels/ref/clamped_swiglu.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/activation.h"

namespace inlay::ref {

void clamped_swiglu(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      const double g = std::min(gate[j * ld + i], kSwigluLimit);  // the first where it is no number
      const double u = std::clamp(up[j * ld + i], -kSwigluLimit, kSwigluLimit);
      gate[j * ld + i] = static_cast<float>((u + 1.0) * g / (1.0 + std::exp(-double{kSwigluAlpha} * g)));
    }
  }
}

}  // namespace inlay::ref
