// Filters that lay text out: wordwrap, pprint, filesizeformat, xmlattr.
#include <algorithm>
#include <cmath>
#include <span>

#include "src/base/format.h"
#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/numbers.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

// ---- wordwrap, as Python's textwrap does it

using Points = std::span<const std::string_view>;  // characters of a text

uint32_t value_of(std::string_view c) { return decode_utf8(c.data()).value; }

class Wrapper {
 public:
  Wrapper(double width, bool breaks_words, bool breaks_at_hyphens)
      : width_(width), breaks_words_(breaks_words), breaks_at_hyphens_(breaks_at_hyphens) {}

  // The lines of one line; a word that is to be cut needs a whole number for a width.
  Result<std::vector<std::string>> lines(std::string_view text) const {
    if (!(width_ > 0)) return type_error("wordwrap: 'width' must be above 0");
    const auto characters = code_points(text);
    const std::vector<std::string_view> points(characters.begin(), characters.end());
    std::vector<Points> chunks = split(points);
    std::reverse(chunks.begin(), chunks.end());
    std::vector<std::string> out;
    while (!chunks.empty()) {
      if (!out.empty() && is_blank(chunks.back())) chunks.pop_back();
      std::vector<Points> line;
      size_t length = 0;
      while (!chunks.empty() && static_cast<double>(length + chunks.back().size()) <= width_) {
        length += chunks.back().size();
        line.push_back(chunks.back());
        chunks.pop_back();
      }
      if (!chunks.empty() && static_cast<double>(chunks.back().size()) > width_) INLAY_TRY(cut_word(chunks, line, length));
      if (!line.empty() && is_blank(line.back())) line.pop_back();
      if (line.empty()) continue;
      std::string joined;
      for (const Points& chunk : line)
        for (const std::string_view c : chunk) joined += c;
      out.push_back(std::move(joined));
    }
    return out;
  }

 private:
  static bool is_blank_character(std::string_view c) { return c.size() == 1 && std::string_view("\t\n\v\f\r ").find(c[0]) != std::string_view::npos; }
  static bool is_blank(Points chunk) {
    return std::all_of(chunk.begin(), chunk.end(), [](std::string_view c) { return is_space(value_of(c)); });
  }
  static bool is_hyphen(Points text, size_t at) { return at < text.size() && text[at] == "-"; }
  static bool is_word_character(Points text, size_t at) { return at < text.size() && is_word(value_of(text[at])); }
  // A word's character that is no decimal digit.
  static bool is_letter_at(Points text, size_t at) {
    return is_word_character(text, at) && !(is_number(value_of(text[at])) && value_of(text[at]) < 0x80);
  }
  static bool is_word_or_sign(Points text, size_t at) {
    return is_word_character(text, at) || (text[at].size() == 1 && std::string_view("!\"'&.,?").find(text[at][0]) != std::string_view::npos);
  }
  // Two hyphens or more between words: how many, or 0.
  static size_t dash_at(Points text, size_t at) {
    if (at == 0 || !is_word_or_sign(text, at - 1)) return 0;
    size_t n = 0;
    while (is_hyphen(text, at + n)) ++n;
    return n >= 2 && is_word_character(text, at + n) ? n : 0;
  }

  // Whether a word, begun at `begin`, may end in front of `at`.
  static bool word_ends(Points text, size_t begin, size_t at) {
    if (at == text.size() || is_blank_character(text[at]) || dash_at(text, at)) return true;
    if (at < begin + 2 || !is_hyphen(text, at - 1)) return false;  // behind a hyphen
    const bool behind_letters = at >= 3 && is_letter_at(text, at - 2) && is_letter_at(text, at - 3);
    const bool behind_hyphenated = at >= 4 && is_word_or_sign(text, at - 2) && is_hyphen(text, at - 3) && is_letter_at(text, at - 4);
    const size_t next = is_hyphen(text, at + 1) ? at + 2 : at + 1;
    return (behind_letters || behind_hyphenated) && is_letter_at(text, at) && is_letter_at(text, next);
  }

