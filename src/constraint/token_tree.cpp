#include "src/constraint/token_tree.h"

#include <algorithm>
#include <map>

#include "src/tokenizer/utf8.h"

namespace inlay::constraint {

namespace {

constexpr uint32_t kWide = 24;           // children
constexpr size_t kSliceTokens = 64;      // fewer are walked
constexpr size_t kMaskTokens = 4000;     // a slice of more has a mask

// How many bytes at the begin are plain characters of a JSON string; how many characters they are.
struct PlainText {
  size_t n_bytes = 0;
  uint32_t n_characters = 0;
};

PlainText plain_text(std::string_view text) {
  PlainText out;
  while (out.n_bytes < text.size()) {
    const auto byte = static_cast<unsigned char>(text[out.n_bytes]);
    if (byte < 0x20 || byte == '"' || byte == '\\') break;
    const Utf8Sequence sequence = first_sequence(text.substr(out.n_bytes));
    if (!sequence.valid) break;
    out.n_bytes += sequence.n_bytes;
    ++out.n_characters;
  }
  return out;
}

}  // namespace

TokenTree::TokenTree(std::span<const int32_t> tokens, std::span<const std::string_view> texts, size_t offset, bool with_slices) {
  struct Open {
    uint32_t node;
    size_t begin;  // its first token
    uint32_t n_children = 0;
  };
  std::vector<Open> path;
  Child none;
  none.fill(TreeNode::kNone);
  wide_.push_back(none);
  const auto text_of = [&](size_t i) { return texts[static_cast<size_t>(tokens[i])].substr(offset); };
  const auto close = [&](size_t end) {
    const Open open = path.back();
    path.pop_back();
    TreeNode& node = nodes_[open.node];
    node.next = static_cast<uint32_t>(nodes_.size());
    if (open.n_children >= kWide) {
      node.wide = static_cast<uint32_t>(wide_.size());
      wide_.push_back(none);
      for (uint32_t child = open.node + 1; child < node.next; child = nodes_[child].next) wide_.back()[nodes_[child].byte] = child;
    }
    const size_t begin = open.begin + (node.token >= 0);
    if (with_slices && node.byte == '"' && end - begin >= kSliceTokens) {
      node.slice = static_cast<uint32_t>(slices_.size());
      slices_.push_back(std::make_unique<const Slice>(make_slice(tokens.subspan(begin, end - begin), texts, offset + node.depth + 1)));
    }
  };
  std::string_view last;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = text_of(i);
    size_t common = 0;
    while (common < path.size() && common < text.size() && last[common] == text[common]) ++common;
    while (path.size() > common) close(i);
    for (size_t depth = common; depth < text.size(); ++depth) {
      if (!path.empty()) ++path.back().n_children;
      const auto number = static_cast<uint32_t>(nodes_.size());
      const auto byte = static_cast<uint8_t>(text[depth]);
      if (depth == 0) wide_[0][byte] = number;
      path.push_back({number, i});
      nodes_.push_back({0, -1, TreeNode::kNone, TreeNode::kNone, static_cast<uint16_t>(depth), byte});
    }
    nodes_[path.back().node].token = tokens[i];
    max_depth_ = std::max(max_depth_, text.size());
    last = text;
  }
  while (!path.empty()) close(tokens.size());
}

size_t TokenTree::memory() const {
  size_t out = nodes_.size() * sizeof(TreeNode) + wide_.size() * sizeof(Child);
  for (const auto& slice : slices_)
    out += slice->memory();
  return out;
}

size_t Slice::memory() const {
  size_t out = (plain.size() + plain_mask.size() + closing.size()) * 4 + quoted.memory() + with_quote.memory() + others.memory();
  for (const auto& group : groups) out += group.size() * 4 + sizeof(group);
  return out;
}

Slice make_slice(std::span<const int32_t> tokens, std::span<const std::string_view> texts, size_t offset) {
  Slice out;
  std::vector<int32_t> others, with_quote;
  std::map<std::string_view, std::vector<int32_t>> by_rest;
  for (const int32_t token : tokens) {
    const std::string_view text = texts[static_cast<size_t>(token)].substr(offset);
    const PlainText plain = plain_text(text);
    const bool is_short = plain.n_characters <= kSliceCharacters;
    if (plain.n_bytes == text.size() && is_short)
      out.plain.push_back(token);
    else if (plain.n_bytes == 0 || !is_short || plain.n_bytes == text.size() || text[plain.n_bytes] != '"')
      others.push_back(token);
    else
      with_quote.push_back(token), by_rest[text.substr(plain.n_bytes + 1)].push_back(token);
  }
  if (const auto at = by_rest.find({}); at != by_rest.end()) {
    out.closing = std::move(at->second);
    by_rest.erase(at);
  }
  std::vector<std::string_view> rests;
  std::vector<int32_t> groups;
  for (auto& [rest, group] : by_rest) {
    groups.push_back(static_cast<int32_t>(rests.size()));
    rests.push_back(rest);
    out.groups.push_back(std::move(group));
  }
  out.quoted = TokenTree(groups, rests, 0, false);
  out.with_quote = TokenTree(with_quote, texts, offset, false);
  out.others = TokenTree(others, texts, offset, false);
  if (out.plain.size() >= kMaskTokens) {
    out.plain_mask.resize((texts.size() + 31) / 32);
    for (const int32_t token : out.plain) out.plain_mask[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32);
    out.plain.clear();
  }
  return out;
}

}  // namespace inlay::constraint
