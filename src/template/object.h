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

// A sequence that can be walked once, as filters like map and select give. It is true even if empty.
class Generator : public Object {
 public:
  explicit Generator(std::vector<Value> values) : items_(std::move(values)) {}
  const char* type_name() const override { return "generator"; }
  std::vector<Value> take() { return std::exchange(items_, {}); }
  std::optional<Value> take_first() {
    if (items_.empty()) return std::nullopt;
    Value first = std::move(items_.front());
    items_.erase(items_.begin());
    return first;
  }

 private:
  std::vector<Value> items_;
};

}  // namespace inlay::tmpl
