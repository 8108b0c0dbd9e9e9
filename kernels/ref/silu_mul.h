// gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i], both (m, ld) with n columns used.
#pragma once

#include <cstdint>

namespace inlay::ref {

void silu_mul(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
