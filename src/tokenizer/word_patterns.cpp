#include "src/tokenizer/word_patterns.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "src/tokenizer/char_scan.h"

namespace inlay {
namespace {

bool is_space(const Char& c) { return c.is(CharClass::space); }
bool is_number(const Char& c) { return c.is(CharClass::number); }
bool is_letter(const Char& c) { return c.is(CharClass::letter); }
bool is_newline(const Char& c) { return c.value == '\n' || c.value == '\r'; }

struct Letter {
  static bool in_word(const Char& c) { return is_letter(c); }
};
struct LetterOrMark {
  static bool in_word(const Char& c) { return is_letter(c) || c.is(CharClass::mark); }
};

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Length of 's 't 'm 'd 're 've 'll at `at`, 0 if there is none.
size_t contraction(const char* at, const char* end, bool any_case) {
  if (end - at < 2 || at[0] != '\'') return 0;
  const char a = any_case ? folded(at[1]) : at[1];
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if (end - at < 3) return 0;
  const char b = any_case ? folded(at[2]) : at[2];
  return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

// \s+(?!\S)|\s+ : the spaces before a non-space keep the last one back for it, unless there is only one.
const char* space_run(const char* at, const char* end) {
  const char* stop = skip_while(at, end, is_space);
  if (stop == end) return stop;
  const char* last = stop - 1;
  while (is_continuation(*last)) --last;
  return last == at ? stop : last;
}

const char* gpt2_word_end(const char* at, const char* end) {
  if (const size_t n = contraction(at, end, false)) return at + n;
  const char* body = at + (*at == ' ' ? 1 : 0);
  const Char first = char_at(body, end);
  if (first.n_bytes == 0 || is_space(first)) return space_run(at, end);
  if (is_letter(first)) return skip_while(body, end, is_letter);
  if (is_number(first)) return skip_while(body, end, is_number);
  return skip_while(body, end, [](const Char& c) { return !is_space(c) && !is_letter(c) && !is_number(c); });
}

// \s*[\r\n]+ : as far as the last line end of the run of spaces; null if it has none.
const char* through_last_newline(const char* at, const char* end) {
  const char* newline_end = nullptr;
  skip_while(at, end, [&](const Char& c) {
    if (!is_space(c)) return false;
    at += c.n_bytes;
    if (is_newline(c)) newline_end = at;
    return true;
  });
  return newline_end;
}

template <class Word>
bool is_sign(const Char& c) {
  return !is_space(c) && !is_number(c) && !Word::in_word(c);
}

template <class Word, int kMaxDigits>
const char* word_end(const char* at, const char* end) {
  if (const size_t n = contraction(at, end, true)) return at + n;
  const Char first = char_at(at, end);
  if (Word::in_word(first)) return skip_while(at, end, Word::in_word);
  if (is_number(first)) {
    int left = kMaxDigits;
    return skip_while(at, end, [&](const Char& c) { return is_number(c) && left-- > 0; });
  }
  const char* next = at + first.n_bytes;
  const Char second = char_at(next, end);
  if (!is_newline(first) && Word::in_word(second)) return skip_while(next, end, Word::in_word);
  const bool spaced = first.value == ' ' && second.n_bytes > 0 && is_sign<Word>(second);
  if (spaced || !is_space(first)) {
    const char* stop = skip_while(spaced ? next : at, end, is_sign<Word>);
    return skip_while(stop, end, is_newline);
  }
  const char* newline_end = through_last_newline(at, end);
  return newline_end ? newline_end : space_run(at, end);
}

// The first run of `wanted` characters.
template <class Predicate>
TextSpan find_run(const char* begin, const char* end, Predicate wanted) {
  const char* from = skip_while(begin, end, [&](const Char& c) { return !wanted(c); });
  return {from, skip_while(from, end, wanted)};
}

template <class Predicate>
TextSpan find_one(const char* begin, const char* end, Predicate wanted) {
  const char* from = skip_while(begin, end, [&](const Char& c) { return !wanted(c); });
  return {from, from + char_at(from, end).n_bytes};
}

// \s?[...]+
template <class Predicate>
TextSpan find_spaced_run(const char* begin, const char* end, Predicate wanted) {
  const char* from = begin;
  const char* run = skip_while(begin, end, [&, at = begin](const Char& c) mutable {
    if (wanted(c)) return false;
    at += c.n_bytes;
    if (!is_space(c))
      from = at;
    else
      from = at - c.n_bytes;
    return true;
  });
  if (run == end) return {end, end};
  return {from, skip_while(run, end, wanted)};
}

struct Range {
  uint32_t first;
  uint32_t last;
};

template <size_t N>
bool in_ranges(const Range (&ranges)[N], uint32_t value) {
  const Range* after = std::upper_bound(std::begin(ranges), std::end(ranges), value,
                                        [](uint32_t v, const Range& r) { return v < r.first; });
  return after != std::begin(ranges) && value <= after[-1].last;
}

// The cased letters that DeepSeek LLM's tokenizer.json lists.
constexpr Range kCasedLetters[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xB5, 0xB5},       {0xC0, 0xD6},       {0xD8, 0xF6},
    {0xF8, 0x1BA},      {0x1BC, 0x1BF},     {0x1C4, 0x293},     {0x295, 0x2AF},     {0x370, 0x373},
    {0x376, 0x377},     {0x37B, 0x37D},     {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x38A},
    {0x38C, 0x38C},     {0x38E, 0x3A1},     {0x3A3, 0x3F5},     {0x3F7, 0x481},     {0x48A, 0x52F},
    {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},   {0x13F8, 0x13FD},   {0x1C90, 0x1CBA},
    {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},   {0x1D6B, 0x1D77},   {0x1D79, 0x1D9A},   {0x1E00, 0x1F15},
    {0x1F18, 0x1F1D},   {0x1F20, 0x1F45},   {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},   {0x1F59, 0x1F59},
    {0x1F5B, 0x1F5B},   {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},   {0x1FB6, 0x1FBC},
    {0x1FBE, 0x1FBE},   {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},   {0x1FD0, 0x1FD3},   {0x1FD6, 0x1FDB},
    {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},   {0x1FF6, 0x1FFC},   {0x2102, 0x2102},   {0x2107, 0x2107},
    {0x210A, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211D},   {0x2124, 0x2124},   {0x2126, 0x2126},
    {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},   {0x213C, 0x213F},
    {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2184},   {0x2C00, 0x2C7B},   {0x2C7E, 0x2CE4},
    {0x2CEB, 0x2CEE},   {0x2CF2, 0x2CF3},   {0xA640, 0xA66D},   {0xA680, 0xA69B},   {0xA722, 0xA76F},
    {0xA771, 0xA787},   {0xA78B, 0xA78E},   {0xAB70, 0xABBF},   {0xFB00, 0xFB06},   {0xFB13, 0xFB17},
    {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},   {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB},
    {0x10C80, 0x10CB2}, {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943},
};
// Its list of signs, but for U+3000, which the list has and the reference ids show to count as white space only.
constexpr Range kSigns[] = {{0x21, 0x2F},     {0x3A, 0x7E},     {0x2018, 0x201F},
                            {0x3001, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E}};
constexpr Range kEastAsian[] = {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}};

bool is_listed_punctuation(const Char& c) {
  const uint32_t v = c.value;
  return c.is(CharClass::punctuation) || v == '$' || v == '+' || v == '<' || v == '=' || v == '>' || v == '^' ||
         v == '~' || v == '|';
}

}  // namespace

