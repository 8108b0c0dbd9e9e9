#include "examples/server/messages.h"

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

bool is_role(const std::string& role) { return role == "system" || role == "developer" || role == "user" || role == "assistant"; }

std::optional<Refusal> read_message(const Json& given, const std::string& prefix, Json& out) {
  FieldReader fields(given, prefix);
  std::string role, text;
  fields.text("role", role);
  if (!is_role(role)) fields.refuse("role", "is none of system, developer, user and assistant");
  const Json* content = fields.take("content");
  if (!content) fields.refuse("content", "is missing");
  if (content && content->is_array()) {
    read_parts(fields, prefix, *content, text);
  } else {
    fields.text("content", text);
  }
  std::string name;
  fields.text("name", name);
  fields.ignore({"annotations", "refusal"});
  fields.none({"tool_calls", "tool_call_id", "function_call", "audio"});
  out = {{"role", role == "developer" ? "system" : role}, {"content", text}};
  if (!name.empty()) out["name"] = name;
  return fields.end();
}

}  // namespace

void read_messages(FieldReader& fields, std::string& conversation) {
  const Json* messages = fields.take("messages");
  if (!messages) return fields.refuse("messages", "is missing");
  if (!messages->is_array() || messages->empty()) return fields.refuse("messages", "is not an array with at least one message");
  Json out = Json::array();
  for (size_t i = 0; i < messages->size(); ++i) {
    Json message;
    if (const std::optional<Refusal> refusal = read_message((*messages)[i], "messages[" + std::to_string(i) + "].", message))
      return fields.refuse(*refusal);
    out.push_back(std::move(message));
  }
  conversation = json_text(Json{{"messages", std::move(out)}});
}

}  // namespace inlay::server
