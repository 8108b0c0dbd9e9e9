#include "src/template/variables.h"

#include <algorithm>
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

// A name, such as that of a role: no control token is one, but a template may make one of it.
bool is_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

class Reader {
 public:
  explicit Reader(bool marks) : marks_(marks) {}

  // The parser bounds the depth.
  Result<Value> value(const JsonValue& json) const {
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
        return string(text);
      }
      case JsonType::array:
        return list(json, false);
      case JsonType::object:
        break;
    }
    return map(json, false);
  }

  Result<Value> list(const JsonValue& json, bool of_messages) const {
    List list;
    for (const JsonValue item : json.elements()) {
      INLAY_ASSIGN(Value read, of_messages && item.is_object() ? map(item, true) : value(item));
      list.items.push_back(std::move(read));
    }
    return Value(std::move(list));
  }

  // Of the variables themselves; the names of tokens are the template's, whoever gives them.
  Result<Map> variables(const JsonValue& json) const {
    Map out;
    for (const JsonMember& member : json.members()) {
      const bool is_token = member.key.ends_with("_token") && member.value.is_string();
      INLAY_ASSIGN(Value read, member.key == "messages" && member.value.is_array() ? list(member.value, true)
                               : is_token                                         ? Reader(false).value(member.value)
                                                                                  : value(member.value));
      out.set(Value(std::string(member.key)), std::move(read));
    }
    return out;
  }

 private:
  Value string(std::string_view text) const {
    Text out{std::string(text)};
    if (marks_) add_span(out.foreign, {0, text.size()});
    return Value(std::move(out));
  }

  Result<Value> map(const JsonValue& json, bool is_message) const {
    Map map;
    for (const JsonMember& member : json.members()) {
      INLAY_ASSIGN(Value read, value(member.value));
      if (is_message && member.key == "role" && read.is_string() && is_name(read.text())) read = Value(std::string(read.text()));
      map.set(string(member.key), std::move(read));
    }
    return Value(std::move(map));
  }

  const bool marks_;
};

}  // namespace

Result<Map> read_variables(std::string_view json, bool marks) {
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::string(json), "conversation"));
  const JsonValue root = document.root();
  if (!root.is_array() && !root.is_object()) return root.expected("an array of messages or an object");
  const Reader reader(marks);
  Map out;
  for (const char* name : {"tools", "documents"}) out.set(Value(std::string(name)), Value());
  if (root.is_array()) {
    INLAY_ASSIGN(Value messages, reader.list(root, true));
    out.set(Value(std::string("messages")), std::move(messages));
    return out;
  }
  INLAY_ASSIGN(const Map variables, reader.variables(root));
  for (const auto& [name, variable] : variables.entries()) out.set(name, variable);
  const Value* messages = out.find("messages");
  if (!messages || !messages->is(Kind::list))
    return error(Code::format, "conversation: the member 'messages' must be an array");
  return out;
}

}  // namespace inlay::tmpl
