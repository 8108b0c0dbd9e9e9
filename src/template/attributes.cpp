// Attributes, items and calls.
#include <charconv>

#include "src/template/builtins.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

class BoundMethod : public Object {
 public:
  BoundMethod(Value self, Method method) : self_(std::move(self)), method_(method) {}
  const char* type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  Result<Value> call(Run& run, const Arguments& arguments) override { return method_(run, self_, arguments); }

 private:
  Value self_;
  Method method_;
};

std::string owner(const Value& value) { return value.is_none() ? "None" : std::string(value.type_name()) + " object"; }

Value missing_attribute(const Value& value, std::string_view name) {
  return Value::undefined("'" + (value.is(Kind::map) ? "dict object" : owner(value)) + "' has no attribute '" +
                          std::string(name) + "'");
}

Value unsafe(const Value& value, std::string_view name) {
  return Value::undefined("access to attribute '" + std::string(name) + "' of '" + value.type_name() +
                          "' object is unsafe.");
}

Result<Value> element(Run& run, const Value& value, int64_t index) {
  const bool string = value.is_string();
  if (string) INLAY_TRY(run.charge_bytes(value.text().size()));
  const auto n = static_cast<int64_t>(string ? count_code_points(value.text()) : value.list().items.size());
  const int64_t at = index < 0 ? index + n : index;
  if (at < 0 || at >= n) return Value::undefined(owner(value) + " has no element " + std::to_string(index));
  if (!string) return value.list().items[static_cast<size_t>(at)];
  const std::string& text = value.text();
  size_t byte = 0;
  for (int64_t i = 0; i < at; ++i) byte += decode_utf8(text.data() + byte).n_bytes;
  return run.text(text.substr(byte, decode_utf8(text.data() + byte).n_bytes), value.is_markup());
}

}  // namespace

Result<Value> attribute_of(Run& run, const Value& value, std::string_view name) {
  INLAY_TRY(run.charge_bytes(name.size()));
  if (value.is_undefined()) return undefined_error(value);
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4) return unsafe(value, name);
  if (value.is(Kind::object)) {
    auto found = value.object().attribute(run, name);
    return found ? *std::move(found) : missing_attribute(value, name);
  }
  if (value.is(Kind::list) && value.list().is_group && (name == "grouper" || name == "list")) return value.list().items[name == "list"];
  const MethodEntry method = find_method(value, name);
  switch (method.access) {
    case Access::callable:
      INLAY_TRY(run.charge(1));
      return Value(run.make<BoundMethod>(value, method.function));
    case Access::forbidden:
      return unsafe(value, name);
    case Access::unsupported:
      return error(Code::unsupported, "the attribute '%s' of '%s' is not supported", std::string(name).c_str(),
                   value.type_name());
    case Access::absent:
      break;
  }
  const Value* found = value.is(Kind::map) ? value.map().find(name) : nullptr;
  return found ? *found : missing_attribute(value, name);
}

Result<Value> item_of(Run& run, const Value& value, const Value& key) {
  if (value.is_undefined()) return undefined_error(value);
  if (value.is(Kind::map) && hashable(key)) {
    INLAY_TRY(run.charge_search(value.map(), key));
    if (const Value* found = value.map().find(key)) return *found;
  }
  const bool indexed = value.is_string() || (value.is(Kind::list) && value.list().kind <= ListKind::range);
  if (indexed && key.is_integral()) return element(run, value, key.integer());
  if (key.is_string()) return attribute_of(run, value, key.text());
  return Value::undefined(owner(value) + " has no element of type '" + key.type_name() + "'");
}

Result<Value> path_of(Run& run, const Value& value, const Value& path, const Value* otherwise) {
  Value at = value;
  if (path.is_none()) return at;
  const auto go = [&](const Value& step) -> Status {
    INLAY_TRY(run.charge(1));
    INLAY_ASSIGN(at, item_of(run, at, step));
    if (at.is_undefined() && otherwise) at = *otherwise;
    return {};
  };
  if (!path.is_string()) {
    INLAY_TRY(go(path));
    return at;
  }
  INLAY_TRY(run.charge_bytes(path.text().size()));
  for (const std::string_view part : split(path.text(), ".", SIZE_MAX, Side::left)) {
    int64_t index = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = !part.empty() && part[0] != '-' && parsed.ec == std::errc() && parsed.ptr == part.data() + part.size();
    INLAY_TRY(go(is_index ? Value(index) : Value(std::string(part))));
  }
  return at;
}

Result<Value> call_value(Run& run, const Value& callee, const Arguments& arguments) {
  if (callee.is_undefined()) return undefined_error(callee);
  if (!callee.is(Kind::object)) return type_error("'%s' object is not callable", callee.type_name());
  return callee.object().call(run, arguments);
}

}  // namespace inlay::tmpl
