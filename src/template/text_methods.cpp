// Methods of str.
#include <algorithm>
#include <span>

#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/case_tables.h"
#include "src/template/literals.h"
#include "src/template/numbers.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

Result<Value> text_like(Run& run, const Value& self, std::string_view bytes) {
  return run.part(self, bytes, self.is_markup());
}

template <std::string (*Convert)(std::string_view)>
Result<Value> converted_text(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "the method", {}));
  return text_like(run, self, Convert(self.text()));
}

// An argument that becomes a part of the result: markup takes everything, escaped.
Result<std::string> added_text(Run& run, const Value& self, const Bound& bound, size_t which, std::string_view otherwise = "") {
  if (!self.is_markup() || !bound.has(which)) {
    INLAY_ASSIGN(const std::string_view plain, bound.text(which, otherwise));
    INLAY_TRY(run.charge_bytes(plain.size()));
    return std::string(plain);
  }
  INLAY_ASSIGN(std::string text, to_text(run, bound[which]));
  return bound[which].is_markup() ? std::move(text) : escape_html(text);
}

template <Side Where>
Result<Value> stripped(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "strip", {"chars"}));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  if (bound[0].is_none()) return text_like(run, self, strip(self.text(), Where));
  INLAY_ASSIGN(const std::string_view chars, bound.text(0));
  INLAY_TRY(run.charge_product(self.text().size(), chars.size()));
  return text_like(run, self, strip(self.text(), Where, chars));
}

template <Side Where>
Result<Value> split_text(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "split", {"sep", "maxsplit"}));
  INLAY_ASSIGN(const int64_t limit, bound.integer(1, -1));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  // More parts than there are steps left are no result.
  const size_t n = std::min<uint64_t>(limit < 0 ? SIZE_MAX : static_cast<size_t>(limit), run.steps_left());
  if (bound[0].is_none()) return run.texts(self, split_spaces(self.text(), n, Where));
  INLAY_ASSIGN(const std::string_view separator, bound.text(0));
  if (separator.empty()) return type_error("empty separator");
  return run.texts(self, split(self.text(), separator, n, Where));
}

Result<Value> lines(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "splitlines", {"keepends"}));
  return run.texts(self, split_lines(self.text(), bound.truth(0, false), run.steps_left() + 1));
}

template <Side Where>
Result<Value> partition(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "partition", {"sep"}, 1));
  INLAY_ASSIGN(const std::string_view separator, bound.text(0));
  if (separator.empty()) return type_error("empty separator");
  const std::string_view text = self.text();
  const size_t at = Where == Side::left ? find_first(text, separator) : find_last(text, separator);
  if (at == text.npos)
    return run.texts(
        self,
        Where == Side::left ? std::vector<std::string_view>{text, "", ""} : std::vector<std::string_view>{"", "", text},
        ListKind::tuple);
  return run.texts(self, {text.substr(0, at), separator, text.substr(at + separator.size())}, ListKind::tuple);
}

Result<Value> replaced(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "replace", {"old", "new", "count"}, 2));
  INLAY_ASSIGN(const std::string_view from, bound.text(0));
  INLAY_ASSIGN(const std::string to, added_text(run, self, bound, 1));
  INLAY_ASSIGN(const int64_t limit, bound.integer(2, -1));
  const size_t n = limit < 0 ? SIZE_MAX : static_cast<size_t>(limit);
  INLAY_TRY(run.charge_bytes(self.text().size()));
  INLAY_TRY(run.charge_product(std::min(count(self.text(), from), n), to.size()));
  return text_like(run, self, replace(self.text(), from, to, n));
}

Result<Value> joined(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "join", {"iterable"}, 1));
  INLAY_ASSIGN(const auto items, run.iterate(bound[0]));
  for (size_t i = 0; i < items.size() && !self.is_markup(); ++i)
    if (!items[i].is_string())
      return type_error("sequence item %zu: expected str instance, %s found", i, items[i].type_name());
  return join_texts(run, items, self);
}

// The part of the text between the optional code point bounds `begin` and `end`, and where it begins.
struct Window {
  std::string_view text;
  int64_t begin;
};
Result<Window> window(Run& run, const Value& self, const Bound& bound) {
  INLAY_TRY(run.charge_bytes(self.text().size()));
  if (bound[1].is_none() && bound[2].is_none()) return Window{self.text(), 0};
  const auto n = static_cast<int64_t>(count_code_points(self.text()));
  int64_t limits[2] = {0, n};
  for (size_t i = 0; i < 2; ++i) {
    if (bound[i + 1].is_none()) continue;
    INLAY_ASSIGN(const int64_t at, bound.integer(i + 1, 0));
    limits[i] = std::clamp<int64_t>(at < 0 ? at + n : at, 0, n);
  }
  const auto byte_of = [&](int64_t position) {
    size_t at = 0;
    for (int64_t i = 0; i < position; ++i) at += decode_utf8(self.text().data() + at).n_bytes;
    return at;
  };
  const size_t begin = byte_of(limits[0]), end = byte_of(std::max(limits[0], limits[1]));
  return Window{std::string_view(self.text()).substr(begin, end - begin), limits[0]};
}

