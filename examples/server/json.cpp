#include "examples/server/json.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "examples/server/refusal.h"

namespace inlay::server {

namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxMembers = 1024;  // of an object, in which each is looked for among all

// What is too much for the parser; empty: nothing. Ends where a bracket closes none, as the parser does.
std::string excess(std::string_view text) {
  std::array<size_t, kMaxDepth + 1> n_members = {};  // by depth
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return "the body nests deeper than " + std::to_string(kMaxDepth) + " levels";
      n_members[depth] = 0;
    } else if (depth > 0 && c == ':') {
      if (++n_members[depth] > kMaxMembers) return "the body has an object of more than " + std::to_string(kMaxMembers) + " members";
    } else if (c == '}' || c == ']') {
      if (depth == 0) return "";
      --depth;
    }
  }
  return "";
}

const char* error_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 403) return "permission_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

bool parse_json(std::string_view text, Json& value, std::string& reason) {
  reason = excess(text);
  if (!reason.empty()) return false;
  value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) reason = "the body is not JSON in UTF-8";
  return !value.is_discarded();
}

void add_json(std::string_view text, std::string& out) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    out += json_text(Json(text));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void add_json(double number, std::string& out) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

std::string error_body(const Refusal& refusal) {
  Json error = {{"message", refusal.message}, {"type", error_type(refusal.status)}};
  error["param"] = text_or_null(refusal.param);
  error["code"] = text_or_null(refusal.code);
  return json_text(Json{{"error", error}});
}

}  // namespace inlay::server
