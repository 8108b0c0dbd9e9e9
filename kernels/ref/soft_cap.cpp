#include "kernels/ref/soft_cap.h"

#include <cmath>

namespace inlay::ref {

void soft_cap(float* x, int64_t n, float scale, float cap) {
  for (int64_t i = 0; i < n; ++i) {
    x[i] *= scale;
    if (cap > 0) x[i] = cap * std::tanh(x[i] / cap);
  }
}

}  // namespace inlay::ref