template <bool Last, bool MustExist>
Result<Value> found(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "find", {"sub", "start", "end"}, 1));
  INLAY_ASSIGN(const std::string_view part, bound.text(0));
  INLAY_ASSIGN(const Window in, window(run, self, bound));
  const size_t at = Last ? find_last(in.text, part) : find_first(in.text, part);
  if (at != in.text.npos) return Value(in.begin + static_cast<int64_t>(count_code_points(in.text.substr(0, at))));
  if (MustExist) return type_error("substring not found");
  return Value(int64_t{-1});
}

Result<Value> counted(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "count", {"sub", "start", "end"}, 1));
  INLAY_ASSIGN(const std::string_view part, bound.text(0));
  INLAY_ASSIGN(const Window in, window(run, self, bound));
  return Value(static_cast<int64_t>(count(in.text, part)));
}

template <bool AtEnd>
Result<Value> begins_or_ends(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound,
               Bound::bind(arguments, AtEnd ? "endswith" : "startswith", {"affix", "start", "end"}, 1));
  INLAY_ASSIGN(const Window in, window(run, self, bound));
  const bool several = bound[0].is(Kind::list) && bound[0].list().kind == ListKind::tuple;
  const std::vector<Value> affixes = several ? bound[0].list().items : std::vector<Value>{bound[0]};
  for (const Value& affix : affixes) {
    if (affix.is_undefined()) return undefined_error(affix);
    if (!affix.is_string())
      return type_error("%s first arg must be str or a tuple of str, not %s", AtEnd ? "endswith" : "startswith",
                        affix.type_name());
    INLAY_TRY(run.charge(affix.text().size() > in.text.size() ? 0 : affix.weight()));
    if (AtEnd ? in.text.ends_with(affix.text()) : in.text.starts_with(affix.text())) return Value(true);
  }
  return Value(false);
}

template <bool AtEnd>
Result<Value> without_affix(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "removeprefix", {"affix"}, 1));
  INLAY_ASSIGN(const std::string_view affix, bound.text(0));
  std::string_view text = self.text();
  INLAY_TRY(run.charge_bytes(std::min(affix.size(), text.size())));
  if (AtEnd ? text.ends_with(affix) : text.starts_with(affix))
    text = AtEnd ? text.substr(0, text.size() - affix.size()) : text.substr(affix.size());
  return text_like(run, self, text);
}

// Filled up to a width: Side says where the text is.
template <Side Where>
Result<Value> justified(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "justification", {"width", "fillchar"}, 1));
  INLAY_ASSIGN(const int64_t width, bound.integer(0, 0));
  INLAY_ASSIGN(const std::string fill, added_text(run, self, bound, 1, " "));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  if (count_code_points(fill) != 1) return type_error("the fill character must be exactly one character long");
  const auto n = static_cast<int64_t>(count_code_points(self.text()));
  if (width <= n) return self;
  const auto missing = static_cast<uint64_t>(width - n);
  INLAY_TRY(run.charge_product(missing, fill.size()));
  // Python puts the odd one to the left where the width is odd.
  const uint64_t before = Where == Side::left    ? 0
                          : Where == Side::right ? missing
                                                 : missing / 2 + (missing & static_cast<uint64_t>(width) & 1);
  std::string out;
  for (uint64_t i = 0; i < before; ++i) out += fill;
  out += self.text();
  for (uint64_t i = before; i < missing; ++i) out += fill;
  return text_like(run, self, out);
}

Result<Value> zero_filled(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "zfill", {"width"}, 1));
  INLAY_ASSIGN(const int64_t width, bound.integer(0, 0));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  const auto n = static_cast<int64_t>(count_code_points(self.text()));
  if (width <= n) return self;
  INLAY_TRY(run.charge_product(1, static_cast<uint64_t>(width)));
  const bool sign = self.text().starts_with('-') || self.text().starts_with('+');
  std::string out = self.text();
  out.insert(sign ? 1 : 0, static_cast<size_t>(width - n), '0');
  return text_like(run, self, out);
}

using Class = bool (*)(uint32_t);
bool is_alphanumeric(uint32_t c) { return is_letter(c) || is_number(c); }
bool is_ascii(uint32_t c) { return c < 0x80; }
bool is_among(std::span<const CodeRange> ranges, uint32_t c) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &CodeRange::first);
  return after != ranges.begin() && c <= (after - 1)->last;
}
bool is_decimal(uint32_t c) { return decimal_value(c) >= 0; }
bool is_digit(uint32_t c) { return is_decimal(c) || is_among({kDigitRanges, kNumDigitRanges}, c); }
bool is_numeric(uint32_t c) { return is_number(c) || is_among({kNumericLetterRanges, kNumNumericLetterRanges}, c); }

template <Class Holds, bool IfEmpty>
Result<Value> all(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "the method", {}));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  if (self.text().empty()) return Value(IfEmpty);
  const auto points = code_points(self.text());
  return Value(
      std::all_of(points.begin(), points.end(), [](std::string_view c) { return Holds(decode_utf8(c.data()).value); }));
}

