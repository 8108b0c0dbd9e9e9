#include "examples/server/tools.h"

namespace inlay::server {

namespace {

std::optional<Refusal> read_tool(const Json& given, const std::string& prefix, bool& is_strict) {
  FieldReader fields(given, prefix);
  fields.only("type", "function");
  const Json* function = fields.take("function");
  if (!function) fields.refuse("function", "is missing");
  if (fields.is_refused()) return fields.end();
  FieldReader inner(*function, prefix + "function.");
  std::string name, description;
  inner.text("name", name);
  inner.text("description", description);
  if (name.empty()) inner.refuse("name", "is missing");
  const Json* parameters = inner.take("parameters");
  if (parameters && !parameters->is_object()) inner.refuse("parameters", "is no object");
  bool strict = false;
  inner.truth("strict", strict);
  is_strict = is_strict || strict;
  if (const std::optional<Refusal> refusal = inner.end()) return refusal;
  return fields.end();
}

// Whether there are any, and whether one is strict.
bool read_list(FieldReader& fields, const Model& model, Json& tools, bool& is_strict) {
  const Json* given = fields.take("tools");
  if (!given) return false;
  if (!given->is_array()) return fields.refuse("tools", "is no array"), false;
  if (given->empty()) return false;
  if (!model.has_calls) return fields.refuse("tools", "is not supported: the chat format '" + model.chat_format + "' of the model has none", "unsupported"), false;
  for (size_t i = 0; i < given->size(); ++i)
    if (const std::optional<Refusal> refusal = read_tool((*given)[i], "tools[" + std::to_string(i) + "].", is_strict)) return fields.refuse(*refusal), false;
  tools = *given;
  return true;
}

// Whether it demands anything of the answer.
bool read_choice(FieldReader& fields, bool has_tools, Json& choice) {
  const Json* given = fields.take("tool_choice");
  if (!given) return false;
  if (given->is_object()) {
    FieldReader own(*given, "tool_choice.");
    own.only("type", "function");
    const Json* function = own.take("function");
    if (!function || !function->is_object() || !function->contains("name")) own.refuse("function", "has no name");
    if (const std::optional<Refusal> refusal = own.end()) return fields.refuse(*refusal), false;
  } else if (*given != "auto" && *given != "none" && *given != "required") {
    return fields.refuse("tool_choice", "is none of auto, none, required and a function"), false;
  }
  if (!has_tools && *given != "none") return fields.refuse("tool_choice", "is set, and there are no tools"), false;
  choice = *given;
  return has_tools && *given != "auto";
}

// `strict` and not change nothing: the answer is of the schema in any case.
bool read_response_format(FieldReader& fields, Json& format) {
  const Json* given = fields.take("response_format");
  if (!given) return false;
  if (!given->is_object()) return fields.refuse("response_format", "is no object"), false;
  FieldReader own(*given, "response_format.");
  std::string type = "text";
  own.text("type", type);
  if (type == "json_schema") {
    const Json* named = own.take("json_schema");
    if (!named || !named->is_object() || !named->contains("schema")) return fields.refuse("response_format.json_schema", "has no schema"), false;
    FieldReader inner(*named, "response_format.json_schema.");
    inner.ignore({"name", "description", "strict", "schema"});
    if (const std::optional<Refusal> refusal = inner.end()) return fields.refuse(*refusal), false;
  } else if (type != "text" && type != "json_object") {
    return fields.refuse("response_format.type", "is none of text, json_object and json_schema", "unsupported"), false;
  }
  if (const std::optional<Refusal> refusal = own.end()) return fields.refuse(*refusal), false;
  format = *given;
  return type != "text";
}

// Tokens of reasoning, named as llama.cpp's server does. -1: no limit, as where it is missing.
int64_t read_budget(FieldReader& fields, const Model& model) {
  int64_t budget = -1;
  fields.integer("thinking_budget_tokens", -1, 1 << 24, budget);
  if (budget >= 0 && !model.has_reasoning)
    fields.refuse("thinking_budget_tokens", "is not supported: the chat format '" + model.chat_format + "' of the model has no reasoning", "unsupported");
  return budget;
}

}  // namespace

void read_tools(FieldReader& fields, const Model& model, Json& conversation, GenerateBody& body) {
  Json demand = Json::object(), tools, choice, format;
  bool is_strict = false, parallel = true;
  const bool has_tools = read_list(fields, model, tools, is_strict);
  const bool chooses = read_choice(fields, has_tools, choice), formats = read_response_format(fields, format);
  fields.truth("parallel_tool_calls", parallel);
  const int64_t budget = read_budget(fields, model);
  if (has_tools) {
    conversation["tools"] = tools;
    body.tools = json_text(tools);
  }
  if (!chooses && !formats && budget < 0 && !(has_tools && (is_strict || !parallel))) return;
  if (has_tools) {
    demand["tools"] = tools;
    demand["parallel_tool_calls"] = parallel;
    if (!choice.is_null()) demand["tool_choice"] = choice;
  }
  if (formats) demand["response_format"] = format;
  if (budget >= 0) demand["reasoning"]["max_tokens"] = budget;
  body.demand = json_text(demand);
}

}  // namespace inlay::server
