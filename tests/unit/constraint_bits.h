// Masks against the recognizer that merges nothing: which bits are wrong.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "src/constraint/token_trie.h"
#include "tests/unit/constraint_naive.h"

namespace inlay::constraint {

using Mask = std::vector<uint32_t>;

inline bool has(const Mask& mask, int32_t token) { return mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1; }

class BitCheck {
 public:
  explicit BitCheck(std::shared_ptr<const TokenTrie> tokens) : tokens_(std::move(tokens)) {
    for (int32_t token = 0; token < tokens_->n_tokens(); ++token) sorted_.push_back(token);
    std::sort(sorted_.begin(), sorted_.end(), [&](int32_t a, int32_t b) { return tokens_->bytes(a) < tokens_->bytes(b); });
  }

  // The tokens whose bits are wrong. Those of common beginnings are read together.
  std::vector<int32_t> wrong_bits(const Mask& mask, const NaiveRecognizer& naive) const {
    std::vector<int32_t> out;
    std::vector<NaiveRecognizer> path{naive};
    std::string_view last;
    for (const int32_t token : sorted_) {
      bool wanted = tokens_->kind(token) == PieceKind::end && naive.is_complete();
      if (tokens_->kind(token) == PieceKind::text) {
        const std::string_view text = tokens_->bytes(token);
        size_t depth = 0;
        while (depth < last.size() && depth < text.size() && last[depth] == text[depth]) ++depth;
        while (path.size() > depth + 1) path.pop_back();
        while (path.size() <= text.size() && path.back().is_alive()) {
          path.push_back(path.back());
          path.back().step(static_cast<uint8_t>(text[path.size() - 2]));
        }
        wanted = path.size() == text.size() + 1 && path.back().is_alive();
        last = text;
      }
      if (has(mask, token) != wanted) out.push_back(token);
    }
    return out;
  }

 private:
  std::shared_ptr<const TokenTrie> tokens_;
  std::vector<int32_t> sorted_;
};

}  // namespace inlay::constraint
