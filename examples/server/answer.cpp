#include "examples/server/answer.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace inlay::server {

namespace {

Json usage_of(const inlay_request_event& end) {
  Json usage = {{"prompt_tokens", end.n_prompt}, {"completion_tokens", end.n_drawn}, {"total_tokens", end.n_prompt + end.n_drawn}};
  usage["prompt_tokens_details"] = Json{{"cached_tokens", end.n_cached}};
  return usage;
}

std::string data_line(const Json& value) { return "data: " + json_text(value) + "\n\n"; }

Json bytes_of(const std::string& text) {
  Json out = Json::array();
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
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

}  // namespace

bool ends_generation(const Model& model, int32_t token) {
  inlay_token_info info = sized<inlay_token_info>();
  return inlay_token_get_info(model.engine, token, &info, nullptr) == INLAY_OK && (info.flags & INLAY_TOKEN_FLAG_END_OF_GENERATION) != 0;
}

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

Json Answer::object(const char* kind) const { return {{"id", id_}, {"object", kind}, {"created", created_}, {"model", model_.name}}; }

const char* Answer::reason_text(inlay_finish_reason reason, bool has_calls) const {
  if (reason == INLAY_FINISH_MAX_TOKENS || reason == INLAY_FINISH_CONTEXT_FULL) return "length";
  return has_calls ? "tool_calls" : "stop";
}

Json Answer::choice() const {
  Json out = {{"index", 0}};
  return out;
}

std::string Answer::token_text(int32_t token) const {
  inlay_token_info info = sized<inlay_token_info>();
  if (inlay_token_get_info(model_.engine, token, &info, nullptr) != INLAY_OK) return "";
  const size_t n = std::min(size_t{info.piece_bytes}, sizeof info.piece);
  return std::string(reinterpret_cast<const char*>(info.piece), n);
}

// Of chats an object for each token, of completions an array for each fact.
Json Answer::logprobs(const Piece& piece) const {
  if (!form_.logprobs) return nullptr;
  Json content = Json::array(), texts = content, values = content, tops = content;
  for (size_t i = 0; i < piece.tokens.size(); ++i) {
    const std::string text = token_text(piece.tokens[i].token);
    const double value = logprob_of(piece.tokens[i]);
    if (form_.is_chat) {
      content.push_back(Json{{"token", text}, {"logprob", value}, {"bytes", bytes_of(text)}, {"top_logprobs", top_logprobs(piece, i)}});
    } else {
      texts.push_back(text);
      values.push_back(value);
      tops.push_back(top_logprobs(piece, i));
    }
  }
  if (form_.is_chat) return Json{{"content", content}, {"refusal", nullptr}};
  return Json{{"tokens", texts}, {"token_logprobs", values}, {"top_logprobs", form_.n_top > 0 ? tops : Json()}, {"text_offset", nullptr}};
}

// Of chats a list, of completions the probabilities by their texts.
Json Answer::top_logprobs(const Piece& piece, size_t token) const {
  const auto n_top = static_cast<size_t>(form_.n_top);
  Json list = Json::array(), by_text = Json::object();
  for (size_t i = token * n_top; i < std::min((token + 1) * n_top, piece.top.size()); ++i) {
    if (piece.top[i].token < 0) continue;
    const std::string text = token_text(piece.top[i].token);
    list.push_back(Json{{"token", text}, {"logprob", logprob_of(piece.top[i])}, {"bytes", bytes_of(text)}});
    if (!by_text.contains(text)) by_text[text] = logprob_of(piece.top[i]);
  }
  return form_.is_chat ? list : by_text;
}

std::string Answer::whole(const Piece& piece, const inlay_request_event& end) const {
  Json out = object(form_.is_chat ? "chat.completion" : "text_completion"), own = choice();
  bool has_calls = false;
  if (form_.is_chat) {
    own["message"] = form_.has_parts ? message_of(piece.deltas) : Json{{"role", "assistant"}, {"content", piece.text}, {"refusal", nullptr}};
    has_calls = own["message"].contains("tool_calls");
  } else {
    own["text"] = piece.text;
  }
  own["logprobs"] = logprobs(piece);
  own["finish_reason"] = reason_text(end.finish_reason, has_calls);
  out["choices"] = Json::array({own});
  out["usage"] = usage_of(end);
  return json_text(out);
}

std::string Answer::event(Json own) const {
  Json out = object(form_.is_chat ? "chat.completion.chunk" : "text_completion");
  for (const char* name : {"logprobs", "finish_reason"})
    if (!own.contains(name)) own[name] = nullptr;
  out["choices"] = Json::array({std::move(own)});
  if (form_.include_usage) out["usage"] = nullptr;
  return data_line(out);
}

std::string Answer::beginning() const {
  if (!form_.is_chat) return "";
  Json own = choice();
  own["delta"] = Json{{"role", "assistant"}, {"content", ""}};
  return event(std::move(own));
}

std::string Answer::part(Json delta, Json own_logprobs) const {
  Json own = choice();
  own["delta"] = std::move(delta);
  own["logprobs"] = std::move(own_logprobs);
  return event(std::move(own));
}

std::string Answer::piece(const Piece& piece) {
  if (piece.is_empty()) return "";
  if (form_.has_parts) {
    std::string out;
    Json own_logprobs = logprobs(piece);
    const MessageDelta* before = nullptr;
    for (const MessageDelta& delta : piece.deltas) {
      has_calls_ = has_calls_ || delta.kind == INLAY_CHAT_DELTA_CALL_BEGIN;
      if (Json own = delta_of(delta, before); !own.is_null()) out += part(std::move(own), std::exchange(own_logprobs, nullptr));
      before = &delta;
    }
    return out.empty() && !piece.tokens.empty() ? part(Json::object(), std::move(own_logprobs)) : out;
  }
  Json own = choice();
  if (form_.is_chat) {
    own["delta"] = Json{{"content", piece.text}};
  } else {
    own["text"] = piece.text;
  }
  own["logprobs"] = logprobs(piece);
  return event(std::move(own));
}

std::string Answer::ending(const inlay_request_event& end) const {
  Json own = choice();
  if (form_.is_chat) {
    own["delta"] = Json::object();
  } else {
    own["text"] = "";
  }
  own["logprobs"] = nullptr;  // before the reason, as in the others
  own["finish_reason"] = reason_text(end.finish_reason, has_calls_);
  std::string out = event(std::move(own));
  if (form_.include_usage) {
    Json last = object(form_.is_chat ? "chat.completion.chunk" : "text_completion");
    last["choices"] = Json::array();
    last["usage"] = usage_of(end);
    out += data_line(last);
  }
  return out + "data: [DONE]\n\n";
}

std::string Answer::failure(const Refusal& refusal) { return "data: " + error_body(refusal) + "\n\n"; }

}  // namespace inlay::server
