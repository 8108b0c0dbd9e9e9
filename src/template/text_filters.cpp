// Filters of text.
#include <algorithm>

#include "src/base/ascii.h"
#include "src/base/format.h"
#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

Result<Value> string_of(Run& run, const Value& value) {
  if (value.is_string()) {
    INLAY_TRY(run.charge_bytes(value.text().size()));
    return value;
  }
  INLAY_ASSIGN(std::string text, to_text(run, value));
  return run.text(std::move(text));
}

// A filter of the whole text without arguments; markup stays markup.
template <std::string (*Convert)(std::string_view)>
Result<Value> converted(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "filter", {}));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  return run.text(Convert(text), value.is_markup());
}

// Words of the filter title begin behind spaces, hyphens and opening brackets.
std::string title_words(std::string_view text) {
  std::string out;
  bool begins = true;
  std::string rest;
  const auto flush = [&] { out += lower(rest), rest.clear(); };
  for (const std::string_view c : code_points(text)) {
    const bool separates = is_space(decode_utf8(c.data()).value) ||
                           (c.size() == 1 && std::string_view("-({[<").find(c[0]) != std::string_view::npos);
    if (separates) {
      flush();
      out += c;
    } else if (begins) {
      out += upper(c);
    } else {
      rest += c;
    }
    begins = separates;
  }
  flush();
  return out;
}

Result<Value> title_filter(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "title", {}));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  return run.text(title_words(text));  // markup does not stay markup
}

Result<Value> trim(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "trim", {"chars"}));
  INLAY_ASSIGN(const Value text, string_of(run, value));
  if (!bound.has(0) || bound[0].is_none()) return run.part(text, strip(text.text(), Side::both), value.is_markup());
  INLAY_ASSIGN(const std::string_view chars, bound.text(0));
  INLAY_TRY(run.charge_product(text.text().size(), chars.size()));
  return run.part(text, strip(text.text(), Side::both, chars), value.is_markup());
}

Result<Value> to_string(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "string", {}));
  if (value.is_string()) return value;
  INLAY_ASSIGN(std::string text, to_text(run, value));
  return run.text(std::move(text));
}

Result<Value> mark_safe(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "safe", {}));
  INLAY_ASSIGN(std::string text, to_text(run, value));
  return run.text(std::move(text), true);
}

Result<Value> escape(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "escape", {}));
  if (value.is_markup()) return value;
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  return run.text(escape_html(text), true);
}

Result<Value> force_escape(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "forceescape", {}));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  return run.text(escape_html(text), true);
}

Result<Value> replace_text(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "replace", {"old", "new", "count"}, 2));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  INLAY_ASSIGN(const std::string from, to_text(run, bound[0]));
  INLAY_ASSIGN(const std::string to, to_text(run, bound[1]));
  int64_t limit = -1;
  if (!bound[2].is_none()) {
    INLAY_ASSIGN(limit, bound.integer(2, -1));
  }
  const size_t n = limit < 0 ? SIZE_MAX : static_cast<size_t>(limit);
  INLAY_TRY(run.charge_product(std::min(count(text, from), n), to.size()));
  return run.text(replace(text, from, to, n));  // markup does not stay markup
}

Result<Value> indent(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "indent", {"width", "first", "blank"}));
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is_string()) return type_error("indent needs a string, not %s", value.type_name());
  std::string margin;
  if (bound.has(0) && bound[0].is_string()) {
    margin = bound[0].text();
  } else {
    INLAY_ASSIGN(const int64_t width, bound.integer(0, 4));
    INLAY_TRY(run.charge_product(1, static_cast<uint64_t>(std::max<int64_t>(width, 0))));
    margin.assign(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
  }
  const std::string text = value.text() + "\n";  // so that a line break at the end counts
  const auto lines = split_lines(text, false, run.steps_left() + 1);
  INLAY_TRY(run.charge(lines.size()));
  INLAY_TRY(run.charge_product(lines.size(), margin.size()));
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i) out += '\n';
    const bool indented = i == 0 ? bound.truth(1, false) : bound.truth(2, false) || !lines[i].empty();
    if (indented) out += margin;
    out += lines[i];
  }
  return run.text(std::move(out), value.is_markup());
}

Result<Value> center(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "center", {"width"}));
  INLAY_ASSIGN(const int64_t width, bound.integer(0, 80));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  return find_text_method("center").function(run, Value(text, value.is_markup()), {{Value(width)}, {}});
}

