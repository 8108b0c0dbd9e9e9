// Statements, scopes and macros.
#include <algorithm>

#include "src/template/builtins.h"
#include "src/template/interpreter.h"
#include "src/template/loop.h"
#include "src/template/python_text.h"

namespace inlay::tmpl {

namespace {

class Macro : public Object {
 public:
  Macro(Interpreter& interpreter, const MacroDefinition& definition, Frame* closure)
      : interpreter_(interpreter), definition_(definition), closure_(closure), name_(definition.name) {}
  const char* type_name() const override { return "Macro"; }
  bool callable() const override { return true; }
  Result<Value> call(Run&, const Arguments& arguments) override {
    return interpreter_.call_macro(definition_, closure_, arguments);
  }
  std::optional<std::string> text() const override { return "<Macro '" + definition_.name + "'>"; }
  std::optional<Value> attribute(Run&, std::string_view name) override {
    return name == "name" ? std::optional(name_) : std::nullopt;
  }

 private:
  Interpreter& interpreter_;
  const MacroDefinition& definition_;
  Frame* closure_;
  const Value name_;
};

}  // namespace

const Value* Frame::find(std::string_view name) const {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& known) { return known.first == name; });
  return found == names.end() ? nullptr : &found->second;
}

void Frame::set(std::string_view name, Value value) {
  for (auto& [known, old] : names)
    if (known == name) {
      old = std::move(value);
      return;
    }
  names.emplace_back(name, std::move(value));
}

Frame* Interpreter::new_frame(Frame* parent) {
  if (free_frames_.empty()) {
    frames_.push_back(std::make_unique<Frame>());
    free_frames_.push_back(frames_.back().get());
  }
  Frame* frame = free_frames_.back();
  free_frames_.pop_back();
  frame->parent = parent;
  return frame;
}

void Interpreter::release(Frame* frame) {
  if (frame->kept) return;
  frame->names.clear();
  free_frames_.push_back(frame);
}

// A macro may outlive the block that defines it, by way of a namespace.
void Interpreter::keep(Frame* frame) {
  for (; frame && !frame->kept; frame = frame->parent) frame->kept = true;
}

Status Interpreter::located(Position position, Status status) {
  if (std::exchange(located_, true)) return status;
  return at(position, std::move(status));
}

Result<Text> Interpreter::render(const Body& body) {
  Text out;
  out_ = &out;
  const Scope scope(*this, nullptr);
  INLAY_ASSIGN(const Flow flow, run_body(body, scope.frame()));
  (void)flow;
  return out;
}

Status Interpreter::emit(std::string_view text) {
  if (text.size() > run_.limits.output_bytes - std::min<uint64_t>(run_.limits.output_bytes, out_->bytes.size()))
    return error(Code::unsupported, "the template writes more than %llu bytes",
                 static_cast<unsigned long long>(run_.limits.output_bytes));
  INLAY_TRY(run_.charge_bytes(text.size()));
  out_->bytes += text;
  return {};
}

Status Interpreter::emit_value(const Value& value) {
  const size_t at = out_->bytes.size();
  if (value.is_string()) {
    INLAY_TRY(emit(value.text()));
    INLAY_TRY(run_.charge_bytes(value.foreign().size() * sizeof(Span)));
    add_spans(out_->foreign, at, value.foreign(), {0, value.text().size()});
    return {};
  }
  INLAY_ASSIGN(const std::string text, to_text(run_, value));
  INLAY_TRY(emit(text));
  if (value.is_foreign()) add_span(out_->foreign, {at, out_->bytes.size()});
  return {};
}

Result<Interpreter::Flow> Interpreter::run_body(const Body& body, Frame* frame) {
  for (const Statement& statement : body) {
    INLAY_ASSIGN(const Flow flow, run_statement(statement, frame));
    if (flow != Flow::go_on) return flow;
  }
  return Flow::go_on;
}

