// printf-style and brace-style formatting of str.
#include <charconv>
#include <cmath>
#include <optional>

#include "src/base/format.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

constexpr int64_t kMaxWidth = 10000;  // of a padded field

struct Field {
  std::string flags, key;
  int64_t width = 0, precision = -1;
  char type = 0;
  bool has(char flag) const { return flags.find(flag) != flags.npos; }
};

// repr() in ASCII, as !a and %a ask for.
std::string ascii(std::string_view text) {
  std::string out;
  for (const std::string_view c : code_points(text)) {
    const auto point = static_cast<uint32_t>(decode_utf8(c.data()).value);
    if (point < 0x80) {
      out += c;
    } else {
      append_format(out, point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x", point);
    }
  }
  return out;
}

class PercentFormat {
 public:
  PercentFormat(Run& run, const std::string& format, const Value& arguments)
      : run_(run), rest_(format), arguments_(arguments) {}

  Result<Value> write() {
    INLAY_TRY(run_.charge_bytes(rest_.size()));
    std::string out;
    while (!rest_.empty()) {
      const size_t percent = std::min(rest_.find('%'), rest_.size());
      out += rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (rest_.empty()) break;
      INLAY_ASSIGN(const Field field, parse());
      INLAY_ASSIGN(const std::string text, convert(field));
      INLAY_TRY(run_.charge_bytes(text.size()));
      out += text;
    }
    if (is_tuple() ? used_ < arguments_.list().items.size() : used_ == 0 && !has_items())
      return type_error("not all arguments converted during string formatting");
    return run_.text(std::move(out));
  }

 private:
  bool is_tuple() const { return arguments_.is(Kind::list) && arguments_.list().kind == ListKind::tuple; }

  // What Python takes for a mapping, so that it may stay unused.
  bool has_items() const {
    return (arguments_.is(Kind::list) && arguments_.list().kind <= ListKind::range) || arguments_.is(Kind::map) || arguments_.is_undefined();
  }

  Result<int64_t> number() {
    int64_t value = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      value = value * 10 + (rest_[0] - '0');
      if (value > kMaxWidth)
        return error(Code::unsupported, "a width above %d in a format", static_cast<int>(kMaxWidth));
    }
    return value;
  }

  Result<Field> parse() {
    Field field;
    rest_.remove_prefix(1);
    if (rest_.starts_with('(')) {
      const size_t close = rest_.find(')');
      if (close == rest_.npos) return type_error("incomplete format key");
      field.key = rest_.substr(1, close - 1);
      rest_.remove_prefix(close + 1);
    }
    for (; !rest_.empty() && std::string_view("-+ #0").find(rest_[0]) != std::string_view::npos; rest_.remove_prefix(1))
      field.flags += rest_[0];
    INLAY_ASSIGN(field.width, number());
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      INLAY_ASSIGN(field.precision, number());
    }
    if (rest_.empty()) return type_error("incomplete format");
    field.type = rest_[0];
    rest_.remove_prefix(1);
    return field;
  }

  Result<Value> next_argument(const Field& field) {
    if (!field.key.empty()) {
      if (!arguments_.is(Kind::map)) return type_error("format requires a mapping");
      const Value* found = arguments_.map().find(std::string_view(field.key));
      return found ? Result<Value>(*found) : Result<Value>(type_error("format has no key '%s'", field.key.c_str()));
    }
    if (!is_tuple() && used_++ == 0) return arguments_;
    if (!is_tuple() || used_ >= arguments_.list().items.size())
      return type_error("not enough arguments for format string");
    return arguments_.list().items[used_++];
  }

  Result<std::string> convert(const Field& field) {
    if (field.type == '%') return std::string("%");
    if (std::string_view("csradiuxXofFeEgG").find(field.type) == std::string_view::npos)
      return error(Code::unsupported, "the format character '%c' is not supported", field.type);
    INLAY_ASSIGN(const Value value, next_argument(field));
    std::string text;
    if (field.type == 'c') {
      INLAY_ASSIGN(text, character(value));
      return padded(field, text, false);
    }
    if (field.type == 's' || field.type == 'r' || field.type == 'a') {
      INLAY_ASSIGN(text, field.type == 's' ? to_text(run_, value) : repr(run_, value));
      if (field.type == 'a') text = ascii(text);
      if (field.precision >= 0) text.resize(first_code_points(text, static_cast<size_t>(field.precision)).size());
      return padded(field, text, false);
    }
    if (value.is_undefined()) return undefined_error(value);
    if (!value.is_number())
      return type_error("%%%c format: a real number is required, not %s", field.type, value.type_name());
    INLAY_ASSIGN(const std::string number, digits(field, value));
    return padded(field, number, true);
  }

  static Result<std::string> character(const Value& value) {
    if (value.is_string() && value.text().size() <= 4 && count_code_points(value.text()) == 1) return value.text();
    if (!value.is_integral()) return type_error("%%c requires int or char");
    const int64_t point = value.integer();
    if (point < 0 || point > 0x10FFFF) return type_error("%%c arg not in range(0x110000)");
    if (point >= 0xD800 && point < 0xE000) return error(Code::unsupported, "%%c of a surrogate is not supported");
    std::string out;
    append_utf8(static_cast<uint32_t>(point), out);
    return out;
  }

  // The digits without a sign. std::to_chars, as printf would ask the host's locale for the decimal point.
  static Result<std::string> magnitude(const Field& field, const Value& value) {
    char buffer[512];
    std::to_chars_result done{};
    const char type = static_cast<char>(field.type | 0x20);
    if (type == 'f' || type == 'e' || type == 'g') {
      const auto style = type == 'f'   ? std::chars_format::fixed
                         : type == 'e' ? std::chars_format::scientific
                                       : std::chars_format::general;
      const int precision = field.precision < 0 ? 6 : static_cast<int>(field.precision);
      done = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value.real()), style, precision);
    } else {
      if (!value.is_integral() && (type == 'x' || type == 'o'))
        return type_error("%%%c format: an integer is required, not float", field.type);
      const double whole = value.real();
      if (!(std::fabs(whole) < 9.2e18))
        return error(Code::unsupported, "%%%c format: the number does not fit in 64 bits", field.type);
      const int64_t number = value.is_integral() ? value.integer() : static_cast<int64_t>(whole);
      done = std::to_chars(buffer, buffer + sizeof buffer, number < 0 ? -number : number,
                           type == 'x'   ? 16
                           : type == 'o' ? 8
                                         : 10);
    }
    if (done.ec != std::errc())
      return error(Code::unsupported, "a number of more than %zu digits in a format", sizeof buffer);
    std::string text(buffer, done.ptr);
    const bool whole = std::string_view("diuxo").find(type) != std::string_view::npos;
    if (whole && field.precision > static_cast<int64_t>(text.size()))
      text.insert(0, static_cast<size_t>(field.precision) - text.size(), '0');
    return field.type == 'X' || field.type == 'E' || field.type == 'G' ? upper(text) : text;
  }

  static Result<std::string> digits(const Field& field, const Value& value) {
    if (field.has('#')) return error(Code::unsupported, "the format flag '#' is not supported");
    INLAY_ASSIGN(const std::string text, magnitude(field, value));
    const bool is_whole = std::string_view("diuxXo").find(field.type) != std::string_view::npos;
    const bool negative = is_whole ? value.real() <= -1 : std::signbit(value.real());
    return (negative ? "-" : field.has('+') ? "+" : field.has(' ') ? " " : "") + text;
  }

  static std::string padded(const Field& field, std::string text, bool is_numeric) {
    const auto n = static_cast<int64_t>(count_code_points(text));
    if (n >= field.width) return text;
    const auto missing = static_cast<size_t>(field.width - n);
    if (field.has('-')) return text + std::string(missing, ' ');
    if (!is_numeric || !field.has('0')) return std::string(missing, ' ') + text;
    const size_t sign = text.starts_with('-') || text.starts_with('+') || text.starts_with(' ') ? 1 : 0;
    return text.insert(sign, missing, '0');
  }

  Run& run_;
  std::string_view rest_;
  const Value& arguments_;
  size_t used_ = 0;
};

}  // namespace

