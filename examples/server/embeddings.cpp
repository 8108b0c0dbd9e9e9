#include "examples/server/embeddings.h"

#include <cstring>
#include <span>
#include <vector>

#include "examples/server/answer.h"
#include "examples/server/field_reader.h"
#include "examples/server/generate_body.h"

namespace inlay::server {

namespace {

constexpr size_t kMaxInputs = 2048, kMaxValues = 4 << 20;
constexpr size_t kAtOnce = 32;
constexpr int64_t kLookUs = 50'000;  // how often it is looked whether the client has left

using Clock = std::chrono::steady_clock;
using Input = Embeddings::Input;

bool read_ids(const Json& value, const Model& model, std::vector<int32_t>& into) {
  for (const Json& id : value) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= static_cast<uint64_t>(model.info.n_vocab)) return false;
    into.push_back(id.get<int32_t>());
  }
  return !into.empty();
}

bool read_input(const Json& value, const Model& model, Input& input) {
  if (value.is_string()) input.text = value.get<std::string>();
  return value.is_string() ? !input.text.empty() : value.is_array() && read_ids(value, model, input.tokens);
}

void read_inputs(FieldReader& fields, const Model& model, std::vector<Input>& inputs) {
  const Json* value = fields.take("input");
  if (!value) return fields.refuse("input", "is missing");
  const bool is_list = value->is_array() && !value->empty() && !value->front().is_number();
  const size_t n = is_list ? value->size() : 1;
  if (n > kMaxInputs || n * static_cast<size_t>(model.info.d_model) > kMaxValues)
    return fields.refuse("input", "has more texts than one request may have");
  inputs.resize(n);
  for (size_t i = 0; i < n; ++i)
    if (!read_input(is_list ? (*value)[i] : *value, model, inputs[i]))
      return fields.refuse("input", "has at " + std::to_string(i) + " neither a text that is not empty nor ids of the model's tokens");
}

std::string base64(const float* values, size_t n) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes(n * sizeof(float));
  std::memcpy(bytes.data(), values, bytes.size());
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n_here = std::min(bytes.size() - i, size_t{3});
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n_here ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= n_here ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Clock::time_point end_of(const Model& model) {
  return model.timeout_us == 0 ? Clock::time_point::max() : Clock::now() + std::chrono::microseconds(model.timeout_us);
}

}  // namespace

Embeddings::Embeddings(const Model& model) : model_(model), end_(end_of(model)) {}

std::optional<Refusal> Embeddings::read(std::string_view body) {
  Json value;
  std::string reason, format = "float";
  if (!parse_json(body, value, reason)) return Refusal{400, reason, "", ""};
  FieldReader fields(value);
  read_model(fields, model_);
  read_inputs(fields, model_, inputs_);
  fields.text("encoding_format", format);
  if (format != "float" && format != "base64") fields.refuse("encoding_format", "is neither float nor base64");
  fields.only("dimensions", model_.info.d_model);
  ignore_common(fields);
  is_base64_ = format == "base64";
  return fields.end();
}

Refusal Embeddings::refused() const {
  Refusal out = refusal_of(error_);
  const bool lacks_pooling =
      error_.status == INLAY_UNSUPPORTED && model_.pooling == INLAY_POOLING_DEFAULT && out.message.find("pooling") != out.message.npos;
  if (lacks_pooling) out.message += " by the server's option --pooling";
  return out;
}

std::optional<Refusal> Embeddings::submit(size_t i) {
  inlay_embed_params embed = sized<inlay_embed_params>();
  embed.pooling = model_.pooling;
  embed.flags = INLAY_EMBED_NORMALIZE;
  inlay_request request = sized<inlay_request>();
  request.kind = INLAY_REQUEST_EMBED;
  request.embed = &embed;
  request.user = i;
  const Input& input = inputs_[i];
  if (input.tokens.empty()) {
    request.text = input.text.data();
    request.text_len = input.text.size();
  } else {
    request.tokens = input.tokens.data();
    request.n_tokens = input.tokens.size();
  }
  uint64_t id = 0;
  if (inlay_submit(queue_, &request, &id, &error_) == INLAY_OK) return std::nullopt;
  return refused();
}

std::optional<Refusal> Embeddings::take(const inlay_request_event& end, const char* message) {
  Refusal refusal;
  if (failed(end, std::string(message, end.text_bytes), refusal)) return refusal;
  values_.resize(end.n_values * inputs_.size());
  n_tokens_ += static_cast<uint64_t>(end.n_prompt);
  ++n_done_;
  float* to = values_.data() + end.user * end.n_values;
  if (inlay_request_take_values(queue_, end.request_id, to, end.n_values, nullptr, &error_) == INLAY_OK) return std::nullopt;
  return refusal_of(error_);
}

std::optional<Refusal> Embeddings::collect() {
  std::vector<inlay_request_event> events(kAtOnce);
  std::vector<char> text(1024);
  size_t n = 0;
  if (inlay_poll(queue_, events.data(), events.size(), sizeof events[0], nullptr, 0, text.data(), text.size(), &n, &error_) != INLAY_OK) return refusal_of(error_);
  for (const inlay_request_event& event : std::span(events).first(n)) {
    if (event.kind != INLAY_REQUEST_EVENT_END) continue;
    if (std::optional<Refusal> refusal = take(event, text.data() + event.first_byte)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> Embeddings::compute(const std::atomic<bool>& has_left) {
  if (inlay_queue_create(model_.engine, nullptr, &queue_, &error_) != INLAY_OK) return refusal_of(error_);
  for (size_t n_begun = 0; n_done_ < inputs_.size();) {
    for (; n_begun < inputs_.size() && n_begun - n_done_ < kAtOnce; ++n_begun)
      if (std::optional<Refusal> refusal = submit(n_begun)) return refusal;
    inlay_wait_result result = 0;
    if (inlay_wait(queue_, kLookUs, &result, &error_) != INLAY_OK) return refusal_of(error_);
    if (Clock::now() > end_) return Refusal{504, "the answer took longer than the server allows", "", "timeout"};
    if (has_left.load()) return Refusal{503, "nobody waits for the answer", "", "closing"};
    if (std::optional<Refusal> refusal = collect()) return refusal;
  }
  return std::nullopt;
}

std::string Embeddings::json() const {
  const size_t width = values_.size() / inputs_.size();
  Json data = Json::array();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const float* own = values_.data() + i * width;
    Json entry = {{"object", "embedding"}, {"index", i}};
    entry["embedding"] = is_base64_ ? Json(base64(own, width)) : Json(std::vector<float>(own, own + width));
    data.push_back(std::move(entry));
  }
  Json out = {{"object", "list"}, {"data", std::move(data)}, {"model", model_.name}};
  out["usage"] = Json{{"prompt_tokens", n_tokens_}, {"total_tokens", n_tokens_}};
  return json_text(out);
}

}  // namespace inlay::server
