#include "src/template/lexer.h"

#include <algorithm>
#include <array>

#include "src/base/ascii.h"
#include "src/template/literals.h"
#include "src/template/text.h"
#include "src/tokenizer/utf8.h"

namespace inlay::tmpl {

namespace {

constexpr std::array<std::string_view, 7> kLongSigns = {"//", "**", "==", "!=", ">=", "<=", ""};
constexpr std::string_view kSigns = "+-/*%~[](){}><=.:|,;";

bool is_blank_line(std::string_view text) { return !text.empty() && strip(text, Side::left).empty(); }

// Line breaks of every kind become \n; one at the very end is dropped.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : storage_(normalized(source)), source_(storage_) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) INLAY_TRY(text_and_tag());
    add(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }
  bool sees(std::string_view what) const { return rest().starts_with(what); }

  void advance(size_t n_bytes) {
    for (const char c : source_.substr(at_, n_bytes)) {
      if (c == '\n')
        ++position_.line, position_.column = 1;
      else if (!is_continuation(c))
        ++position_.column;
    }
    at_ += n_bytes;
    line_starting_ = at_ > 0 && source_[at_ - 1] == '\n';
  }
  void skip_spaces() { advance(rest().size() - strip(rest(), Side::left).size()); }
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), position_}); }
  Status fail(const char* message) const { return at(position_, error(Code::format, "%s", message)); }

  // The text in front of a tag, less what the tag's sign or the blanks of its line take away.
  void add_text(std::string_view text, bool at_line_start, char sign, bool is_print) {
    if (sign == '-') {
      text = strip(text, Side::right);
    } else if (sign != '+' && !is_print) {
      const size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
      if ((line > 0 || at_line_start) && is_blank_line(text.substr(line))) text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenKind::text, std::string(text));
  }

  static char sign_of(std::string_view tag) { return tag.size() > 2 && (tag[2] == '-' || tag[2] == '+') ? tag[2] : 0; }

  size_t find_tag(size_t from) const {
    for (size_t i = source_.find('{', from); i != source_.npos; i = source_.find('{', i + 1))
      if (i + 1 < source_.size() && (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#')) return i;
    return source_.npos;
  }

  Status text_and_tag() {
    const size_t tag = find_tag(at_);
    if (tag == source_.npos) {
      add(TokenKind::text, std::string(rest()));
      advance(rest().size());
      return {};
    }
    const char kind = source_[tag + 1], sign = sign_of(source_.substr(tag));
    add_text(source_.substr(at_, tag - at_), line_starting_, sign, kind == '{');
    advance(tag - at_);
    if (kind == '#') return comment();
    if (kind == '%' && raw_tag("raw") > 0) return raw();
    add(kind == '{' ? TokenKind::print_begin : TokenKind::block_begin, "");
    advance(sign ? 3 : 2);
    return tag_body(kind == '{');
  }

  // Length of the closing delimiter here with what it swallows, 0 if there is none.
  size_t closing(std::string_view delimiter, bool trims_line) const {
    std::string_view text = rest();
    const bool minus = text.starts_with('-'), plus = text.starts_with('+') && trims_line;
    if (minus || plus) text.remove_prefix(1);
    if (!text.starts_with(delimiter)) return 0;
    text.remove_prefix(delimiter.size());
    if (minus)
      text = strip(text, Side::left);
    else if (!plus && trims_line && text.starts_with('\n'))
      text.remove_prefix(1);
    return rest().size() - text.size();
  }

  Status comment() {
    const Position begin = position_;
    advance(2);
    while (at_ < source_.size()) {
      if (const size_t n = closing("#}", true)) {
        advance(n);
        return {};
      }
      advance(1);
    }
    return at(begin, error(Code::format, "the comment has no end"));
  }

  // Length of `{% NAME` with its spaces up to the closing delimiter, 0 if something else stands here.
  size_t raw_tag(std::string_view name) const {
    std::string_view text = rest();
    if (!text.starts_with("{%")) return 0;
    text.remove_prefix(sign_of(text) ? 3 : 2);
    text = strip(text, Side::left);
    if (!text.starts_with(name)) return 0;
    text = strip(text.substr(name.size()), Side::left);
    const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    return text.substr(sign).starts_with("%}") ? rest().size() - text.size() : 0;
  }

  Status raw() {
    const Position begin = position_;
    advance(raw_tag("raw"));
    // Unlike other blocks this one keeps the line break behind it.
    advance(sees("-") ? closing("%}", true) : sees("+") ? 3 : 2);
    const size_t from = at_;
    const bool at_line_start = line_starting_;
    while (at_ < source_.size()) {
      if (const size_t n = raw_tag("endraw")) {
        const char sign = sign_of(rest());
        add_text(source_.substr(from, at_ - from), at_line_start, sign, false);
        advance(n);
        advance(closing("%}", true));
        return {};
      }
      advance(1);
    }
    return at(begin, error(Code::format, "the raw block has no end"));
  }

  Status tag_body(bool is_print) {
    brackets_.clear();
    while (true) {
      skip_spaces();
      if (at_ >= source_.size()) return fail(is_print ? "the template ends inside {{" : "the template ends inside {%");
      if (brackets_.empty()) {
        if (const size_t n = closing(is_print ? "}}" : "%}", !is_print)) {
          add(is_print ? TokenKind::print_end : TokenKind::block_end, "");
          advance(n);
          return {};
        }
      }
      INLAY_TRY(token());
    }
  }

  Status token() {
    const char first = source_[at_];
    if (is_ascii_digit(first)) return number();
    if (first == '\'' || first == '"') return string(first);
    if (const size_t n = name_length(rest())) {
      add(TokenKind::name, std::string(rest().substr(0, n)));
      advance(n);
      return {};
    }
    for (const std::string_view sign : kLongSigns)
      if (!sign.empty() && sees(sign)) return this->sign(sign);
    if (kSigns.find(first) != kSigns.npos) return sign(rest().substr(0, 1));
    const std::string character(rest().substr(0, first_sequence(rest()).n_bytes));
    return at(position_, error(Code::format, "unexpected character '%s'", character.c_str()));
  }

  Status sign(std::string_view spelling) {
    static constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (kOpening.find(spelling) != kOpening.npos) brackets_.push_back(spelling[0]);
    if (const size_t which = kClosing.find(spelling); which != kClosing.npos) {
      if (brackets_.empty() || brackets_.back() != kOpening[which])
        return at(position_, error(Code::format, "unexpected '%c'", spelling[0]));
      brackets_.pop_back();
    }
    add(TokenKind::sign, std::string(spelling));
    advance(spelling.size());
    return {};
  }

  Status number() {
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    const NumberLength length = number_length(rest(), !after_dot);
    std::string digits(rest().substr(0, length.n_bytes));
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    add(length.is_real ? TokenKind::real : TokenKind::integer, std::move(digits));
    advance(length.n_bytes);
    return {};
  }

  Status string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return fail("the string literal has no end");
    auto text = unescape(source_.substr(at_ + 1, end - at_ - 1));
    if (!text.ok()) return at(position_, std::move(text).status());
    add(TokenKind::string, *std::move(text));
    advance(end + 1 - at_);
    return {};
  }

  std::string storage_;
  std::string_view source_;
  size_t at_ = 0;
  Position position_;
  bool line_starting_ = true;
  std::vector<char> brackets_;  // open ones of the current tag
  std::vector<Token> tokens_;
};

}  // namespace

std::string Token::describe() const {
  switch (kind) {
    case TokenKind::text:
      return "text";
    case TokenKind::print_begin:
      return "'{{'";
    case TokenKind::print_end:
      return "'}}'";
    case TokenKind::block_begin:
      return "'{%'";
    case TokenKind::block_end:
      return "'%}'";
    case TokenKind::end:
      return "the end of the template";
    case TokenKind::string:
      return "a string";
    default:
      return "'" + text + "'";
  }
}

Result<std::vector<Token>> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace inlay::tmpl
