#include "src/tokenizer/normalizer.h"

#include "src/base/format.h"
#include "src/formats/text.h"
#include "src/tokenizer/charsmap.h"
#include "src/tokenizer/normalization.h"
#include "src/tokenizer/regex.h"
#include "src/tokenizer/text_limits.h"
#include "src/tokenizer/unicode_class.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

template <class Visit>
void each_character(std::string_view text, Visit visit) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text.data() + at);
    visit(point.value, text.substr(at, point.n_bytes));
    at += point.n_bytes;
  }
}

void append_lower(uint32_t c, std::string& out) {
  if (c == 0x130) return out.append("i\xCC\x87"), void();  // the one lower case of two characters
  append_utf8(lower_of(c), out);
}

bool is_mark(uint32_t c) { return c >= 0x300 && char_class(c) == CharClass::mark; }
bool is_nonspacing(uint32_t c) { return c >= 0x300 && category_of(c) == Category::Mn; }

class Form final : public NormalizerStep {
 public:
  explicit Form(NormalizationForm form) : form_(form) {}
  void apply(std::string_view text, size_t, std::string& out) const override { append_normalized(text, form_, out); }

 private:
  const NormalizationForm form_;
};

class Lowercase final : public NormalizerStep {
 public:
  void apply(std::string_view text, size_t, std::string& out) const override {
    each_character(text, [&](uint32_t c, std::string_view) { append_lower(c, out); });
  }
};

class StripAccents final : public NormalizerStep {
 public:
  void apply(std::string_view text, size_t, std::string& out) const override {
    each_character(text, [&](uint32_t c, std::string_view bytes) {
      if (!is_mark(c)) out.append(bytes);
    });
  }
};

class Strip final : public NormalizerStep {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(std::string_view text, size_t, std::string& out) const override {
    size_t begin = text.size(), end = 0, at = 0;
    each_character(text, [&](uint32_t c, std::string_view bytes) {
      at += bytes.size();
      if (char_class(c) == CharClass::space) return;
      begin = std::min(begin, at - bytes.size());
      end = at;
    });
    begin = left_ ? begin : 0;
    end = right_ ? end : text.size();
    if (begin < end) out.append(text.substr(begin, end - begin));
  }

 private:
  const bool left_, right_;
};

class Prepend final : public NormalizerStep {
 public:
  explicit Prepend(std::string_view prefix) : prefix_(prefix) {}
  void apply(std::string_view text, size_t, std::string& out) const override {
    if (!text.empty()) out.append(prefix_).append(text);
  }

 private:
  const std::string prefix_;
};

class ReplaceText final : public NormalizerStep {
 public:
  ReplaceText(std::string_view from, std::string_view to) : from_(from), to_(to) {}
  void apply(std::string_view text, size_t most, std::string& out) const override {
    while (out.size() <= most) {
      const size_t n = text.find(from_);
      out.append(text.substr(0, n));
      if (n == text.npos) return;
      out.append(to_);
      text.remove_prefix(n + from_.size());
    }
  }

 private:
  const std::string from_, to_;
};

class ReplaceMatches final : public NormalizerStep {
 public:
  ReplaceMatches(Regex from, std::string_view to) : from_(std::move(from)), to_(to) {}
  void apply(std::string_view text, size_t most, std::string& out) const override {
    from_.split(text.data(), text.data() + text.size(), [&](const char* begin, const char* end, bool matched) {
      if (out.size() > most) return;
      matched ? out.append(to_) : out.append(begin, end);
    });
  }

 private:
  const Regex from_;
  const std::string to_;
};

class Charsmap final : public NormalizerStep {
 public:
  explicit Charsmap(PrecompiledCharsmap map) : map_(std::move(map)) {}
  void apply(std::string_view text, size_t most, std::string& out) const override { map_.apply(text, most, out); }

 private:
  const PrecompiledCharsmap map_;
};

struct BertRules {
  bool clean, chinese, strip_accents, lowercase;
};

class Bert final : public NormalizerStep {
 public:
  explicit Bert(BertRules rules) : rules_(rules) {}
  void apply(std::string_view text, size_t, std::string& out) const override {
    std::string cleaned, decomposed;
    each_character(text, [&](uint32_t c, std::string_view bytes) { append_clean(c, bytes, cleaned); });
    if (rules_.strip_accents) append_normalized(cleaned, NormalizationForm::nfd, decomposed);
    each_character(rules_.strip_accents ? decomposed : cleaned, [&](uint32_t c, std::string_view bytes) {
      if (rules_.strip_accents && is_nonspacing(c)) return;
      rules_.lowercase ? append_lower(c, out) : void(out.append(bytes));
    });
  }

 private:
  void append_clean(uint32_t c, std::string_view bytes, std::string& out) const {
    if (rules_.clean) {
      const bool line_or_tab = c == '\t' || c == '\n' || c == '\r';
      const char group = kCategoryNames[static_cast<size_t>(category_of(c))][0];
      if (c == 0 || c == 0xFFFD || (group == 'C' && !line_or_tab)) return;
      if (char_class(c) == CharClass::space) return out.push_back(' ');
    }
    const bool spaced = rules_.chinese && is_chinese(c);
    if (spaced) out.push_back(' ');
    out.append(bytes);
    if (spaced) out.push_back(' ');
  }

