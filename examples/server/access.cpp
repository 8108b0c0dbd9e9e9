#include "examples/server/access.h"

#include <arpa/inet.h>

#include <algorithm>

namespace inlay::server {

namespace {

bool is_port(std::string_view text) {
  return text.empty() || (text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.substr(0, scheme.size()) == scheme && same_word(origin.substr(scheme.size()), host)) return true;
  return false;
}

// In a time that does not tell how much of it is right.
bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned char differs = given.size() == wanted.size() ? 0 : 1;
  for (size_t i = 0; i < wanted.size(); ++i) differs = static_cast<unsigned char>(differs | ((i < given.size() ? given[i] : 0) ^ wanted[i]));
  return differs == 0;
}

bool has_name(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& known) { return same_word(known, name); });
}

}  // namespace

std::string host_name(std::string_view host) {
  if (!host.empty() && host[0] == '[') {
    const size_t end = host.find(']');
    if (end == host.npos) return "";
    const std::string_view behind = host.substr(end + 1);
    return behind.empty() || (behind[0] == ':' && is_port(behind.substr(1))) ? std::string(host.substr(1, end - 1)) : "";
  }
  const size_t colon = std::min(host.find(':'), host.size());
  return colon == host.size() || is_port(host.substr(colon + 1)) ? std::string(host.substr(0, colon)) : "";
}

bool is_address(const std::string& text) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

bool is_loopback(const std::string& address) { return address == "::1" || address.rfind("127.", 0) == 0; }

std::optional<Refusal> check_host(const HttpRequest& request, const AccessRules& rules) {
  const std::string *host = request.header("host"), *origin = request.header("origin");
  if (!host || host->empty()) return Refusal{400, "the request has no Host", "", "no_host"};
  const std::string name = host_name(*host);
  if (!same_word(name, "localhost") && !is_address(name) && !has_name(rules.hosts, name))
    return Refusal{403, "the Host is none of this server's; its option --host-name adds one", "", "unknown_host"};
  if (origin && !is_own_origin(*origin, *host) && !has_name(rules.origins, *origin))
    return Refusal{403, "pages of this Origin may not use the server; its option --origin adds one", "", "unknown_origin"};
  return std::nullopt;
}

std::optional<Refusal> check_key(const HttpRequest& request, const AccessRules& rules) {
  if (rules.key.empty()) return std::nullopt;
  const std::string* given = request.header("authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (given && given->size() > kScheme.size() && same_word(std::string_view(*given).substr(0, kScheme.size()), kScheme) &&
      same_secret(std::string_view(*given).substr(kScheme.size()), rules.key))
    return std::nullopt;
  return Refusal{401, given ? "the API key is wrong" : "an API key is needed: Authorization: Bearer KEY", "", "invalid_api_key"};
}

std::string allowed_origin(const HttpRequest& request, const AccessRules& rules) {
  const std::string* origin = request.header("origin");
  return origin && has_name(rules.origins, *origin) ? *origin : "";
}

}  // namespace inlay::server
