// A small model of random weights with a long context, as a GGUF file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::test {

inline constexpr int32_t kRandomModelContext = 32768, kRandomModelVocab = 1024;

struct HeadShape {
  uint32_t d_head = 64, n_heads = 2, n_kv_heads = 1;
  uint32_t n_rot = 0;  // 0: d_head
};

enum class Windows : uint8_t { none, first_layer, all_layers };

// A llama of two layers (or one) in F16, of width 128. Scores spread by about 1.7, and heads weigh as much as the residual
// stream even after thousands of tokens, so that logits tell which keys were seen.
std::vector<std::byte> random_model(const HeadShape& heads, Windows windows = Windows::none, uint32_t window = 0,
                                    uint32_t n_layers = 2, uint32_t n_vocab = kRandomModelVocab);

}  // namespace inlay::test
