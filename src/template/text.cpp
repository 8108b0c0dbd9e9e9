#include "src/template/text.h"

#include <algorithm>

#include "src/template/case_tables.h"
#include "src/tokenizer/unicode_class.h"

namespace inlay::tmpl {

namespace {

const CaseRun* find_run(const CaseRun* runs, size_t n, uint32_t c) {
  const CaseRun* after =
      std::upper_bound(runs, runs + n, c, [](uint32_t x, const CaseRun& run) { return x < run.first; });
  // Runs of stride 2 interleave, so that the one in front may be it.
  for (int back = 1; back <= 2 && after - runs >= back; ++back) {
    const CaseRun& run = after[-back];
    if (c <= run.last && (c - run.first) % run.stride == 0) return &run;
  }
  return nullptr;
}

const char* upper_expansion(uint32_t c) {
  const CaseExpansion* end = kUpperExpansions + kNumUpperExpansions;
  const auto* found =
      std::lower_bound(kUpperExpansions, end, c, [](const CaseExpansion& e, uint32_t x) { return e.code_point < x; });
  return found != end && found->code_point == c ? found->text : nullptr;
}

uint32_t mapped(const CaseRun* runs, size_t n, uint32_t c) {
  const CaseRun* run = find_run(runs, n, c);
  return run ? static_cast<uint32_t>(static_cast<int32_t>(c) + run->delta) : c;
}
uint32_t upper_of(uint32_t c) { return mapped(kUpperRuns, kNumUpperRuns, c); }
uint32_t lower_of(uint32_t c) { return mapped(kLowerRuns, kNumLowerRuns, c); }

void append_upper(std::string& out, uint32_t c) {
  if (const char* several = upper_expansion(c))
    out += several;
  else
    append_utf8(upper_of(c), out);
}

// Title case: what expands in upper case keeps only its first letter large.
void append_title(std::string& out, uint32_t c) {
  const char* several = upper_expansion(c);
  if (!several) return append_utf8(upper_of(c), out);
  const std::string_view text = several;
  const size_t first = first_sequence(text).n_bytes;
  out += text.substr(0, first);
  out += lower(text.substr(first));
}

bool is_cased(uint32_t c) { return is_upper(c) || is_lower(c); }

template <class Visit>
void for_each(std::string_view text, Visit visit) {
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text.data() + i);
    visit(c.value, i);
    i += c.n_bytes;
  }
}

void append_lower(std::string& out, std::string_view text, size_t at, uint32_t c) {
  static constexpr uint32_t kSigma = 0x3A3, kFinalSigma = 0x3C2;
  if (c == 0x130) {
    out += "i\xCC\x87";  // the one code point that expands in lower case
  } else if (c == kSigma && at > 0) {
    size_t before = at - 1;
    while (is_continuation(text[before])) --before;
    const size_t next = at + 2;
    const bool ends_word = is_letter(decode_utf8(text.data() + before).value) &&
                           (next >= text.size() || !is_letter(decode_utf8(text.data() + next).value));
    append_utf8(ends_word ? kFinalSigma : lower_of(c), out);
  } else {
    append_utf8(lower_of(c), out);
  }
}

}  // namespace

bool is_space(uint32_t c) { return char_class(c) == CharClass::space || (c >= 0x1C && c <= 0x1F); }
bool is_letter(uint32_t c) { return char_class(c) == CharClass::letter; }
bool is_number(uint32_t c) { return char_class(c) == CharClass::number; }
bool is_word(uint32_t c) {
  const CharClass kind = char_class(c);
  return c == '_' || kind == CharClass::letter || kind == CharClass::mark || kind == CharClass::number;
}
bool is_printable(uint32_t c) {
  const CharClass kind = char_class(c);
  return c == ' ' || (kind != CharClass::other && kind != CharClass::space);
}
bool is_upper(uint32_t c) { return c == 0x130 || lower_of(c) != c; }
bool is_lower(uint32_t c) { return upper_expansion(c) || upper_of(c) != c; }

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string_view first_code_points(std::string_view text, size_t n) {
  size_t n_bytes = 0;
  for (; n > 0 && n_bytes < text.size(); --n) n_bytes += decode_utf8(text.data() + n_bytes).n_bytes;
  return text.substr(0, n_bytes);
}

