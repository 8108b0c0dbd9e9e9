// How a tokenizer.json splits text into the words that its model tokenizes: its `pre_tokenizer`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"

namespace inlay {

struct TextPart {
  std::string_view text;
  bool at_start = false;  // it begins where the whole text does
};

class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual void take(const TextPart& part) = 0;  // never empty
};

class SplitStep {
 public:
  virtual ~SplitStep() = default;
  virtual void split(const TextPart& part, PartSink& out) const = 0;  // the part is not empty
};

class TextSplitter {
 public:
  // `json` is the value of the key "pre_tokenizer", which may be null. An error names a type that is not known here.
  static Result<TextSplitter> read(const JsonValue& json);

  // The words of a part, in order. What a step writes anew, as Metaspace does, lives during the call of take().
  void split(const TextPart& part, PartSink& out) const { run(0, part, out); }
  // The words are bytes for a vocabulary in the byte alphabet.
  bool byte_level() const { return byte_level_; }

 private:
  static constexpr size_t kMaxMetaspaces = 4;  // each may put a sign before every part
  Status add(const JsonValue& json);
  void run(size_t step, const TextPart& part, PartSink& out) const;

  std::vector<std::unique_ptr<const SplitStep>> steps_;
  size_t n_metaspaces_ = 0;
  bool byte_level_ = false;
};

}  // namespace inlay
