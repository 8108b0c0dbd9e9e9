#include "src/tokenizer/vocabulary_tokenizer.h"

namespace inlay {

Status VocabularyTokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options, std::string& out) const {
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary_.size())
      return error(Code::invalid_argument, "token %zu is %d, but the vocabulary has %d tokens", i, ids[i],
                   vocabulary_.size());
  bool at_start = true;
  for (const int32_t id : ids) {
    const TokenKind kind = vocabulary_.kinds[id];
    if (!options.show_special && (kind == TokenKind::control || kind == TokenKind::unknown)) continue;
    std::string_view piece = vocabulary_.piece(id);
    if (at_start && vocabulary_.add_space_prefix && kind != TokenKind::byte && piece.starts_with(' '))
      piece.remove_prefix(1);
    at_start = false;
    out.append(piece);
  }
  return {};
}

}  // namespace inlay