Result<Value> percent_format(Run& run, const std::string& format, const Value& arguments) {
  return PercentFormat(run, format, arguments).write();
}

namespace {

// What stands behind the colon of a field: [[fill]align][sign][#][0][width][grouping][.precision][type].
struct FieldStyle {
  std::string fill = " ";
  char align = 0, sign = '-', grouping = 0, type = 0;
  bool zeros = false, alternate = false;
  int64_t width = 0, precision = -1;
};

Result<int64_t> read_number(std::string_view text, size_t& at) {
  int64_t out = 0;
  const auto [end, wrong] = std::from_chars(text.data() + at, text.data() + text.size(), out);
  if (wrong == std::errc::result_out_of_range) return type_error("Too many decimal digits in format string");
  at = static_cast<size_t>(end - text.data());
  return out;
}

Result<FieldStyle> read_style(std::string_view spec) {
  FieldStyle out;
  const auto is_one_of = [&](size_t i, std::string_view set) { return i < spec.size() && set.find(spec[i]) != set.npos; };
  size_t at = 0;
  const size_t n_fill = spec.empty() ? 0 : static_cast<size_t>(decode_utf8(spec.data()).n_bytes);
  if (n_fill > 0 && is_one_of(n_fill, "<>=^")) out.fill = spec.substr(0, n_fill), at = n_fill;
  if (is_one_of(at, "<>=^")) out.align = spec[at++];
  if (is_one_of(at, "+- ")) out.sign = spec[at++];
  if (is_one_of(at, "#")) ++at, out.alternate = true;
  if (is_one_of(at, "0")) {
    ++at;
    out.zeros = true;
    if (n_fill == 0 || out.fill == " ") out.fill = "0";
    if (out.align == 0) out.align = '=';
  }
  if (is_one_of(at, "123456789")) {
    INLAY_ASSIGN(out.width, read_number(spec, at));
  }
  if (is_one_of(at, ",_")) out.grouping = spec[at++];
  if (is_one_of(at, ".")) {
    if (!is_one_of(++at, "0123456789")) return type_error("Format specifier missing precision");
    INLAY_ASSIGN(out.precision, read_number(spec, at));
  }
  if (at < spec.size()) out.type = spec[at++];
  if (at < spec.size()) return type_error("Invalid format specifier '%s'", std::string(spec).c_str());
  return out;
}

// The digits before the point in groups; zeros in front of them where all is to be `width` long.
std::string grouped(std::string digits, const FieldStyle& style, size_t width) {
  const size_t size = style.type == 0 || std::string_view("bxXo").find(style.type) == std::string_view::npos ? 3 : 4;
  const size_t n = std::min(digits.find_first_not_of(size == 4 ? "0123456789abcdefABCDEF" : "0123456789"), digits.size());
  const std::string behind = digits.substr(n);
  digits.resize(n);
  size_t n_digits = n;
  while (n > 0 && n_digits + (n_digits - 1) / size + behind.size() < width) ++n_digits;
  digits.insert(0, n_digits - n, '0');
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out += style.grouping;
    out += digits[i];
  }
  return out + behind;
}

