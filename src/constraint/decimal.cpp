#include "src/constraint/decimal.h"

#include <algorithm>
#include <vector>

#include "src/base/ascii.h"

namespace inlay::constraint {

namespace {

constexpr size_t kMaxDigits = 1000;

std::strong_ordering compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() <=> b.whole.size();
  if (const int order = a.whole.compare(b.whole); order != 0) return order <=> 0;
  return a.fraction.compare(b.fraction) <=> 0;
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
  Decimal out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  int64_t point = 0, exponent = 0;
  std::string digits;
  size_t at = 0;
  for (bool behind = false; at < text.size() && (is_ascii_digit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] == '.') {
      behind = true;
    } else {
      digits += text[at];
      point += !behind;
    }
  }
  if (at < text.size()) {  // e or E
    ++at;
    const bool negative = text[at] == '-';
    if (text[at] == '-' || text[at] == '+') ++at;
    for (; at < text.size(); ++at) exponent = std::min<int64_t>(exponent * 10 + (text[at] - '0'), 1 << 30);
    if (negative) exponent = -exponent;
  }
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  point += exponent - static_cast<int64_t>(zeros);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.empty()) {
    out.negative = false;
    return out;
  }
  const auto n = static_cast<int64_t>(digits.size());
  if (point > static_cast<int64_t>(kMaxDigits) || n - point > static_cast<int64_t>(kMaxDigits)) return {};
  if (point <= 0) {
    out.fraction = std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (point >= n) {
    out.whole = digits + std::string(static_cast<size_t>(point - n), '0');
  } else {
    out.whole = digits.substr(0, static_cast<size_t>(point));
    out.fraction = digits.substr(static_cast<size_t>(point));
  }
  return out;
}

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
  if (negative != other.negative) return negative ? std::strong_ordering::less : std::strong_ordering::greater;
  return negative ? compare_magnitudes(other, *this) : compare_magnitudes(*this, other);
}

namespace {

// Languages of magnitudes.
class Magnitudes {
 public:
  Magnitudes(RegexStore& store, bool integers) : store_(store), integers_(integers) {
    digits_ = store.repeat(digit('0', '9'), 0, kUnbounded);
    fraction_ = integers ? kEmptyText : store.optional(store.concat({store.byte('.'), digit('0', '9'), digits_}));
    any_ = store.concat(store.either({digit('0', '0'), store.concat(digit('1', '9'), digits_)}), fraction_);
  }

  RegexId any() const { return any_; }

  RegexId at_least(const Decimal& bound, bool more) {
    const std::string whole = written(bound);
    std::vector<RegexId> parts;
    const auto n = static_cast<uint32_t>(whole.size());
    parts.push_back(store_.concat({digit('1', '9'), store_.repeat(digit('0', '9'), n, kUnbounded), fraction_}));
    for (uint32_t i = 0; i < n; ++i)
      if (whole[i] < '9') parts.push_back(differing(whole, i, digit(static_cast<char>(whole[i] + 1), '9')));
    parts.push_back(store_.concat(store_.literal(whole), fraction_at_least(bound.fraction, more)));
    return store_.either(std::move(parts));
  }

  RegexId at_most(const Decimal& bound, bool less) {
    const std::string whole = written(bound);
    std::vector<RegexId> parts;
    const auto n = static_cast<uint32_t>(whole.size());
    if (n > 1) {
      parts.push_back(store_.concat(digit('0', '0'), fraction_));
      parts.push_back(store_.concat({digit('1', '9'), store_.repeat(digit('0', '9'), 0, n - 2), fraction_}));
    }
    for (uint32_t i = 0; i < n; ++i) {
      const char first = i == 0 && n > 1 ? '1' : '0';
      if (whole[i] > first) parts.push_back(differing(whole, i, digit(first, static_cast<char>(whole[i] - 1))));
    }
    parts.push_back(store_.concat(store_.literal(whole), fraction_at_most(bound.fraction, less)));
    return store_.either(std::move(parts));
  }

 private:
  static std::string written(const Decimal& bound) { return bound.whole.empty() ? "0" : bound.whole; }
  RegexId digit(char first, char last) {
    return store_.bytes(ByteSet::range(static_cast<uint8_t>(first), static_cast<uint8_t>(last)));
  }
  // The same digits up to i, another one there, and any after it.
  RegexId differing(const std::string& whole, uint32_t i, RegexId other) {
    const auto rest = static_cast<uint32_t>(whole.size()) - i - 1;
    return store_.concat({store_.literal(whole.substr(0, i)), other, store_.repeat(digit('0', '9'), rest, rest), fraction_});
  }

