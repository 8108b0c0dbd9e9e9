// gate[i] = gelu(gate[i]) * up[i], both (m, ld) with n columns used;
// gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
#pragma once

#include <cstdint>

namespace inlay::ref {

void gelu_mul(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
