#include "src/tokenizer/text_splitter.h"

#include "src/formats/text.h"
#include "src/tokenizer/pre_tokenizer.h"
#include "src/tokenizer/regex.h"
#include "src/tokenizer/text_limits.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

using SplitStepPtr = std::unique_ptr<const SplitStep>;

// What becomes of the matches that a text is split at.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

class SplitAtMatches final : public SplitStep {
 public:
  SplitAtMatches(Regex pattern, Behavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void split(const TextPart& part, PartSink& out) const override {
    const char *begin = part.text.data(), *end = begin + part.text.size();
    const auto give = [&](const char* from, const char* to) {
      if (from < to) out.take({{from, static_cast<size_t>(to - from)}, part.at_start && from == begin});
    };
    if (behavior_ == Behavior::isolated || behavior_ == Behavior::removed) {
      const bool keep = behavior_ == Behavior::isolated;
      pattern_.split(begin, end, [&](const char* from, const char* to, bool matched) {
        if (keep || matched == invert_) give(from, to);
      });
      return;
    }
    const char* open = begin;  // where what has not been given begins
    bool before = false, any = false;
    pattern_.split(begin, end, [&](const char* from, const char*, bool matched) {
      matched = matched != invert_;
      if (any && divides(before, matched)) give(open, from), open = from;
      before = matched;
      any = true;
    });
    give(open, end);
  }

 private:
  // Whether two neighbours are divided, by whether they are matches.
  bool divides(bool before, bool after) const {
    if (behavior_ == Behavior::merged_with_previous) return before || !after;
    if (behavior_ == Behavior::merged_with_next) return !before || after;
    return before != after;  // contiguous
  }

  const Regex pattern_;
  const Behavior behavior_;
  const bool invert_;
};

class Metaspace final : public SplitStep {
 public:
  enum class Prefix { always, first, never };
  Metaspace(std::string_view sign, Prefix prefix, bool split) : sign_(sign), prefix_(prefix), split_(split) {}

  void split(const TextPart& part, PartSink& out) const override {
    std::string text;
    text.reserve(part.text.size() + part.text.size() / 4 + sign_.size());
    const bool signed_already = part.text.starts_with(' ') || part.text.starts_with(sign_);
    if (!signed_already && (prefix_ == Prefix::always || (prefix_ == Prefix::first && part.at_start))) text += sign_;
    for (const char c : part.text) c == ' ' ? text += sign_ : text += c;
    const std::string_view all = text;
    for (size_t from = 0; from < all.size();) {
      const size_t end = split_ ? std::min(all.find(sign_, from + 1), all.size()) : all.size();
      out.take({all.substr(from, end - from), part.at_start && from == 0});
      from = end;
    }
  }

 private:
  const std::string sign_;
  const Prefix prefix_;
  const bool split_;
};

class PrefixSpace final : public SplitStep {
 public:
  void split(const TextPart& part, PartSink& out) const override {
    if (part.text.starts_with(' ')) return out.take(part);
    const std::string text = " " + std::string(part.text);
    out.take({text, part.at_start});
  }
};

class FixedLength final : public SplitStep {
 public:
  explicit FixedLength(size_t length) : length_(length) {}
  void split(const TextPart& part, PartSink& out) const override {
    for (size_t from = 0; from < part.text.size();) {
      size_t end = from;
      for (size_t n = 0; n < length_ && end < part.text.size(); ++n) end += decode_utf8(part.text.data() + end).n_bytes;
      out.take({part.text.substr(from, end - from), part.at_start && from == 0});
      from = end;
    }
  }

