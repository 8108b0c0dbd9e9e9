#include "examples/cli/messages.h"

#include <utility>

#include "examples/cli/json_line.h"
#include "src/formats/json.h"

namespace inlay::cli {
namespace {

struct Message {
  std::string role, content;
};

Result<std::vector<Message>> parse(std::string_view text) {
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::string(text), "its JSON"));
  INLAY_ASSIGN(const JsonElements elements, document.root().as_array());
  std::vector<Message> out;
  for (const JsonValue& element : elements) {
    INLAY_ASSIGN(const JsonMembers members, element.as_object());
    for (const JsonMember& member : members) {
      if (member.key != "role" && member.key != "content")
        return error(Code::format, "%s: a message has role and content here, and no other key", member.value.where().c_str());
    }
    INLAY_ASSIGN(const JsonValue role, element.get("role"));
    INLAY_ASSIGN(const JsonValue content, element.get("content"));
    INLAY_ASSIGN(const std::string_view of_role, role.as_string());
    INLAY_ASSIGN(const std::string_view of_content, content.as_string());
    out.push_back({std::string(of_role), std::string(of_content)});
  }
  return out;
}

}  // namespace

bool read_messages(std::string_view text, Messages& messages, std::string& reason) {
  Result<std::vector<Message>> parsed = parse(text);
  if (!parsed.ok()) {
    reason = parsed.status().message;
    return false;
  }
  std::vector<Message>& all = *parsed;
  Messages found;
  const size_t n_system = !all.empty() && all[0].role == "system" ? 1 : 0;
  if (n_system > 0) found.system = std::move(all[0].content);
  for (size_t i = n_system; i < all.size(); ++i) {
    const bool answers = (i - n_system) % 2 == 1;
    const char* wanted = answers ? "assistant" : "user";
    if (all[i].role != wanted) {
      reason = "message " + std::to_string(i + 1) + " is of " + json_text(all[i].role) + " where one of " + wanted + " is expected";
      return false;
    }
    if (answers)
      found.turns.back().answer = std::move(all[i].content);
    else
      found.turns.push_back({.line = std::move(all[i].content), .answer = {}});
  }
  if ((all.size() - n_system) % 2 == 1) {
    reason = "message " + std::to_string(all.size()) + ", the last one, is of user and has no answer";
    return false;
  }
  messages = std::move(found);
  return true;
}

}  // namespace inlay::cli
