// Who may ask: by the Host and Origin that a browser writes, and by a key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/server/http_parser.h"
#include "examples/server/refusal.h"

namespace inlay::server {

struct AccessRules {
  std::string key;                   // empty: none is asked for
  std::vector<std::string> hosts;    // names beside localhost and addresses in numbers
  std::vector<std::string> origins;  // of pages elsewhere that may use the server, such as https://example.org
};

// The name or address of HOST or HOST:PORT, without brackets; empty: it is none.
std::string host_name(std::string_view host);

// A page whose name was made to lead here (DNS rebinding) comes with that name as Host, so only known names are taken; an address in
// numbers cannot be made to lead elsewhere. Pages of others come with their Origin.
std::optional<Refusal> check_host(const HttpRequest& request, const AccessRules& rules);
std::optional<Refusal> check_key(const HttpRequest& request, const AccessRules& rules);

// The page elsewhere that may read the answer; empty: none.
std::string allowed_origin(const HttpRequest& request, const AccessRules& rules);

bool is_address(const std::string& text);  // IPv4 or IPv6 in numbers
bool is_loopback(const std::string& address);

}  // namespace inlay::server
