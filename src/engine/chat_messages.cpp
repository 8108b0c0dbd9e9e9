#include "src/engine/chat_messages.h"

#include <algorithm>
#include <cstring>

#include "src/base/local_time.h"
#include "src/template/variables.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

// A conversation with a call, whose arguments are an object or its text.
constexpr const char* kWithObject =
    R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "callnumb1", "type": "function",
        "function": {"name": "tool", "arguments": {"inlay_key": "b"}}}]}, {"role": "tool", "tool_call_id": "callnumb1", "name": "tool", "content": "c"}])";
constexpr const char* kWithText =
    R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "callnumb1", "type": "function",
        "function": {"name": "tool", "arguments": "{\"inlay_key\": \"b\"}"}}]}, {"role": "tool", "tool_call_id": "callnumb1", "name": "tool", "content": "c"}])";

bool shows_call(const tmpl::Template& chat_template, const char* conversation) {
  const auto variables = tmpl::read_variables(conversation);
  if (!variables.ok()) return false;
  const auto text = chat_template.render(*variables, local_time());
  return text.ok() && text->find("inlay_key") != std::string::npos;
}

bool takes_text(const Result<tmpl::Template>& chat_template) {
  return chat_template.ok() && !shows_call(*chat_template, kWithObject) && shows_call(*chat_template, kWithText);
}

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  hash *= 0xFF51AFD7ED558CCDu;
  return hash ^ (hash >> 33);
}

uint64_t hash_of(std::span<const int32_t> tokens) {
  uint64_t out = tokens.size();
  for (const int32_t token : tokens) out = mixed(out, static_cast<uint32_t>(token));
  return out;
}

bool is_text(ChatDelta::Kind kind) {
  return kind == ChatDelta::Kind::reasoning || kind == ChatDelta::Kind::content || kind == ChatDelta::Kind::arguments;
}

Status check_tokens(std::span<const int32_t> tokens, const Tokenizer& tokenizer, const char* name) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= tokenizer.n_tokens())
      return error(Code::invalid_argument, "%s[%zu] is %d, expected a token id from 0 to %d", name, i, tokens[i], tokenizer.n_tokens() - 1);
  return {};
}

}  // namespace

std::string ModelChatFormat::json() const {
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  return "{\"name\": " + json_string(written->name) + ", \"reasoning\": " + truth(written->has_reasoning()) + ", \"calls\": " + truth(written->has_calls()) +
         ", \"arguments\": " + (takes_text ? "\"text\"" : "\"object\"") + ", \"remark\": " + json_string(remark) + "}";
}

namespace {

Result<ModelChatFormatPtr> make_format(const std::shared_ptr<const Tokenizer>& tokenizer, const ChatTemplates& templates, const ChatFormatChoice& choice) {
  const std::string_view source = choice.source ? *choice.source : templates.source(choice.has_tools);
  FoundChatFormat found;
  if (choice.json) {
    INLAY_ASSIGN(found.format, ChatFormat::read(std::string(*choice.json)));
  } else {
    found = find_chat_format(source);
    if (source.empty()) found.remark = "the model has no chat template: all text is content";
  }
  auto out = std::make_shared<ModelChatFormat>(tokenizer, std::move(found.format));
  out->remark = std::move(found.remark);
  out->takes_text = takes_text(choice.source ? tmpl::Template::parse(source) : templates.pick(choice.has_tools));
  return ModelChatFormatPtr(std::move(out));
}

}  // namespace

Result<ModelChatFormatPtr> ChatFormats::get(const std::shared_ptr<const Tokenizer>& tokenizer, const ChatTemplates& templates,
                                            const ChatFormatChoice& choice) {
  if (!tokenizer) return error(Code::unsupported, "the model has no tokenizer");
  if (choice.json || choice.source) return make_format(tokenizer, templates, choice);
  const Lock lock(mutex_);
  ModelChatFormatPtr& known = choice.has_tools ? of_tools_ : of_usual_;
  if (!known) {
    INLAY_ASSIGN(known, make_format(tokenizer, templates, choice));
  }
  return known;
}

MessageParser::MessageParser(ModelChatFormatPtr format, const Options& options)
    : format_(std::move(format)), written_markers_(options.written_markers), prompt_hash_(hash_of(options.prompt)),
      parser_(written_markers_ ? format_->written : format_->vocabulary.format(), std::make_shared<const ToolTypes>(options.tools)) {
  std::vector<ChatPiece> tail;
  for (const int32_t token : options.prompt) tail.push_back(piece(token));
  parser_.begin_behind(tail);
  collect();
}

Result<std::unique_ptr<MessageParser>> MessageParser::make(ModelChatFormatPtr format, const Options& options) {
  INLAY_TRY(check_tokens(options.prompt, *format->tokenizer, "params.prompt"));
  return std::unique_ptr<MessageParser>(new MessageParser(std::move(format), options));
}

