// How far logits are apart.
#pragma once

#include <cstring>
#include <span>
#include <string_view>

namespace inlay::test {

// Mean squared error over mean square of what was expected.
inline double nmse(std::span<const float> got, std::span<const float> expected) {
  double error_sum = 0, square_sum = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error_sum += (double{got[i]} - expected[i]) * (double{got[i]} - expected[i]);
    square_sum += double{expected[i]} * expected[i];
  }
  return error_sum / square_sum;
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// How far cuts of a prompt may be apart on a GPU, where prompts and single tokens have kernels of their own. Prompts
// round quantized weights to 16 bits. Early tokens change little in qwen3moe's fixtures.
inline double max_nmse_of_cuts_on_cuda(std::string_view model) {
  if (model.ends_with("-f32") || model.starts_with("qwen3moe")) return 1e-6;
  return 1e-5;
}

}  // namespace inlay::test
