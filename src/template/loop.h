// The object that a loop's body knows as `loop`.
#pragma once

#include "src/template/interpreter.h"
#include "src/template/object.h"

namespace inlay::tmpl {

class Loop : public Object {
 public:
  Loop(Interpreter& interpreter, const Statement& statement, Frame* frame, uint32_t level)
      : interpreter_(interpreter), statement_(statement), frame_(frame), level_(level) {}
  const char* type_name() const override { return "LoopContext"; }
  bool callable() const override { return true; }
  Result<Value> call(Run& run, const Arguments& arguments) override;
  std::optional<Value> attribute(Run& run, std::string_view name) override;
  std::optional<int64_t> length() const override { return static_cast<int64_t>(items.size()); }
  std::optional<std::string> text() const override {
    return "<LoopContext " + std::to_string(at + 1) + "/" + std::to_string(items.size()) + ">";
  }
  Result<Value> cycle(const Arguments& arguments) const;
  Result<Value> changed(Run& run, const Arguments& arguments);

  std::vector<Value> items;
  size_t at = 0;

 private:
  Interpreter& interpreter_;
  const Statement& statement_;
  Frame* frame_;
  uint32_t level_;  // of recursion
  std::vector<Value> last_;
  bool seen_ = false;
};

}  // namespace inlay::tmpl