Result<Value> is_identifier(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "isidentifier", {}));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  return Value(!self.text().empty() && name_length(self.text()) == self.text().size());
}

// Every run of letters begins with a capital one, and has no other.
Result<Value> is_title(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "istitle", {}));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  bool found = false, inside = false;
  for (const std::string_view c : code_points(self.text())) {
    const uint32_t point = decode_utf8(c.data()).value;
    const bool cased = is_upper(point) || is_lower(point);
    if (cased && is_upper(point) == inside) return Value(false);
    inside = cased;
    found = found || cased;
  }
  return Value(found);
}

Result<Value> case_folded(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "casefold", {}));
  for (const std::string_view c : code_points(self.text()))
    if (!is_ascii(decode_utf8(c.data()).value)) return error(Code::unsupported, "casefold is not supported for %s", quoted_text(c).c_str());
  return text_like(run, self, lower(self.text()));
}

Result<Value> tabs_expanded(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "expandtabs", {"tabsize"}));
  INLAY_ASSIGN(const int64_t size, bound.integer(0, 8));
  INLAY_TRY(run.charge_bytes(self.text().size()));
  INLAY_TRY(run.charge_product(count(self.text(), "\t"), static_cast<uint64_t>(std::max<int64_t>(size, 0))));
  std::string out;
  int64_t column = 0;
  for (const std::string_view c : code_points(self.text())) {
    if (c != "\t") {
      out += c;
      column = c == "\n" || c == "\r" ? 0 : column + 1;
    } else if (size > 0) {
      const int64_t n = size - column % size;
      out.append(static_cast<size_t>(n), ' ');
      column += n;
    }
  }
  return text_like(run, self, out);
}

template <bool Upper>
Result<Value> has_case(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const bool out, apply_test(run, Upper ? "upper" : "lower", self, arguments));
  return Value(out);
}

Result<Value> format_braces(Run& run, const Value& self, const Arguments& arguments) {
  return brace_format(run, self.text(), arguments);
}

constexpr MethodEntry callable(Method method) { return {Access::callable, method}; }
constexpr MethodEntry kUnsupported = {Access::unsupported, nullptr};

constexpr Named<MethodEntry> kMethods[] = {{"upper", callable(converted_text<upper>)},
                                           {"lower", callable(converted_text<lower>)},
                                           {"casefold", callable(case_folded)},
                                           {"capitalize", callable(converted_text<capitalize>)},
                                           {"title", callable(converted_text<title>)},
                                           {"swapcase", callable(converted_text<swap_case>)},
                                           {"strip", callable(stripped<Side::both>)},
                                           {"lstrip", callable(stripped<Side::left>)},
                                           {"rstrip", callable(stripped<Side::right>)},
                                           {"split", callable(split_text<Side::left>)},
                                           {"rsplit", callable(split_text<Side::right>)},
                                           {"splitlines", callable(lines)},
                                           {"partition", callable(partition<Side::left>)},
                                           {"rpartition", callable(partition<Side::right>)},
                                           {"replace", callable(replaced)},
                                           {"join", callable(joined)},
                                           {"find", callable(found<false, false>)},
                                           {"rfind", callable(found<true, false>)},
                                           {"index", callable(found<false, true>)},
                                           {"rindex", callable(found<true, true>)},
                                           {"count", callable(counted)},
                                           {"startswith", callable(begins_or_ends<false>)},
                                           {"endswith", callable(begins_or_ends<true>)},
                                           {"removeprefix", callable(without_affix<false>)},
                                           {"removesuffix", callable(without_affix<true>)},
                                           {"ljust", callable(justified<Side::left>)},
                                           {"rjust", callable(justified<Side::right>)},
                                           {"center", callable(justified<Side::both>)},
                                           {"zfill", callable(zero_filled)},
                                           {"isdigit", callable(all<is_digit, false>)},
                                           {"isdecimal", callable(all<is_decimal, false>)},
                                           {"isalpha", callable(all<is_letter, false>)},
                                           {"isalnum", callable(all<is_alphanumeric, false>)},
                                           {"isspace", callable(all<is_space, false>)},
                                           {"isascii", callable(all<is_ascii, true>)},
                                           {"isupper", callable(has_case<true>)},
                                           {"islower", callable(has_case<false>)},
                                           {"format", callable(format_braces)},
                                           {"format_map", kUnsupported},
                                           {"encode", kUnsupported},
                                           {"expandtabs", callable(tabs_expanded)},
                                           {"isidentifier", callable(is_identifier)},
                                           {"isnumeric", callable(all<is_numeric, false>)},
                                           {"isprintable", callable(all<is_printable, true>)},
                                           {"istitle", callable(is_title)},
                                           {"maketrans", kUnsupported},
                                           {"translate", kUnsupported}};

}  // namespace

MethodEntry find_text_method(std::string_view name) {
  for (const auto& known : kMethods)
    if (known.name == name) return known.function;
  return {};
}

}  // namespace inlay::tmpl