Result<Interpreter::Flow> Interpreter::run_statement(const Statement& statement, Frame* frame) {
  if (run_.stack.is_spent()) return run_.stack.go_on([&] { return run_statement(statement, frame); });
  const Descent descent(run_);
  Status status = descent.check();
  if (status.ok()) status = run_.charge(1);
  if (!status.ok()) return located(statement.position, std::move(status));
  Result<Flow> flow = run_known(statement, frame);
  if (!flow.ok()) return located(statement.position, std::move(flow).status());
  return flow;
}

Result<Interpreter::Flow> Interpreter::run_known(const Statement& statement, Frame* frame) {
  switch (statement.kind) {
    case StatementKind::branch:
      return run_branch(statement, frame);
    case StatementKind::loop: {
      INLAY_ASSIGN(const Value sequence, evaluate(*statement.expressions[0], frame));
      return run_loop(statement, frame, sequence, 0);
    }
    case StatementKind::scope:
      return run_scope(statement, frame);
    case StatementKind::group: {
      const Scope scope(*this, frame);
      return run_body(statement.bodies[0], scope.frame());
    }
    case StatementKind::leave:
      return Flow::leave;
    case StatementKind::next:
      return Flow::next;
    case StatementKind::text:
      INLAY_TRY(emit(statement.text));
      break;
    case StatementKind::print:
      INLAY_TRY(run_print(*statement.expressions[0], frame));
      break;
    case StatementKind::assign: {
      INLAY_ASSIGN(const Value value, evaluate(*statement.expressions[0], frame));
      INLAY_TRY(assign(*statement.targets[0], value, frame));
      break;
    }
    case StatementKind::capture:
    case StatementKind::filter_block:
      INLAY_TRY(run_capture(statement, frame));
      break;
    case StatementKind::macro:
      INLAY_TRY(run_macro(statement, frame));
      break;
    case StatementKind::call_block:
      INLAY_TRY(run_call_block(statement, frame));
      break;
  }
  return Flow::go_on;
}

Result<Interpreter::Flow> Interpreter::run_branch(const Statement& statement, Frame* frame) {
  for (size_t i = 0; i < statement.expressions.size(); ++i) {
    INLAY_ASSIGN(const Value guard, evaluate(*statement.expressions[i], frame));
    if (guard.truth()) return run_body(statement.bodies[i], frame);
  }
  if (statement.bodies.size() > statement.expressions.size()) return run_body(statement.bodies.back(), frame);
  return Flow::go_on;
}

Result<std::vector<Value>> Interpreter::loop_items(const Statement& statement, Frame* frame, const Value& sequence) {
  INLAY_ASSIGN(std::vector<Value> items, run_.iterate(sequence));
  if (!statement.expressions[1]) return items;
  std::vector<Value> wanted;
  for (Value& item : items) {
    const Scope scope(*this, frame);
    INLAY_TRY(assign(*statement.targets[0], item, scope.frame()));
    INLAY_ASSIGN(const Value guard, evaluate(*statement.expressions[1], scope.frame()));
    if (guard.truth()) wanted.push_back(std::move(item));
  }
  return wanted;
}

Result<Interpreter::Flow> Interpreter::run_loop(const Statement& statement, Frame* frame, const Value& sequence,
                                                uint32_t level) {
  INLAY_ASSIGN(std::vector<Value> items, loop_items(statement, frame, sequence));
  if (statement.recursive) keep(frame);  // `loop` may be called again from anywhere
  auto* loop = run_.make<Loop>(*this, statement, frame, level);
  loop->items = std::move(items);
  bool went_through = false;
  for (; loop->at < loop->items.size(); ++loop->at) {
    const Scope scope(*this, frame);
    INLAY_TRY(run_.charge(1));
    INLAY_TRY(assign(*statement.targets[0], loop->items[loop->at], scope.frame()));
    scope.frame()->set("loop", Value(loop));
    INLAY_ASSIGN(const Flow flow, run_body(statement.bodies[0], scope.frame()));
    if (flow == Flow::leave) break;
    went_through = went_through || flow == Flow::go_on;
  }
  // Jinja's `else` is for loops of which no turn came to its end, by `break` and `continue` too.
  if (went_through || statement.bodies.size() < 2) return Flow::go_on;
  const Scope scope(*this, frame);
  return run_body(statement.bodies[1], scope.frame());
}

