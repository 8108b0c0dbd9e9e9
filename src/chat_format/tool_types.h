// Which types the parameters of a host's tools have: what stands between tags becomes a string, or JSON, by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/formats/json.h"

namespace inlay {

// Bits.
enum ValueType : uint8_t { kStringType = 1, kNumberType = 2, kBooleanType = 4, kNullType = 8, kObjectType = 16, kArrayType = 32, kAnyType = 63 };

class ToolTypes {
 public:
  // An array of tools as chat templates take them: {"type": "function", "function": {"name", "parameters": JSON Schema}}, or the inner object
  // alone. An empty text and null have no tools. Errors name the place.
  static Result<ToolTypes> read(std::string json);

  bool empty() const { return tools_.empty(); }
  bool has(std::string_view tool) const { return find(tool) != nullptr; }
  // The types that a parameter may have; any for one that is not known.
  uint8_t types(std::string_view tool, std::string_view parameter) const;

 private:
  struct Parameter {
    std::string name;
    uint8_t types;
  };
  struct Tool {
    std::string name;
    std::vector<Parameter> parameters;
  };
  const Tool* find(std::string_view tool) const;

  std::vector<Tool> tools_;
};

// What was written for a parameter of these types, as JSON.
std::string json_of_written(std::string_view written, uint8_t types);

}  // namespace inlay