std::string binary_digits(uint64_t number) {
  std::string out;
  do out.insert(0, 1, static_cast<char>('0' + number % 2));
  while ((number /= 2) != 0);
  return out;
}

Result<std::string> number_digits(Run& run, const Value& value, FieldStyle& style) {
  if (style.type == 0 && value.is(Kind::real) && style.precision < 0) {
    const std::string text = real_text(value.real());
    return text.starts_with('-') ? text.substr(1) : text;
  }
  const bool whole = value.is_integral() && (style.type == 0 || std::string_view("bcdxXo").find(style.type) != std::string_view::npos);
  if (whole && style.precision >= 0) return type_error("Precision not allowed in integer format specifier");
  const bool fraction = value.is_number() && !whole && (style.type == 0 || std::string_view("eEfFgG%").find(style.type) != std::string_view::npos);
  if (!whole && !fraction)
    return error(Code::unsupported, "the format code '%c' for a value of type '%s' is not supported", style.type, value.type_name());
  if (whole && style.grouping == ',' && style.type != 0 && style.type != 'd') return type_error("Cannot specify ',' with '%c'.", style.type);
  if (!whole && style.alternate) return error(Code::unsupported, "the format flag '#' for a value of type '%s' is not supported", value.type_name());
  if (whole && style.type == 'c') return error(Code::unsupported, "the format code 'c' is not supported");
  if (whole && style.type == 'b') {
    const int64_t number = value.integer();
    return binary_digits(number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number));
  }
  std::string format = "%";
  const bool percent = style.type == '%';
  if (!whole) format += "." + std::to_string(style.precision < 0 ? 6 : style.precision);
  format += whole ? (style.type == 0 ? 'd' : style.type) : percent ? 'f' : style.type == 0 ? 'g' : style.type;
  const Value shown = percent ? Value(value.real() * 100) : value.is(Kind::boolean) ? Value(value.integer()) : value;
  INLAY_ASSIGN(const Value tuple, run.tuple({shown}));
  INLAY_ASSIGN(const Value text, percent_format(run, format, tuple));
  std::string out = text.text();
  if (out.starts_with('-')) out.erase(0, 1);
  return percent ? out + "%" : out;
}

