// What stands behind `is`.
#include <algorithm>

#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

bool is_iterable(const Value& v) {
  if (v.is(Kind::object)) return dynamic_cast<Generator*>(&v.object()) != nullptr || v.object().length();
  return v.is_string() || v.is(Kind::map) || v.is(Kind::list) || v.is_undefined();
}

namespace {

using Predicate = bool (*)(const Value&);

template <Predicate Holds>
Result<bool> plain(Run&, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "the test", {}));
  return Holds(value);
}

bool is_defined(const Value& v) { return !v.is_undefined(); }
bool is_undefined(const Value& v) { return v.is_undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.is(Kind::boolean); }
bool is_true(const Value& v) { return v.is(Kind::boolean) && v.boolean(); }
bool is_false(const Value& v) { return v.is(Kind::boolean) && !v.boolean(); }
bool is_integer(const Value& v) { return v.is(Kind::integer); }
bool is_real(const Value& v) { return v.is(Kind::real); }
bool is_a_number(const Value& v) { return v.is_number(); }
bool is_string(const Value& v) { return v.is_string(); }
bool is_mapping(const Value& v) { return v.is(Kind::map); }
bool is_escaped(const Value& v) { return v.is_markup(); }
bool is_callable(const Value& v) { return v.is_undefined() || (v.is(Kind::object) && v.object().callable()); }
bool can_be_indexed(const Value& v) {
  return v.is_string() || v.is(Kind::map) || v.is_undefined() || (v.is(Kind::list) && v.list().kind <= ListKind::range);
}

bool has_case(const std::string& text, bool (*other)(uint32_t), bool (*wanted)(uint32_t)) {
  bool found = false;
  for (const std::string_view c : code_points(text)) {
    if (other(decode_utf8(c.data()).value)) return false;
    found = found || wanted(decode_utf8(c.data()).value);
  }
  return found;
}
template <bool Upper>
Result<bool> has_wanted_case(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, Upper ? "upper" : "lower", {}));
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  return Upper ? has_case(text, is_lower, is_upper) : has_case(text, is_upper, is_lower);
}

Result<Value> modulo(Run& run, const Value& value, const Value& by) { return arithmetic(run, "%", value, by); }

Result<bool> is_odd(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "odd", {}));
  INLAY_ASSIGN(const Value rest, modulo(run, value, Value(int64_t{2})));
  return run.same(rest, Value(int64_t{1}));
}
Result<bool> is_even(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "even", {}));
  INLAY_ASSIGN(const Value rest, modulo(run, value, Value(int64_t{2})));
  return run.same(rest, Value(int64_t{0}));
}
Result<bool> is_divisible(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "divisibleby", {"num"}, 1));
  INLAY_ASSIGN(const Value rest, modulo(run, value, bound[0]));
  return run.same(rest, Value(int64_t{0}));
}

enum class Relation : uint8_t { eq, ne, lt, le, gt, ge };

template <Relation Wanted>
Result<bool> related(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "the test", {"other"}, 1));
  if (Wanted == Relation::eq || Wanted == Relation::ne) {
    INLAY_ASSIGN(const bool same, run.same(value, bound[0]));
    return same == (Wanted == Relation::eq);
  }
  static constexpr const char* kSigns[] = {"==", "!=", "<", "<=", ">", ">="};
  INLAY_ASSIGN(const Order order, run.order(value, bound[0], kSigns[static_cast<size_t>(Wanted)]));
  switch (Wanted) {
    case Relation::lt:
      return order == Order::less;
    case Relation::le:
      return order == Order::less || order == Order::same;
    case Relation::gt:
      return order == Order::greater;
    default:
      return order == Order::greater || order == Order::same;
  }
}

Result<bool> is_in(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "in", {"seq"}, 1));
  return run.contains(bound[0], value);
}

// Identity; strings and numbers of one value are one object here.
Result<bool> is_same(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "sameas", {"other"}, 1));
  if (value.kind() != bound[0].kind()) return false;
  if (value.identity()) return value.identity() == bound[0].identity();
  return run.same(value, bound[0]);
}

Result<bool> is_filter(Run&, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "filter", {}));
  if (!hashable(value)) return type_error("unhashable type: '%s'", value.type_name());
  return value.is_string() && find_filter(value.text());
}
Result<bool> is_test(Run&, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "test", {}));
  if (!hashable(value)) return type_error("unhashable type: '%s'", value.type_name());
  return value.is_string() && find_test(value.text());
}

constexpr Named<Test> kTests[] = {{"defined", plain<is_defined>},
                                  {"undefined", plain<is_undefined>},
                                  {"none", plain<is_none>},
                                  {"boolean", plain<is_boolean>},
                                  {"true", plain<is_true>},
                                  {"false", plain<is_false>},
                                  {"integer", plain<is_integer>},
                                  {"float", plain<is_real>},
                                  {"number", plain<is_a_number>},
                                  {"string", plain<is_string>},
                                  {"mapping", plain<is_mapping>},
                                  {"sequence", plain<can_be_indexed>},
                                  {"iterable", plain<is_iterable>},
                                  {"callable", plain<is_callable>},
                                  {"escaped", plain<is_escaped>},
                                  {"lower", has_wanted_case<false>},
                                  {"upper", has_wanted_case<true>},
                                  {"odd", is_odd},
                                  {"even", is_even},
                                  {"divisibleby", is_divisible},
                                  {"in", is_in},
                                  {"sameas", is_same},
                                  {"filter", is_filter},
                                  {"test", is_test},
                                  {"eq", related<Relation::eq>},
                                  {"==", related<Relation::eq>},
                                  {"equalto", related<Relation::eq>},
                                  {"ne", related<Relation::ne>},
                                  {"!=", related<Relation::ne>},
                                  {"lt", related<Relation::lt>},
                                  {"<", related<Relation::lt>},
                                  {"lessthan", related<Relation::lt>},
                                  {"le", related<Relation::le>},
                                  {"<=", related<Relation::le>},
                                  {"gt", related<Relation::gt>},
                                  {">", related<Relation::gt>},
                                  {"greaterthan", related<Relation::gt>},
                                  {"ge", related<Relation::ge>},
                                  {">=", related<Relation::ge>}};

}  // namespace

Test find_test(std::string_view name) {
  for (const auto& known : kTests)
    if (known.name == name) return known.function;
  return nullptr;
}

Result<bool> apply_test(Run& run, std::string_view name, const Value& value, const Arguments& arguments) {
  const Test test = find_test(name);
  if (!test) return error(Code::unsupported, "the test '%s' is not supported", std::string(name).c_str());
  return test(run, value, arguments);
}

}  // namespace inlay::tmpl
