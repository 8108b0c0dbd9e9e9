// What all tokenizers do alike with the tokens that they have: their properties, and decoding.
#pragma once

#include <string>
#include <string_view>

#include "src/tokenizer/tokenizer.h"
#include "src/tokenizer/vocabulary.h"

namespace inlay {

class VocabularyTokenizer : public Tokenizer {
 public:
  Status decode(std::span<const int32_t> ids, const DecodeOptions& options, std::string& out) const final;

  int32_t n_tokens() const final { return vocabulary_.size(); }
  std::string_view piece(int32_t id) const final { return vocabulary_.piece(id); }
  TokenKind kind(int32_t id) const final { return vocabulary_.kinds[id]; }
  float score(int32_t id) const final { return vocabulary_.scores.empty() ? 0.0f : vocabulary_.scores[id]; }
  bool is_end_of_generation(int32_t id) const final { return vocabulary_.ends_generation[id] != 0; }
  int32_t bos() const final { return vocabulary_.bos; }
  int32_t eos() const final { return vocabulary_.eos; }
  std::span<const SpecialTokenName> special_names() const final { return vocabulary_.special_names; }
  bool adds_bos() const final { return vocabulary_.add_bos; }
  bool adds_eos() const final { return vocabulary_.add_eos; }
  bool strips_leading_space() const final { return vocabulary_.add_space_prefix; }
  std::span<const std::string> remarks() const final { return vocabulary_.remarks; }
  std::span<const std::string> warnings() const final { return vocabulary_.warnings; }

 protected:
  explicit VocabularyTokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Vocabulary vocabulary_;  // changes only while the tokenizer is made
};

}  // namespace inlay