// With markers in writing a token that is one is its letters.
ChatPiece MessageParser::piece(int32_t token) const {
  ChatPiece out = format_->vocabulary.piece(token);
  if (written_markers_ && format_->vocabulary.is_marker(token)) out.is_control = false;
  return out;
}

Status MessageParser::append(std::span<const int32_t> tokens) {
  if (finished_) return error(Code::invalid_state, "the parser's message is finished");
  INLAY_TRY(check_tokens(tokens, *format_->tokenizer, "tokens"));
  for (const int32_t token : tokens) parser_.append(piece(token));
  collect();
  return {};
}

Status MessageParser::append_text(std::string_view text) {
  if (finished_) return error(Code::invalid_state, "the parser's message is finished");
  parser_.append(text);
  collect();
  return {};
}

void MessageParser::finish() {
  parser_.finish();
  finished_ = true;
  collect();
}

// 9 letters and digits, as some templates want them; others in another conversation.
std::string MessageParser::made_id(const ChatDelta& begin) const {
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  uint64_t hash = mixed(prompt_hash_, begin.call);
  for (const char c : begin.text) hash = mixed(hash, static_cast<unsigned char>(c));
  std::string out;
  for (int i = 0; i < 9; ++i, hash /= kLetters.size()) out += kLetters[hash % kLetters.size()];
  return out;
}

// Takes what the parser gives, with one id for each call, directly behind its begin.
void MessageParser::collect() {
  using Kind = ChatDelta::Kind;
  std::vector<ChatDelta> deltas = parser_.take(), out;
  for (size_t i = 0; i < deltas.size(); ++i) {
    if (deltas[i].kind == Kind::call_id) continue;  // too late
    const bool begins = deltas[i].kind == Kind::call_begin;
    out.push_back(std::move(deltas[i]));
    if (!begins) continue;
    if (i + 1 < deltas.size() && deltas[i + 1].kind == Kind::call_id) {
      out.push_back(std::move(deltas[++i]));
    } else {
      out.push_back({Kind::call_id, out.back().call, made_id(out.back())});
    }
  }
  add_deltas(out, message_);
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<ptrdiff_t>(std::exchange(first_, 0)));
  for (ChatDelta& delta : out) {
    if (is_text(delta.kind) && !ready_.empty() && ready_.back().kind == delta.kind && ready_.back().call == delta.call)
      ready_.back().text += delta.text;
    else
      ready_.push_back(std::move(delta));
  }
}

Result<std::vector<MessageParser::Part>> MessageParser::take(size_t most, std::span<char> room) {
  std::vector<Part> out;
  size_t n_text = 0;
  while (first_ < ready_.size() && out.size() < most) {
    ChatDelta& delta = ready_[first_];
    const size_t left = room.size() - n_text;
    const size_t n = is_text(delta.kind) ? whole_characters(delta.text, left) : delta.text.size();
    if (n > left || (n == 0 && !delta.text.empty())) break;
    const bool whole = delta.kind == ChatDelta::Kind::call_end && delta.complete;
    out.push_back({delta.kind, delta.call, whole, n_text, n});
    if (n > 0) std::memcpy(room.data() + n_text, delta.text.data(), n);
    n_text += n;
    if (n < delta.text.size())
      delta.text.erase(0, n);
    else
      ++first_;
  }
  if (out.empty() && first_ < ready_.size())
    return error(Code::buffer_too_small, "there is no room for the next part: %zu parts and %zu bytes of text", most, room.size());
  return out;
}

// Arguments that no conversation could have, such as those with a key twice, are text.
std::string MessageParser::call_json(const ChatCall& call) const {
  const bool as_text = !call.complete || format_->takes_text || !JsonDocument::parse(call.arguments, "arguments").ok();
  return "{\"id\": " + json_string(call.id) + ", \"type\": \"function\", \"function\": {\"name\": " + json_string(call.name) +
         ", \"arguments\": " + (as_text ? json_string(call.arguments) : call.arguments) + "}}";
}

Result<std::string> MessageParser::message() const {
  if (!finished_) return error(Code::invalid_state, "the parser's message is not finished");
  std::string out = "{\"role\": \"assistant\", \"content\": " + json_string(message_.content);
  if (!message_.reasoning.empty()) out += ", \"reasoning_content\": " + json_string(message_.reasoning);
  std::string calls;
  for (const ChatCall& call : message_.calls) calls += (calls.empty() ? "" : ", ") + call_json(call);
  if (!calls.empty()) out += ", \"tool_calls\": [" + calls + "]";
  return out + "}";
}

}  // namespace inlay
