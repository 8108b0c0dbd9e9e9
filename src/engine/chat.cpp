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

Status of_template(Status status) {
  status.message = "chat template: " + status.message;
  return status;
}

constexpr const char* kKey = "tokenizer.chat_template";
constexpr std::string_view kNamedPrefix = "tokenizer.chat_template.";
constexpr const char* kToolsKey = "tokenizer.chat_template.tool_use";

Result<tmpl::Template> parse(std::string_view source) {
  auto parsed = tmpl::Template::parse(source);
  return parsed.ok() ? std::move(parsed) : Result<tmpl::Template>(of_template(std::move(parsed).status()));
}

std::optional<Result<tmpl::Template>> parse_key(const Metadata& metadata, const char* key) {
  if (!metadata.find(key)) return std::nullopt;
  const auto source = metadata.get_string(key);
  return source.ok() ? parse(*source) : Result<tmpl::Template>(source.status());
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
#ifdef _WIN32
  localtime_s(&out, &now);
#else
  localtime_r(&now, &out);
#endif
  return out;
}

}  // namespace

ChatTemplates::ChatTemplates(const Metadata& metadata)
    : usual_(parse_key(metadata, kKey)), for_tools_(parse_key(metadata, kToolsKey)) {
  for (const MetaEntry& entry : metadata.entries()) {
    if (entry.key.starts_with(kNamedPrefix)) names_ += (names_.empty() ? "" : ", ") + std::string(entry.key.substr(kNamedPrefix.size()));
  }
}

Result<tmpl::Template> ChatTemplates::pick(bool has_tools) const {
  if (has_tools && for_tools_) return *for_tools_;
  if (usual_) return *usual_;
  return error(Code::unsupported, "the model has no chat template: there is no %s in its metadata%s", kKey,
               names_.empty() ? "" : (", only templates with names: " + names_).c_str());
}

namespace {

Result<tmpl::Text> render(const Engine& engine, std::string_view conversation, const ChatOptions& options, bool marks) {
  INLAY_ASSIGN(Map variables, tmpl::read_variables(conversation, marks));
  if (!variables.find("add_generation_prompt"))
    variables.set(text("add_generation_prompt"), Value(options.add_generation_prompt));
  INLAY_TRY(add_tokens(engine.tokenizer(), variables));
  const Value* tools = variables.find("tools");
  INLAY_ASSIGN(const tmpl::Template chosen,
               options.source ? parse(*options.source) : engine.chat_templates().pick(tools && tools->truth()));
  auto out = chosen.render_marked(variables, local_time());
  if (!out.ok()) return of_template(std::move(out).status());
  return out;
}

}  // namespace

Result<std::string> render_chat(const Engine& engine, std::string_view conversation, const ChatOptions& options) {
  INLAY_ASSIGN(tmpl::Text text, render(engine, conversation, options, false));
  return std::move(text.bytes);
}

Result<std::vector<int32_t>> tokenize_chat(const Engine& engine, std::string_view conversation,
                                           const ChatOptions& options) {
  if (!engine.tokenizer()) return error(Code::unsupported, "the model has no tokenizer");
  INLAY_ASSIGN(const tmpl::Text text, render(engine, conversation, options, true));
  std::vector<TextRange> plain;
  for (const tmpl::Span& span : text.foreign) plain.push_back({span.begin, span.end});
  std::vector<int32_t> out;
  engine.tokenizer()->encode(text.bytes, {.add_special = false, .parse_special = true, .plain = plain}, out);
  return out;
}

}  // namespace inlay
