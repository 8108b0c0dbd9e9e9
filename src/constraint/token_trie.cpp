#include "src/constraint/token_trie.h"

#include <algorithm>

namespace inlay::constraint {

namespace {

constexpr size_t kMaxTokens = size_t{1} << 24, kMaxTokenBytes = size_t{1} << 16;

}  // namespace

Result<std::shared_ptr<const TokenTrie>> TokenTrie::make(std::span<const Piece> pieces) {
  if (pieces.size() > kMaxTokens)
    return error(Code::unsupported, "the vocabulary has %zu tokens; constraints take up to %zu", pieces.size(), kMaxTokens);
  std::shared_ptr<TokenTrie> out(new TokenTrie);
  out->offsets_.push_back(0);
  std::vector<int32_t> sorted;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const auto id = static_cast<int32_t>(i);
    if (piece.bytes.size() > kMaxTokenBytes)
      return error(Code::unsupported, "token %zu has %zu bytes; constraints take up to %zu", i, piece.bytes.size(), kMaxTokenBytes);
    const bool is_text = piece.kind == PieceKind::text && !piece.bytes.empty();
    if (is_text) {
      out->bytes_ += piece.bytes;
      sorted.push_back(id);
    }
    out->offsets_.push_back(static_cast<uint32_t>(out->bytes_.size()));
    out->kinds_.push_back(piece.kind == PieceKind::text && !is_text ? PieceKind::unused : piece.kind);
    if (piece.kind == PieceKind::end) out->ends_.push_back(id);
  }
  std::sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
    const int order = out->bytes(a).compare(out->bytes(b));
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<int32_t> distinct;
  for (const int32_t id : sorted) {
    if (!distinct.empty() && out->bytes(distinct.back()) == out->bytes(id))
      out->same_.push_back({id, distinct.back()});
    else
      distinct.push_back(id);
  }
  std::vector<std::string_view> texts;
  for (int32_t id = 0; id < out->n_tokens(); ++id) texts.push_back(out->bytes(id));
  out->tree_ = TokenTree(distinct, texts, 0, true);
  out->slice_ = make_slice(distinct, texts, 0);
  return std::shared_ptr<const TokenTrie>(std::move(out));
}

size_t TokenTrie::memory() const {
  return bytes_.size() + offsets_.size() * 4 + kinds_.size() + tree_.memory() + slice_.memory() + same_.size() * sizeof(SameToken);
}

}  // namespace inlay::constraint
