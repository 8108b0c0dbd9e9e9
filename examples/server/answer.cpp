#include "examples/server/answer.h"

#include <algorithm>
#include <ctime>
#include <span>
#include <utility>

namespace inlay::server {

namespace {

Json usage_of(const inlay_request_event& end) {
  Json usage = {{"prompt_tokens", end.n_prompt}, {"completion_tokens", end.n_drawn}, {"total_tokens", end.n_prompt + end.n_drawn}};
  usage["prompt_tokens_details"] = Json{{"cached_tokens", end.n_cached}};
  return usage;
}

// Of an object of JSON that is left open.
void add_token(const std::string& text, double logprob, std::string& out) {
  out += "{\"token\":";
  add_json(text, out);
  out += ",\"logprob\":";
  add_json(logprob, out);
  out += ",\"bytes\":[";
  for (size_t i = 0; i < text.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(static_cast<unsigned char>(text[i]));
  }
  out += ']';
}

// Before one more member of an array.
void add_comma(std::string& out) {
  if (!out.empty()) out += ',';
}

// What the deltas come to.
Json message_of(const std::vector<MessageDelta>& deltas) {
  std::string content, reasoning;
  Json calls = Json::array();
  for (const MessageDelta& delta : deltas) {
    if (delta.kind == INLAY_CHAT_DELTA_REASONING) reasoning += delta.text;
    if (delta.kind == INLAY_CHAT_DELTA_CONTENT) content += delta.text;
    if (delta.kind == INLAY_CHAT_DELTA_CALL_BEGIN)
      calls.push_back(Json{{"id", ""}, {"type", "function"}, {"function", {{"name", delta.text}, {"arguments", ""}}}});
    if (delta.kind == INLAY_CHAT_DELTA_CALL_ID) calls.back()["id"] = delta.text;
    if (delta.kind == INLAY_CHAT_DELTA_ARGUMENTS) calls.back()["function"]["arguments"].get_ref<std::string&>() += delta.text;
  }
  Json out = {{"role", "assistant"}, {"content", content.empty() && !calls.empty() ? Json() : Json(content)}, {"refusal", nullptr}};
  if (!reasoning.empty()) out["reasoning_content"] = reasoning;
  if (!calls.empty()) out["tool_calls"] = calls;
  return out;
}

// The delta of a stream's event; null: none, since it comes with the next one.
Json delta_of(const MessageDelta& delta, const MessageDelta* before) {
  switch (delta.kind) {
    case INLAY_CHAT_DELTA_REASONING:
      return {{"reasoning_content", delta.text}};
    case INLAY_CHAT_DELTA_CONTENT:
      return {{"content", delta.text}};
    case INLAY_CHAT_DELTA_CALL_ID: {
      Json call = {{"index", delta.call}, {"id", delta.text}, {"type", "function"}, {"function", {{"name", before ? before->text : ""}, {"arguments", ""}}}};
      return Json{{"tool_calls", Json::array({call})}};
    }
    case INLAY_CHAT_DELTA_ARGUMENTS: {
      Json call = {{"index", delta.call}, {"function", {{"arguments", delta.text}}}};
      return Json{{"tool_calls", Json::array({call})}};
    }
    default:
      return nullptr;
  }
}

// The lowest that JSON's readers take for a number.
double logprob_of(const inlay_token_logprob& token) { return std::max(-9999.0, static_cast<double>(token.logprob)); }

// A token's text. False: it ends a generation, and has no place among those that are shown.
bool read_token_text(const Model& model, int32_t token, std::string& text) {
  inlay_token_info info = sized<inlay_token_info>();
  text.clear();
  if (inlay_token_get_info(model.engine, token, &info, nullptr) != INLAY_OK) return true;
  text.assign(reinterpret_cast<const char*>(info.piece), std::min(size_t{info.piece_bytes}, sizeof info.piece));
  return (info.flags & INLAY_TOKEN_FLAG_END_OF_GENERATION) == 0;
}

}  // namespace

bool failed(const inlay_request_event& end, const std::string& message, Refusal& refusal) {
  switch (end.finish_reason) {
    case INLAY_FINISH_TIMEOUT:
      refusal = {504, "the answer took longer than the server allows", "", "timeout"};
      return true;
    case INLAY_FINISH_CANCELLED:
      refusal = {503, "the server is closing", "", "closing"};
      return true;
    case INLAY_FINISH_ERROR:
      refusal = {end.status == INLAY_INTERNAL ? 500 : 503, message, "", inlay_status_name(end.status)};
      return true;
    default:
      return false;
  }
}

Answer::Answer(const Model& model, const AnswerForm& form, uint64_t key) : model_(model), form_(form), created_(std::time(nullptr)) {
  id_ = (form.is_chat ? "chatcmpl-" : "cmpl-") + std::to_string(model.loaded) + "-" + std::to_string(key);
}

const char* Answer::reason_text(inlay_finish_reason reason, bool has_calls) const {
  if (reason == INLAY_FINISH_MAX_TOKENS || reason == INLAY_FINISH_CONTEXT_FULL) return "length";
  return has_calls ? "tool_calls" : "stop";
}

// Each token becomes text when it comes: where a whole answer ends, and where a slow reader has room for more, that text is only copied.
void Answer::add_tokens(const inlay_token_logprob* tokens, size_t n, const inlay_token_logprob* top, Piece& piece) const {
  if (!form_.logprobs) return;
  std::string text;
  for (size_t i = 0; i < n; ++i, top += form_.n_top) {
    if (!read_token_text(model_, tokens[i].token, text)) continue;
    add_comma(piece.tokens);
    if (form_.is_chat) {
      add_token(text, logprob_of(tokens[i]), piece.tokens);
      piece.tokens += ",\"top_logprobs\":[";
      add_top_list(top, piece.tokens);
      piece.tokens += "]}";
    } else {
      add_json(text, piece.tokens);
      add_comma(piece.logprobs);
      add_json(logprob_of(tokens[i]), piece.logprobs);
      add_comma(piece.top);
      piece.top += '{';
      add_top_members(top, piece.top);
      piece.top += '}';
    }
  }
}

// As chats have them.
void Answer::add_top_list(const inlay_token_logprob* top, std::string& out) const {
  std::string text;
  bool is_first = true;
  for (const inlay_token_logprob& one : std::span(top, static_cast<size_t>(form_.n_top))) {
    if (one.token < 0) continue;
    if (!std::exchange(is_first, false)) out += ',';
    (void)read_token_text(model_, one.token, text);
    add_token(text, logprob_of(one), out);
    out += '}';
  }
}

// As completions have them: by their texts, of which each comes once.
void Answer::add_top_members(const inlay_token_logprob* top, std::string& out) const {
  std::string text;
  std::vector<std::string> names;
  for (const inlay_token_logprob& one : std::span(top, static_cast<size_t>(form_.n_top))) {
    if (one.token < 0) continue;
    (void)read_token_text(model_, one.token, text);
    std::string name;
    add_json(text, name);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (!names.empty()) out += ',';
    out += name + ':';
    add_json(logprob_of(one), out);
    names.push_back(std::move(name));
  }
}

void Answer::add_logprobs(const Piece& piece, std::string& out) const {
  out.reserve(out.size() + piece.tokens.size() + piece.logprobs.size() + piece.top.size() + 1024);
  if (form_.is_chat) {
    out += "{\"content\":[";
    out += piece.tokens;
    out += "],\"refusal\":null}";
    return;
  }
  out += "{\"tokens\":[";
  out += piece.tokens;
  out += "],\"token_logprobs\":[";
  out += piece.logprobs;
  out += "],\"top_logprobs\":";
  if (form_.n_top > 0) {
    out += '[';
    out += piece.top;
    out += ']';
  } else {
    out += "null";
  }
  out += ",\"text_offset\":null}";
}

// An object's first members, without its end.
std::string Answer::head(const char* kind) const {
  std::string out = json_text(Json{{"id", id_}, {"object", kind}, {"created", created_}, {"model", model_.name}});
  out.pop_back();
  return out;
}

// The one choice: what is shown by its name, logprobs of a piece that has any, and why it ends.
void Answer::add_choice(const char* name, const Json& shown, const Piece* logprobs_of, const char* reason, std::string& out) const {
  out += std::string(",\"choices\":[{\"index\":0,\"") + name + "\":" + json_text(shown) + ",\"logprobs\":";
  if (logprobs_of && form_.logprobs) {
    add_logprobs(*logprobs_of, out);
  } else {
    out += "null";
  }
  out += ",\"finish_reason\":" + json_text(reason ? Json(reason) : Json()) + "}]";
}

std::string Answer::whole(const Piece& piece, const inlay_request_event& end) const {
  std::string out = head(form_.is_chat ? "chat.completion" : "text_completion");
  Json shown = piece.text;
  if (form_.is_chat) shown = form_.has_parts ? message_of(piece.deltas) : Json{{"role", "assistant"}, {"content", piece.text}, {"refusal", nullptr}};
  const char* reason = reason_text(end.finish_reason, shown.contains("tool_calls"));
  add_choice(form_.is_chat ? "message" : "text", shown, &piece, reason, out);
  out += ",\"usage\":" + json_text(usage_of(end)) + '}';
  return out;
}

std::string Answer::event(const Json& shown, const Piece* logprobs_of, const char* reason) const {
  std::string out = "data: " + head(form_.is_chat ? "chat.completion.chunk" : "text_completion");
  add_choice(form_.is_chat ? "delta" : "text", shown, logprobs_of, reason, out);
  out += form_.include_usage ? ",\"usage\":null}\n\n" : "}\n\n";
  return out;
}

std::string Answer::beginning() const { return form_.is_chat ? event(Json{{"role", "assistant"}, {"content", ""}}, nullptr) : ""; }

std::string Answer::piece(const Piece& piece) {
  if (piece.is_empty()) return "";
  if (!form_.is_chat) return event(piece.text, &piece);
  if (!form_.has_parts) return event(Json{{"content", piece.text}}, &piece);
  std::string out;
  const MessageDelta* before = nullptr;
  for (const MessageDelta& delta : piece.deltas) {
    has_calls_ = has_calls_ || delta.kind == INLAY_CHAT_DELTA_CALL_BEGIN;
    if (const Json own = delta_of(delta, before); !own.is_null()) out += event(own, out.empty() ? &piece : nullptr);
    before = &delta;
  }
  if (out.empty() && !piece.tokens.empty()) return event(Json::object(), &piece);
  return out;
}

std::string Answer::ending(const inlay_request_event& end) const {
  std::string out = event(form_.is_chat ? Json::object() : Json(""), nullptr, reason_text(end.finish_reason, has_calls_));
  if (form_.include_usage) {
    out += "data: " + head(form_.is_chat ? "chat.completion.chunk" : "text_completion");
    out += ",\"choices\":[],\"usage\":" + json_text(usage_of(end)) + "}\n\n";
  }
  return out + "data: [DONE]\n\n";
}

std::string Answer::failure(const Refusal& refusal) { return "data: " + error_body(refusal) + "\n\n"; }

}  // namespace inlay::server