Result<std::string> styled(Run& run, const Value& value, std::string_view spec) {
  if (spec.empty()) return to_text(run, value);
  INLAY_ASSIGN(FieldStyle style, read_style(spec));
  if (style.type == 'n' && value.is_number()) style.type = value.is_integral() ? 'd' : 'g';
  const bool is_number = value.is_number() && !(value.is(Kind::boolean) && style.type == 's');
  if (!is_number && !value.is_string())
    return type_error("unsupported format string passed to %s.__format__", value.type_name());
  std::string text, sign;
  if (is_number) {
    INLAY_ASSIGN(text, number_digits(run, value, style));
    const bool negative = value.is_integral() ? value.integer() < 0 : std::signbit(value.real());
    sign = negative ? "-" : style.sign == '-' ? "" : std::string(1, style.sign);
    if (style.alternate && style.type != 0 && std::string_view("bxXo").find(style.type) != std::string_view::npos)
      sign += {'0', style.type};
    const bool fills = style.fill == "0" && style.align == '=';
    const auto width = static_cast<uint64_t>(fills ? std::max<int64_t>(0, style.width - static_cast<int64_t>(sign.size())) : 0);
    INLAY_TRY(run.charge_bytes(width));
    if (style.grouping) text = grouped(std::move(text), style, width);
  } else {
    if (style.type != 0 && style.type != 's')
      return type_error("Unknown format code '%c' for object of type 'str'", style.type);
    if (style.sign != '-' || style.grouping || style.alternate) return type_error("this format specifier is not allowed with strings");
    if (style.align == '=' && !style.zeros) return type_error("'=' alignment not allowed in string format specifier");
    if (style.align == '=') style.align = '<';
    text = style.precision < 0 ? value.text() : first_code_points(value.text(), static_cast<size_t>(style.precision));
  }
  const auto n = static_cast<int64_t>(count_code_points(text) + sign.size());
  const auto missing = static_cast<uint64_t>(std::max<int64_t>(0, style.width - n));
  INLAY_TRY(run.charge_product(missing, style.fill.size()));
  const char align = style.align ? style.align : is_number ? '>' : '<';
  const uint64_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string out = align == '=' ? sign : "";
  for (uint64_t i = 0; i < before; ++i) out += style.fill;
  out += align == '=' ? text : sign + text;
  for (uint64_t i = before; i < missing; ++i) out += style.fill;
  return out;
}

class BraceFormat {
 public:
  BraceFormat(Run& run, const Arguments& arguments) : run_(run), arguments_(arguments) {}

  // Fields may be in the specifications of fields, not deeper.
  Result<std::string> write(std::string_view format, int depth = 0) {
    if (depth > 1) return type_error("Max string recursion exceeded");
    std::string out;
    for (size_t i = 0; i < format.size(); ++i) {
      const char c = format[i];
      if ((c == '{' || c == '}') && depth == 0 && i + 1 < format.size() && format[i + 1] == c) {
        out += c, ++i;
      } else if (c == '}') {
        return type_error("single '}' in a format");
      } else if (c != '{') {
        out += c;
      } else {
        const size_t close = end_of_field(format, i + 1);
        if (close == format.npos) return type_error("single '{' in a format");
        INLAY_ASSIGN(const std::string text, field(format.substr(i + 1, close - i - 1), depth));
        INLAY_TRY(run_.charge_bytes(text.size()));
        out += text;
        i = close;
      }
    }
    return out;
  }

