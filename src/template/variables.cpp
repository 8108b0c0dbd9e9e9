#include "src/template/variables.h"

#include <string>

#include "src/formats/json.h"

namespace inlay::tmpl {

namespace {

Result<Value> number_of(const JsonValue& json) {
  const bool real = json.number_text().find_first_of(".eE") != std::string_view::npos;
  if (real) {
    INLAY_ASSIGN(const double value, json.as_f64());
    return Value(value);
  }
  INLAY_ASSIGN(const int64_t value, json.as_i64());
  return Value(value);
}

// The parser bounds the depth.
Result<Value> value_of(const JsonValue& json) {
  switch (json.type()) {
    case JsonType::null:
      return Value();
    case JsonType::boolean: {
      INLAY_ASSIGN(const bool value, json.as_bool());
      return Value(value);
    }
    case JsonType::number:
      return number_of(json);
    case JsonType::string: {
      INLAY_ASSIGN(const std::string_view text, json.as_string());
      return Value(std::string(text));
    }
    case JsonType::array: {
      List list;
      for (const JsonValue item : json.elements()) {
        INLAY_ASSIGN(Value value, value_of(item));
        list.items.push_back(std::move(value));
      }
      return Value(std::move(list));
    }
    case JsonType::object:
      break;
  }
  Map map;
  for (const JsonMember& member : json.members()) {
    INLAY_ASSIGN(Value value, value_of(member.value));
    map.set(Value(std::string(member.key)), std::move(value));
  }
  return Value(std::move(map));
}

}  // namespace

Result<Map> read_variables(std::string_view json) {
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::string(json), "conversation"));
  const JsonValue root = document.root();
  if (!root.is_array() && !root.is_object()) return root.expected("an array of messages or an object");
  INLAY_ASSIGN(const Value value, value_of(root));
  Map out;
  for (const char* name : {"tools", "documents"}) out.set(Value(std::string(name)), Value());
  if (root.is_array()) {
    out.set(Value(std::string("messages")), value);
    return out;
  }
  for (const auto& [name, variable] : value.map().entries()) out.set(name, variable);
  const Value* messages = out.find("messages");
  if (!messages || !messages->is(Kind::list))
    return error(Code::format, "conversation: the member 'messages' must be an array");
  return out;
}

}  // namespace inlay::tmpl
