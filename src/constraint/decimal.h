// Decimal numbers of any size, exactly as they are written, and the languages of the numbers in a range.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "src/constraint/regex_store.h"

namespace inlay::constraint {

// A JSON number. Its digits are without zeros at the begin of the whole part and at the end of the fraction.
struct Decimal {
  bool negative = false;
  std::string whole;     // empty: 0
  std::string fraction;

  // None where the number has more than 1,000 digits before or behind the point.
  static std::optional<Decimal> parse(std::string_view json_number);
  bool is_zero() const { return whole.empty() && fraction.empty(); }
  bool is_integer() const { return fraction.empty(); }
  std::strong_ordering operator<=>(const Decimal& other) const;
  bool operator==(const Decimal& other) const { return (*this <=> other) == 0; }
};

struct Bound {
  Decimal value;
  bool exclusive = false;
};

struct NumberRange {
  std::optional<Bound> min, max;
  bool integers = false;        // written without fraction and exponent
  uint32_t multiple_of = 1;     // of integers
  // Of fractions: at most so many digits that are not zeros at the end.
  std::optional<uint32_t> fraction_digits;
};

// Numbers of the range as JSON writes them. An exponent is possible where there is neither a bound nor a limit of digits, and
// -0 where 0 is and the range goes below it.
RegexId number_language(RegexStore& store, const NumberRange& range);

}  // namespace inlay::constraint
