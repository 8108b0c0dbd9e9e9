#include "src/constraint/token_tree.h"

#include <algorithm>
#include <map>

#include "src/constraint/reach.h"
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

void set_bit(std::vector<uint32_t>& mask, int32_t token) {
  mask[static_cast<size_t>(token) / 32] |= uint32_t{1} << (static_cast<uint32_t>(token) % 32);
}

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

size_t Level::memory() const {
  size_t out = (inside.size() + inside_mask.size() + closing.size()) * 4 + quoted.memory() + others.memory();
  for (const auto& group : groups) out += group.size() * 4 + sizeof(group);
  return out;
}

size_t Slice::memory() const {
  size_t out = any_length.memory() + limited.memory() + with_quote.memory();
  for (const Part& part : parts) out += part.up_to.size() * 4 + part.tree.memory();
  return out;
}

namespace {

enum class Fate : uint8_t { inside, closing, never, other };
struct FateOfToken {
  Fate fate;
  size_t quote = 0;  // where it stands
};

// The bytes of one character of a JSON string as Spelling::json has it, or 0; what is only the begin of one is the rest.
size_t character_at(std::string_view text, bool& is_begin) {
  const auto byte = static_cast<unsigned char>(text[0]);
  is_begin = false;
  if (byte < 0x20 || byte == '"') return 0;
  if (byte != '\\') {
    const Utf8Sequence sequence = first_sequence(text);
    is_begin = !sequence.valid && sequence.incomplete;
    return sequence.valid ? sequence.n_bytes : is_begin ? text.size() : 0;
  }
  if (text.size() > 1 && std::string_view("\"\\bfnrt").find(text[1]) != std::string_view::npos) return 2;
  // \u and the number of a control character that has no letter
  constexpr std::string_view kDigits[] = {"\\", "u", "0", "0", "01"};
  for (size_t i = 0; i < 5; ++i) {
    is_begin = i == text.size();
    if (is_begin) return i;
    if (kDigits[i].find(text[i]) == std::string_view::npos) return 0;
  }
  is_begin = text.size() == 5;
  if (is_begin) return 5;
  const std::string_view last = text[4] == '1' ? "0123456789abcdefABCDEF" : "01234567bBeEfF";
  return last.find(text[5]) == std::string_view::npos ? 0 : 6;
}

FateOfToken fate_in_any_length(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') return {at == 0 ? Fate::other : Fate::closing, at};
    bool is_begin = false;
    const size_t n = character_at(text.substr(at), is_begin);
    if (n == 0) return {Fate::never};
    at += n;
  }
  return {Fate::inside};
}

FateOfToken fate_in_limited(std::string_view text) {
  const PlainText plain = plain_text(text);
  if (plain.n_characters > kSliceCharacters || plain.n_bytes == 0) return {Fate::other};
  if (plain.n_bytes == text.size()) return {Fate::inside};
  return {text[plain.n_bytes] == '"' ? Fate::closing : Fate::other, plain.n_bytes};
}

template <class FateOf>
Level make_level(std::span<const int32_t> tokens, std::span<const std::string_view> texts, size_t offset, FateOf&& fate_of) {
  Level out;
  std::vector<int32_t> others;
  std::map<std::string_view, std::vector<int32_t>> by_rest;
  for (const int32_t token : tokens) {
    const std::string_view text = texts[static_cast<size_t>(token)].substr(offset);
    const FateOfToken fate = fate_of(text);
    if (fate.fate == Fate::inside) out.inside.push_back(token);
    if (fate.fate == Fate::closing) by_rest[text.substr(fate.quote + 1)].push_back(token);
    if (fate.fate == Fate::other) others.push_back(token);
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
  out.others = TokenTree(others, texts, offset, false);
  if (out.inside.size() >= kMaskTokens) {
    out.inside_mask.resize((texts.size() + 31) / 32);
    for (const int32_t token : out.inside) set_bit(out.inside_mask, token);
  }
  return out;
}

}  // namespace

Slice make_slice(std::span<const int32_t> tokens, std::span<const std::string_view> texts, size_t offset) {
  Slice out;
  const auto text_of = [&](int32_t token) { return texts[static_cast<size_t>(token)].substr(offset); };
  out.any_length = make_level(tokens, texts, offset, fate_in_any_length);
  out.limited = make_level(tokens, texts, offset, fate_in_limited);
  std::vector<int32_t> with_quote;
  for (const int32_t token : tokens)
    if (fate_in_limited(text_of(token)).fate == Fate::closing) with_quote.push_back(token);
  out.with_quote = TokenTree(with_quote, texts, offset, false);
  if (!out.limited.inside_mask.empty()) {
    std::array<std::vector<int32_t>, kCharacterSets * kSliceCharacters> parts;
    for (const int32_t token : out.limited.inside) {
      const auto n = plain_text(text_of(token)).n_characters;
      parts[character_set_of(text_of(token)) * kSliceCharacters + n - 1].push_back(token);
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool begins_set = i % kSliceCharacters == 0;
      out.parts.push_back({begins_set ? std::vector<uint32_t>(out.limited.inside_mask.size()) : out.parts.back().up_to, TokenTree(parts[i], texts, offset, false)});
      for (const int32_t token : parts[i]) set_bit(out.parts.back().up_to, token);
    }
  }
  for (Level* level : {&out.any_length, &out.limited})
    if (!level->inside_mask.empty()) level->inside.clear();
  return out;
}

}  // namespace inlay::constraint
