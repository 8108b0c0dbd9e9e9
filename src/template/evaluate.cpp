// Expressions.
#include <algorithm>

#include "src/template/builtins.h"
#include "src/template/interpreter.h"
#include "src/template/python_text.h"

namespace inlay::tmpl {

namespace {

// A function of the library keeps no text of its own. What objects keep, as joiners do, may be anything's.
bool are_foreign(const Value& base, const Arguments& arguments) {
  if (base.is_foreign()) return true;
  for (const Value& value : arguments.positional)
    if (value.is_foreign()) return true;
  for (const auto& [name, value] : arguments.named)
    if (value.is_foreign()) return true;
  return false;
}

}  // namespace

Result<Value> Interpreter::evaluate(const Expression& expression, Frame* frame) {
  if (run_.stack.is_spent()) return run_.stack.go_on([&] { return evaluate(expression, frame); });
  const Descent descent(run_);
  Status status = descent.check();
  if (status.ok()) status = run_.charge(1);
  if (!status.ok()) return located(expression.position, std::move(status));
  Result<Value> value = evaluate_known(expression, frame);
  if (!value.ok()) return located(expression.position, std::move(value).status());
  return value;
}

Result<Value> Interpreter::evaluate_known(const Expression& expression, Frame* frame) {
  switch (expression.kind) {
    case ExpressionKind::constant:
      return expression.constant;
    case ExpressionKind::captured:
      return *captured_;
    case ExpressionKind::name:
      return evaluate_name(expression, frame);
    case ExpressionKind::list:
    case ExpressionKind::tuple:
      return evaluate_list(expression, frame);
    case ExpressionKind::map:
      return evaluate_map(expression, frame);
    case ExpressionKind::attribute: {
      INLAY_ASSIGN(const Value base, evaluate(*expression.parts[0], frame));
      const ForeignScope scope(run_, base.is_foreign());
      return attribute_of(run_, base, expression.name);
    }
    case ExpressionKind::item:
      return evaluate_item(expression, frame);
    case ExpressionKind::slice:
      return error(Code::internal, "a slice outside of a subscript");
    case ExpressionKind::call:
    case ExpressionKind::filter:
    case ExpressionKind::test:
      return evaluate_call(expression, frame);
    case ExpressionKind::sign:
      return evaluate_sign(expression, frame);
    case ExpressionKind::arithmetic:
      return evaluate_arithmetic(expression, frame);
    case ExpressionKind::concat:
      return evaluate_concat(expression, frame);
    case ExpressionKind::negation:
    case ExpressionKind::both:
    case ExpressionKind::either:
      return evaluate_logic(expression, frame);
    case ExpressionKind::comparison:
      return evaluate_comparison(expression, frame);
    case ExpressionKind::condition:
      return evaluate_condition(expression, frame);
  }
  return error(Code::internal, "an expression of an unknown kind");
}

Result<Value> Interpreter::evaluate_name(const Expression& expression, Frame* frame) {
  const std::string_view name = expression.name;
  INLAY_TRY(run_.charge_bytes(name.size()));
  const Value* variable = nullptr;
  size_t n_names = 0;
  for (; frame && !variable; frame = frame->parent) {
    n_names += 1 + frame->names.size();
    variable = frame->find(name);
  }
  INLAY_TRY(run_.charge_product(n_names, 1 + name.size() / kBytesPerStep));
  if (variable) return *variable;
  if (const Value* found = context_.find(name)) return *found;
  for (const auto& [known, value] : globals_)
    if (known == name) return value;
  if (Object* global = make_global(run_, name)) {
    globals_.emplace_back(name, Value(global));
    return Value(global);
  }
  if (name == "lipsum" || name == "self") return error(Code::unsupported, "Jinja's '%s' is not supported", expression.name.c_str());
  return Value::undefined("'" + expression.name + "' is undefined");
}

Result<Value> Interpreter::evaluate_list(const Expression& expression, Frame* frame) {
  std::vector<Value> items;
  for (const auto& part : expression.parts) {
    INLAY_ASSIGN(Value item, evaluate(*part, frame));
    items.push_back(std::move(item));
  }
  return run_.list(std::move(items), expression.kind == ExpressionKind::tuple ? ListKind::tuple : ListKind::list);
}

Result<Value> Interpreter::evaluate_map(const Expression& expression, Frame* frame) {
  Map map;
  for (size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
    INLAY_ASSIGN(Value key, evaluate(*expression.parts[i], frame));
    INLAY_ASSIGN(Value value, evaluate(*expression.parts[i + 1], frame));
    INLAY_TRY(run_.set(map, std::move(key), std::move(value)));
  }
  return run_.map(std::move(map));
}

Result<Value> Interpreter::evaluate_item(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(const Value base, evaluate(*expression.parts[0], frame));
  const Expression& index = *expression.parts[1];
  if (index.kind != ExpressionKind::slice) {
    INLAY_ASSIGN(const Value key, evaluate(index, frame));
    const ForeignScope scope(run_, base.is_foreign());
    return item_of(run_, base, key);
  }
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!index.parts[i]) continue;
    INLAY_ASSIGN(bounds[i], evaluate(*index.parts[i], frame));
  }
  return slice_of(run_, base, bounds);
}

