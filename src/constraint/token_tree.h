// The bytes of tokens as trees, and slices: what is known in advance of the tokens that may follow inside a JSON string.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "src/constraint/byte_set.h"

namespace inlay::constraint {

// Tokens as the tree of their bytes from an offset on: a node before all that lies below it.
struct TreeNode {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t next;   // the node after all that lies below this one
  int32_t token;   // that ends here, or -1
  uint32_t slice;  // of what lies below; kNone: it is walked
  uint32_t wide;   // of a node with many children: its table of them by byte; kNone
  uint16_t depth;  // of the root's children: 0
  uint8_t byte;
};

struct Slice;

class TokenTree {
 public:
  using Child = std::array<uint32_t, 256>;  // nodes, kNone where there is none

  TokenTree() = default;
  // `tokens` are sorted by their bytes from `offset` on, and different there; texts[token] is a token's bytes.
  TokenTree(std::span<const int32_t> tokens, std::span<const std::string_view> texts, size_t offset, bool with_slices);

  std::span<const TreeNode> nodes() const { return nodes_; }
  const Child& children(uint32_t wide) const { return wide_[wide]; }
  const Child* root_children() const { return nodes_.empty() ? nullptr : &wide_[0]; }
  const Slice& slice(uint32_t number) const { return *slices_[number]; }
  size_t max_depth() const { return max_depth_; }
  size_t memory() const;

 private:
  std::vector<TreeNode> nodes_;
  std::vector<Child> wide_;  // the first one is the root's
  std::vector<std::unique_ptr<const Slice>> slices_;
  size_t max_depth_ = 0;
};

inline constexpr uint32_t kSliceCharacters = 16;

// Tokens by what they are inside of a JSON string.
struct Level {
  std::vector<int32_t> inside;        // go on in the string, or
  std::vector<uint32_t> inside_mask;  // where they are many
  std::vector<int32_t> closing;       // end it with their last byte, a quote after one character or more
  TokenTree quoted;                   // end it so before their last byte: by what follows the quote; a node's token is a group
  std::vector<std::vector<int32_t>> groups;
  TokenTree others;  // begin with the quote, or are not known

  size_t memory() const;
};

// Tokens below a node, from there on.
struct Slice {
  Level any_length;  // in a string that takes all characters, and as many as there are (Spelling::json)
  Level limited;     // in one that takes kSliceCharacters characters in any case: those without escapes and of no more
  TokenTree with_quote;  // of `limited`: the closing ones and those of the groups
  // Of `limited`: the inside ones by the smallest set of characters that theirs are in (reach.h) and by their number, where they are many.
  // (kCharacterSets, kSliceCharacters), or none
  struct Part {
    std::vector<uint32_t> up_to;  // of the set: the mask of those of no more characters
    TokenTree tree;               // those of so many characters
  };
  std::vector<Part> parts;
  const Part& part(uint32_t set, uint32_t n_characters) const { return parts[set * kSliceCharacters + n_characters - 1]; }

  size_t memory() const;
};

// Of tokens that are sorted by their bytes from `offset` on, where each has some.
Slice make_slice(std::span<const int32_t> tokens, std::span<const std::string_view> texts, size_t offset);

}  // namespace inlay::constraint
