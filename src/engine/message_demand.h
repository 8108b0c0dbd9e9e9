// What a message is to be: which tools it may or must call, and what its content is. docs/design/tool-constraints.md
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/formats/json.h"

namespace inlay {

struct DemandedTool {
  std::string name;
  std::optional<JsonDocument> parameters;  // a schema; none: any object
};

struct MessageDemand {
  enum class Calls : uint8_t { never, may, must };

  std::vector<DemandedTool> tools;  // those that may be called, and with `never` all
  bool has_tools = false;           // any was given
  Calls calls = Calls::never;
  bool parallel = true;             // several calls in one message
  std::optional<JsonDocument> content_schema;  // of the content
  bool is_json = false;             // the content is a JSON object of any kind
  std::optional<uint32_t> max_reasoning;  // tokens, then reasoning is closed

  // JSON with "tools", "tool_choice", "parallel_tool_calls", "response_format" and "reasoning". Errors name the place.
  static Result<MessageDemand> read(std::string json);
};

}  // namespace inlay
