// JSON as the values of a template.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/template/value.h"

namespace inlay::tmpl {

inline Value value_of(const nlohmann::ordered_json& json) {
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::boolean:
      return json.get<bool>();
    case Type::number_integer:
    case Type::number_unsigned:
      return json.get<int64_t>();
    case Type::number_float:
      return json.get<double>();
    case Type::string:
      return json.get<std::string>();
    case Type::array: {
      List list;
      for (const auto& item : json) list.items.push_back(value_of(item));
      return list;
    }
    case Type::object: {
      Map map;
      for (const auto& [key, item] : json.items()) map.set(Value(key), value_of(item));
      return map;
    }
    default:
      return {};
  }
}

}  // namespace inlay::tmpl
