// The tokens of a vocabulary and the rules about them that tokenizer.ggml.* states, common to all tokenizer models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/metadata.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

enum class TokenizerModel : uint8_t { bpe, spm };

// Keys that errors name
inline constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
inline constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";

struct Vocabulary {
  std::string bytes;              // all pieces, one after the other
  std::vector<uint32_t> offsets;  // of the pieces in `bytes`, and the end
  std::vector<TokenKind> kinds;
  std::vector<float> scores;             // empty if the file has none
  std::vector<uint8_t> matchable;        // 1 where merging characters of a text may give the token
  std::vector<uint8_t> ends_generation;  // 1 where it does
  int32_t bos = -1;
  int32_t eos = -1;
  int32_t unknown = -1;
  std::vector<SpecialTokenName> special_names;
  bool add_bos = false;
  bool add_eos = false;
  bool add_space_prefix = false;    // SPM only
  bool strips_after_added = false;  // the text's white space after an added token belongs to it (the Phi-3 models)
  std::vector<std::string> remarks;  // for the log of the load: what was guessed, and what was taken as none
  std::vector<std::string> warnings;  // likewise: what may give other tokens than the model's

  int32_t size() const { return static_cast<int32_t>(kinds.size()); }
  std::string_view piece(int32_t id) const { return {bytes.data() + offsets[id], offsets[id + 1] - offsets[id]}; }
};

// Ids up to `n_rows` that have no token: unused ones without text.
void pad_vocabulary(Vocabulary& vocabulary, int32_t n_rows);

// `adds_bos` is the default where the metadata does not say.
Result<Vocabulary> read_vocabulary(const Metadata& metadata, TokenizerModel model, bool adds_bos, int32_t n_rows);

}  // namespace inlay
