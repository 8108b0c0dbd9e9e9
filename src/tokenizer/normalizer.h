// What a tokenizer.json does to a text before anything splits it: its `normalizer`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"
#include "src/tokenizer/encoding_pulse.h"

namespace inlay {

class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  // Appends to `out`, which is empty; both are well-formed UTF-8. May end once that has more than `most` bytes.
  virtual void apply(std::string_view text, size_t most, std::string& out) const = 0;
};

class Normalizer {
 public:
  // `json` is the value of the key "normalizer", which may be null. An error names a type that is not known here.
  static Result<Normalizer> read(const JsonValue& json);

  // `text` itself, or its normalized form, which lies in `storage`. An error if that is too long (src/tokenizer/text_limits.h), and that of
  // `pulse`.
  Result<std::string_view> apply(std::string_view text, EncodingPulse& pulse, std::string& storage) const;

 private:
  Status add(const JsonValue& json);
  std::vector<std::unique_ptr<const NormalizerStep>> steps_;
};

}  // namespace inlay
