#include "src/engine/chat.h"

#include <algorithm>

#include "src/base/ascii.h"
#include "src/base/local_time.h"
#include "src/engine/engine.h"
#include "src/template/template.h"
#include "src/template/text.h"
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

std::string_view text_of(const Metadata& metadata, const char* key) {
  const auto source = metadata.get_string(key);
  return source.ok() ? *source : std::string_view();
}

// The special tokens by their names, unless the caller gives them.
void add_tokens(const Tokenizer* tokenizer, Map& variables) {
  if (!tokenizer) return;
  for (const SpecialTokenName& special : tokenizer->special_names()) {
    if (variables.find(std::string_view(special.name))) continue;
    if (!special.is_list) {
      variables.set(text(special.name), text(special.texts[0]));
      continue;
    }
    tmpl::List list;
    for (const std::string& token : special.texts) list.items.push_back(text(token));
    variables.set(text(special.name), Value(std::move(list)));
  }
}

}  // namespace

ChatTemplates::ChatTemplates(const Metadata& metadata)
    : usual_(parse_key(metadata, kKey)), for_tools_(parse_key(metadata, kToolsKey)), usual_source_(text_of(metadata, kKey)),
      for_tools_source_(text_of(metadata, kToolsKey)) {
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

// Behind the text of a message that is to be continued. Where a template trims texts, the blank is lost.
constexpr std::string_view kTextEnd = "INLAY_TEXT_ENDS_HERE", kTextEndAndBlank = "INLAY_TEXT_ENDS_HERE ";

constexpr const char* kToContinue = "the conversation's last message is to be continued";

Value with_end(const Value& given) {
  tmpl::Text out{given.text() + std::string(kTextEndAndBlank), given.is_markup(), given.foreign()};
  return Value(std::move(out));
}

Value with_member(const Map& map, std::string_view name, const Value& value) {
  Map out;
  for (const auto& [key, old] : map.entries()) out.set(key, key.is_string() && key.text() == name ? value : old);
  return Value(std::move(out));
}

// Marks where the last message's text ends: its content, or the last text in a list of parts. `said`: that text.
Status mark_end(Map& variables, std::string& said) {
  const Value* messages = variables.find("messages");
  if (!messages || !messages->is(tmpl::Kind::list) || messages->list().items.empty())
    return error(Code::invalid_argument, "%s, and there is none", kToContinue);
  tmpl::List list = messages->list();
  Value& last = list.items.back();
  const Value* content = last.is(tmpl::Kind::map) ? last.map().find("content") : nullptr;
  if (content && content->is_string()) {
    said = content->text();
    last = with_member(last.map(), "content", with_end(*content));
  } else if (content && content->is(tmpl::Kind::list)) {
    tmpl::List parts = content->list();
    const auto part = std::find_if(parts.items.rbegin(), parts.items.rend(), [](const Value& v) {
      const Value* words = v.is(tmpl::Kind::map) ? v.map().find("text") : nullptr;
      return words && words->is_string();
    });
    if (part == parts.items.rend()) return error(Code::invalid_argument, "%s, and its content has no text", kToContinue);
    const Value& words = *part->map().find("text");
    said = words.text();
    *part = with_member(part->map(), "text", with_end(words));
    last = with_member(last.map(), "content", Value(std::move(parts)));
  } else {
    return error(Code::invalid_argument, "%s, and it has no content", kToContinue);
  }
  variables.set(text("messages"), Value(std::move(list)));
  return {};
}

// Cuts what the template has written behind that text.
Status cut_at_end(std::string_view said, tmpl::Text& out) {
  const size_t at = out.bytes.rfind(kTextEnd);
  if (at == std::string::npos || out.bytes.find(tmpl::strip(said, tmpl::Side::both)) == std::string::npos)
    return error(Code::unsupported, "%s, but the chat template does not write it as it is", kToContinue);
  const bool is_kept = std::string_view(out.bytes).substr(at).starts_with(kTextEndAndBlank);
  out.bytes.resize(at);
  if (!is_kept) out.bytes.resize(tmpl::strip(out.bytes, tmpl::Side::right).size());
  std::erase_if(out.foreign, [&](const tmpl::Span& span) { return span.begin >= out.bytes.size(); });
  if (!out.foreign.empty()) out.foreign.back().end = std::min(out.foreign.back().end, out.bytes.size());
  return {};
}

Result<tmpl::Text> render(const Engine& engine, std::string_view conversation, const ChatOptions& options, bool marks) {
  INLAY_ASSIGN(Map variables, tmpl::read_variables(conversation, marks));
  if (!variables.find("add_generation_prompt"))
    variables.set(text("add_generation_prompt"), Value(options.add_generation_prompt));
  std::string said;
  if (options.continue_final_message) {
    if (variables.find("add_generation_prompt")->truth())
      return error(Code::invalid_argument, "%s, which contradicts add_generation_prompt", kToContinue);
    INLAY_TRY(mark_end(variables, said));
  }
  add_tokens(engine.tokenizer(), variables);
  const Value* tools = variables.find("tools");
  INLAY_ASSIGN(const tmpl::Template chosen,
               options.source ? parse(*options.source) : engine.chat_templates().pick(tools && tools->truth()));
  auto out = chosen.render_marked(variables, local_time());
  if (!out.ok()) return of_template(std::move(out).status());
  if (options.continue_final_message) INLAY_TRY(cut_at_end(said, *out));
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
  const Tokenizer& tokenizer = *engine.tokenizer();
  INLAY_TRY(tokenizer.encode(text.bytes, {.add_special = false, .parse_special = true, .plain = plain}, out));
  const bool lacks_bos = !options.source && tokenizer.adds_bos() && (out.empty() || out.front() != tokenizer.bos());
  if (lacks_bos) out.insert(out.begin(), tokenizer.bos());
  return out;
}

namespace {

// Words in the names of models that were trained on conversations.
bool is_named_instruct(const Metadata& metadata) {
  for (const char* key : {"general.finetune", "general.name", "general.basename"}) {
    const auto name = metadata.string_or(key, "");
    if (!name.ok()) continue;
    std::string word;
    for (const char c : std::string(*name) + " ") {
      if (is_ascii_alnum(c)) {
        word += ascii_lower(c);
        continue;
      }
      if (word == "instruct" || word == "chat" || word == "it") return true;
      word.clear();
    }
  }
  return false;
}

}  // namespace

void log_chat(Engine& engine, std::string_view conversation) {
  const Tokenizer* tokenizer = engine.tokenizer();
  if (!tokenizer) return;
  const Metadata& metadata = engine.metadata();
  if (!metadata.find(kKey)) {
    if (is_named_instruct(metadata))
      engine.log().write(LogLevel::warning, std::string("the model is named as one for conversations, but has no chat template: there is no ") + kKey + " in its metadata");
    return;
  }
  if (!tokenizer->adds_bos()) return;
  const auto written = render_chat(engine, conversation, {});
  const auto tokens = tokenize_chat(engine, conversation, {});
  if (!written.ok() || !tokens.ok() || written->starts_with(tokenizer->piece(tokenizer->bos()))) return;
  engine.log().write(LogLevel::info, "the model asks for BOS, and its chat template writes none: conversations have it in front");
}

}  // namespace inlay
