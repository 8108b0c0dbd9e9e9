// The types with blocks of 256. Private to quantize.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay {

// n values, a multiple of 256; see quantize.
void quantize_q4_k(const float* values, int64_t n, std::byte* out);
void quantize_q5_k(const float* values, int64_t n, std::byte* out);
void quantize_q6_k(const float* values, int64_t n, std::byte* out);

}  // namespace inlay
