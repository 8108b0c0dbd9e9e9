// How far the steps of a tokenizer.json may go: chained, few short rules make a text of any length.
#pragma once

#include <cstddef>

namespace inlay {

inline constexpr size_t kMaxTextSteps = 64;  // of a normalizer, a pre-tokenizer or a decoder

// Bytes that steps may make of a text of `n` bytes. Compatibility forms, which lengthen most among the rules in use, make 11 of one.
constexpr size_t most_text_bytes(size_t n) { return 1024 + 32 * n; }

}  // namespace inlay
