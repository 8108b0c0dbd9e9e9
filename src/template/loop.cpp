#include "src/template/loop.h"

#include <algorithm>

namespace inlay::tmpl {

namespace {

class LoopMethod : public Object {
 public:
  LoopMethod(Loop& loop, bool cycles) : loop_(loop), cycles_(cycles) {}
  const char* type_name() const override { return "method"; }
  bool callable() const override { return true; }
  Result<Value> call(Run& run, const Arguments& arguments) override {
    return cycles_ ? loop_.cycle(arguments) : loop_.changed(run, arguments);
  }

 private:
  Loop& loop_;
  bool cycles_;
};

}  // namespace

Result<Value> Loop::call(Run&, const Arguments& arguments) {
  if (!statement_.recursive) return type_error("the loop must have the 'recursive' marker to be called");
  if (arguments.positional.size() != 1 || !arguments.named.empty()) return type_error("loop() takes one argument");
  return interpreter_.loop_text(statement_, frame_, arguments.positional[0], level_ + 1);
}

std::optional<Value> Loop::attribute(Run& run, std::string_view name) {
  const auto number = [](size_t n) { return Value(static_cast<int64_t>(n)); };
  if (name == "index") return number(at + 1);
  if (name == "index0") return number(at);
  if (name == "revindex") return number(items.size() - at);
  if (name == "revindex0") return number(items.size() - at - 1);
  if (name == "first") return Value(at == 0);
  if (name == "last") return Value(at + 1 == items.size());
  if (name == "length") return number(items.size());
  if (name == "depth") return number(level_ + 1);
  if (name == "depth0") return number(level_);
  if (name == "previtem") return at > 0 ? items[at - 1] : Value::undefined("there is no previous item");
  if (name == "nextitem") return at + 1 < items.size() ? items[at + 1] : Value::undefined("there is no next item");
  if (name == "cycle" || name == "changed") return Value(run.make<LoopMethod>(*this, name == "cycle"));
  return std::nullopt;
}

Result<Value> Loop::cycle(const Arguments& arguments) const {
  if (arguments.positional.empty()) return type_error("no items for cycling given");
  return arguments.positional[at % arguments.positional.size()];
}

Result<Value> Loop::changed(Run& run, const Arguments& arguments) {
  bool same = seen_ && last_.size() == arguments.positional.size();
  for (size_t i = 0; same && i < last_.size(); ++i) {
    INLAY_ASSIGN(same, run.same(last_[i], arguments.positional[i]));
  }
  last_ = arguments.positional;
  seen_ = true;
  return Value(!same);
}

}  // namespace inlay::tmpl
