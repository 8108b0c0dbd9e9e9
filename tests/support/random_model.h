// A small model of random weights with a long context, as a GGUF file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::test {

inline constexpr int32_t kRandomModelContext = 32768, kRandomModelVocab = 1024;

// A llama of two layers in F16: width 128, two query heads of 64 that share one of keys and values. Scores spread by
// about 1.7, and heads weigh as much as the residual stream even after thousands of tokens, so that logits tell which
// keys were seen.
std::vector<std::byte> random_model();

}  // namespace inlay::test
