#include "src/constraint/code_points.h"

#include <algorithm>
#include <string_view>

namespace inlay::constraint {

CodePoints::CodePoints(std::initializer_list<Range> ranges) : ranges_(ranges) { make_normal(); }

void CodePoints::add(const CodePoints& other) {
  for (const Range& range : other.ranges()) add(range.first, range.last);
}

void CodePoints::make_normal() const {
  constexpr Range kSurrogates{0xD800, 0xDFFF};
  std::vector<Range> parts;
  for (const Range& range : ranges_) {
    const uint32_t last = std::min(range.last, kLastCodePoint);
    if (range.first < kSurrogates.first) parts.push_back({range.first, std::min(last, kSurrogates.first - 1)});
    if (last > kSurrogates.last) parts.push_back({std::max(range.first, kSurrogates.last + 1), last});
  }
  std::erase_if(parts, [](const Range& range) { return range.first > range.last; });
  std::sort(parts.begin(), parts.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  ranges_.clear();
  for (const Range& range : parts) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1)
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    else
      ranges_.push_back(range);
  }
  normal_ = true;
}

const std::vector<CodePoints::Range>& CodePoints::ranges() const {
  if (!normal_) make_normal();
  return ranges_;
}

CodePoints CodePoints::complement() const {
  CodePoints out;
  uint32_t next = 0;
  for (const Range& range : ranges()) {
    if (range.first > next) out.add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) out.add(next, kLastCodePoint);
  return out;
}

CodePoints CodePoints::without(const CodePoints& other) const {
  CodePoints outside = complement();
  outside.add(other);
  return outside.complement();
}

bool CodePoints::has(uint32_t code_point) const {
  const auto& sorted = ranges();
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), code_point,
                                      [](uint32_t value, const Range& range) { return value < range.first; });
  return after != sorted.begin() && after[-1].last >= code_point;
}

