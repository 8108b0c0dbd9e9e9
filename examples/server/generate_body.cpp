#include "examples/server/generate_body.h"

#include <cstdlib>
#include <random>

#include "examples/server/field_reader.h"
#include "examples/server/messages.h"
#include "examples/server/tools.h"

namespace inlay::server {

namespace {

constexpr size_t kMaxStops = 16, kMaxStopBytes = 1024, kMaxBiases = 1024;

uint64_t any_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

void read_stops(FieldReader& fields, std::vector<std::string>& into) {
  const Json* value = fields.take("stop");
  if (!value) return;
  const Json list = value->is_array() ? *value : Json::array({*value});
  if (list.size() > kMaxStops) return fields.refuse("stop", "has more than 16 texts");
  for (const Json& text : list) {
    if (!text.is_string() || text.get_ref<const std::string&>().empty())
      return fields.refuse("stop", "is neither a text nor an array of texts that are not empty");
    if (text.get_ref<const std::string&>().size() > kMaxStopBytes) return fields.refuse("stop", "has a text of more than 1024 bytes");
    into.push_back(text.get<std::string>());
  }
}

bool read_token(const std::string& text, const Model& model, int32_t& token) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != text.npos) return false;
  token = 0;
  for (const char c : text) token = 10 * token + (c - '0');
  return token < model.info.n_vocab;
}

void read_biases(FieldReader& fields, const Model& model, std::vector<inlay_logit_bias>& into) {
  const Json* value = fields.take("logit_bias");
  if (!value) return;
  if (!value->is_object()) return fields.refuse("logit_bias", "is not an object");
  if (value->size() > kMaxBiases) return fields.refuse("logit_bias", "has more than 1024 tokens");
  for (const auto& [name, bias] : value->items()) {
    inlay_logit_bias own = {};
    if (!read_token(name, model, own.token))
      return fields.refuse("logit_bias", "names a token that is none from 0 to " + std::to_string(model.info.n_vocab - 1));
    const double given = bias.is_number() ? bias.get<double>() : 1000;
    if (!(given >= -100 && given <= 100)) return fields.refuse("logit_bias", "has a value that is no number from -100 to 100");
    own.bias = static_cast<float>(given);
    into.push_back(own);
  }
}

void read_sampler(FieldReader& fields, GenerateBody& body) {
  inlay_sampler_params& sampler = body.sampler;
  sampler.temperature = 1;
  sampler.penalty_window = -1;
  fields.number("temperature", 0, 2, sampler.temperature);
  float top_p = 1;
  fields.number("top_p", 0, 1, top_p);
  if (top_p == 0) {
    sampler.top_k = 1;
  } else {
    sampler.top_p = top_p;
  }
  fields.number("presence_penalty", -2, 2, sampler.presence_penalty);
  fields.number("frequency_penalty", -2, 2, sampler.frequency_penalty);
  fields.number("min_p", 0, 1, sampler.min_p);
  fields.number("repetition_penalty", 0.01, 10, sampler.repetition_penalty);
  int64_t top_k = sampler.top_k, seed = 0;
  fields.integer("top_k", 0, INT32_MAX, top_k);
  sampler.top_k = static_cast<int32_t>(top_k);
  const bool has_seed = fields.take("seed") != nullptr;
  fields.integer("seed", INT64_MIN, INT64_MAX, seed);
  sampler.seed = has_seed ? static_cast<uint64_t>(seed) : any_seed();
}

void read_form(FieldReader& fields, AnswerForm& form) {
  fields.truth("stream", form.stream);
  const Json* options = fields.take("stream_options");
  if (!options) return;
  if (!form.stream) return fields.refuse("stream_options", "is for streams only");
  FieldReader own(*options, "stream_options.");
  own.truth("include_usage", form.include_usage);
  own.only("include_obfuscation", false);
  if (const std::optional<Refusal> refusal = own.end()) fields.refuse(*refusal);
}

void read_top(FieldReader& fields, const char* name, GenerateBody& body) {
  int64_t n_top = 0;
  fields.integer(name, 0, INLAY_MAX_LOGPROBS, n_top);
  body.form.n_top = body.sampler.n_logprobs = static_cast<int32_t>(n_top);
}

