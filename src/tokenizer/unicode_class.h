// Properties of code points: general categories, the classes that pre-tokenizers' patterns name (\p{L}, \p{M}, \p{N},
// \p{P}, \p{S}, and \s, White_Space), case and scripts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace inlay {

// By the two-letter names in alphabetical order, those of Unicode.
enum class Category : uint8_t {
  Cc,
  Cf,
  Cn,
  Co,
  Cs,
  Ll,
  Lm,
  Lo,
  Lt,
  Lu,
  Mc,
  Me,
  Mn,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Pe,
  Pf,
  Pi,
  Po,
  Ps,
  Sc,
  Sk,
  Sm,
  So,
  Zl,
  Zp,
  Zs
};
inline constexpr char kCategoryNames[][3] = {"Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu",
                                             "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
                                             "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"};

enum class CharClass : uint8_t { other, letter, mark, number, punctuation, symbol, space };

struct CodeRange {
  uint32_t first;
  uint32_t last;
};
struct CaseRun {  // of the characters first, first + step, ... last: lower case = character + distance
  uint32_t first;
  uint32_t last;
  uint32_t step;
  int32_t distance;
};
struct FoldPair {
  uint32_t from;
  uint32_t to;
};

// unicode_tables.cpp, which make_unicode_tables.py writes
extern const char* const kUnicodeVersion;
extern const uint32_t kCategoryRuns[];
extern const size_t kCategoryRunsSize;
extern const CaseRun kLowerRuns[];
extern const size_t kLowerRunsSize;
extern const FoldPair kFoldPairs[];
extern const size_t kFoldPairsSize;
extern const CodeRange kHan[], kHiragana[], kKatakana[], kThai[];
extern const size_t kHanSize, kHiraganaSize, kKatakanaSize, kThaiSize;

inline Category category_of(uint32_t code_point) {
  const uint32_t* end = kCategoryRuns + kCategoryRunsSize;
  const uint32_t* after = std::upper_bound(kCategoryRuns, end, code_point << 8 | 0xFF);
  return static_cast<Category>(after[-1] & 0xFF);
}

constexpr bool is_control_space(uint32_t c) { return (c >= 0x09 && c <= 0x0D) || c == 0x85; }

inline CharClass char_class(uint32_t code_point) {
  if (is_control_space(code_point)) return CharClass::space;
  switch (kCategoryNames[static_cast<size_t>(category_of(code_point))][0]) {
    case 'L':
      return CharClass::letter;
    case 'M':
      return CharClass::mark;
    case 'N':
      return CharClass::number;
    case 'P':
      return CharClass::punctuation;
    case 'S':
      return CharClass::symbol;
    case 'Z':
      return CharClass::space;
    default:
      return CharClass::other;
  }
}

// The one-character lower case; the character itself where there is none.
inline uint32_t lower_of(uint32_t c) {
  const CaseRun* end = kLowerRuns + kLowerRunsSize;
  const CaseRun* after = std::upper_bound(kLowerRuns, end, c, [](uint32_t v, const CaseRun& r) { return v < r.first; });
  if (after == kLowerRuns) return c;
  const CaseRun& run = after[-1];
  const bool within = c <= run.last && (c - run.first) % run.step == 0;
  return within ? static_cast<uint32_t>(static_cast<int32_t>(c) + run.distance) : c;
}

}  // namespace inlay
