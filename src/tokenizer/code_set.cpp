#include "src/tokenizer/code_set.h"

#include <string>

#include "src/base/ascii.h"

namespace inlay {
namespace {

uint32_t folded(uint32_t c) {
  const FoldPair* end = kFoldPairs + kFoldPairsSize;
  const FoldPair* pair = std::lower_bound(kFoldPairs, end, c, [](const FoldPair& p, uint32_t v) { return p.from < v; });
  return pair != end && pair->from == c ? pair->to : lower_of(c);
}

// Adds code points of categories whose names begin with `prefix`.
void add_categories(std::string_view prefix, CodeSet& out) {
  for (size_t i = 0; i < kCategoryRunsSize; ++i) {
    const std::string_view name = kCategoryNames[kCategoryRuns[i] & 0xFF];
    if (!name.starts_with(prefix)) continue;
    const uint32_t after = i + 1 < kCategoryRunsSize ? kCategoryRuns[i + 1] >> 8 : kLastCodePoint + 1;
    out.add(kCategoryRuns[i] >> 8, after - 1);
  }
}

CodeSet of_categories(std::initializer_list<std::string_view> prefixes, std::initializer_list<CodeRange> more = {}) {
  CodeSet out;
  for (const std::string_view prefix : prefixes) add_categories(prefix, out);
  for (const CodeRange& range : more) out.add(range.first, range.last);
  out.normalize();
  return out;
}

CodeSet of_ranges(const CodeRange* ranges, size_t n) {
  CodeSet out;
  for (size_t i = 0; i < n; ++i) out.add(ranges[i].first, ranges[i].last);
  out.normalize();
  return out;
}

std::string bare(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != ' ' && c != '-' && c != '_') out += ascii_lower(c);
  return out;
}

std::optional<CodeSet> category_set(const std::string& name) {
  std::string prefix = name;
  if (!prefix.empty()) prefix[0] = static_cast<char>(prefix[0] - 'a' + 'A');
  if (prefix.empty() || prefix.size() > 2) return std::nullopt;
  const CodeSet out = of_categories({prefix});
  return out.empty() ? std::nullopt : std::optional(out);
}

std::optional<CodeSet> long_category(const std::string& name) {
  constexpr std::string_view kNames[][2] = {
      {"letter", "L"},           {"mark", "M"},          {"number", "N"}, {"punctuation", "P"},
      {"symbol", "S"},           {"separator", "Z"},     {"other", "C"},  {"uppercaseletter", "Lu"},
      {"lowercaseletter", "Ll"}, {"decimalnumber", "Nd"}};
  for (const auto& [long_name, prefix] : kNames)
    if (name == long_name) return of_categories({prefix});
  return std::nullopt;
}

std::optional<CodeSet> script_set(const std::string& name) {
  if (name == "han") return of_ranges(kHan, kHanSize);
  if (name == "hiragana") return of_ranges(kHiragana, kHiraganaSize);
  if (name == "katakana") return of_ranges(kKatakana, kKatakanaSize);
  if (name == "thai") return of_ranges(kThai, kThaiSize);
  return std::nullopt;
}

std::optional<CodeSet> class_set(const std::string& name) {
  if (name == "any") return CodeSet::all();
  if (name == "ascii") return CodeSet{{0, 0x7F}};
  if (name == "space" || name == "whitespace") return of_categories({"Z"}, {{0x09, 0x0D}, {0x85, 0x85}});
  if (name == "digit") return of_categories({"Nd"});
  if (name == "punct") return of_categories({"P", "S"});
  if (name == "cntrl") return of_categories({"Cc"});
  if (name == "xdigit") return CodeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
  if (name == "blank") return of_categories({"Zs"}, {{'\t', '\t'}});
  const CodeSet circled{{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
  if (name != "word" && name != "utsword") return std::nullopt;
  CodeSet out = of_categories({"L", "M", "Nd", "Nl", "Pc"});
  out.add(circled);
  // Oniguruma has these digits, UTS 18 has the joiners
  out.add(name == "word" ? CodeSet{{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}} : CodeSet{{0x200C, 0x200D}});
  out.normalize();
  return out;
}

}  // namespace

void CodeSet::normalize() {
  std::sort(ranges_.begin(), ranges_.end(), [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
  size_t n = 0;
  for (const CodeRange& range : ranges_) {
    if (n > 0 && range.first <= ranges_[n - 1].last + 1)
      ranges_[n - 1].last = std::max(ranges_[n - 1].last, range.last);
    else
      ranges_[n++] = range;
  }
  ranges_.resize(n);
}

CodeSet CodeSet::complement() const {
  CodeSet out;
  uint32_t next = 0;
  for (const CodeRange& range : ranges_) {
    if (next < range.first) out.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) out.ranges_.push_back({next, kLastCodePoint});
  return out;
}

CodeSet CodeSet::intersection(const CodeSet& other) const {
  CodeSet out;
  for (size_t i = 0, j = 0; i < ranges_.size() && j < other.ranges_.size();) {
    const CodeRange &a = ranges_[i], &b = other.ranges_[j];
    const uint32_t first = std::max(a.first, b.first), last = std::min(a.last, b.last);
    if (first <= last) out.ranges_.push_back({first, last});
    (a.last < b.last ? i : j) += 1;
  }
  return out;
}

CodeSet CodeSet::ignoring_case() const {
  CodeSet out = *this, folds;
  const auto each_cased = [](auto visit) {
    for (size_t i = 0; i < kLowerRunsSize; ++i)
      for (uint32_t c = kLowerRuns[i].first; c <= kLowerRuns[i].last; c += kLowerRuns[i].step) visit(c);
    for (size_t i = 0; i < kFoldPairsSize; ++i) visit(kFoldPairs[i].from);
  };
  // Every class of equal characters has its fold and what folds to it.
  each_cased([&](uint32_t c) {
    if (contains(c) || contains(folded(c))) folds.add(folded(c), folded(c));
  });
  folds.normalize();
  each_cased([&](uint32_t c) {
    if (folds.contains(folded(c))) out.add(c, c), out.add(folded(c), folded(c));
  });
  out.normalize();
  return out;
}

bool CodeSet::contains(uint32_t c) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), c, [](uint32_t v, const CodeRange& r) { return v < r.first; });
  return after != ranges_.begin() && c <= after[-1].last;
}

bool CodeSet::operator==(const CodeSet& other) const {
  return std::equal(ranges_.begin(), ranges_.end(), other.ranges_.begin(), other.ranges_.end(),
                    [](const CodeRange& a, const CodeRange& b) { return a.first == b.first && a.last == b.last; });
}

std::optional<CodeSet> property_set(std::string_view property) {
  const std::string name = bare(property);
  for (const auto& find : {category_set, long_category, script_set, class_set})
    if (auto set = find(name)) return set;
  return std::nullopt;
}

}  // namespace inlay
