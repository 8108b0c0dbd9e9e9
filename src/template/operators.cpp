// Arithmetic and slices.
#include <algorithm>
#include <cmath>

#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

Status out_of_range() { return error(Code::unsupported, "an integer does not fit in 64 bits"); }

Result<Value> power(const Value& a, const Value& b) {
  if (!a.is_integral() || !b.is_integral() || b.integer() < 0) {
    if (a.real() == 0 && b.real() < 0) return type_error("0.0 cannot be raised to a negative power");
    const double out = std::pow(a.real(), b.real());
    if (std::isnan(out) && !std::isnan(a.real()) && !std::isnan(b.real()))
      return error(Code::unsupported, "a complex number");
    if (std::isinf(out) && std::isfinite(a.real()) && std::isfinite(b.real())) return type_error("the result of ** is out of range");
    return Value(out);
  }
  int64_t base = a.integer(), out = 1;
  for (int64_t exponent = b.integer(); exponent > 0; exponent >>= 1) {
    if ((exponent & 1) && __builtin_mul_overflow(out, base, &out)) return out_of_range();
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return out_of_range();
  }
  return Value(out);
}

// Rounds towards minus infinity, as Python does.
Result<Value> divide_whole(const Value& a, const Value& b, bool wants_rest) {
  if (b.real() == 0) return type_error("integer division or modulo by zero");
  if (!a.is_integral() || !b.is_integral()) {
    double rest = std::fmod(a.real(), b.real());
    if (rest == 0)
      rest = std::copysign(0.0, b.real());
    else if (std::signbit(rest) != std::signbit(b.real()))
      rest += b.real();
    if (wants_rest) return Value(rest);
    const double quotient = (a.real() - rest) / b.real();
    if (quotient == 0) return Value(std::copysign(0.0, a.real() / b.real()));
    const double whole = std::floor(quotient);
    return Value(quotient - whole > 0.5 ? whole + 1 : whole);
  }
  const int64_t x = a.integer(), y = b.integer();
  if (y == -1) {
    int64_t out = 0;
    if (!wants_rest && __builtin_sub_overflow(int64_t{0}, x, &out)) return out_of_range();
    return Value(out);
  }
  const bool adjust = x % y != 0 && (x % y < 0) != (y < 0);
  return Value(wants_rest ? x % y + (adjust ? y : 0) : x / y - (adjust ? 1 : 0));
}

Result<Value> numbers(std::string_view sign, const Value& a, const Value& b) {
  if (sign == "**") return power(a, b);
  if (sign == "//" || sign == "%") return divide_whole(a, b, sign == "%");
  if (sign == "/") {
    if (b.real() == 0) return type_error("division by zero");
    return Value(a.real() / b.real());
  }
  if (a.is_integral() && b.is_integral()) {
    int64_t out = 0;
    const int64_t x = a.integer(), y = b.integer();
    const bool overflows = sign == "+"   ? __builtin_add_overflow(x, y, &out)
                           : sign == "-" ? __builtin_sub_overflow(x, y, &out)
                                         : __builtin_mul_overflow(x, y, &out);
    return overflows ? Result<Value>(out_of_range()) : Result<Value>(Value(out));
  }
  const double x = a.real(), y = b.real();
  return Value(sign == "+" ? x + y : sign == "-" ? x - y : x * y);
}

Result<Value> repeat(Run& run, const Value& value, int64_t n) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(n, 0));
  if (value.is_string()) {
    INLAY_TRY(run.charge_product(times, value.text().size()));
    std::string out;
    if (!value.text().empty())
      for (uint64_t i = 0; i < times; ++i) out += value.text();
    return run.text(std::move(out), value.is_markup());
  }
  const auto& items = value.list().items;
  INLAY_TRY(run.charge_product(times, items.size() * kBytesPerStep));
  std::vector<Value> out;
  if (!items.empty())
    for (uint64_t i = 0; i < times; ++i) out.insert(out.end(), items.begin(), items.end());
  return run.list(std::move(out), value.list().kind);
}

bool is_sequence(const Value& value) { return value.is(Kind::list) && value.list().kind <= ListKind::tuple; }

