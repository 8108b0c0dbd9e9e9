#include "src/chat_format/tool_types.h"

#include <algorithm>
#include <charconv>

#include "src/base/ascii.h"
#include "src/chat_format/json_scanner.h"

namespace inlay {
namespace {

constexpr JsonLimits kToolLimits{.max_bytes = 16u << 20, .max_depth = 64};
constexpr int kMaxSchemas = 64;  // that are looked at for one parameter

uint8_t type_of_value(const JsonValue& value) {
  constexpr uint8_t kTypes[] = {kNullType, kBooleanType, kNumberType, kStringType, kArrayType, kObjectType};
  return kTypes[static_cast<size_t>(value.type())];
}

uint8_t type_named(const JsonValue& name) {
  const auto text = name.as_string();
  if (!text.ok()) return kAnyType;
  if (*text == "string") return kStringType;
  if (*text == "number" || *text == "integer") return kNumberType;
  if (*text == "boolean") return kBooleanType;
  if (*text == "null") return kNullType;
  if (*text == "object") return kObjectType;
  return *text == "array" ? kArrayType : kAnyType;
}

// The types that a schema allows, as far as its keywords say; whoever calls leaves the rest to those who check arguments.
class Types {
 public:
  explicit Types(const JsonValue& root) : root_(root) {}

  uint8_t of(const JsonValue& schema) {
    if (!schema.is_object() || --budget_ < 0) return kAnyType;
    uint8_t out = kAnyType;
    if (const auto type = schema.find("type")) out &= type->is_array() ? any_of(*type, type_named) : type_named(*type);
    if (const auto values = schema.find("enum")) out &= any_of(*values, type_of_value);
    if (const auto value = schema.find("const")) out &= type_of_value(*value);
    const auto types = [this](const JsonValue& value) { return of(value); };
    for (const char* group : {"anyOf", "oneOf"})
      if (const auto branches = schema.find(group)) out &= any_of(*branches, types);
    if (const auto all = schema.find("allOf"))
      for (const JsonValue branch : all->elements()) out &= of(branch);
    if (const auto reference = schema.find("$ref"))
      if (const auto target = resolve(*reference)) out &= of(*target);
    const auto nullable = schema.find("nullable");
    if (nullable && nullable->as_bool().ok() && *nullable->as_bool()) out |= kNullType;
    return out ? out : uint8_t{kAnyType};
  }

 private:
  template <class TypeOf>
  static uint8_t any_of(const JsonValue& list, const TypeOf& type_of) {
    uint8_t out = 0;
    for (const JsonValue element : list.elements()) out |= type_of(element);
    return out ? out : uint8_t{kAnyType};
  }

  // A pointer into the parameters' schema: "#/$defs/place".
  std::optional<JsonValue> resolve(const JsonValue& reference) const {
    const auto text = reference.as_string();
    if (!text.ok() || !text->starts_with("#/")) return std::nullopt;
    std::string_view rest = text->substr(2);
    std::optional<JsonValue> at = root_;
    while (at) {
      const size_t end = std::min(rest.find('/'), rest.size());
      at = at->find(rest.substr(0, end));
      if (end == rest.size()) break;
      rest.remove_prefix(end + 1);
    }
    return at;
  }

  JsonValue root_;
  int budget_ = kMaxSchemas;
};

bool same_word(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) { return ascii_lower(a) == b; });
}

std::string quoted(std::string_view text) { return '"' + escaped(text) + '"'; }

uint8_t type_of_json(std::string_view json) {
  switch (json[0]) {
    case '"':
      return kStringType;
    case '{':
      return kObjectType;
    case '[':
      return kArrayType;
    case 't':
    case 'f':
      return kBooleanType;
    default:
      return json[0] == 'n' ? kNullType : kNumberType;
  }
}

}  // namespace

Result<ToolTypes> ToolTypes::read(std::string json) {
  ToolTypes out;
  if (json.empty()) return out;
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::move(json), "tools", kToolLimits));
  if (document.root().is_null()) return out;
  INLAY_ASSIGN(const JsonElements tools, document.root().as_array());
  for (const JsonValue tool : tools) {
    const JsonValue function = tool.find("function").value_or(tool);
    INLAY_ASSIGN(const JsonValue name, function.get("name"));
    INLAY_ASSIGN(const std::string_view text, name.as_string());
    Tool& added = out.tools_.emplace_back();
    added.name = text;
    const auto parameters = function.find("parameters");
    const auto properties = parameters ? parameters->find("properties") : std::nullopt;
    if (!properties) continue;
    for (const JsonMember& member : properties->members()) added.parameters.push_back({std::string(member.key), Types(*parameters).of(member.value)});
  }
  return out;
}

const ToolTypes::Tool* ToolTypes::find(std::string_view tool) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& t) { return t.name == tool; });
  return found == tools_.end() ? nullptr : &*found;
}

uint8_t ToolTypes::types(std::string_view tool, std::string_view parameter) const {
  const Tool* known = find(tool);
  if (!known) return kAnyType;
  const auto found = std::find_if(known->parameters.begin(), known->parameters.end(), [&](const Parameter& p) { return p.name == parameter; });
  return found == known->parameters.end() ? uint8_t{kAnyType} : found->types;
}

std::string json_of_written(std::string_view written, uint8_t types) {
  if (types == kStringType) return quoted(written);
  const std::string_view text = without_blanks(written);
  if (is_json(text)) {
    const uint8_t type = type_of_json(text);
    const bool wanted = (types & kStringType) == 0 || (type != kStringType && (types & type) != 0);
    return wanted ? std::string(text) : quoted(written);
  }
  if ((types & kStringType) == 0) {  // as Python writes them
    if ((types & kBooleanType) && same_word(text, "true")) return "true";
    if ((types & kBooleanType) && same_word(text, "false")) return "false";
    if ((types & kNullType) && text == "None") return "null";
  }
  return quoted(written);
}

}  // namespace inlay