  RegexId fraction_at_least(const std::string& bound, bool more) {
    if (integers_) return bound.empty() && !more ? kEmptyText : kNothing;
    const RegexId zeros = store_.repeat(digit('0', '0'), 0, kUnbounded);
    if (bound.empty() && !more) return fraction_;
    std::vector<RegexId> parts;
    for (size_t i = 0; i < bound.size(); ++i)
      if (bound[i] < '9')
        parts.push_back(store_.concat({store_.literal(bound.substr(0, i)), digit(static_cast<char>(bound[i] + 1), '9'), digits_}));
    const RegexId behind = more ? store_.concat({zeros, digit('1', '9'), digits_}) : digits_;
    parts.push_back(store_.concat(store_.literal(bound), behind));
    return store_.concat(store_.byte('.'), store_.either(std::move(parts)));
  }

  RegexId fraction_at_most(const std::string& bound, bool less) {
    if (bound.empty() && less) return kNothing;
    if (integers_) return kEmptyText;
    const RegexId zeros = store_.repeat(digit('0', '0'), 0, kUnbounded);
    if (bound.empty()) return store_.optional(store_.concat({store_.byte('.'), digit('0', '0'), zeros}));
    std::vector<RegexId> parts;
    for (size_t i = 0; i < bound.size(); ++i) {
      if (bound[i] > '0')
        parts.push_back(store_.concat({store_.literal(bound.substr(0, i)), digit('0', static_cast<char>(bound[i] - 1)), digits_}));
      if (i > 0) parts.push_back(store_.literal(bound.substr(0, i)));
    }
    if (!less) parts.push_back(store_.concat(store_.literal(bound), zeros));
    return store_.optional(store_.concat(store_.byte('.'), store_.either(std::move(parts))));
  }

  RegexStore& store_;
  const bool integers_;
  RegexId digits_, fraction_, any_;
};

RegexId with_sign(RegexStore& store, RegexId magnitude) { return store.concat(store.byte('-'), magnitude); }

}  // namespace

RegexId number_language(RegexStore& store, const NumberRange& range) {
  Magnitudes all(store, range.integers);
  const auto digit = store.bytes(ByteSet::range('0', '9'));
  RegexId positive = all.any(), negative = all.any();
  const auto restrict = [&](RegexId& part, RegexId to) { part = part == all.any() ? to : store.both({part, to}); };
  if (range.min) {
    const auto& [value, exclusive] = *range.min;
    if (value.negative) {
      restrict(negative, all.at_most(value, exclusive));
    } else {
      negative = kNothing;
      if (!value.is_zero() || exclusive) restrict(positive, all.at_least(value, exclusive));
    }
  }
  if (range.max) {
    const auto& [value, exclusive] = *range.max;
    if (value.negative) {
      positive = kNothing;
      restrict(negative, all.at_least(value, exclusive));
    } else {
      if (value.is_zero() && exclusive) restrict(negative, all.at_least(value, true));
      restrict(positive, all.at_most(value, exclusive));
    }
  }
  if (range.multiple_of > 1) {
    const RegexId multiple = store.multiple(range.multiple_of, 0);
    positive = store.both({positive, multiple});
    negative = store.both({negative, multiple});
  }
  RegexId out = store.either({positive, with_sign(store, negative)});
  if (range.fraction_digits) {
    const RegexId zeros = store.repeat(store.byte('0'), 0, kUnbounded), digits = store.repeat(digit, 1, kUnbounded);
    const uint32_t n = *range.fraction_digits;
    const RegexId some = n == 0 ? store.repeat(store.byte('0'), 1, kUnbounded) : store.concat(store.repeat(digit, 1, n), zeros);
    out = store.both({out, store.concat({store.optional(store.byte('-')), digits, store.optional(store.concat(store.byte('.'), some))})});
  }
  if (range.integers || range.min || range.max || range.fraction_digits) return out;
  const auto set_of = [](std::string_view text) {
    ByteSet set;
    for (const char c : text) set.add(static_cast<uint8_t>(c));
    return set;
  };
  const RegexId exponent = store.concat({store.bytes(set_of("eE")), store.optional(store.bytes(set_of("+-"))), store.repeat(digit, 1, kUnbounded)});
  return store.concat(out, store.optional(exponent));
}

}  // namespace inlay::constraint
