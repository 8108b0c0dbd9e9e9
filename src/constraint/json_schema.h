// JSON Schema as a grammar: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. Which keywords are supported:
// docs/design/constraints.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/constraint/grammar.h"
#include "src/constraint/json_language.h"

namespace inlay::constraint {

struct SchemaOptions {
  JsonStyle style;
  bool lenient = false;  // what is not supported is dropped and remarked, not refused
  bool may_match_nothing = false;  // that is no error: what demands the schema can be left out
};

struct SchemaLimits {
  size_t text_bytes = size_t{16} << 20;
  uint32_t depth = 200;      // of nested arrays and objects in the text
  size_t sets = 100'000;     // of schemas that hold together
  uint64_t steps = uint64_t{1} << 26;
  size_t bytes = size_t{64} << 20;
};

struct CompiledSchema {
  Grammar grammar;
  std::vector<std::string> remarks;  // keywords and formats that are not known, and what lenient dropped, with their places
};

// Errors name keyword and place. Code::format: no JSON, no schema, or one that nothing matches; Code::unsupported: a keyword, or a limit.
Result<CompiledSchema> compile_json_schema(std::string text, const SchemaOptions& options = {}, const SchemaLimits& limits = {});
// Adds what `schema`, a value of `document`, demands to a grammar, and gives its symbol; `start` stays. is_object: and that it is an object.
struct AddedSchema {
  Symbol symbol;
  std::vector<std::string> remarks;
};
Result<AddedSchema> add_json_schema(Grammar& grammar, JsonLanguage& language, const JsonDocument& document, const JsonValue& schema, bool is_object,
                                    const SchemaOptions& options, const SchemaLimits& limits = {});
// Any JSON value, or any object.
Grammar any_json(const JsonStyle& style);
Grammar any_json_object(const JsonStyle& style);
// One of the texts, byte for byte. An error where there is none or one is empty.
Result<Grammar> compile_choices(const std::vector<std::string>& choices);

}  // namespace inlay::constraint
