#include <algorithm>

#include "src/base/ascii.h"
#include "src/formats/json_data.h"
#include "src/formats/text.h"

namespace inlay::detail {
namespace {

constexpr uint32_t kNotHex = 0xFFFF0000;
constexpr size_t kFewMembers = 8;  // comparing all pairs of keys beats sorting

void append_utf8(uint32_t c, char*& out) {
  const auto put = [&](uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
}

uint64_t hash_of(std::string_view key) {
  uint64_t h = 0xCBF29CE484222325;  // FNV-1a; equal hashes of different keys only cost a comparison
  for (const char c : key) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return h;
}

class JsonParser {
 public:
  JsonParser(JsonData& data, const JsonLimits& limits)
      : data_(data), limits_(limits), at_(data.text.data()), end_(at_ + data.text.size()) {}

  Status run() {
    if (data_.text.size() > limits_.max_bytes)
      return error(Code::format, "%s: the JSON has %zu bytes, the limit is %u", data_.name.c_str(), data_.text.size(),
                   limits_.max_bytes);
    skip_space();
    INLAY_TRY(value(0));
    skip_space();
    if (at_ != end_) return wrong("there is more text after the end of the value");
    return {};
  }

 private:
  Status wrong(const char* what) const { return wrong_at(what, at_); }
  // `place` is in the line of at_: no string holds a line end.
  Status wrong_at(const char* what, const char* place) const {
    return error(Code::format, "%s: line %llu, byte %lld: %s", data_.name.c_str(),
                 static_cast<unsigned long long>(line_), static_cast<long long>(place - line_begin_ + 1), what);
  }

  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    for (; at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t'); ++at_)
      if (*at_ == '\n') ++line_, line_begin_ = at_ + 1;
  }

  uint32_t add(JsonType type) {
    const auto node = static_cast<uint32_t>(data_.nodes.size());
    data_.nodes.push_back({0, 0, node + 1, type, false});
    return node;
  }
  void set_text(uint32_t node, const char* begin, const char* end) {
    data_.nodes[node].begin = static_cast<uint32_t>(begin - data_.text.data());
    data_.nodes[node].size = static_cast<uint32_t>(end - begin);
  }
  void close(uint32_t node, uint32_t size) {
    data_.nodes[node].size = size;
    data_.nodes[node].end = static_cast<uint32_t>(data_.nodes.size());
  }

  Status value(uint32_t depth) {
    if (at_ == end_) return wrong("the text ends where a value is expected");
    switch (*at_) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        return word("true", JsonType::boolean, true);
      case 'f':
        return word("false", JsonType::boolean, false);
      case 'n':
        return word("null", JsonType::null, false);
      default:
        return number();
    }
  }

  Status word(std::string_view text, JsonType type, bool truth) {
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(text)) return wrong("a value is expected");
    at_ += text.size();
    data_.nodes[add(type)].truth = truth;
    return {};
  }

  bool digits() {
    const char* begin = at_;
    while (at_ < end_ && is_ascii_digit(*at_)) ++at_;
    return at_ > begin;
  }

  Status number() {
    const char* begin = at_;
    (void)take('-');
    if (at_ == end_ || !is_ascii_digit(*at_)) return wrong(at_ == begin ? "a value is expected" : "a digit is expected");
    if (!take('0')) digits();
    if (take('.') && !digits()) return wrong("a digit is expected after the decimal point");
    if (take('e') || take('E')) {
      if (!take('+')) (void)take('-');
      if (!digits()) return wrong("a digit is expected in the exponent");
    }
    set_text(add(JsonType::number), begin, at_);
    return {};
  }

  // From the opening quote to after the closing one.
  Status string() {
    const uint32_t node = add(JsonType::string);
    char* begin = ++at_;
    char* out = begin;
    while (true) {
      const char* run = at_;
      bool ascii = true;
      while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) {
        ascii &= static_cast<unsigned char>(*at_) < 0x80;
        ++at_;
      }
      const auto n = static_cast<size_t>(at_ - run);
      if (!ascii && !is_valid_utf8({run, n})) return wrong_at("a string with bytes that are not UTF-8", run);
      out = out == run ? at_ : std::copy(run, static_cast<const char*>(at_), out);
      if (at_ == end_) return wrong("the text ends inside a string");
      if (*at_ == '"') break;
      if (*at_ != '\\') return wrong("a control character inside a string");
      INLAY_TRY(escape(out));
    }
    ++at_;
    set_text(node, begin, out);
    return {};
  }

