#include "examples/server/json.h"

#include "examples/server/refusal.h"

namespace inlay::server {

namespace {

constexpr int kMaxDepth = 64;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

const char* error_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 403) return "permission_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

bool parse_json(std::string_view text, Json& value, std::string& reason) {
  if (is_too_deep(text)) {
    reason = "the body nests deeper than " + std::to_string(kMaxDepth) + " levels";
    return false;
  }
  value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) reason = "the body is not JSON in UTF-8";
  return !value.is_discarded();
}

std::string error_body(const Refusal& refusal) {
  Json error = {{"message", refusal.message}, {"type", error_type(refusal.status)}};
  error["param"] = text_or_null(refusal.param);
  error["code"] = text_or_null(refusal.code);
  return json_text(Json{{"error", error}});
}

}  // namespace inlay::server