 private:
  static size_t end_of_field(std::string_view format, size_t at) {
    for (int open = 1; at < format.size(); ++at) {
      if (format[at] == '{') ++open;
      if (format[at] == '}' && --open == 0) return at;
    }
    return format.npos;
  }

  // NAME[!CONVERSION][:SPECIFICATION]
  Result<std::string> field(std::string_view text, int depth) {
    INLAY_TRY(run_.charge(1));
    size_t end = 0;
    for (bool inside = false; end < text.size(); ++end) {
      if (text[end] == '[' || text[end] == ']') inside = text[end] == '[';
      if (!inside && (text[end] == ':' || text[end] == '!')) break;
    }
    INLAY_ASSIGN(Value value, find(text.substr(0, end)));
    if (end < text.size() && text[end] == '!') {
      const char conversion = end + 1 < text.size() ? text[end + 1] : 0;
      if (conversion == 0 || (end + 2 < text.size() && text[end + 2] != ':'))
        return type_error("expected one of r, s, a and then ':' after '!' in a format");
      INLAY_ASSIGN(value, converted(value, conversion));
      end += 2;
    }
    std::string_view spec = text.substr(std::min(end + 1, text.size()));
    if (spec.find('{') == spec.npos) return styled(run_, value, spec);
    INLAY_ASSIGN(const std::string inner, write(spec, depth + 1));
    return styled(run_, value, inner);
  }

  Result<Value> converted(const Value& value, char conversion) {
    if (conversion != 'r' && conversion != 's' && conversion != 'a')
      return type_error("Unknown conversion specifier '%c'", conversion);
    INLAY_ASSIGN(std::string text, conversion == 's' ? to_text(run_, value) : repr(run_, value));
    return run_.text(conversion == 'a' ? ascii(text) : std::move(text));
  }

  // An argument, then .attributes and [items] of it.
  Result<Value> find(std::string_view name) {
    size_t at = std::min(name.find_first_of(".["), name.size());
    INLAY_ASSIGN(Value value, argument(std::string(name.substr(0, at))));
    while (at < name.size()) {
      const bool item = name[at] == '[';
      if (!item && name[at] != '.') return type_error("Only '.' or '[' may follow ']' in format field specifier");
      const size_t end = std::min(item ? name.find(']', at) : name.find_first_of(".[", at + 1), name.size());
      if (item && end == name.size()) return type_error("Missing ']' in format string");
      const std::string key(name.substr(at + 1, end - at - 1));
      if (key.empty()) return type_error("Empty attribute in format string");
      at = item ? end + 1 : end;
      if (!item) {
        INLAY_ASSIGN(value, attribute_of(run_, value, key));
      } else if (key.find_first_not_of("0123456789") == key.npos && key.size() < 18) {
        int64_t index = 0;
        std::from_chars(key.data(), key.data() + key.size(), index);
        INLAY_ASSIGN(value, item_of(run_, value, Value(index)));
      } else {
        INLAY_ASSIGN(value, item_of(run_, value, Value(key)));
      }
    }
    return value;
  }

  Result<Value> argument(const std::string& name) {
    if (name.find_first_not_of("0123456789") == name.npos && name.size() < 6) {
      const bool counts = name.empty();
      if (is_counting_.value_or(counts) != counts)
        return type_error("a format has both fields with numbers and fields without");
      is_counting_ = counts;
      size_t which = 0;
      if (counts)
        which = next_++;
      else
        std::from_chars(name.data(), name.data() + name.size(), which);
      if (which < arguments_.positional.size()) return arguments_.positional[which];
      return type_error("format refers to argument %zu, which is not given", which);
    }
    INLAY_TRY(run_.charge_product(arguments_.named.size(), name.size()));
    for (const auto& [keyword, value] : arguments_.named)
      if (keyword == name) return value;
    return type_error("format refers to the argument '%s', which is not given", name.c_str());
  }

  Run& run_;
  const Arguments& arguments_;
  size_t next_ = 0;
  std::optional<bool> is_counting_;
};

}  // namespace

Result<Value> brace_format(Run& run, const std::string& format, const Arguments& arguments) {
  INLAY_TRY(run.charge_bytes(format.size()));
  INLAY_ASSIGN(std::string out, BraceFormat(run, arguments).write(format));
  return run.text(std::move(out));
}

}  // namespace inlay::tmpl
