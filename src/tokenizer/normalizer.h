// What a tokenizer.json does to a text before anything splits it: its `normalizer`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"

namespace inlay {

class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  virtual void apply(std::string_view text, std::string& out) const = 0;  // appends; both are well-formed UTF-8
};

class Normalizer {
 public:
  // `json` is the value of the key "normalizer", which may be null. An error names a type that is not known here.
  static Result<Normalizer> read(const JsonValue& json);

  bool empty() const { return steps_.empty(); }
  // `text` itself, or its normalized form, which lies in `storage`.
  std::string_view apply(std::string_view text, std::string& storage) const;

 private:
  Status add(const JsonValue& json);
  std::vector<std::unique_ptr<const NormalizerStep>> steps_;
};

}  // namespace inlay