Result<Arguments> Interpreter::arguments_of(const Expression& call, Frame* frame) {
  Arguments out;
  for (size_t i = 1; i < call.parts.size(); ++i) {
    INLAY_ASSIGN(Value value, evaluate(*call.parts[i], frame));
    out.positional.push_back(std::move(value));
  }
  if (call.spread) {
    INLAY_ASSIGN(const Value value, evaluate(*call.spread, frame));
    INLAY_ASSIGN(const auto items, run_.iterate(value));
    out.positional.insert(out.positional.end(), items.begin(), items.end());
  }
  for (const auto& [name, expression] : call.keywords) {
    INLAY_TRY(run_.charge_bytes(name.size()));
    INLAY_ASSIGN(Value value, evaluate(*expression, frame));
    out.named.emplace_back(name, std::move(value));
  }
  if (!call.spread_named) return out;
  INLAY_ASSIGN(const Value value, evaluate(*call.spread_named, frame));
  if (!value.is(Kind::map)) return type_error("argument after ** must be a mapping, not %s", value.type_name());
  for (const auto& [name, item] : value.map().entries()) {
    if (!name.is_string()) return type_error("keywords must be strings");
    INLAY_TRY(run_.charge(1 + out.named.size() * name.weight()));
    const bool given = std::any_of(out.named.begin(), out.named.end(), [&, &name = name](const auto& argument) { return argument.first == name.text(); });
    if (given) return type_error("got two values for the argument '%s'", name.text().c_str());
    out.named.emplace_back(name.text(), item);
  }
  return out;
}

Result<Value> Interpreter::evaluate_call(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(const Value base, evaluate(*expression.parts[0], frame));
  INLAY_ASSIGN(const Arguments arguments, arguments_of(expression, frame));
  const ForeignScope scope(run_, are_foreign(base, arguments));
  if (expression.kind == ExpressionKind::call) return call_value(run_, base, arguments);
  if (expression.kind == ExpressionKind::filter) return apply_filter(run_, expression.name, base, arguments);
  INLAY_ASSIGN(const bool out, apply_test(run_, expression.name, base, arguments));
  return Value(out);
}

Result<Value> Interpreter::evaluate_sign(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(const Value operand, evaluate(*expression.parts[0], frame));
  if (operand.is_undefined()) return undefined_error(operand);
  if (!operand.is_number())
    return type_error("bad operand type for unary %s: '%s'", expression.name.c_str(), operand.type_name());
  if (expression.name == "-" && operand.is(Kind::real)) return Value(-operand.real());
  return arithmetic(run_, expression.name, Value(int64_t{0}), operand);
}

Result<Value> Interpreter::evaluate_arithmetic(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(const Value left, evaluate(*expression.parts[0], frame));
  INLAY_ASSIGN(const Value right, evaluate(*expression.parts[1], frame));
  const ForeignScope scope(run_, left.is_foreign() || right.is_foreign());
  return arithmetic(run_, expression.name, left, right);
}

Result<Value> Interpreter::evaluate_concat(const Expression& expression, Frame* frame) {
  std::vector<Value> parts;
  for (const auto& part : expression.parts) {
    INLAY_ASSIGN(Value value, evaluate(*part, frame));
    parts.push_back(std::move(value));
  }
  return join_plainly(run_, parts, Value(std::string()));
}

Result<Value> Interpreter::evaluate_logic(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(Value left, evaluate(*expression.parts[0], frame));
  if (expression.kind == ExpressionKind::negation) return Value(!left.truth());
  const bool decided = left.truth() == (expression.kind == ExpressionKind::either);
  if (decided) return left;
  return evaluate(*expression.parts[1], frame);
}

Result<bool> Interpreter::holds(std::string_view sign, const Value& a, const Value& b) {
  if (sign == "in" || sign == "not in") {
    INLAY_ASSIGN(const bool found, run_.contains(b, a));
    return found == (sign == "in");
  }
  if (sign == "==" || sign == "!=") {
    INLAY_ASSIGN(const bool same, run_.same(a, b));
    return same == (sign == "==");
  }
  INLAY_ASSIGN(const Order order, run_.order(a, b, std::string(sign).c_str()));
  if (order == Order::unordered) return false;
  if (order == Order::same) return sign == "<=" || sign == ">=";
  return order == Order::less ? sign[0] == '<' : sign[0] == '>';
}

Result<Value> Interpreter::evaluate_comparison(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(Value left, evaluate(*expression.parts[0], frame));
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    INLAY_ASSIGN(Value right, evaluate(*expression.parts[i + 1], frame));
    INLAY_ASSIGN(const bool held, holds(expression.operators[i], left, right));
    if (!held) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Interpreter::evaluate_condition(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(const Value guard, evaluate(*expression.parts[0], frame));
  if (guard.truth()) return evaluate(*expression.parts[1], frame);
  if (expression.parts[2]) return evaluate(*expression.parts[2], frame);
  return Value::undefined("the inline if-expression has no else and its condition is false");
}

}  // namespace inlay::tmpl
