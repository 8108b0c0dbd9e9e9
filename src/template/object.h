// Values with identity or state: what a run owns and a Value points to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/template/value.h"

namespace inlay::tmpl {

class Run;

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
  virtual const char* type_name() const = 0;
  virtual bool callable() const { return false; }
  virtual Result<Value> call(Run&, const Arguments&) { return type_error("'%s' object is not callable", type_name()); }
  virtual std::optional<Value> attribute(Run&, std::string_view) { return std::nullopt; }
  virtual std::optional<int64_t> length() const { return std::nullopt; }
  virtual std::optional<std::string> text() const { return std::nullopt; }  // str(), where it is the same in every process
};

// The assignable object that carries values out of loops.
class Namespace : public Object {
 public:
  const char* type_name() const override { return "Namespace"; }
  std::optional<Value> attribute(Run&, std::string_view name) override {
    const Value* found = values.find(name);
    return found ? std::optional(*found) : std::nullopt;
  }
  Map values;
};

// A sequence that can be walked once, as filters like map and select give. It is true even if empty. What failed behind the last
// item fails for those who get there.
class Generator : public Object {
 public:
  explicit Generator(std::vector<Value> values, Status failure = {}) : items_(std::move(values)), failure_(std::move(failure)) {}
  const char* type_name() const override { return "generator"; }
  Result<std::vector<Value>> take() {
    std::vector<Value> out = std::exchange(items_, {});
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::exchange(n_taken_, 0)));
    if (!failure_.ok()) return std::exchange(failure_, {});
    return out;
  }
  Result<std::optional<Value>> take_first() {
    if (n_taken_ < items_.size()) return std::optional(std::move(items_[n_taken_++]));
    if (!failure_.ok()) return std::exchange(failure_, {});
    return std::optional<Value>();
  }

 private:
  std::vector<Value> items_;
  size_t n_taken_ = 0;
  Status failure_;
};

}  // namespace inlay::tmpl