Result<Value> add(Run& run, const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) return join_texts(run, {a, b}, Value(std::string()));
  if (a.is_string()) return type_error("can only concatenate str (not \"%s\") to str", b.type_name());
  if (is_sequence(a) && is_sequence(b) && a.list().kind == b.list().kind) {
    std::vector<Value> items = a.list().items;
    items.insert(items.end(), b.list().items.begin(), b.list().items.end());
    return run.list(std::move(items), a.list().kind);
  }
  if (is_sequence(a))
    return type_error("can only concatenate %s (not \"%s\") to %s", a.type_name(), b.type_name(), a.type_name());
  return type_error("unsupported operand type(s) for +: '%s' and '%s'", a.type_name(), b.type_name());
}

// Positions of begin:end:step within n elements, which lie from `begin` to `end`.
struct Positions {
  int64_t begin, end, step;
  std::vector<size_t> all;
};
Result<Positions> slice_positions(const Value (&bounds)[3], int64_t n) {
  for (const Value& bound : bounds) {
    if (bound.is_undefined()) return undefined_error(bound);
    if (!bound.is_none() && !bound.is_integral()) return type_error("slice indices must be integers or None");
  }
  const int64_t step = bounds[2].is_none() ? 1 : bounds[2].integer();
  if (step == 0) return type_error("slice step cannot be zero");
  const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? n - 1 : n;
  const auto position = [&](const Value& bound, int64_t otherwise) {
    if (bound.is_none()) return otherwise;
    const int64_t at = bound.integer();
    return std::clamp(at < 0 ? at + n : at, lowest, highest);
  };
  const int64_t begin = position(bounds[0], step < 0 ? highest : lowest);
  const int64_t end = position(bounds[1], step < 0 ? lowest : highest);
  Positions out{begin, end, step, {}};
  int64_t at = begin;
  while (step < 0 ? at > end : at < end) {
    out.all.push_back(static_cast<size_t>(at));
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return out;
}

}  // namespace

Result<Value> arithmetic(Run& run, std::string_view sign, const Value& a, const Value& b) {
  if (a.is_undefined()) return undefined_error(a);
  if (sign == "%" && a.is_string()) return percent_format(run, a.text(), b);
  if (b.is_undefined()) return undefined_error(b);
  if (a.is_number() && b.is_number()) return numbers(sign, a, b);
  if (sign == "+") return add(run, a, b);
  if (sign == "*" && (a.is_string() || is_sequence(a)) && b.is_integral()) return repeat(run, a, b.integer());
  if (sign == "*" && (b.is_string() || is_sequence(b)) && a.is_integral()) return repeat(run, b, a.integer());
  return type_error("unsupported operand type(s) for %s: '%s' and '%s'", std::string(sign).c_str(), a.type_name(),
                    b.type_name());
}

Result<Value> slice_of(Run& run, const Value& value, const Value (&bounds)[3]) {
  if (value.is_undefined()) return undefined_error(value);
  if (value.is_string()) {
    INLAY_TRY(run.charge(1 + value.text().size() / 4));
    const auto characters = code_points(value.text());
    const std::vector<std::string_view> points(characters.begin(), characters.end());
    INLAY_ASSIGN(const auto positions, slice_positions(bounds, static_cast<int64_t>(points.size())));
    Text out{{}, value.is_markup()};
    for (const size_t at : positions.all) {
      const auto begin = static_cast<size_t>(points[at].data() - value.text().data());
      add_spans(out.foreign, out.bytes.size(), value.foreign(), {begin, begin + points[at].size()});
      out.bytes += points[at];
    }
    return run.text(std::move(out));
  }
  if (!value.is(Kind::list) || value.list().kind > ListKind::range)
    return type_error("'%s' object has no slices", value.type_name());
  const auto& items = value.list().items;
  INLAY_TRY(run.charge(items.size()));
  INLAY_ASSIGN(const auto positions, slice_positions(bounds, static_cast<int64_t>(items.size())));
  std::vector<Value> out;
  for (const size_t at : positions.all) out.push_back(items[at]);
  if (value.list().kind != ListKind::range) return run.list(std::move(out), value.list().kind);
  const auto& range = value.list().range;
  const auto number = [&](int64_t position) { return static_cast<int64_t>(static_cast<uint64_t>(range.begin) + static_cast<uint64_t>(position) * static_cast<uint64_t>(range.step)); };
  const auto step = static_cast<int64_t>(static_cast<uint64_t>(range.step) * static_cast<uint64_t>(positions.step));
  INLAY_TRY(run.charge(out.size() + 1));
  return Value(List{.items = std::move(out), .kind = ListKind::range, .range = {number(positions.begin), number(positions.end), step}});
}

}  // namespace inlay::tmpl
