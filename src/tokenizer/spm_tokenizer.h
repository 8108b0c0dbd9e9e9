// SentencePiece-style tokenizer: neighbouring characters merge into tokens, those of the highest score first;
// characters that are no token become byte tokens. Spaces are characters like others; the vocabulary writes them as
// U+2581, and a U+2581 in a text means the same.
#pragma once

#include <array>

#include "src/tokenizer/fragment_tokenizer.h"

namespace inlay {

class SpmTokenizer final : public FragmentTokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> create(const Metadata& metadata, int32_t n_rows);

 private:
  explicit SpmTokenizer(Vocabulary vocabulary);
  Status check_bytes();

  void encode_fragment(std::string_view text, bool after_added, MergeScratch& scratch,
                       std::vector<int32_t>& out) const override;
  void append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;
  bool append_bytes(std::string_view character, std::vector<int32_t>& out) const;

  std::vector<uint32_t> priorities_;     // of tokens: lower merges first
  std::array<int32_t, 256> byte_ids_{};  // -1 for bytes without a token
  // No token has a space after another character: words that begin with their spaces merge independently.
  bool merges_within_words_ = true;
};

}  // namespace inlay
