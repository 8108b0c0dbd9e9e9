// JSON in and out: bounded in depth and in the members of an object, and never with an exception.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace inlay::server {

using Json = nlohmann::ordered_json;  // members stay in their order, in and out

// False: `reason` says what is wrong.
bool parse_json(std::string_view text, Json& value, std::string& reason);

// What is no UTF-8 becomes U+FFFD.
template <class Value>
std::string json_text(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace inlay::server
