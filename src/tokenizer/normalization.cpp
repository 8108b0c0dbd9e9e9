#include "src/tokenizer/normalization.h"

#include <algorithm>
#include <vector>

#include "src/tokenizer/normalization_tables.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

// Hangul syllables, chapter 3.12 of the Unicode Standard
constexpr uint32_t kSBase = 0xAC00, kLBase = 0x1100, kVBase = 0x1161, kTBase = 0x11A7;
constexpr uint32_t kLCount = 19, kVCount = 21, kTCount = 28, kSCount = kLCount * kVCount * kTCount;

constexpr uint32_t kFirstDecomposing = 0xA0;  // below, every form leaves all as it is
constexpr uint32_t kFirstComposing = 0x300;   // below, NFC leaves all as it is

uint32_t combining_class(uint32_t c) {
  const uint32_t* end = kCombiningRuns + kCombiningRunsSize;
  return std::upper_bound(kCombiningRuns, end, c << 8 | 0xFF)[-1] & 0xFF;
}

const Decomposition* find_decomposition(const Decomposition* table, size_t n, uint32_t c) {
  const Decomposition* found =
      std::lower_bound(table, table + n, c, [](const Decomposition& d, uint32_t v) { return d.code_point < v; });
  return found != table + n && found->code_point == c ? found : nullptr;
}

struct Mark {
  uint32_t value;
  uint32_t combining;
};

void append_decomposed(uint32_t c, bool compatible, std::vector<Mark>& out) {
  const auto add = [&](uint32_t value) { out.push_back({value, combining_class(value)}); };
  if (c < kFirstDecomposing) return out.push_back({c, 0});
  if (c - kSBase < kSCount) {
    const uint32_t s = c - kSBase;
    add(kLBase + s / (kVCount * kTCount));
    add(kVBase + s % (kVCount * kTCount) / kTCount);
    if (s % kTCount != 0) add(kTBase + s % kTCount);
    return;
  }
  const uint32_t* pool = kCompatibilityPool;
  const Decomposition* found = compatible ? find_decomposition(kCompatibility, kCompatibilitySize, c) : nullptr;
  if (found == nullptr) {
    found = find_decomposition(kCanonical, kCanonicalSize, c);
    pool = kCanonicalPool;
  }
  if (found == nullptr) return add(c);
  for (uint32_t i = 0; i < found->length; ++i) add(pool[found->place + i]);
}

void order_marks(std::vector<Mark>& marks) {
  for (auto at = marks.begin(); at != marks.end();) {
    const auto from = std::find_if(at, marks.end(), [](const Mark& m) { return m.combining != 0; });
    at = std::find_if(from, marks.end(), [](const Mark& m) { return m.combining == 0; });
    std::stable_sort(from, at, [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
  }
}

// 0 if the two do not compose.
uint32_t composed(uint32_t a, uint32_t b) {
  if (a - kLBase < kLCount && b - kVBase < kVCount) return kSBase + ((a - kLBase) * kVCount + (b - kVBase)) * kTCount;
  if (a - kSBase < kSCount && (a - kSBase) % kTCount == 0 && b - kTBase - 1 < kTCount - 1) return a + (b - kTBase);
  const Composition* end = kCompositions + kCompositionsSize;
  const Composition* found = std::lower_bound(
      kCompositions, end, Composition{a, b, 0},
      [](const auto& x, const auto& y) { return x.first != y.first ? x.first < y.first : x.second < y.second; });
  return found != end && found->first == a && found->second == b ? found->composed : 0;
}

void compose(std::vector<Mark>& marks) {
  size_t n = 0, starter = SIZE_MAX;
  for (const Mark& mark : marks) {
    const bool blocked = starter == SIZE_MAX || (n > starter + 1 && marks[n - 1].combining >= mark.combining);
    const uint32_t both = blocked ? 0 : composed(marks[starter].value, mark.value);
    if (both != 0) {
      marks[starter].value = both;
      continue;
    }
    if (mark.combining == 0) starter = n;
    marks[n++] = mark;
  }
  marks.resize(n);
}

// The end of the part of `text` that the form surely leaves as it is.
size_t stable_prefix(std::string_view text, NormalizationForm form) {
  const uint32_t limit = form == NormalizationForm::nfc ? kFirstComposing : kFirstDecomposing;
  size_t previous = 0, at = 0;
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text.data() + at);
    if (point.value >= limit) return previous;  // the character before may take part in what follows
    previous = at;
    at += point.n_bytes;
  }
  return at;
}

// The beginning of the next run that the form surely leaves as it is: two characters below the limit in succession.
size_t unstable_prefix(std::string_view text, NormalizationForm form) {
  const uint32_t limit = form == NormalizationForm::nfc ? kFirstComposing : kFirstDecomposing;
  bool was_below = false;
  size_t at = decode_utf8(text.data()).n_bytes;
  while (at < text.size()) {
    const CodePoint point = decode_utf8(text.data() + at);
    const bool below = point.value < limit;
    if (below && was_below) return at;
    was_below = below;
    at += point.n_bytes;
  }
  return at;
}

}  // namespace

void append_normalized(std::string_view text, NormalizationForm form, std::string& out) {
  const bool compatible = form == NormalizationForm::nfkc || form == NormalizationForm::nfkd;
  std::vector<Mark> marks;
  while (!text.empty()) {
    const size_t stable = stable_prefix(text, form);
    out.append(text.substr(0, stable));
    text.remove_prefix(stable);
    if (text.empty()) return;
    const size_t n = unstable_prefix(text, form);
    marks.clear();
    for (size_t at = 0; at < n;) {
      const CodePoint point = decode_utf8(text.data() + at);
      append_decomposed(point.value, compatible, marks);
      at += point.n_bytes;
    }
    order_marks(marks);
    if (form == NormalizationForm::nfc || form == NormalizationForm::nfkc) compose(marks);
    for (const Mark& mark : marks) append_utf8(mark.value, out);
    text.remove_prefix(n);
  }
}

}  // namespace inlay
