#include "src/engine/chat.h"

#include <array>
#include <ctime>

#include "src/engine/engine.h"
#include "src/template/template.h"
#include "src/template/variables.h"

namespace inlay {

namespace {

using tmpl::Map;
using tmpl::Value;

Value text(std::string_view bytes) { return Value(std::string(bytes)); }

// The model's template; one for tools if there are tools and the file has one.
Result<std::string_view> model_template(const Metadata& metadata, const Map& variables) {
  constexpr const char* kKey = "tokenizer.chat_template";
  constexpr const char* kToolsKey = "tokenizer.chat_template.tool_use";
  const Value* tools = variables.find("tools");
  if (tools && tools->truth() && metadata.find(kToolsKey)) return metadata.get_string(kToolsKey);
  if (!metadata.find(kKey))
    return error(Code::unsupported, "the model has no chat template: there is no %s in its metadata", kKey);
  return metadata.get_string(kKey);
}

// bos_token and eos_token, unless the caller gives them.
Status add_tokens(const Tokenizer* tokenizer, Map& variables) {
  if (!tokenizer) return {};
  const std::pair<const char*, int32_t> tokens[] = {{"bos_token", tokenizer->bos()}, {"eos_token", tokenizer->eos()}};
  for (const auto& [name, id] : tokens) {
    if (id < 0 || variables.find(name)) continue;
    std::string written;
    INLAY_TRY(tokenizer->decode(std::array{id}, {.show_special = true}, written));
    variables.set(text(name), Value(std::move(written)));
  }
  return {};
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm out{};
  localtime_r(&now, &out);
  return out;
}

}  // namespace

Result<std::string> render_chat(const Engine& engine, std::string_view conversation, const ChatOptions& options) {
  INLAY_ASSIGN(Map variables, tmpl::read_variables(conversation));
  if (!variables.find("add_generation_prompt"))
    variables.set(text("add_generation_prompt"), Value(options.add_generation_prompt));
  INLAY_TRY(add_tokens(engine.tokenizer(), variables));
  std::string_view source;
  if (options.source) {
    source = *options.source;
  } else {
    INLAY_ASSIGN(source, model_template(engine.metadata(), variables));
  }
  const auto named = [](Status status) {
    status.message = "chat template: " + status.message;
    return status;
  };
  const auto parsed = tmpl::Template::parse(source);
  if (!parsed.ok()) return named(parsed.status());
  auto out = parsed->render(variables, local_time());
  if (!out.ok()) return named(std::move(out).status());
  return out;
}

}  // namespace inlay
