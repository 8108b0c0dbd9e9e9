#include "src/engine/message_demand.h"

#include <algorithm>
#include <set>

namespace inlay {
namespace {

constexpr JsonLimits kDemandLimits{.max_bytes = 16u << 20, .max_depth = 200};
constexpr size_t kMaxTools = 1024;
constexpr int64_t kMaxReasoning = int64_t{1} << 24;

Status only_members(const JsonValue& object, std::initializer_list<std::string_view> known) {
  INLAY_ASSIGN(const JsonMembers members, object.as_object());
  for (const JsonMember& member : members)
    if (std::find(known.begin(), known.end(), member.key) == known.end()) return error(Code::format, "%s is not known", member.value.where().c_str());
  return {};
}

// A document of its own, in which references begin with #.
Result<JsonDocument> document_of(const JsonValue& schema) { return JsonDocument::parse(json_text(schema), schema.path(), kDemandLimits); }

std::optional<JsonValue> given(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && !value->is_null() ? value : std::nullopt;
}

Result<std::string_view> text_of_member(const JsonValue& object, std::string_view key) {
  INLAY_ASSIGN(const JsonValue value, object.get(key));
  return value.as_string();
}

Status read_tools(const JsonValue& list, MessageDemand& out) {
  INLAY_ASSIGN(const JsonElements tools, list.as_array());
  if (tools.size() > kMaxTools) return error(Code::unsupported, "%s has %zu tools, more than %zu", list.where().c_str(), tools.size(), kMaxTools);
  std::set<std::string_view> names;
  for (const JsonValue tool : tools) {
    INLAY_ASSIGN(const std::string_view type, tool.string_or("type", "function"));
    if (type != "function") return error(Code::unsupported, "%s.type is not \"function\"", tool.where().c_str());
    const JsonValue function = tool.find("function").value_or(tool);
    INLAY_ASSIGN(const std::string_view name, text_of_member(function, "name"));
    if (name.empty() || name.size() > 256) return error(Code::format, "%s.name has %zu bytes, expected 1 to 256", function.where().c_str(), name.size());
    if (!names.insert(name).second) return error(Code::format, "%s.name is that of an earlier tool", function.where().c_str());
    DemandedTool& added = out.tools.emplace_back();
    added.name = name;
    const auto parameters = given(function, "parameters");
    if (!parameters) continue;
    INLAY_ASSIGN(added.parameters, document_of(*parameters));
  }
  out.has_tools = !out.tools.empty();
  return {};
}

Status read_named(const JsonValue& choice, MessageDemand& out) {
  INLAY_TRY(only_members(choice, {"type", "function", "name"}));
  INLAY_ASSIGN(const std::string_view type, choice.string_or("type", "function"));
  if (type != "function") return error(Code::unsupported, "%s.type is not \"function\"", choice.where().c_str());
  INLAY_ASSIGN(const std::string_view name, text_of_member(choice.find("function").value_or(choice), "name"));
  const auto found = std::find_if(out.tools.begin(), out.tools.end(), [&](const DemandedTool& tool) { return tool.name == name; });
  if (found == out.tools.end()) return error(Code::format, "%s names none of the tools", choice.where().c_str());
  DemandedTool one = std::move(*found);
  out.tools.clear();
  out.tools.push_back(std::move(one));
  out.calls = MessageDemand::Calls::must;
  return {};
}

Status read_choice(const JsonValue& root, MessageDemand& out) {
  using Calls = MessageDemand::Calls;
  out.calls = out.has_tools ? Calls::may : Calls::never;
  const auto choice = given(root, "tool_choice");
  if (!choice) return {};
  if (choice->is_object()) return read_named(*choice, out);
  INLAY_ASSIGN(const std::string_view word, choice->as_string());
  if (word == "none") {
    out.calls = Calls::never;
  } else if (word == "required") {
    if (!out.has_tools) return error(Code::format, "%s is \"required\", and there are no tools", choice->where().c_str());
    out.calls = Calls::must;
  } else if (word != "auto") {
    return choice->expected("\"auto\", \"none\", \"required\" or a function's name in an object");
  }
  return {};
}

Status read_content(const JsonValue& root, MessageDemand& out) {
  const auto format = given(root, "response_format");
  if (!format) return {};
  INLAY_TRY(only_members(*format, {"type", "json_schema"}));
  INLAY_ASSIGN(const std::string_view type, text_of_member(*format, "type"));
  if (type == "json_object") return out.is_json = true, Status{};
  if (type == "text") return {};
  if (type != "json_schema") return error(Code::format, "%s.type is none of text, json_object and json_schema", format->where().c_str());
  INLAY_ASSIGN(const JsonValue named, format->get("json_schema"));
  INLAY_ASSIGN(const JsonValue schema, named.get("schema"));
  INLAY_ASSIGN(out.content_schema, document_of(schema));
  return {};
}

Status read_reasoning(const JsonValue& root, MessageDemand& out) {
  const auto reasoning = given(root, "reasoning");
  if (!reasoning) return {};
  INLAY_TRY(only_members(*reasoning, {"max_tokens"}));
  const auto limit = given(*reasoning, "max_tokens");
  if (!limit) return {};
  const auto n = limit->as_i64();
  if (!n.ok() || *n < 0 || *n > kMaxReasoning) return limit->expected("a whole number of tokens, 0 to 16777216");
  out.max_reasoning = static_cast<uint32_t>(*n);
  return {};
}

}  // namespace

Result<MessageDemand> MessageDemand::read(std::string json) {
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::move(json), "message", kDemandLimits));
  const JsonValue root = document.root();
  INLAY_TRY(only_members(root, {"tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning"}));
  MessageDemand out;
  if (const auto tools = given(root, "tools")) INLAY_TRY(read_tools(*tools, out));
  INLAY_TRY(read_choice(root, out));
  INLAY_ASSIGN(out.parallel, root.bool_or("parallel_tool_calls", true));
  INLAY_TRY(read_content(root, out));
  INLAY_TRY(read_reasoning(root, out));
  return out;
}

}  // namespace inlay
