// A format in a vocabulary: which of its markers are tokens, and what a token is for the parser.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/chat_format/chat_format.h"
#include "src/chat_format/chat_parser.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

// Immutable; any number of threads may use it. The tokenizer outlives it, and the pieces' texts are the tokenizer's.
class ChatVocabulary {
 public:
  // Looks at all tokens: once for a model and a format.
  ChatVocabulary(const Tokenizer& tokenizer, ChatFormat format);

  const std::shared_ptr<const ChatFormat>& format() const { return format_; }
  ChatPiece piece(int32_t id) const;  // `id` in [0, n_tokens())
  bool is_marker(int32_t id) const;
  std::span<const int32_t> marker_ids() const { return marker_ids_; }  // ascending

 private:
  const Tokenizer& tokenizer_;
  std::vector<int32_t> marker_ids_;  // ascending
  std::shared_ptr<const ChatFormat> format_;
};

}  // namespace inlay