Result<Value> truncate(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "truncate", {"length", "killwords", "end", "leeway"}));
  // Whatever has a length is returned as it is if it is short enough.
  int64_t n_end = 3;
  double limit = 255, leeway = 5;
  const auto number = [&](size_t which, double& out) -> Status {
    if (!bound.has(which)) return {};
    if (!bound[which].is_number()) return type_error("truncate: '%s' must be a number, not %s", which == 0 ? "length" : "leeway", bound[which].type_name());
    out = bound[which].real();
    return {};
  };
  INLAY_TRY(number(0, limit));
  if (!bound[3].is_none()) INLAY_TRY(number(3, leeway));
  if (bound.has(2)) {
    INLAY_ASSIGN(n_end, run.length(bound[2]));
  }
  if (!(limit >= static_cast<double>(n_end))) return type_error("truncate: 'length' is less than that of 'end', %d", static_cast<int>(n_end));
  if (!(leeway >= 0)) return type_error("truncate: 'leeway' must not be negative");
  INLAY_ASSIGN(const int64_t n, run.length(value));
  if (static_cast<double>(n) <= limit + leeway) return value;
  if (!value.is_string()) return type_error("truncate needs a string, not %s", value.type_name());
  INLAY_ASSIGN(const int64_t length, bound.integer(0, 255));
  INLAY_ASSIGN(const std::string_view end, bound.text(2, "..."));
  std::string_view kept = first_code_points(value.text(), static_cast<size_t>(length - n_end));
  INLAY_TRY(run.charge_bytes(kept.size()));
  if (!bound.truth(1, false)) kept = kept.substr(0, kept.rfind(' '));  // npos keeps all
  INLAY_ASSIGN(const Value beginning, run.part(value, kept, value.is_markup()));
  INLAY_ASSIGN(const Value ending, run.text(std::string(end)));
  return join_texts(run, {beginning, ending}, Value(std::string()));
}

Result<Value> word_count(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "wordcount", {}));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  int64_t n = 0;
  bool inside = false;
  for (const std::string_view c : code_points(text)) {
    const bool word = is_word(decode_utf8(c.data()).value);
    n += word && !inside;
    inside = word;
  }
  return Value(n);
}

Result<Value> format(Run& run, const Value& value, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty())
    return type_error("format takes positional or named arguments, not both");
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  if (arguments.named.empty()) {
    INLAY_ASSIGN(const Value tuple, run.tuple(arguments.positional));
    return percent_format(run, text, tuple);
  }
  Map map;
  for (const auto& [name, item] : arguments.named) INLAY_TRY(run.set(map, Value(name), item));
  INLAY_ASSIGN(const Value values, run.map(std::move(map)));
  return percent_format(run, text, values);
}

// Without comments and tags; runs of white space become one space.
Result<Value> strip_tags(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "striptags", {}));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    const bool comment = text.compare(i, 4, "<!--") == 0;
    const size_t close = text[i] != '<' ? text.npos : comment ? text.find("-->", i + 4) : text.find('>', i);
    if (close == text.npos) {
      plain += text[i++];
      if (plain.back() == '<') plain.append(text, i), i = text.size();  // no tag ends behind here
      continue;
    }
    i = close + (comment ? 3 : 1);
  }
  std::string out;
  for (const std::string_view word : split_spaces(plain, SIZE_MAX, Side::left)) (out += out.empty() ? "" : " ") += word;
  return run.text(std::move(out));
}

// Of a path, or of a query's name or value.
std::string url_quoted(std::string_view text, bool in_query) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 &&
        (is_ascii_alnum(c) || std::string_view("_.-~").find(c) != std::string_view::npos || (!in_query && c == '/')))
      out += c;
    else if (in_query && c == ' ')
      out += '+';
    else
      append_format(out, "%%%02X", byte);
  }
  return out;
}

Result<std::vector<Map::Entry>> pairs_in(Run& run, const Value& value) {
  if (value.is(Kind::map)) {
    INLAY_TRY(run.charge(value.map().size()));
    return value.map().entries();
  }
  std::vector<Map::Entry> out;
  INLAY_ASSIGN(const auto items, run.iterate(value));
  for (const Value& item : items) {
    INLAY_ASSIGN(const auto both, run.iterate(item));
    if (both.size() != 2) return type_error("urlencode needs pairs of a name and a value");
    out.emplace_back(both[0], both[1]);
  }
  return out;
}

Result<Value> url_encode(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "urlencode", {}));
  if (value.is_string() || !is_iterable(value)) {
    INLAY_ASSIGN(const std::string text, to_text(run, value));
    return run.text(url_quoted(text, false));
  }
  std::string out;
  INLAY_ASSIGN(const auto pairs, pairs_in(run, value));
  for (const auto& [key, item] : pairs) {
    INLAY_ASSIGN(const std::string name, to_text(run, key));
    INLAY_ASSIGN(const std::string text, to_text(run, item));
    (out += out.empty() ? "" : "&") += url_quoted(name, true) + "=" + url_quoted(text, true);
  }
  return run.text(std::move(out));
}

constexpr Named<Filter> kTextFilters[] = {{"upper", converted<upper>},
                                      {"lower", converted<lower>},
                                      {"capitalize", converted<capitalize>},
                                      {"title", title_filter},
                                      {"trim", trim},
                                      {"string", to_string},
                                      {"safe", mark_safe},
                                      {"escape", escape},
                                      {"e", escape},
                                      {"forceescape", force_escape},
                                      {"replace", replace_text},
                                      {"indent", indent},
                                      {"center", center},
                                      {"truncate", truncate},
                                      {"wordcount", word_count},
                                      {"format", format},
                                      {"striptags", strip_tags},
                                      {"urlencode", url_encode},
                                      {"tojson", to_json}};

}  // namespace

std::span<const Named<Filter>> text_filters() { return kTextFilters; }

}  // namespace inlay::tmpl