  // The blocks of ideographs that BERT's tokenizer sets apart.
  static bool is_chinese(uint32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
  }

  const BertRules rules_;
};

using NormalizerStepPtr = std::unique_ptr<const NormalizerStep>;

Result<NormalizerStepPtr> read_replace(const JsonValue& json) {
  INLAY_ASSIGN(const JsonValue pattern, json.get("pattern"));
  INLAY_ASSIGN(const std::string_view content, json.string_or("content", ""));
  if (const auto regex = pattern.find("Regex")) {
    INLAY_ASSIGN(const std::string_view text, regex->as_string());
    INLAY_ASSIGN(Regex compiled, Regex::compile(text));
    return NormalizerStepPtr(new ReplaceMatches(std::move(compiled), content));
  }
  INLAY_ASSIGN(const JsonValue plain, pattern.get("String"));
  INLAY_ASSIGN(const std::string_view text, plain.as_string());
  if (text.empty()) return plain.expected("a text to replace");
  return NormalizerStepPtr(new ReplaceText(text, content));
}

Result<NormalizerStepPtr> read_bert(const JsonValue& json) {
  BertRules rules{};
  INLAY_ASSIGN(rules.clean, json.bool_or("clean_text", true));
  INLAY_ASSIGN(rules.chinese, json.bool_or("handle_chinese_chars", true));
  INLAY_ASSIGN(rules.lowercase, json.bool_or("lowercase", true));
  INLAY_ASSIGN(rules.strip_accents, json.bool_or("strip_accents", rules.lowercase));
  return NormalizerStepPtr(new Bert(rules));
}

Result<NormalizerStepPtr> read_step(const JsonValue& json, std::string_view type) {
  if (type == "NFC") return NormalizerStepPtr(new Form(NormalizationForm::nfc));
  if (type == "NFD") return NormalizerStepPtr(new Form(NormalizationForm::nfd));
  if (type == "NFKC") return NormalizerStepPtr(new Form(NormalizationForm::nfkc));
  if (type == "NFKD") return NormalizerStepPtr(new Form(NormalizationForm::nfkd));
  if (type == "Lowercase") return NormalizerStepPtr(new Lowercase);
  if (type == "StripAccents") return NormalizerStepPtr(new StripAccents);
  if (type == "Replace") return read_replace(json);
  if (type == "BertNormalizer") return read_bert(json);
  if (type == "Strip") {
    INLAY_ASSIGN(const bool left, json.bool_or("strip_left", true));
    INLAY_ASSIGN(const bool right, json.bool_or("strip_right", true));
    return NormalizerStepPtr(new Strip(left, right));
  }
  if (type == "Prepend") {
    INLAY_ASSIGN(const std::string_view prefix, json.string_or("prepend", ""));
    return NormalizerStepPtr(new Prepend(prefix));
  }
  if (type == "Precompiled") {
    INLAY_ASSIGN(const JsonValue map, json.get("precompiled_charsmap"));
    INLAY_ASSIGN(PrecompiledCharsmap read, PrecompiledCharsmap::read(map));
    return NormalizerStepPtr(new Charsmap(std::move(read)));
  }
  return error(Code::unsupported, "%s has the type %s, a normalizer that is not known here", json.where().c_str(),
               quote(type).c_str());
}

}  // namespace

Result<Normalizer> Normalizer::read(const JsonValue& json) {
  Normalizer out;
  if (!json.is_null()) INLAY_TRY(out.add(json));
  return out;
}

Status Normalizer::add(const JsonValue& json) {
  INLAY_ASSIGN(const JsonValue type_value, json.get("type"));
  INLAY_ASSIGN(const std::string_view type, type_value.as_string());
  if (type != "Sequence") {
    if (steps_.size() >= kMaxTextSteps)
      return error(Code::unsupported, "%s is one step more than the %zu that a normalizer may have", json.where().c_str(), kMaxTextSteps);
    INLAY_ASSIGN(NormalizerStepPtr step, read_step(json, type));
    steps_.push_back(std::move(step));
    return {};
  }
  INLAY_ASSIGN(const JsonValue list, json.get("normalizers"));
  INLAY_ASSIGN(const JsonElements elements, list.as_array());
  for (const JsonValue element : elements) INLAY_TRY(add(element));
  return {};
}

Result<std::string_view> Normalizer::apply(std::string_view text, EncodingPulse& pulse, std::string& storage) const {
  const size_t n_bytes = text.size(), most = most_text_bytes(n_bytes);
  std::string next;
  for (const auto& step : steps_) {
    next.clear();
    next.reserve(text.size() + 16);
    if (!pulse.work(text.size())) return pulse.status();
    step->apply(text, most, next);
    if (next.size() > most)
      return error(Code::unsupported, "the normalizer makes more than %zu bytes of %s", most, counted(n_bytes, "byte").c_str());
    std::swap(storage, next);
    text = storage;
  }
  return text;
}

}  // namespace inlay
