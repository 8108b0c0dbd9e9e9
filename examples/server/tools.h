// A chat's tools, and what its answer is to be.
#pragma once

#include "examples/server/field_reader.h"
#include "examples/server/generate_body.h"

namespace inlay::server {

// Reads `tools`, `tool_choice`, `parallel_tool_calls`, `response_format` and `thinking_budget_tokens`. The conversation gets the tools.
void read_tools(FieldReader& fields, const Model& model, Json& conversation, GenerateBody& body);

}  // namespace inlay::server