  std::vector<Points> split(Points text) const {
    std::vector<Points> out;
    for (size_t begin = 0, end; begin < text.size(); begin = end) {
      end = begin + 1;
      if (is_blank_character(text[begin])) {
        while (end < text.size() && is_blank_character(text[end])) ++end;
      } else if (!breaks_at_hyphens_) {
        while (end < text.size() && !is_blank_character(text[end])) ++end;
      } else if (const size_t n = dash_at(text, begin)) {
        end = begin + n;
      } else {
        while (!word_ends(text, begin, end)) ++end;
      }
      out.push_back(text.subspan(begin, end - begin));
    }
    return out;
  }

  // The last chunk is longer than a line: its beginning goes onto this one.
  Status cut_word(std::vector<Points>& chunks, std::vector<Points>& line, size_t length) const {
    Points& word = chunks.back();
    if (breaks_words_) {
      if (width_ != std::floor(width_)) return type_error("wordwrap: 'width' must be int, not float");
      const size_t room = width_ < 1 ? 1 : static_cast<size_t>(width_) - length;
      size_t end = room;
      if (breaks_at_hyphens_) {
        size_t hyphen = std::min(room, word.size());
        while (hyphen > 0 && word[hyphen - 1] != "-") --hyphen;
        if (hyphen > 1 && std::ranges::any_of(word.first(hyphen - 1), [](std::string_view c) { return c != "-"; })) end = hyphen;
      }
      end = std::min(end, word.size());
      line.push_back(word.first(end));
      word = word.subspan(end);
    } else if (line.empty()) {
      line.push_back(word);
      chunks.pop_back();
    }
    return {};
  }

  const double width_;
  const bool breaks_words_, breaks_at_hyphens_;
};

Result<Value> word_wrap(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "wordwrap", {"width", "break_long_words", "wrapstring", "break_on_hyphens"}));
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is_string()) return type_error("wordwrap needs a string, not %s", value.type_name());
  if (!bound[2].is_none()) INLAY_TRY(bound.text(2).status());
  INLAY_TRY(run.charge(value.text().size()));
  std::vector<Value> out;
  const auto lines = split_lines(value.text(), false);
  for (const std::string_view part : lines) {
    if (bound.has(0) && !bound[0].is_number()) return type_error("wordwrap: 'width' must be int, not %s", bound[0].type_name());
    const Wrapper wrapper(bound.has(0) ? bound[0].real() : 79, bound.truth(1, true), bound.truth(3, true));
    INLAY_ASSIGN(const auto wrapped, wrapper.lines(part));
    if (wrapped.empty()) out.emplace_back(std::string());
    for (const std::string& line : wrapped) {
      INLAY_ASSIGN(Value text, run.text(line));
      out.push_back(std::move(text));
    }
  }
  return join_texts(run, out, bound[2].is_none() ? Value(std::string("\n")) : bound[2]);
}

// ---- pprint, as Python's pprint.pformat does it

