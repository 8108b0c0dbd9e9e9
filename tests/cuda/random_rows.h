// Random rows of a matrix as files store them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/common/dtype.h"
#include "tests/support/factor_place.h"

namespace inlay::cuda {

// Float types: normal values. Quantized types: random codes, and factors of about size / 100.
inline std::vector<uint8_t> random_rows(DType type, int64_t n_rows, int64_t n_cols, float size, std::mt19937& rng) {
  std::vector<uint8_t> bytes(n_rows * row_bytes(type, n_cols));
  std::normal_distribution<float> normal;
  if (!is_quantized(type)) {
    for (int64_t i = 0; i < n_rows * n_cols; ++i) {
      const float v = normal(rng);
      const __half h = __float2half(v);
      const __nv_bfloat16 b = __float2bfloat16(v);
      const void* from = type == DType::f32   ? static_cast<const void*>(&v)
                         : type == DType::f16 ? &h
                                              : static_cast<const void*>(&b);
      std::memcpy(&bytes[i * traits(type).block_bytes], from, traits(type).block_bytes);
    }
    return bytes;
  }
  for (auto& b : bytes) b = static_cast<uint8_t>(rng());
  for (size_t i = 0; i < bytes.size(); i += traits(type).block_bytes) {
    const __half d = __float2half(size * 0.01f * normal(rng)), m = __float2half(size * 0.02f * normal(rng));
    test::set_factors(type, __half_as_ushort(d), __half_as_ushort(m), &bytes[i]);
  }
  return bytes;
}

}  // namespace inlay::cuda