 private:
  const size_t length_;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

Result<SplitStepPtr> at_pattern(std::string_view pattern, Behavior behavior, bool invert = false) {
  INLAY_ASSIGN(Regex compiled, Regex::compile(pattern));
  return SplitStepPtr(new SplitAtMatches(std::move(compiled), behavior, invert));
}

Result<Behavior> read_behavior(const JsonValue& json, std::string_view fallback) {
  INLAY_ASSIGN(const std::string_view name, json.string_or("behavior", fallback));
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  return error(Code::unsupported, "%s.behavior is %s, which is not known here", json.where().c_str(),
               quote(name).c_str());
}

Result<SplitStepPtr> read_split(const JsonValue& json) {
  INLAY_ASSIGN(const JsonValue pattern, json.get("pattern"));
  INLAY_ASSIGN(const Behavior behavior, read_behavior(json, "Removed"));
  INLAY_ASSIGN(const bool invert, json.bool_or("invert", false));
  if (const auto regex = pattern.find("Regex")) {
    INLAY_ASSIGN(const std::string_view text, regex->as_string());
    return at_pattern(text, behavior, invert);
  }
  INLAY_ASSIGN(const JsonValue plain, pattern.get("String"));
  INLAY_ASSIGN(const std::string_view text, plain.as_string());
  return at_pattern(escaped(text), behavior, invert);
}

Result<SplitStepPtr> read_metaspace(const JsonValue& json) {
  INLAY_ASSIGN(const std::string_view sign, json.string_or("replacement", kSpaceSign));
  INLAY_ASSIGN(const bool prefixed, json.bool_or("add_prefix_space", true));
  INLAY_ASSIGN(const std::string_view scheme, json.string_or("prepend_scheme", prefixed ? "always" : "never"));
  INLAY_ASSIGN(const bool split, json.bool_or("split", true));
  if (sign.empty() || decode_utf8(sign.data()).n_bytes != sign.size())
    return json.expected("an object whose replacement is one character");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return error(Code::unsupported, "%s.prepend_scheme is %s, which is not known here", json.where().c_str(),
                 quote(scheme).c_str());
  const auto prefix = scheme == "always"  ? Metaspace::Prefix::always
                      : scheme == "first" ? Metaspace::Prefix::first
                                          : Metaspace::Prefix::never;
  return SplitStepPtr(new Metaspace(sign, prefix, split));
}

constexpr std::string_view kWordsPattern = R"(\p{uts_word}+|[^\s\p{uts_word}]+)";
constexpr std::string_view kPunctuation = R"([\p{P}$+<=>^`|~])";

Result<SplitStepPtr> read_split_step(const JsonValue& json, std::string_view type) {
  if (type == "Split") return read_split(json);
  if (type == "Metaspace") return read_metaspace(json);
  if (type == "Whitespace") return at_pattern(kWordsPattern, Behavior::removed, true);
  if (type == "WhitespaceSplit") return at_pattern(R"(\s)", Behavior::removed);
  if (type == "Punctuation") {
    INLAY_ASSIGN(const Behavior behavior, read_behavior(json, "Isolated"));
    return at_pattern(kPunctuation, behavior);
  }
  if (type == "Digits") {
    INLAY_ASSIGN(const bool each, json.bool_or("individual_digits", false));
    return at_pattern(R"(\p{N})", each ? Behavior::isolated : Behavior::contiguous);
  }
  if (type == "CharDelimiterSplit" || type == "Delimiter") {
    INLAY_ASSIGN(const JsonValue delimiter, json.get("delimiter"));
    INLAY_ASSIGN(const std::string_view text, delimiter.as_string());
    return at_pattern(escaped(text), Behavior::removed);
  }
  if (type == "FixedLength") {
    INLAY_ASSIGN(const int64_t length, json.i64_or("length", 5));
    if (length < 1) return json.expected("an object whose length is at least 1");
    return SplitStepPtr(new FixedLength(static_cast<size_t>(length)));
  }
  return error(Code::unsupported, "%s has the type %s, a pre-tokenizer that is not known here", json.where().c_str(),
               quote(type).c_str());
}

}  // namespace

Result<TextSplitter> TextSplitter::read(const JsonValue& json) {
  TextSplitter out;
  if (!json.is_null()) INLAY_TRY(out.add(json));
  return out;
}

Status TextSplitter::add(const JsonValue& json) {
  INLAY_ASSIGN(const JsonValue type_value, json.get("type"));
  INLAY_ASSIGN(const std::string_view type, type_value.as_string());
  if (type == "Sequence") {
    INLAY_ASSIGN(const JsonValue list, json.get("pretokenizers"));
    INLAY_ASSIGN(const JsonElements elements, list.as_array());
    for (const JsonValue element : elements) INLAY_TRY(add(element));
    return {};
  }
  if (steps_.size() >= kMaxTextSteps)
    return error(Code::unsupported, "%s is one step more than the %zu that a pre-tokenizer may have", json.where().c_str(), kMaxTextSteps);
  if (byte_level_)
    return error(Code::unsupported, "%s comes after ByteLevel, where no other step can", json.where().c_str());
  if (type == "ByteLevel") {
    INLAY_ASSIGN(const bool prefixed, json.bool_or("add_prefix_space", true));
    INLAY_ASSIGN(const bool words, json.bool_or("use_regex", true));
    byte_level_ = true;
    if (prefixed) steps_.push_back(SplitStepPtr(new PrefixSpace));
    if (!words) return {};
    INLAY_ASSIGN(SplitStepPtr step, at_pattern(kGpt2Words, Behavior::isolated));
    steps_.push_back(std::move(step));
    return {};
  }
  if (type == "BertPreTokenizer") {
    INLAY_ASSIGN(SplitStepPtr spaces, at_pattern(R"(\s)", Behavior::removed));
    INLAY_ASSIGN(SplitStepPtr signs, at_pattern(kPunctuation, Behavior::isolated));
    steps_.push_back(std::move(spaces));
    steps_.push_back(std::move(signs));
    return {};
  }
  if (type == "Metaspace" && ++n_metaspaces_ > kMaxMetaspaces)
    return error(Code::unsupported, "%s is one Metaspace more than the %zu that a pre-tokenizer may have", json.where().c_str(), kMaxMetaspaces);
  INLAY_ASSIGN(SplitStepPtr step, read_split_step(json, type));
  steps_.push_back(std::move(step));
  return {};
}

void TextSplitter::run(size_t step, const TextPart& part, PartSink& out) const {
  struct Next final : PartSink {
    Next(const TextSplitter& s, size_t n, PartSink& o) : splitter(s), step(n), out(o) {}
    void take(const TextPart& p) override { splitter.run(step, p, out); }
    const TextSplitter& splitter;
    const size_t step;
    PartSink& out;
  };
  if (part.text.empty()) return;
  if (step == steps_.size()) return out.take(part);
  if (step + 1 == steps_.size()) return steps_[step]->split(part, out);
  Next next(*this, step + 1, out);
  steps_[step]->split(part, next);
}

}  // namespace inlay