constexpr size_t kPageWidth = 80;

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Run& run) : run_(run) {}

  // A value that begins at column `indent` and has `allowance` columns behind it.
  Status write(const Value& value, size_t indent, size_t allowance, uint32_t level) {
    if (run_.stack.is_spent()) return run_.stack.go_on([&] { return write(value, indent, allowance, level); });
    const Descent descent(run_);
    INLAY_TRY(descent.check());
    std::string whole;
    INLAY_TRY(append_repr(value, whole));
    const size_t used = indent + allowance;
    const bool fits = used < kPageWidth && count_code_points(whole) <= kPageWidth - used;
    if (!fits && value.is(Kind::map)) return write_map(value.map(), indent, allowance, level + 1);
    if (!fits && value.is(Kind::list) && value.list().kind <= ListKind::tuple && !value.list().is_group)
      return write_items(value, indent, allowance, level + 1);
    if (!fits && value.is_string() && !value.is_markup() && !value.text().empty()) return write_text(value.text(), indent, allowance, level + 1);
    out += whole;
    return {};
  }

  std::string out;

 private:
  // repr() with the keys in order.
  Status append_repr(const Value& value, std::string& to) {
    if (run_.stack.is_spent()) return run_.stack.go_on([&] { return append_repr(value, to); });
    const Descent descent(run_);
    INLAY_TRY(descent.check());
    const bool is_plain_list = value.is(Kind::list) && value.list().kind <= ListKind::tuple && !value.list().is_group;
    if (!is_plain_list && !value.is(Kind::map)) {
      INLAY_ASSIGN(const std::string text, repr(run_, value));
      to += text;
      return {};
    }
    INLAY_TRY(run_.charge(1));
    if (value.is(Kind::map)) {
      to += '{';
      INLAY_ASSIGN(const auto entries, sorted(value.map()));
      for (size_t i = 0; i < entries.size(); ++i) {
        if (i) to += ", ";
        INLAY_TRY(append_repr(entries[i]->first, to));
        to += ": ";
        INLAY_TRY(append_repr(entries[i]->second, to));
      }
      to += '}';
      return {};
    }
    const bool tuple = value.list().kind == ListKind::tuple;
    const auto& items = value.list().items;
    to += tuple ? '(' : '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) to += ", ";
      INLAY_TRY(append_repr(items[i], to));
    }
    to += tuple ? items.size() == 1 ? ",)" : ")" : "]";
    return {};
  }

  // By key, keys of several types by the name of the type.
  Result<std::vector<const Map::Entry*>> sorted(const Map& map) {
    std::vector<const Map::Entry*> out_entries;
    for (const auto& entry : map.entries()) out_entries.push_back(&entry);
    INLAY_TRY(run_.charge_sort(map));
    std::stable_sort(out_entries.begin(), out_entries.end(), [](const Map::Entry* a, const Map::Entry* b) {
      const auto order = compare(a->first, b->first, "<");
      return order.ok() ? *order == Order::less : std::string_view(a->first.type_name()) < b->first.type_name();
    });
    return out_entries;
  }

  void new_line(size_t indent) { (out += ",\n").append(indent, ' '); }

  Status write_map(const Map& map, size_t indent, size_t allowance, uint32_t level) {
    out += '{';
    INLAY_ASSIGN(const auto entries, sorted(map));
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i) new_line(indent + 1);
      std::string key;
      INLAY_TRY(append_repr(entries[i]->first, key));
      out += key + ": ";
      INLAY_TRY(run_.charge_bytes(key.size() + indent));
      const bool last = i + 1 == entries.size();
      INLAY_TRY(write(entries[i]->second, indent + 1 + count_code_points(key) + 2, last ? allowance + 1 : 1, level));
    }
    out += '}';
    return {};
  }

  Status write_items(const Value& value, size_t indent, size_t allowance, uint32_t level) {
    const auto& items = value.list().items;
    const bool tuple = value.list().kind == ListKind::tuple;
    const std::string end = tuple ? items.size() == 1 ? ",)" : ")" : "]";
    out += tuple ? '(' : '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) new_line(indent + 1);
      INLAY_TRY(run_.charge_bytes(indent));
      const bool last = i + 1 == items.size();
      INLAY_TRY(write(items[i], indent + 1, last ? allowance + end.size() : 1, level));
    }
    out += end;
    return {};
  }

  // Long text is cut into literals, behind line breaks and behind white space.
  Status write_text(const std::string& text, size_t indent, size_t allowance, uint32_t level) {
    if (level == 1) ++indent, ++allowance;
    const auto room = [](size_t used) { return used < kPageWidth ? kPageWidth - used : 0; };
    const auto fits = [](const std::string& literal, size_t width) { return count_code_points(literal) <= width; };
    std::vector<std::string> chunks;
    const auto lines = split_lines(text, true);
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool last_line = i + 1 == lines.size();
      const std::string literal = quoted_text(lines[i]);
      INLAY_TRY(run_.charge(1 + lines[i].size()));
      if (fits(literal, room(indent + (last_line ? allowance : 0)))) {
        chunks.push_back(literal);
        continue;
      }
      const auto parts = words_of(lines[i]);
      std::string current;
      for (size_t k = 0; k < parts.size(); ++k) {
        const bool last = last_line && k + 1 == parts.size();
        std::string candidate = current + std::string(parts[k]);
        INLAY_TRY(run_.charge_bytes(candidate.size()));
        if (!fits(quoted_text(candidate), room(indent + (last ? allowance : 0)))) {
          if (!current.empty()) chunks.push_back(quoted_text(current));
          current = parts[k];
        } else {
          current = std::move(candidate);
        }
      }
      if (!current.empty()) chunks.push_back(quoted_text(current));
    }
    if (chunks.size() == 1) {
      out += quoted_text(lines.back());
      return {};
    }
    if (level == 1) out += '(';
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (i) (out += '\n').append(indent, ' ');
      INLAY_TRY(run_.charge_bytes(indent));
      out += chunks[i];
    }
    if (level == 1) out += ')';
    return {};
  }

  // Words, each with the white space behind it.
  static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    size_t begin = 0;
    bool in_space = false;
    for (const std::string_view c : code_points(text)) {
      const bool space = is_space(value_of(c));
      const auto at = static_cast<size_t>(c.data() - text.data());
      if (in_space && !space) words.push_back(text.substr(begin, at - begin)), begin = at;
      in_space = space;
    }
    if (begin < text.size()) words.push_back(text.substr(begin));
    return words;
  }

  Run& run_;
};

