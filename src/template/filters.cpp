// The tables of filters as one, and those of numbers.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/numbers.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

Result<Value> absolute(Run&, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "abs", {}));
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is_number()) return type_error("bad operand type for abs(): '%s'", value.type_name());
  if (value.is(Kind::real)) return Value(std::fabs(value.real()));
  if (value.integer() == INT64_MIN) return error(Code::unsupported, "an integer does not fit in 64 bits");
  return Value(value.integer() < 0 ? -value.integer() : value.integer());
}

Result<Value> to_integer(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "int", {"default", "base"}));
  const Value otherwise = bound.has(0) ? bound[0] : Value(int64_t{0});
  if (value.is_undefined()) return undefined_error(value);
  if (value.is_integral()) return Value(value.integer());
  double real = 0;
  if (value.is_string()) {
    INLAY_TRY(run.charge_bytes(value.text().size()));
    const int64_t base = !bound.has(1) ? 10 : bound[1].is_integral() ? bound[1].integer() : -1;  // what is no base reads no digits
    const bool is_base = base == 0 || (base >= 2 && base <= 36);
    if (const auto whole = is_base ? parse_integer(value.text(), static_cast<int>(base)) : std::nullopt) return Value(*whole);
    const auto parsed = parse_real(value.text());
    if (!parsed) return otherwise;
    real = *parsed;
  } else if (value.is(Kind::real)) {
    real = value.real();
    if (std::isinf(real)) return type_error("cannot convert float infinity to integer");
  } else {
    return otherwise;
  }
  if (!std::isfinite(real)) return otherwise;
  if (!(std::fabs(real) < 9.2e18)) return error(Code::unsupported, "an integer does not fit in 64 bits");
  return Value(static_cast<int64_t>(real));
}

Result<Value> to_real(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "float", {"default"}));
  if (value.is_undefined()) return undefined_error(value);
  if (value.is_number()) return Value(value.real());
  if (value.is_string()) {
    INLAY_TRY(run.charge_bytes(value.text().size()));
    if (const auto parsed = parse_real(value.text())) return Value(*parsed);
  }
  return bound.has(0) ? bound[0] : Value(0.0);
}

// Half to even. `digits` is below 0.
Result<Value> round_integer(int64_t value, int64_t digits) {
  if (digits < -19) return Value(int64_t{0});  // less than half of 10^20
  uint64_t scale = 1;
  for (; digits < 0; ++digits) scale *= 10;
  const uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const uint64_t rest = magnitude % scale, below = magnitude - rest, missing = scale - rest;
  const uint64_t out = rest > missing || (rest == missing && below / scale % 2 == 1) ? below + scale : below;
  if (out > static_cast<uint64_t>(INT64_MAX)) return error(Code::unsupported, "an integer does not fit in 64 bits");
  return Value(value < 0 ? -static_cast<int64_t>(out) : static_cast<int64_t>(out));
}

// Rounds half to even on the exact value, as the decimal text of printf does.
Result<double> round_decimal(double value, int64_t digits) {
  if (digits > 300) return value;
  if (digits < 0) {
    const double scale = std::pow(10.0, static_cast<double>(-std::max<int64_t>(digits, -400)));
    return std::isinf(scale) ? 0.0 : std::nearbyint(value / scale) * scale;
  }
  char buffer[768];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, static_cast<int>(digits)).ptr;
  double out = value;
  std::from_chars(buffer, end, out);
  return out;
}

Result<Value> round(Run&, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "round", {"precision", "method"}));
  INLAY_ASSIGN(const std::string_view method, bound.text(1, "common"));
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is_number()) return type_error("type %s doesn't define __round__ method", value.type_name());
  if (method != "common" && method != "ceil" && method != "floor")
    return type_error("method must be common, ceil or floor");
  const bool to_whole = bound.has(0) && bound[0].is_none() && method == "common";  // to an integer
  int64_t digits = 0;
  if (!to_whole) {
    INLAY_ASSIGN(digits, bound.integer(0, 0));
  }
  if (method == "common" && value.is_integral()) return digits >= 0 ? Value(value.integer()) : round_integer(value.integer(), digits);
  if (!std::isfinite(value.real())) return to_whole || method != "common" ? Result<Value>(type_error("cannot convert float %s to integer", real_text(value.real()).c_str())) : value;
  if (method == "common") {
    INLAY_ASSIGN(const double out, round_decimal(value.real(), digits));
    if (to_whole && !(std::fabs(out) < 9.2e18)) return error(Code::unsupported, "an integer does not fit in 64 bits");
    return to_whole ? Value(static_cast<int64_t>(out)) : Value(out);
  }
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const double scaled = value.real() * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

constexpr Named<Filter> kNumberFilters[] = {
    {"abs", absolute}, {"int", to_integer}, {"float", to_real}, {"round", round}};

}  // namespace

std::span<const Named<Filter>> number_filters() { return kNumberFilters; }

Filter find_filter(std::string_view name) {
  for (const auto table : {text_filters(), layout_filters(), sequence_filters(), mapping_filters(), number_filters()})
    for (const auto& known : table)
      if (known.name == name) return known.function;
  return nullptr;
}

Result<Value> apply_filter(Run& run, std::string_view name, const Value& value, const Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (!filter) return error(Code::unsupported, "the filter '%s' is not supported", std::string(name).c_str());
  return filter(run, value, arguments);
}

}  // namespace inlay::tmpl
