// The tokens of a vocabulary as a tree of their bytes. Made once per vocabulary and shared by all constraints.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/constraint/token_tree.h"

namespace inlay::constraint {

enum class PieceKind : uint8_t {
  text,     // stands for its bytes
  control,  // never for its letters: a terminal of its own
  end,      // a control token that ends a text
  unused,   // never allowed
};

struct Piece {
  std::string_view bytes;
  PieceKind kind = PieceKind::text;
};

struct SameToken {
  int32_t token, same_as;
};

class TokenTrie {
 public:
  // Errors: more than 2^24 tokens, or a token of more than 64 KiB.
  static Result<std::shared_ptr<const TokenTrie>> make(std::span<const Piece> pieces);

  int32_t n_tokens() const { return static_cast<int32_t>(kinds_.size()); }
  size_t mask_words() const { return (kinds_.size() + 31) / 32; }
  PieceKind kind(int32_t token) const { return kinds_[static_cast<size_t>(token)]; }
  // Of a token of text; empty for all others.
  std::string_view bytes(int32_t token) const {
    const auto i = static_cast<size_t>(token);
    return {bytes_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  const TokenTree& tree() const { return tree_; }  // of the tokens of text
  const Slice& slice() const { return slice_; }    // of all of them
  std::span<const SameToken> same_tokens() const { return same_; }
  std::span<const int32_t> ends() const { return ends_; }
  size_t memory() const;

 private:
  TokenTrie() = default;

  std::string bytes_;
  std::vector<uint32_t> offsets_;
  std::vector<PieceKind> kinds_;
  TokenTree tree_;
  Slice slice_;
  std::vector<SameToken> same_;  // tokens of the same bytes as a smaller one
  std::vector<int32_t> ends_;
};

}  // namespace inlay::constraint