Result<Value> pretty(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "pprint", {}));
  PrettyPrinter printer(run);
  INLAY_TRY(printer.write(value, 0, 0, 0));
  return run.text(std::move(printer.out));
}

// ---- the others

Result<Value> file_size(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "filesizeformat", {"binary"}));
  const bool binary = bound.truth(0, false);
  if (value.is_undefined()) return undefined_error(value);
  if (value.is_string()) INLAY_TRY(run.charge_bytes(value.text().size()));
  const std::optional<double> bytes = value.is_number() ? std::optional(value.real()) : value.is_string() ? parse_real(value.text()) : std::nullopt;
  if (!bytes) return type_error("filesizeformat needs a number, not %s", value.is_string() ? quoted_text(value.text()).c_str() : value.type_name());
  const double base = binary ? 1024 : 1000;
  if (*bytes == 1) return run.text("1 Byte");
  if (*bytes < base) {
    if (std::isinf(*bytes)) return type_error("cannot convert float infinity to integer");
    std::string out;
    append_format(out, "%.0f Bytes", std::trunc(*bytes) + 0.0);
    return run.text(std::move(out));
  }
  static constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  size_t which = 0;
  for (; which + 1 < kPrefixes.size() && !(*bytes < unit * base); ++which) unit *= base;
  const Value amount(base * *bytes / (unit * base));
  INLAY_ASSIGN(const Value tuple, run.tuple({amount}));
  INLAY_ASSIGN(const Value number, percent_format(run, "%.1f", tuple));
  const char prefix = binary && which == 0 ? 'K' : kPrefixes[which];
  return run.text(number.text() + " " + prefix + (binary ? "iB" : "B"));
}

Result<Value> xml_attributes(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "xmlattr", {"autospace"}));
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is(Kind::map)) return type_error("xmlattr needs a dict, not %s", value.type_name());
  std::string out;
  const auto escaped = [&](const Value& part) -> Status {
    INLAY_ASSIGN(const std::string text, to_text(run, part));
    out += part.is_markup() ? text : escape_html(text);
    return {};
  };
  for (const auto& [key, item] : value.map().entries()) {
    INLAY_TRY(run.charge(1));
    if (item.is_none() || item.is_undefined()) continue;
    if (!key.is_string()) return type_error("xmlattr: a name must be str, not %s", key.type_name());
    for (const std::string_view c : code_points(key.text()))
      if (is_space(value_of(c)) || c == "/" || c == ">" || c == "=") return type_error("xmlattr: a name must not have the character %s", quoted_text(c).c_str());
    if (!out.empty() || bound.truth(0, true)) out += ' ';
    INLAY_TRY(escaped(key));
    out += "=\"";
    INLAY_TRY(escaped(item));
    out += '"';
  }
  return run.text(std::move(out));
}

constexpr Named<Filter> kLayoutFilters[] = {
    {"wordwrap", word_wrap}, {"pprint", pretty}, {"filesizeformat", file_size}, {"xmlattr", xml_attributes}};

}  // namespace

std::span<const Named<Filter>> layout_filters() { return kLayoutFilters; }

}  // namespace inlay::tmpl