void read_chat_fields(FieldReader& fields, const Model& model, GenerateBody& body) {
  Json conversation;
  read_messages(fields, model, conversation);
  read_tools(fields, model, conversation, body);
  body.conversation = json_text(conversation);
  fields.truth("logprobs", body.form.logprobs);
  read_top(fields, "top_logprobs", body);
  if (body.form.n_top > 0 && !body.form.logprobs) fields.refuse("top_logprobs", "is for answers with logprobs only");
  int64_t all = 0;
  fields.integer("max_completion_tokens", 1, INT32_MAX, all);
  if (all > 0 && body.max_tokens > 0) fields.refuse("max_tokens", "cannot be set beside max_completion_tokens");
  if (all > 0) body.max_tokens = all;
  fields.only("modalities", Json::array({"text"}));
  fields.none({"functions", "function_call", "audio", "prediction", "reasoning_effort", "verbosity", "web_search_options"});
}

bool is_tokens(const Json& value) {
  if (!value.is_array() || value.empty()) return false;
  for (const Json& token : value)
    if (!token.is_number_unsigned()) return false;
  return true;
}

void read_prompt(FieldReader& fields, const Model& model, GenerateBody& body) {
  const Json* value = fields.take("prompt");
  if (!value) return fields.refuse("prompt", "is missing");
  const bool is_list = value->is_array() && !value->empty() && !is_tokens(*value);
  if (is_list && value->size() > 1) return fields.refuse("prompt", "is more than one prompt, which is not supported", "unsupported");
  const Json& prompt = is_list ? value->front() : *value;
  if (prompt.is_string()) {
    body.text = prompt.get<std::string>();
    if (body.text.empty()) fields.refuse("prompt", "is empty");
    return;
  }
  if (!is_tokens(prompt)) return fields.refuse("prompt", "is neither a text nor an array of token ids");
  for (const Json& token : prompt) {
    const auto id = token.get<uint64_t>();
    if (id >= static_cast<uint64_t>(model.info.n_vocab))
      return fields.refuse("prompt", "has the token id " + std::to_string(id) + ", which is none of the model's");
    body.tokens.push_back(static_cast<int32_t>(id));
  }
}

void read_completion_fields(FieldReader& fields, const Model& model, GenerateBody& body) {
  read_prompt(fields, model, body);
  if (body.max_tokens == 0) body.max_tokens = 16;  // as OpenAI's
  body.form.logprobs = fields.take("logprobs") != nullptr;
  read_top(fields, "logprobs", body);
  fields.only("best_of", 1);
  fields.only("echo", false);
  fields.only("suffix", "");
}

int status_of(inlay_status status) {
  switch (status) {
    case INLAY_INVALID_ARGUMENT:
    case INLAY_FORMAT:
    case INLAY_UNSUPPORTED:
    case INLAY_CONTEXT_FULL:
    case INLAY_KV_FULL:
      return 400;
    case INLAY_QUEUE_FULL:
    case INLAY_SESSION_LIMIT:
      return 429;
    case INLAY_INTERNAL:
      return 500;
    default:
      return 503;
  }
}

const char* code_of(inlay_status status) {
  switch (status) {
    case INLAY_CONTEXT_FULL:
    case INLAY_KV_FULL:
      return "context_length_exceeded";
    case INLAY_QUEUE_FULL:
      return "queue_full";
    default:
      return "";
  }
}

}  // namespace

Refusal refusal_of(const inlay_error& error) {
  return {status_of(error.status), std::string(error.message, error.message_len), "", code_of(error.status)};
}

void read_model(FieldReader& fields, const Model& model) {
  std::string name = model.name;
  fields.text("model", name);
  if (name != model.name) fields.refuse(Refusal{404, "there is no such model here, only '" + model.name + "'", "model", "model_not_found"});
}

void ignore_common(FieldReader& fields) { fields.ignore({"user", "metadata", "safety_identifier", "prompt_cache_key", "service_tier"}); }

std::optional<Refusal> read_generate_body(std::string_view json, const Model& model, GenerateBody& body) {
  Json value;
  std::string reason;
  if (!parse_json(json, value, reason)) return Refusal{400, reason, "", ""};
  FieldReader fields(value);
  read_model(fields, model);
  read_form(fields, body.form);
  read_sampler(fields, body);
  read_stops(fields, body.stops);
  read_biases(fields, model, body.biases);
  fields.integer("max_tokens", 1, INT32_MAX, body.max_tokens);
  fields.only("n", 1);
  fields.only("store", false);
  ignore_common(fields);
  if (body.form.is_chat) {
    read_chat_fields(fields, model, body);
  } else {
    read_completion_fields(fields, model, body);
  }
  if (body.max_tokens == 0) body.max_tokens = model.max_tokens;
  return fields.end();
}

