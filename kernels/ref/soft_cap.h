// x[i] = scale * x[i], then cap * tanh(x[i] / cap) unless cap is 0.
#pragma once

#include <cstdint>

namespace inlay::ref {

void soft_cap(float* x, int64_t n, float scale, float cap);

}  // namespace inlay::ref