Result<Value> Interpreter::loop_text(const Statement& loop, Frame* frame, const Value& sequence, uint32_t level) {
  Text text;
  Text* outer = std::exchange(out_, &text);
  const Result<Flow> flow = run_loop(loop, frame, sequence, level);
  out_ = outer;
  if (!flow.ok()) return flow.status();
  return run_.text(std::move(text));
}

Result<Interpreter::Flow> Interpreter::run_scope(const Statement& statement, Frame* frame) {
  const Scope scope(*this, frame);
  for (size_t i = 0; i < statement.targets.size(); ++i) {
    INLAY_ASSIGN(const Value value, evaluate(*statement.expressions[i], frame));
    INLAY_TRY(assign(*statement.targets[i], value, scope.frame()));
  }
  return run_body(statement.bodies[0], scope.frame());
}

Result<Value> Interpreter::capture(const Body& body, Frame* frame) {
  Text text;
  Text* outer = std::exchange(out_, &text);
  const Scope scope(*this, frame);
  const Result<Flow> flow = run_body(body, scope.frame());
  out_ = outer;
  if (!flow.ok()) return flow.status();
  return run_.text(std::move(text));
}

Result<Value> Interpreter::filtered(const Statement& block, Frame* frame) {
  INLAY_ASSIGN(Value text, capture(block.bodies[0], frame));
  if (!block.expressions[0]) return text;
  const Value* outer = std::exchange(captured_, &text);
  Result<Value> out = evaluate(*block.expressions[0], frame);
  captured_ = outer;
  return out;
}

Status Interpreter::run_capture(const Statement& statement, Frame* frame) {
  INLAY_ASSIGN(const Value value, filtered(statement, frame));
  if (statement.kind == StatementKind::capture) return assign(*statement.targets[0], value, frame);
  return emit_value(value);
}

Status Interpreter::run_print(const Expression& expression, Frame* frame) {
  INLAY_ASSIGN(const Value value, evaluate(expression, frame));
  return emit_value(value);
}

Status Interpreter::run_macro(const Statement& statement, Frame* frame) {
  INLAY_TRY(run_.charge(4 + statement.macro->name.size() / kBytesPerStep));
  keep(frame);
  return set(frame, statement.macro->name, Value(run_.make<Macro>(*this, *statement.macro, frame)));
}

Status Interpreter::run_call_block(const Statement& statement, Frame* frame) {
  keep(frame);
  const Expression& call = *statement.expressions[0];
  INLAY_ASSIGN(const Value callee, evaluate(*call.parts[0], frame));
  INLAY_ASSIGN(Arguments arguments, arguments_of(call, frame));
  arguments.named.emplace_back("caller", Value(run_.make<Macro>(*this, *statement.macro, frame)));
  INLAY_ASSIGN(const Value out, call_value(run_, callee, arguments));
  return emit_value(out);
}

Status Interpreter::set(Frame* frame, std::string_view name, Value value) {
  INLAY_TRY(run_.charge_product(frame->names.size(), 1 + name.size() / kBytesPerStep));
  frame->set(name, std::move(value));
  return {};
}

Status Interpreter::assign_attribute(const Expression& target, const Value& value, Frame* frame) {
  INLAY_ASSIGN(const Value object, evaluate(*target.parts[0], frame));
  auto* space = object.is(Kind::object) ? dynamic_cast<Namespace*>(&object.object()) : nullptr;
  if (!space) return located(target.position, type_error("cannot assign attribute on non-namespace object"));
  return run_.set(space->values, Value(target.name), value);
}

