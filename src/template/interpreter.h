// Walks a parsed template and writes its text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/template/run.h"
#include "src/template/syntax.h"

namespace inlay::tmpl {

// Names of one scope. Blocks of `if` share that of their surroundings; loops, macros and captured blocks have their
// own.
struct Frame {
  Frame* parent = nullptr;
  std::vector<std::pair<std::string_view, Value>> names;
  bool kept = false;  // a macro remembers it

  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

class Interpreter {
 public:
  Interpreter(Run& run, const Map& context) : run_(run), context_(context) {}

  Result<Text> render(const Body& body);

  // For macros and recursive loops.
  Result<Value> call_macro(const MacroDefinition& macro, Frame* closure, const Arguments& arguments);
  Result<Value> loop_text(const Statement& loop, Frame* frame, const Value& sequence, uint32_t level);

 private:
  enum class Flow : uint8_t { go_on, leave, next };
  class Scope;

  // ---- statements
  Result<Flow> run_body(const Body& body, Frame* frame);
  Result<Flow> run_statement(const Statement& statement, Frame* frame);
  Result<Flow> run_known(const Statement& statement, Frame* frame);
  Result<Flow> run_branch(const Statement& statement, Frame* frame);
  Result<Flow> run_loop(const Statement& statement, Frame* frame, const Value& sequence, uint32_t level);
  Result<std::vector<Value>> loop_items(const Statement& statement, Frame* frame, const Value& sequence);
  Result<Flow> run_scope(const Statement& statement, Frame* frame);
  Status run_capture(const Statement& statement, Frame* frame);
  Status run_macro(const Statement& statement, Frame* frame);
  Status run_call_block(const Statement& statement, Frame* frame);
  Status run_print(const Expression& expression, Frame* frame);
  Status set(Frame* frame, std::string_view name, Value value);  // pays for the names that it looks through
  Status assign(const Expression& target, const Value& value, Frame* frame);
  Status assign_attribute(const Expression& target, const Value& value, Frame* frame);
  // The text of a body in a scope of its own.
  Result<Value> capture(const Body& body, Frame* frame);
  Result<Value> filtered(const Statement& block, Frame* frame);
  Status emit(std::string_view text);
  Status emit_value(const Value& value);

  // ---- macros
  Status bind_parameters(const MacroDefinition& macro, Frame* frame, const Arguments& arguments);
  Status bind_surplus(const MacroDefinition& macro, Frame* frame, const Arguments& arguments);

  // ---- expressions
  Result<Value> evaluate(const Expression& expression, Frame* frame);
  Result<Value> evaluate_known(const Expression& expression, Frame* frame);
  Result<Value> evaluate_name(const Expression& expression, Frame* frame);
  Result<Value> evaluate_list(const Expression& expression, Frame* frame);
  Result<Value> evaluate_map(const Expression& expression, Frame* frame);
  Result<Value> evaluate_item(const Expression& expression, Frame* frame);
  Result<Value> evaluate_call(const Expression& expression, Frame* frame);
  Result<Value> evaluate_sign(const Expression& expression, Frame* frame);
  Result<Value> evaluate_arithmetic(const Expression& expression, Frame* frame);
  Result<Value> evaluate_concat(const Expression& expression, Frame* frame);
  Result<Value> evaluate_logic(const Expression& expression, Frame* frame);
  Result<Value> evaluate_comparison(const Expression& expression, Frame* frame);
  Result<Value> evaluate_condition(const Expression& expression, Frame* frame);
  Result<bool> holds(std::string_view sign, const Value& a, const Value& b);
  Result<Arguments> arguments_of(const Expression& call, Frame* frame);

  Frame* new_frame(Frame* parent);
  void release(Frame* frame);
  static void keep(Frame* frame);

  // Puts the place in front of an error, once: the innermost place is the first to see it.
  Status located(Position position, Status status);

  Run& run_;
  const Map& context_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Frame*> free_frames_;
  std::vector<std::pair<std::string_view, Value>> globals_;  // those asked for so far
  Text* out_ = nullptr;
  const Value* captured_ = nullptr;  // of the block whose filter runs
  bool located_ = false;
};

class Interpreter::Scope {
 public:
  Scope(Interpreter& interpreter, Frame* parent) : interpreter_(interpreter), frame_(interpreter.new_frame(parent)) {}
  ~Scope() { interpreter_.release(frame_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  Frame* frame() const { return frame_; }

 private:
  Interpreter& interpreter_;
  Frame* frame_;
};

}  // namespace inlay::tmpl