template <class Drop>
static std::string_view strip_if(std::string_view text, Side side, Drop drop) {
  while (side != Side::right && !text.empty()) {
    const CodePoint c = decode_utf8(text.data());
    if (!drop(text.substr(0, c.n_bytes), c.value)) break;
    text.remove_prefix(c.n_bytes);
  }
  while (side != Side::left && !text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && is_continuation(text[last])) --last;
    if (!drop(text.substr(last), decode_utf8(text.data() + last).value)) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

std::string_view strip(std::string_view text, Side side) {
  return strip_if(text, side, [](std::string_view, uint32_t c) { return is_space(c); });
}
std::string_view strip(std::string_view text, Side side, std::string_view chars) {
  return strip_if(text, side, [&](std::string_view c, uint32_t) { return chars.find(c) != chars.npos; });
}

std::string upper(std::string_view text) {
  std::string out;
  for_each(text, [&](uint32_t c, size_t) { append_upper(out, c); });
  return out;
}
std::string lower(std::string_view text) {
  std::string out;
  for_each(text, [&](uint32_t c, size_t at) { append_lower(out, text, at, c); });
  return out;
}
std::string capitalize(std::string_view text) {
  std::string out;
  for_each(text, [&](uint32_t c, size_t at) {
    if (at == 0)
      append_title(out, c);
    else
      append_lower(out, text, at, c);
  });
  return out;
}
std::string title(std::string_view text) {
  std::string out;
  bool in_word = false;
  for_each(text, [&](uint32_t c, size_t at) {
    if (in_word)
      append_lower(out, text, at, c);
    else
      append_title(out, c);
    in_word = is_cased(c);
  });
  return out;
}
std::string swap_case(std::string_view text) {
  std::string out;
  for_each(text, [&](uint32_t c, size_t at) {
    if (is_upper(c))
      append_lower(out, text, at, c);
    else
      append_upper(out, c);
  });
  return out;
}

// Knuth, Morris and Pratt's.
template <class Iterator>
static size_t search(Iterator text, size_t n, Iterator part, size_t m) {
  const auto at = [](Iterator begin, size_t i) { return begin[static_cast<std::ptrdiff_t>(i)]; };
  std::vector<size_t> borders(m);  // of part[0..i]: how much of its end is its beginning, too
  const auto extended = [&](size_t border, char c) {
    while (border > 0 && at(part, border) != c) border = borders[border - 1];
    return border + (at(part, border) == c ? 1 : 0);
  };
  for (size_t i = 1; i < m; ++i) borders[i] = extended(borders[i - 1], at(part, i));
  size_t n_same = 0;
  for (size_t i = 0; i < n; ++i) {
    n_same = extended(n_same, at(text, i));
    if (n_same == m) return i + 1 - m;
  }
  return std::string_view::npos;
}

// The standard library's is the fastest for parts so short that it is linear, too.
static constexpr size_t kShortPart = 32;

size_t find_first(std::string_view text, std::string_view part) {
  if (part.size() <= kShortPart || part.size() > text.size()) return text.find(part);
  return search(text.begin(), text.size(), part.begin(), part.size());
}
size_t find_last(std::string_view text, std::string_view part) {
  if (part.size() <= kShortPart || part.size() > text.size()) return text.rfind(part);
  const size_t behind = search(text.rbegin(), text.size(), part.rbegin(), part.size());
  return behind == text.npos ? behind : text.size() - behind - part.size();
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator, size_t limit, Side side) {
  std::vector<std::string_view> out;
  if (side != Side::right) {
    for (size_t at; out.size() < limit && (at = find_first(text, separator)) != text.npos;) {
      out.push_back(text.substr(0, at));
      text.remove_prefix(at + separator.size());
    }
    out.push_back(text);
    return out;
  }
  for (size_t at; out.size() < limit && (at = find_last(text, separator)) != text.npos;) {
    out.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  out.push_back(text);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string_view> split_spaces(std::string_view text, size_t limit, Side side) {
  std::vector<std::string_view> out;
  const bool right = side == Side::right;
  text = strip(text, right ? Side::right : Side::left);
  while (!text.empty() && out.size() < limit) {
    const auto cs = right ? std::string_view() : text;
    size_t begin = 0, end = 0;
    if (right) {
      for (begin = text.size(); begin > 0;) {
        size_t before = begin - 1;
        while (before > 0 && is_continuation(text[before])) --before;
        if (is_space(decode_utf8(text.data() + before).value)) break;
        begin = before;
      }
      out.push_back(text.substr(begin));
      text = strip(text.substr(0, begin), Side::right);
    } else {
      while (end < cs.size() && !is_space(decode_utf8(cs.data() + end).value))
        end += decode_utf8(cs.data() + end).n_bytes;
      out.push_back(text.substr(0, end));
      text = strip(text.substr(end), Side::left);
    }
  }
  if (!text.empty()) out.push_back(text);  // the rest behind the limit, as it is
  if (right) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends, size_t limit) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  for (size_t i = 0; i < text.size() && out.size() < limit;) {
    const CodePoint c = decode_utf8(text.data() + i);
    const size_t end = i;
    i += c.n_bytes;
    const bool breaks = (c.value >= 0x0A && c.value <= 0x0D) || (c.value >= 0x1C && c.value <= 0x1E) ||
                        c.value == 0x85 || c.value == 0x2028 || c.value == 0x2029;
    if (!breaks) continue;
    if (c.value == '\r' && i < text.size() && text[i] == '\n') ++i;
    out.push_back(text.substr(begin, (keep_ends ? i : end) - begin));
    begin = i;
  }
  if (begin < text.size() && out.size() < limit) out.push_back(text.substr(begin));
  return out;
}

std::string replace(std::string_view text, std::string_view from, std::string_view to, size_t limit) {
  std::string out;
  size_t n = 0;
  if (from.empty()) {  // between all code points and at both ends
    for (const std::string_view c : code_points(text)) {
      if (n++ < limit) out += to;
      out += c;
    }
    if (n < limit) out += to;
    return out;
  }
  for (size_t at; n < limit && (at = find_first(text, from)) != text.npos; ++n) {
    out += text.substr(0, at);
    out += to;
    text.remove_prefix(at + from.size());
  }
  out += text;
  return out;
}

size_t count(std::string_view text, std::string_view part) {
  if (part.empty()) return count_code_points(text) + 1;
  size_t n = 0;
  for (size_t at; (at = find_first(text, part)) != text.npos; ++n) text.remove_prefix(at + part.size());
  return n;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    static constexpr std::string_view kSpecial = "&<>'\"";
    static constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    const size_t which = kSpecial.find(c);
    if (which == kSpecial.npos)
      out += c;
    else
      out += kEntities[which];
  }
  return out;
}

}  // namespace inlay::tmpl
