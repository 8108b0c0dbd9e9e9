#include "src/constraint/character_class.h"

#include <algorithm>
#include <string>

#include "src/base/ascii.h"
#include "src/tokenizer/unicode_class.h"
#include "src/tokenizer/utf8.h"

namespace inlay::constraint {

namespace {

CodePoints digits() { return {{'0', '9'}}; }
CodePoints word_characters() { return {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}; }
CodePoints line_ends() { return {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}; }
CodePoints spaces() {
  return {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
          {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
}

// By the short name of a general category or of a group of them
bool add_category(std::string_view name, CodePoints& out) {
  bool known = false;
  for (size_t i = 0; i < std::size(kCategoryNames); ++i) {
    const std::string_view own(kCategoryNames[i], 2);
    if (name != own && name != own.substr(0, 1)) continue;
    known = true;
    for (size_t run = 0; run < kCategoryRunsSize; ++run) {
      if ((kCategoryRuns[run] & 0xFF) != i) continue;
      const uint32_t end = run + 1 < kCategoryRunsSize ? kCategoryRuns[run + 1] >> 8 : kLastCodePoint + 1;
      out.add(kCategoryRuns[run] >> 8, end - 1);
    }
  }
  return known;
}

struct LongName {
  std::string_view name, category;
};
constexpr LongName kLongNames[] = {{"Letter", "L"},           {"Lowercase_Letter", "Ll"}, {"Uppercase_Letter", "Lu"},
                                   {"Mark", "M"},             {"Number", "N"},            {"Decimal_Number", "Nd"},
                                   {"Punctuation", "P"},      {"Symbol", "S"},            {"Separator", "Z"},
                                   {"Space_Separator", "Zs"}, {"Other", "C"},             {"Control", "Cc"}};

}  // namespace

Status PatternReader::wrong(Code code, const char* what) const {
  return error(code, "the pattern at byte %zu: %s", at_ + 1, what);
}

uint32_t PatternReader::code_point() {
  const CodePoint c = decode_utf8(text_.data() + at_);
  at_ += c.n_bytes;
  return c.value;
}

Result<CodePoints> PatternReader::character() {
  if (sees('*') || sees('+') || sees('?')) return wrong(Code::format, "nothing to repeat");
  if (take('.')) return line_ends().complement();
  if (take('[')) return class_in_brackets();
  if (sees('\\')) {
    INLAY_ASSIGN(Escape out, escape(false));
    return std::move(out.set);
  }
  const uint32_t c = code_point();
  return CodePoints{{c, c}};
}

Result<CodePoints> PatternReader::class_in_brackets() {
  const bool negated = take('^');
  CodePoints out;
  while (!take(']')) {
    INLAY_ASSIGN(const Escape first, class_member());
    const bool is_range = sees('-') && !sees("-]") && at_ + 1 < text_.size();
    if (!is_range) {
      out.add(first.set);
      continue;
    }
    skip();
    INLAY_ASSIGN(const Escape last, class_member());
    if (first.is_set || last.is_set) {  // the minus stands for itself
      out.add(first.set);
      out.add('-', '-');
      out.add(last.set);
      continue;
    }
    if (first.value > last.value) return wrong(Code::format, "a range whose begin is behind its end");
    out.add(first.value, last.value);
  }
  return negated ? out.complement() : out;
}

Result<PatternReader::Escape> PatternReader::class_member() {
  if (at_end()) return wrong(Code::format, "a [ without its ]");
  if (sees('\\')) return escape(true);
  const uint32_t c = code_point();
  return Escape{{{c, c}}, false, c};
}

bool PatternReader::hex(uint32_t n_digits, uint32_t& out) {
  if (text_.size() - at_ < n_digits) return false;
  out = 0;
  for (uint32_t i = 0; i < n_digits; ++i) {
    const int digit = hex_value(text_[at_ + i]);
    if (digit < 0) return false;
    out = out << 4 | static_cast<uint32_t>(digit);
  }
  at_ += n_digits;
  return true;
}

// After \u
Result<uint32_t> PatternReader::unicode_escape() {
  uint32_t value = 0;
  if (take('{')) {
    bool any = false;
    for (uint32_t digit; hex(1, digit); any = true) value = std::min(value << 4 | digit, kLastCodePoint + 1);
    if (!any || !take('}') || value > kLastCodePoint) return wrong(Code::format, "\\u{ is not followed by a code point and }");
    return value;
  }
  if (!hex(4, value)) return wrong(Code::format, "\\u is not followed by four hexadecimal digits");
  if (value >= 0xD800 && value < 0xDC00 && sees("\\u")) {
    const size_t before = at_;
    at_ += 2;
    uint32_t low = 0;
    if (hex(4, low) && low >= 0xDC00 && low < 0xE000) return 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
    at_ = before;
  }
  return value;
}

// After \p or \P
Result<CodePoints> PatternReader::property() {
  const size_t end = text_.find('}', at_);
  if (!take('{') || end == text_.npos) return wrong(Code::format, "\\p is not followed by a name in braces");
  std::string_view name = text_.substr(at_, end - at_);
  for (const std::string_view key : {"General_Category=", "gc="})
    if (name.starts_with(key)) name.remove_prefix(key.size());
  for (const LongName& known : kLongNames)
    if (name == known.name) name = known.category;
  CodePoints out;
  if (name == "Any") {
    out = CodePoints::all();
  } else if (name == "ASCII") {
    out.add(0, 0x7F);
  } else if (!add_category(name, out)) {
    return wrong(Code::unsupported, "this property of characters is not supported");
  }
  at_ = end + 1;
  return out;
}

Result<PatternReader::Escape> PatternReader::escape(bool in_class) {
  skip();
  if (at_end()) return wrong(Code::format, "the pattern ends after a backslash");
  const auto one = [](uint32_t c) { return Escape{{{c, c}}, false, c}; };
  const auto some = [](CodePoints set) { return Escape{std::move(set), true, 0}; };
  const char c = peek();
  constexpr std::string_view kLetters = "nrtvf", kMeanings = "\n\r\t\v\f";
  if (const size_t i = kLetters.find(c); i != kLetters.npos) {
    skip();
    return one(static_cast<uint8_t>(kMeanings[i]));
  }
  switch (c) {
    case 'd':
      return skip(), some(digits());
    case 'D':
      return skip(), some(digits().complement());
    case 'w':
      return skip(), some(word_characters());
    case 'W':
      return skip(), some(word_characters().complement());
    case 's':
      return skip(), some(spaces());
    case 'S':
      return skip(), some(spaces().complement());
    case 'p':
    case 'P': {
      skip();
      INLAY_ASSIGN(CodePoints set, property());
      return some(c == 'p' ? std::move(set) : set.complement());
    }
    case 'b':
      if (!in_class) return wrong(Code::unsupported, "word boundaries are not supported");
      return skip(), one('\b');
    case 'x': {
      skip();
      uint32_t value = 0;
      if (!hex(2, value)) return wrong(Code::format, "\\x is not followed by two hexadecimal digits");
      return one(value);
    }
    case 'u': {
      skip();
      INLAY_ASSIGN(const uint32_t value, unicode_escape());
      return one(value);
    }
    case 'c': {
      skip();
      const char letter = ascii_lower(peek());
      if (letter < 'a' || letter > 'z') return wrong(Code::format, "\\c is not followed by a letter");
      skip();
      return one(static_cast<uint32_t>(letter - 'a' + 1));
    }
    case '0':
      skip();
      if (is_ascii_digit(peek())) return wrong(Code::format, "a number after \\0");
      return one(0);
    default:
      break;
  }
  if (c >= '1' && c <= '9') return wrong(Code::unsupported, "references to groups are not supported");
  if (c == 'k') return wrong(Code::unsupported, "references to groups are not supported");
  if (is_ascii_alnum(c)) return wrong(Code::format, "an unknown escape");
  return one(code_point());
}

}  // namespace inlay::constraint
