// With g = min(gate[i], 7) and u = up[i] cut off at -7 and 7: gate[i] = (u + 1) * g / (1 + exp(-1.702 g)), both (m, ld)
// with n columns used.
#pragma once

#include <cstdint>

namespace inlay::ref {

void clamped_swiglu(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
