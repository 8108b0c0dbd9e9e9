// How a parsed JSON document lies in memory: one array of nodes in the order of the text, a container before what it
// holds, a key before its value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"

namespace inlay::detail {

struct JsonNode {
  uint32_t begin = 0;  // of a string's or number's bytes in the text
  uint32_t size = 0;   // bytes of a string or number; elements or members of a container
  uint32_t end = 0;    // the node after this one and all that it holds
  JsonType type = JsonType::null;
  bool truth = false;
};

struct JsonData {
  std::string text;
  std::string name;
  std::vector<JsonNode> nodes;

  std::string_view text_of(const JsonNode& node) const { return {text.data() + node.begin, node.size}; }
  std::string_view text_of(uint32_t node) const { return text_of(nodes[node]); }
};

// Fills data.nodes from data.text.
Status parse_json(JsonData& data, const JsonLimits& limits);

}  // namespace inlay::detail