namespace {

struct ConstraintFree {
  void operator()(inlay_constraint* c) const { inlay_constraint_free(c); }
};
using ConstraintPtr = std::unique_ptr<inlay_constraint, ConstraintFree>;

// A demand names where it is wrong as the body's fields have it.
std::optional<Refusal> compile(const GenerateBody& body, const std::vector<int32_t>& prompt, const Model& model, ConstraintPtr& out) {
  if (body.demand.empty()) return std::nullopt;
  inlay_constraint_params params = sized<inlay_constraint_params>();
  params.kind = INLAY_CONSTRAINT_MESSAGE;
  params.text = body.demand.data();
  params.text_len = body.demand.size();
  params.prompt = prompt.data();
  params.n_prompt = prompt.size();
  set_format(model, params);
  inlay_constraint* made = nullptr;
  inlay_error error;
  const inlay_status status = inlay_constraint_create(model.engine, &params, &made, &error);
  out.reset(made);
  if (status == INLAY_OK) return std::nullopt;
  Refusal refusal = refusal_of(error);
  refusal.param = "tools";
  for (const char* field : {"response_format", "tool_choice"})
    if (refusal.message.find(field) != std::string::npos) refusal.param = field;
  if (refusal.message.find("message.reasoning") != std::string::npos) refusal.param = "thinking_budget_tokens";
  return refusal;
}

std::optional<Refusal> tokenize(const GenerateBody& body, const Model& model, std::vector<int32_t>& out) {
  inlay_chat_params params = sized<inlay_chat_params>();
  params.flags = INLAY_CHAT_ADD_GENERATION_PROMPT;
  if (!model.chat_template.empty()) params.chat_template = model.chat_template.data();
  params.template_len = model.chat_template.size();
  inlay_error error;
  size_t n = body.conversation.size() + 64;
  for (int i = 0; i < 2; ++i) {
    out.resize(n);
    const inlay_status status =
        inlay_chat_tokenize(model.engine, body.conversation.data(), body.conversation.size(), &params, out.data(), out.size(), &n, &error);
    if (status == INLAY_OK) return out.resize(n), std::nullopt;
    if (status != INLAY_BUFFER_TOO_SMALL) break;
  }
  return refusal_of(error);
}

std::optional<Refusal> make_reader(const GenerateBody& body, const std::vector<int32_t>& prompt, const Model& model, std::shared_ptr<MessageReader>& out) {
  inlay_chat_parser_params params = sized<inlay_chat_parser_params>();
  set_format(model, params);
  params.tools = body.tools.data();
  params.tools_len = body.tools.size();
  params.prompt = prompt.data();
  params.n_prompt = prompt.size();
  inlay_chat_parser* parser = nullptr;
  inlay_error error;
  if (inlay_chat_parser_create(model.engine, &params, &parser, &error) != INLAY_OK) return refusal_of(error);
  out = std::make_shared<MessageReader>(parser, body.stops);
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> submit(const GenerateBody& body, const Model& model, uint64_t user, SubmittedRequest& out) {
  inlay_sampler_params sampler = body.sampler;
  sampler.bias = body.biases.data();
  sampler.n_bias = body.biases.size();
  inlay_session_params session = sized<inlay_session_params>();
  session.sampler = &sampler;
  session.max_tokens = static_cast<int32_t>(body.max_tokens);
  std::vector<int32_t> prompt = body.tokens;
  if (body.form.is_chat)
    if (const std::optional<Refusal> refusal = tokenize(body, model, prompt)) return refusal;
  const bool has_parts = body.form.is_chat && (model.has_calls || model.has_reasoning);
  if (has_parts)
    if (const std::optional<Refusal> refusal = make_reader(body, prompt, model, out.reader)) return refusal;
  std::vector<inlay_text> stops;  // of answers with parts their reader looks for them, in the content alone
  for (const std::string& stop : body.stops) stops.push_back({stop.data(), stop.size()});
  session.stops = stops.data();
  session.n_stops = has_parts ? 0 : stops.size();
  ConstraintPtr constraint;
  if (const std::optional<Refusal> refusal = compile(body, prompt, model, constraint)) return refusal;
  session.constraint = constraint.get();
  inlay_request request = sized<inlay_request>();
  request.session_params = &session;
  request.timeout_us = model.timeout_us;
  request.user = user;
  if (!prompt.empty()) {
    request.tokens = prompt.data();
    request.n_tokens = prompt.size();
  } else {
    request.text = body.text.data();
    request.text_len = body.text.size();
  }
  inlay_error error;
  if (inlay_submit(model.queue, &request, &out.id, &error) == INLAY_OK) return std::nullopt;
  return refusal_of(error);
}

}  // namespace inlay::server
