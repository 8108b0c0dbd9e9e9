#include "src/constraint/json_schema.h"

#include <utility>

#include "src/constraint/schema_compiler.h"

namespace inlay::constraint {

Result<CompiledSchema> compile_json_schema(std::string text, const SchemaOptions& options, const SchemaLimits& limits) {
  JsonLimits json;
  json.max_bytes = static_cast<uint32_t>(limits.text_bytes);
  json.max_depth = limits.depth;
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::move(text), "schema", json));
  CompiledSchema out;
  out.grammar.regexes.set_limit(limits.bytes);
  out.grammar.regexes.allow_steps(limits.steps);
  JsonLanguage language(out.grammar, options.style);
  INLAY_ASSIGN(AddedSchema added, add_json_schema(out.grammar, language, document, document.root(), false, options, limits));
  out.grammar.start = added.symbol.id;
  out.remarks = std::move(added.remarks);
  return out;
}

Result<AddedSchema> add_json_schema(Grammar& grammar, JsonLanguage& language, const JsonDocument& document, const JsonValue& schema, bool is_object,
                                    const SchemaOptions& options, const SchemaLimits& limits) {
  SchemaSet schemas(document, language, grammar.regexes, options);
  SchemaId root = schemas.id_of(schema);
  if (is_object) {
    Schema object;
    object.types = kObject;
    object.all = {root};
    object.n_all_before = 1;
    object.where = schema;
    root = schemas.add(std::move(object));
  }
  const uint32_t start = grammar.start;
  SchemaCompiler compiler(schemas, language, grammar, limits);
  INLAY_TRY(compiler.run(root));
  if (!options.may_match_nothing) INLAY_TRY(compiler.check_can_match(root));
  return AddedSchema{call(std::exchange(grammar.start, start)), std::move(schemas.remarks())};
}

Grammar any_json(const JsonStyle& style) {
  Grammar out;
  JsonLanguage language(out, style);
  out.start = language.any_value().id;
  return out;
}

Grammar any_json_object(const JsonStyle& style) {
  Grammar out;
  JsonLanguage language(out, style);
  out.start = language.any_object().id;
  return out;
}

Result<Grammar> compile_choices(const std::vector<std::string>& choices) {
  if (choices.empty()) return error(Code::invalid_argument, "there are no choices");
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i].empty()) return error(Code::invalid_argument, "choice %zu is empty", i);
  Grammar out;
  out.start = out.add_rule("choices");
  out.add_production(out.start, {terminal(out.regexes.literals(choices))});
  return out;
}

}  // namespace inlay::constraint