  Status escape(char*& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (at_ == end_) return wrong("the text ends inside a string");
    if (*at_ == 'u') return unicode_escape(out);
    const size_t i = kLetters.find(*at_);
    if (i == kLetters.npos) return wrong("an unknown escape in a string");
    *out++ = kMeanings[i];
    ++at_;
    return {};
  }

  Status unicode_escape(char*& out) {
    const char* place = at_ - 1;
    uint32_t c = hex4();
    if (c == kNotHex) return wrong_at("\\u is not followed by four hexadecimal digits", place);
    if (c >= 0xD800 && c < 0xE000) {
      uint32_t low = 0;
      if (c < 0xDC00 && end_ - at_ >= 2 && at_[0] == '\\' && at_[1] == 'u') {
        ++at_;
        low = hex4();
      }
      if (low < 0xDC00 || low >= 0xE000) return wrong_at("half a surrogate pair in a string", place);
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(c, out);
    return {};
  }

  // The digits after the u at at_.
  uint32_t hex4() {
    ++at_;
    if (end_ - at_ < 4) return kNotHex;
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const int digit = hex_value(*at_);
      if (digit < 0) return kNotHex;
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    return value;
  }

  Status check_depth(uint32_t depth) const {
    if (depth < limits_.max_depth) return {};
    return wrong(("arrays and objects nested more than " + std::to_string(limits_.max_depth) + " deep").c_str());
  }

  Status array(uint32_t depth) {
    INLAY_TRY(check_depth(depth));
    const uint32_t node = add(JsonType::array);
    uint32_t n = 0;
    ++at_;
    skip_space();
    if (!take(']')) {
      do {
        skip_space();
        INLAY_TRY(value(depth + 1));
        ++n;
        skip_space();
      } while (take(','));
      if (!take(']')) return wrong("a comma or ] is expected");
    }
    close(node, n);
    return {};
  }

  Status object(uint32_t depth) {
    INLAY_TRY(check_depth(depth));
    const uint32_t node = add(JsonType::object);
    uint32_t n = 0;
    ++at_;
    skip_space();
    if (!take('}')) {
      do {
        skip_space();
        INLAY_TRY(member(depth));
        ++n;
        skip_space();
      } while (take(','));
      if (!take('}')) return wrong("a comma or } is expected");
    }
    close(node, n);
    return check_keys(node);
  }

  Status member(uint32_t depth) {
    if (at_ == end_ || *at_ != '"') return wrong("a key in double quotes is expected");
    INLAY_TRY(string());
    skip_space();
    if (!take(':')) return wrong("a colon is expected after a key");
    skip_space();
    return value(depth + 1);
  }

  Status check_keys(uint32_t object) {
    const JsonNode& node = data_.nodes[object];
    keys_.clear();
    for (uint32_t key = object + 1; key < node.end; key = data_.nodes[key + 1].end)
      keys_.push_back({node.size > kFewMembers ? hash_of(data_.text_of(key)) : 0, key});
    const auto same = [&](const Key& a, const Key& b) {
      return a.hash == b.hash && data_.text_of(a.node) == data_.text_of(b.node);
    };
    if (node.size > kFewMembers)
      std::sort(keys_.begin(), keys_.end(), [&](const Key& a, const Key& b) {
        return a.hash != b.hash ? a.hash < b.hash : data_.text_of(a.node) < data_.text_of(b.node);
      });
    for (size_t i = 1; i < keys_.size(); ++i)
      for (size_t j = node.size > kFewMembers ? i - 1 : 0; j < i; ++j)
        if (same(keys_[i], keys_[j]))
          return wrong(
              ("the object that ends here has the key " + quote(data_.text_of(keys_[i].node)) + " twice").c_str());
    return {};
  }

  struct Key {
    uint64_t hash;
    uint32_t node;
  };

  JsonData& data_;
  const JsonLimits limits_;
  char* at_;
  char* const end_;
  uint64_t line_ = 1;
  const char* line_begin_ = at_;
  std::vector<Key> keys_;
};

}  // namespace

Status parse_json(JsonData& data, const JsonLimits& limits) { return JsonParser(data, limits).run(); }

}  // namespace inlay::detail
