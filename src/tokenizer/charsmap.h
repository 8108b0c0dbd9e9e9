// SentencePiece's compiled normalization rules: a double-array trie from byte sequences to replacements, as
// tokenizer.json carries it in base64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"

namespace inlay {

class PrecompiledCharsmap {
 public:
  static Result<PrecompiledCharsmap> read(const JsonValue& base64);

  // Appends the well-formed `text`, a character and its combining marks at a time where these are shorter than six
  // bytes and have a replacement, otherwise character by character. Ends once `out` has more than `most` bytes.
  void apply(std::string_view text, size_t most, std::string& out) const;

 private:
  std::optional<std::string_view> replacement(std::string_view bytes) const;  // of the shortest prefix that has one

  std::vector<uint32_t> units_;
  std::string texts_;  // each ends in a zero byte
};

}  // namespace inlay