Status Interpreter::assign(const Expression& target, const Value& value, Frame* frame) {
  if (target.kind == ExpressionKind::attribute) return assign_attribute(target, value, frame);
  if (target.kind == ExpressionKind::name) return set(frame, target.name, value);
  if (value.is_undefined()) return located(target.position, undefined_error(value));
  INLAY_ASSIGN(const std::vector<Value> items, run_.iterate(value));
  if (items.size() != target.parts.size())
    return located(target.position, type_error("%zu values where %zu are expected", items.size(), target.parts.size()));
  for (size_t i = 0; i < items.size(); ++i) INLAY_TRY(assign(*target.parts[i], items[i], frame));
  return {};
}

Status Interpreter::bind_parameters(const MacroDefinition& macro, Frame* frame, const Arguments& arguments) {
  const size_t n = macro.parameters.size(), n_without_default = n - macro.defaults.size();
  for (size_t i = 0; i < n; ++i) {
    const std::string& name = macro.parameters[i];
    INLAY_TRY(run_.charge(1 + name.size() / kBytesPerStep));
    INLAY_TRY(run_.charge_product(arguments.named.size(), 1 + name.size() / kBytesPerStep));
    const auto named = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& argument) { return argument.first == name; });
    if (i < arguments.positional.size()) {
      INLAY_TRY(set(frame, name, arguments.positional[i]));
    } else if (named != arguments.named.end()) {
      INLAY_TRY(set(frame, name, named->second));
    } else if (i >= n_without_default) {
      INLAY_ASSIGN(Value value, evaluate(*macro.defaults[i - n_without_default], frame));
      INLAY_TRY(set(frame, name, std::move(value)));
    } else {
      INLAY_TRY(set(frame, name, Value::undefined("parameter '" + name + "' was not provided")));
    }
  }
  return {};
}

// Arguments beyond the parameters: a macro takes them if its body looks at them.
Status Interpreter::bind_surplus(const MacroDefinition& macro, Frame* frame, const Arguments& arguments) {
  const size_t n = macro.parameters.size();
  std::vector<Value> varargs;
  for (size_t i = n; i < arguments.positional.size(); ++i) varargs.push_back(arguments.positional[i]);
  if (!varargs.empty() && !macro.uses_varargs)
    return type_error("macro '%s' takes not more than %zu argument(s)", macro.name.c_str(), n);
  Map kwargs;
  Value caller = Value::undefined("No caller defined");
  for (const auto& [name, value] : arguments.named) {
    INLAY_TRY(run_.charge_product(n, 1 + name.size() / kBytesPerStep));
    const auto known = std::find(macro.parameters.begin(), macro.parameters.end(), name);
    if (known != macro.parameters.end()) {
      if (static_cast<size_t>(known - macro.parameters.begin()) < arguments.positional.size())
        return type_error("macro '%s' got two values for '%s'", macro.name.c_str(), name.c_str());
    } else if (name == "caller" && macro.uses_caller) {
      caller = value;
    } else if (macro.uses_kwargs) {
      INLAY_TRY(run_.set(kwargs, Value(name), value));
    } else {
      return type_error("macro '%s' takes no keyword argument '%s'", macro.name.c_str(), name.c_str());
    }
  }
  if (macro.uses_caller) frame->set("caller", std::move(caller));
  if (macro.uses_kwargs) {
    INLAY_ASSIGN(Value map, run_.map(std::move(kwargs)));
    frame->set("kwargs", std::move(map));
  }
  if (macro.uses_varargs) {
    INLAY_ASSIGN(Value tuple, run_.tuple(std::move(varargs)));
    frame->set("varargs", std::move(tuple));
  }
  return {};
}

Result<Value> Interpreter::call_macro(const MacroDefinition& macro, Frame* closure, const Arguments& arguments) {
  const Scope scope(*this, closure);
  INLAY_TRY(bind_surplus(macro, scope.frame(), arguments));
  INLAY_TRY(bind_parameters(macro, scope.frame(), arguments));
  return capture(macro.body, scope.frame());
}

}  // namespace inlay::tmpl
