// What a tokenizer.json's `decoder` makes of a token: the bytes that it stands for in the middle of a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"

namespace inlay {

class TokenDecoder {
 public:
  // `json` is the value of the key "decoder", which may be null. An error names a type that is not known here.
  static Result<TokenDecoder> read(const JsonValue& json);

  // An error if it becomes too long (src/tokenizer/text_limits.h).
  Status append_piece(std::string_view token, std::string& out) const;
  bool strips_leading_space() const { return strips_; }  // of the first piece of a text

 private:
  enum class Kind { bytes, replace, byte_tokens, word_pieces, joined };
  struct Step {
    Kind kind;
    std::string from = {};
    std::string to = {};
    bool clean = false;
  };
  Status add(const JsonValue& json);
  Status add_replace(const JsonValue& json);
  Status add_strip(const JsonValue& json);

  std::vector<Step> steps_;
  bool strips_ = false;
  bool fused_ = false;
};

// The byte that a token <0xAB> stands for, -1 if the text is not of that form.
int byte_of_token(std::string_view text);

}  // namespace inlay