namespace {

struct Utf8Bytes {
  uint8_t bytes[4];
  uint32_t size;
};

Utf8Bytes encode(uint32_t c) {
  const auto part = [&](uint32_t shift) { return static_cast<uint8_t>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {{static_cast<uint8_t>(c)}, 1};
  if (c < 0x800) return {{static_cast<uint8_t>(0xC0 | c >> 6), part(0)}, 2};
  if (c < 0x10000) return {{static_cast<uint8_t>(0xE0 | c >> 12), part(6), part(0)}, 3};
  return {{static_cast<uint8_t>(0xF0 | c >> 18), part(12), part(6), part(0)}, 4};
}

// Sequences of `size` bytes from first to last, of which the bytes from `at` on are given.
RegexId between(RegexStore& store, const uint8_t* first, const uint8_t* last, uint32_t size) {
  if (size == 0) return kEmptyText;
  const auto rest = [&](uint32_t n) { return store.repeat(store.bytes(ByteSet::range(0x80, 0xBF)), n, n); };
  if (first[0] == last[0]) return store.concat(store.byte(first[0]), between(store, first + 1, last + 1, size - 1));
  const uint8_t low[] = {0x80, 0x80, 0x80}, high[] = {0xBF, 0xBF, 0xBF};
  const bool whole_first = std::equal(first + 1, first + size, low), whole_last = std::equal(last + 1, last + size, high);
  std::vector<RegexId> parts;
  if (!whole_first) parts.push_back(store.concat(store.byte(first[0]), between(store, first + 1, high, size - 1)));
  if (!whole_last) parts.push_back(store.concat(store.byte(last[0]), between(store, low, last + 1, size - 1)));
  const uint32_t begin = first[0] + !whole_first, end = last[0] - !whole_last;
  if (begin <= end) parts.push_back(store.concat(store.bytes(ByteSet::range(begin, end)), rest(size - 1)));
  return store.either(std::move(parts));
}

CodePoints::Range clipped(const CodePoints::Range& range, uint32_t first, uint32_t last) {
  return {std::max(range.first, first), std::min(range.last, last)};
}

ByteSet hex_digits_of(uint32_t first, uint32_t last) {
  ByteSet out;
  for (uint32_t digit = first; digit <= last; ++digit) {
    out.add(static_cast<uint8_t>("0123456789abcdef"[digit]));
    out.add(static_cast<uint8_t>("0123456789ABCDEF"[digit]));
  }
  return out;
}

// Numbers of `n` hexadecimal digits from first to last.
RegexId hex_between(RegexStore& store, uint32_t first, uint32_t last, uint32_t n) {
  if (n == 0) return kEmptyText;
  const uint32_t shift = 4 * (n - 1), mask = (1u << shift) - 1;
  const uint32_t a = first >> shift, b = last >> shift;
  const auto digit = [&](uint32_t x, uint32_t y) { return store.bytes(hex_digits_of(x, y)); };
  if (a == b) return store.concat(digit(a, a), hex_between(store, first & mask, last & mask, n - 1));
  std::vector<RegexId> parts;
  const bool whole_first = (first & mask) == 0, whole_last = (last & mask) == mask;
  if (!whole_first) parts.push_back(store.concat(digit(a, a), hex_between(store, first & mask, mask, n - 1)));
  if (!whole_last) parts.push_back(store.concat(digit(b, b), hex_between(store, 0, last & mask, n - 1)));
  const uint32_t begin = a + !whole_first, end = b - !whole_last;
  if (begin <= end) parts.push_back(store.concat(digit(begin, end), hex_between(store, 0, mask, n - 1)));
  return store.either(std::move(parts));
}

// \uXXXX, and two of them for what lies beyond the first 65,536.
RegexId unicode_escape(RegexStore& store, const CodePoints::Range& range) {
  const RegexId begin = store.literal("\\u");
  std::vector<RegexId> parts;
  const auto low = clipped(range, 0, 0xFFFF), high = clipped(range, 0x10000, kLastCodePoint);
  if (low.first <= low.last) parts.push_back(store.concat(begin, hex_between(store, low.first, low.last, 4)));
  for (uint32_t c = high.first; c <= high.last;) {
    // As many whole leading halves as there are, or a part of one
    const uint32_t lead = (c - 0x10000) >> 10, last_lead = (high.last - 0x10000) >> 10;
    const bool whole = (c & 0x3FF) == 0;
    const bool ends_whole = (high.last & 0x3FF) == 0x3FF;
    const uint32_t until = whole && (last_lead > lead || ends_whole) ? (ends_whole ? last_lead : last_lead - 1) : lead;
    const uint32_t end = std::min(high.last, 0x10000 + (until << 10 | 0x3FF));
    parts.push_back(store.concat({begin, hex_between(store, 0xD800 + lead, 0xD800 + until, 4), begin,
                                  hex_between(store, 0xDC00 + (whole ? 0 : c & 0x3FF), 0xDC00 + (end & 0x3FF), 4)}));
    c = end + 1;
  }
  return store.either(std::move(parts));
}

}  // namespace

RegexId utf8(RegexStore& store, const CodePoints& set) {
  constexpr uint32_t kLastOfSize[] = {0x7F, 0x7FF, 0xFFFF, kLastCodePoint};
  std::vector<RegexId> parts;
  ByteSet ascii;
  for (const CodePoints::Range& range : set.ranges()) {
    for (uint32_t c = range.first; c <= range.last && c < 0x80; ++c) ascii.add(static_cast<uint8_t>(c));
    for (uint32_t size = 2; size <= 4; ++size) {
      const auto part = clipped(range, kLastOfSize[size - 2] + 1, kLastOfSize[size - 1]);
      if (part.first <= part.last)
        parts.push_back(between(store, encode(part.first).bytes, encode(part.last).bytes, size));
    }
  }
  parts.push_back(store.bytes(ascii));
  return store.either(std::move(parts));
}

RegexId spelled(RegexStore& store, const CodePoints& set, Spelling spelling) {
  if (spelling == Spelling::plain) return utf8(store, set);
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  std::vector<RegexId> parts{utf8(store, set.without({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}))};
  ByteSet letters;
  for (size_t i = 0; i < kEscaped.size(); ++i)
    if (set.has(static_cast<uint8_t>(kEscaped[i]))) letters.add(static_cast<uint8_t>(kLetters[i]));
  if (spelling == Spelling::json_escapes && set.has('/')) letters.add('/');
  parts.push_back(store.concat(store.byte('\\'), store.bytes(letters)));
  CodePoints by_number = set;
  if (spelling == Spelling::json)  // control characters that have no letter
    by_number = set.without({{'\b', '\n'}, {'\f', '\r'}, {0x20, kLastCodePoint}});
  for (const CodePoints::Range& range : by_number.ranges()) parts.push_back(unicode_escape(store, range));
  return store.either(std::move(parts));
}

}  // namespace inlay::constraint
