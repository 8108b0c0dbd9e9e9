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

// The same of one value, at the end of `out`; for many small ones.
void add_json(std::string_view text, std::string& out);
void add_json(double number, std::string& out);

}  // namespace inlay::server
