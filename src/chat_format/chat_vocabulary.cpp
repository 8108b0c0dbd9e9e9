#include "src/chat_format/chat_vocabulary.h"

#include <algorithm>
#include <utility>

namespace inlay {

ChatVocabulary::ChatVocabulary(const Tokenizer& tokenizer, ChatFormat format) : tokenizer_(tokenizer) {
  const auto markers = format.markers();
  for (int32_t id = 0; id < tokenizer.n_tokens(); ++id) {
    const TokenKind kind = tokenizer.kind(id);
    if (kind != TokenKind::control && kind != TokenKind::user_defined) continue;
    const std::string_view text = tokenizer.piece(id);
    if (std::any_of(markers.begin(), markers.end(), [&](const Marker* marker) { return marker->text == text; })) marker_ids_.push_back(id);
  }
  format.set_tokens([&](std::string_view marker) {
    return std::any_of(marker_ids_.begin(), marker_ids_.end(), [&](int32_t id) { return tokenizer.piece(id) == marker; });
  });
  format_ = std::make_shared<const ChatFormat>(std::move(format));
}

bool ChatVocabulary::is_marker(int32_t id) const { return std::binary_search(marker_ids_.begin(), marker_ids_.end(), id); }

ChatPiece ChatVocabulary::piece(int32_t id) const {
  const TokenKind kind = tokenizer_.kind(id);
  const bool is_control = kind == TokenKind::control || kind == TokenKind::unknown || tokenizer_.is_end_of_generation(id) || is_marker(id);
  return {tokenizer_.piece(id), is_control};
}

}  // namespace inlay
