#include "examples/server/messages.h"

#include <map>

namespace inlay::server {

namespace {

bool read_parts(FieldReader& message, const std::string& prefix, const Json& parts, std::string& text) {
  for (size_t i = 0; i < parts.size(); ++i) {
    FieldReader part(parts[i], prefix + "content[" + std::to_string(i) + "].");
    std::string type, own;
    part.text("type", type);
    if (type != "text") part.refuse("type", "can only be \"text\" here", "unsupported");
    const Json* given = part.take("text");
    part.text("text", own);
    if (!given) part.refuse("text", "is missing");
    if (const std::optional<Refusal> refusal = part.end()) {
      message.refuse(*refusal);
      return false;
    }
    text += own;
  }
  return true;
}

bool is_role(const std::string& role) {
  for (const char* known : {"system", "developer", "user", "assistant", "tool"})
    if (role == known) return true;
  return false;
}

// {"id", "type": "function", "function": {"name", "arguments": "{...}"}}
std::optional<Refusal> read_call(const Json& given, const std::string& prefix, const Model& model, Json& out) {
  FieldReader fields(given, prefix);
  std::string id, name, arguments = "{}";
  fields.text("id", id);
  fields.only("type", "function");
  fields.ignore({"index"});
  const Json* function = fields.take("function");
  if (!function) fields.refuse("function", "is missing");
  if (fields.is_refused()) return fields.end();
  FieldReader inner(*function, prefix + "function.");
  inner.text("name", name);
  inner.text("arguments", arguments);
  if (name.empty()) inner.refuse("name", "is missing");
  Json value;
  std::string reason;
  if (!inner.is_refused() && (!parse_json(arguments.empty() ? "{}" : arguments, value, reason) || !value.is_object()))
    inner.refuse("arguments", "is not the text of a JSON object");
  if (const std::optional<Refusal> refusal = inner.end()) return refusal;
  out = {{"id", id}, {"type", "function"}, {"function", {{"name", name}}}};
  out["function"]["arguments"] = model.takes_text ? Json(json_text(value)) : value;
  return fields.end();
}

// Names of tools by the ids of their calls.
using CallNames = std::map<std::string, std::string>;

void read_calls(FieldReader& fields, const std::string& prefix, const Model& model, CallNames& names, Json& out) {
  const Json* calls = fields.take("tool_calls");
  if (!calls) return;
  if (!calls->is_array() || calls->empty()) return fields.refuse("tool_calls", "is not an array with at least one call");
  out["tool_calls"] = Json::array();
  for (size_t i = 0; i < calls->size(); ++i) {
    Json call;
    if (const std::optional<Refusal> refusal = read_call((*calls)[i], prefix + "tool_calls[" + std::to_string(i) + "].", model, call)) return fields.refuse(*refusal);
    names[call["id"]] = call["function"]["name"];
    out["tool_calls"].push_back(std::move(call));
  }
}

void read_result(FieldReader& fields, const CallNames& names, Json& out) {
  std::string id;
  fields.text("tool_call_id", id);
  if (id.empty()) return fields.refuse("tool_call_id", "is missing");
  out["tool_call_id"] = id;
  const auto called = names.find(id);
  if (called == names.end()) return fields.refuse("tool_call_id", "is that of no call before");
  if (!out.contains("name")) out["name"] = called->second;
}

std::optional<Refusal> read_message(const Json& given, const std::string& prefix, const Model& model, CallNames& names, Json& out) {
  FieldReader fields(given, prefix);
  std::string role, text, name, reasoning;
  fields.text("role", role);
  if (!is_role(role)) fields.refuse("role", "is none of system, developer, user, assistant and tool");
  const Json* content = fields.take("content");
  if (!content && !(role == "assistant" && fields.take("tool_calls"))) fields.refuse("content", "is missing");
  if (content && content->is_array()) {
    read_parts(fields, prefix, *content, text);
  } else {
    fields.text("content", text);
  }
  fields.text("name", name);
  fields.ignore({"annotations", "refusal"});
  fields.none({"function_call", "audio"});
  out = {{"role", role == "developer" ? "system" : role}, {"content", text}};
  if (!name.empty()) out["name"] = name;
  if (role == "assistant") {
    fields.text("reasoning_content", reasoning);
    if (!reasoning.empty()) out["reasoning_content"] = reasoning;
    read_calls(fields, prefix, model, names, out);
  }
  if (role == "tool") read_result(fields, names, out);
  return fields.end();
}

}  // namespace

void read_messages(FieldReader& fields, const Model& model, Json& conversation) {
  const Json* messages = fields.take("messages");
  if (!messages) return fields.refuse("messages", "is missing");
  if (!messages->is_array() || messages->empty()) return fields.refuse("messages", "is not an array with at least one message");
  Json out = Json::array();
  CallNames names;
  for (size_t i = 0; i < messages->size(); ++i) {
    Json message;
    if (const std::optional<Refusal> refusal = read_message((*messages)[i], "messages[" + std::to_string(i) + "].", model, names, message))
      return fields.refuse(*refusal);
    out.push_back(std::move(message));
  }
  conversation = Json{{"messages", std::move(out)}};
}

}  // namespace inlay::server