TextSpan find_gpt2_word(const char* begin, const char* end) { return {begin, gpt2_word_end(begin, end)}; }
TextSpan find_word_3_digits(const char* begin, const char* end) { return {begin, word_end<Letter, 3>(begin, end)}; }
TextSpan find_word_1_digit(const char* begin, const char* end) { return {begin, word_end<Letter, 1>(begin, end)}; }
TextSpan find_word_with_marks(const char* begin, const char* end) {
  return {begin, word_end<LetterOrMark, 1>(begin, end)};
}

TextSpan find_number(const char* begin, const char* end) { return find_one(begin, end, is_number); }
TextSpan find_numbers(const char* begin, const char* end) { return find_run(begin, end, is_number); }
TextSpan find_line_end(const char* begin, const char* end) { return find_one(begin, end, is_newline); }
TextSpan find_spaced_letters(const char* begin, const char* end) { return find_spaced_run(begin, end, is_letter); }

TextSpan find_three_digits(const char* begin, const char* end) {
  int n = 0;
  for (const char* at = begin; at < end; ++at) {
    n = *at >= '0' && *at <= '9' ? n + 1 : 0;
    if (n == 3) return {at - 2, at + 1};
  }
  return {end, end};
}

TextSpan find_spaced_marks(const char* begin, const char* end) {
  return find_spaced_run(begin, end, [](const Char& c) { return c.is(CharClass::punctuation); });
}

TextSpan find_trailing_space(const char* begin, const char* end) {
  const char* from = end;
  while (from > begin) {
    const char* last = from - 1;
    while (is_continuation(*last)) --last;
    if (!is_space(char_at(last, end))) break;
    from = last;
  }
  return {from, end};
}

TextSpan find_punctuation(const char* begin, const char* end) { return find_run(begin, end, is_listed_punctuation); }

TextSpan find_punctuation_backtick(const char* begin, const char* end) {
  return find_run(begin, end, [](const Char& c) { return is_listed_punctuation(c) || c.value == '`'; });
}

TextSpan find_spaced_cased_letters(const char* begin, const char* end) {
  return find_spaced_run(begin, end, [](const Char& c) { return in_ranges(kCasedLetters, c.value); });
}

TextSpan find_spaced_signs(const char* begin, const char* end) {
  return find_spaced_run(begin, end, [](const Char& c) { return in_ranges(kSigns, c.value); });
}

TextSpan find_east_asian(const char* begin, const char* end) {
  return find_run(begin, end, [](const Char& c) { return in_ranges(kEastAsian, c.value); });
}

}  // namespace inlay
