#include "examples/server/embeddings.h"

#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#include "examples/server/answer.h"
#include "examples/server/field_reader.h"
#include "examples/server/generate_body.h"

namespace inlay::server {

namespace {

constexpr size_t kMaxInputs = 2048, kMaxValues = 4 << 20;

struct Inputs {
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> tokens;  // of each input; empty: it is a text
};

bool read_ids(const Json& value, const Model& model, std::vector<int32_t>& into) {
  for (const Json& id : value) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= static_cast<uint64_t>(model.info.n_vocab)) return false;
    into.push_back(id.get<int32_t>());
  }
  return !into.empty();
}

bool read_input(const Json& value, const Model& model, Inputs& inputs) {
  inputs.texts.emplace_back();
  inputs.tokens.emplace_back();
  if (value.is_string()) inputs.texts.back() = value.get<std::string>();
  return value.is_string() ? !inputs.texts.back().empty() : value.is_array() && read_ids(value, model, inputs.tokens.back());
}

void read_inputs(FieldReader& fields, const Model& model, Inputs& inputs) {
  const Json* value = fields.take("input");
  if (!value) return fields.refuse("input", "is missing");
  const bool is_list = value->is_array() && !value->empty() && !value->front().is_number();
  const size_t n = is_list ? value->size() : 1;
  if (n > kMaxInputs || n * static_cast<size_t>(model.info.d_model) > kMaxValues)
    return fields.refuse("input", "has more texts than one request may have");
  for (size_t i = 0; i < n; ++i)
    if (!read_input(is_list ? (*value)[i] : *value, model, inputs))
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

std::string written(const Model& model, const std::vector<float>& values, size_t n_inputs, bool as_base64, uint64_t n_tokens) {
  const size_t width = values.size() / n_inputs;
  Json data = Json::array();
  for (size_t i = 0; i < n_inputs; ++i) {
    const float* own = values.data() + i * width;
    Json entry = {{"object", "embedding"}, {"index", i}};
    entry["embedding"] = as_base64 ? Json(base64(own, width)) : Json(std::vector<float>(own, own + width));
    data.push_back(std::move(entry));
  }
  Json out = {{"object", "list"}, {"data", std::move(data)}, {"model", model.name}};
  out["usage"] = Json{{"prompt_tokens", n_tokens}, {"total_tokens", n_tokens}};
  return json_text(out);
}

Refusal refused(const inlay_error& error, const Model& model) {
  Refusal out = refusal_of(error);
  const bool lacks_pooling =
      error.status == INLAY_UNSUPPORTED && model.pooling == INLAY_POOLING_DEFAULT && out.message.find("pooling") != out.message.npos;
  if (lacks_pooling) out.message += " by the server's option --pooling";
  return out;
}

using Clock = std::chrono::steady_clock;

Clock::time_point end_of(const Model& model) { return model.timeout_us == 0 ? Clock::time_point::max() : Clock::now() + std::chrono::microseconds(model.timeout_us); }

Refusal too_late() { return {504, "the answer took longer than the server allows", "", "timeout"}; }

// The texts' vectors by requests, which share steps with the answers that are drawn and take no place away from them. A few at a time, so that who
// asks for thousands of texts lets others in between. What is under way ends with the object.
class Vectors {
 public:
  Vectors(const Model& model, const Inputs& inputs) : model_(model), inputs_(inputs) {}
  ~Vectors() { inlay_queue_free(queue_); }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  std::optional<Refusal> compute(const std::atomic<bool>& has_left);
  const std::vector<float>& values() const { return values_; }  // text after text
  uint64_t n_tokens() const { return n_tokens_; }

 private:
  std::optional<Refusal> submit(size_t i);
  std::optional<Refusal> collect();
  std::optional<Refusal> take(const inlay_request_event& end, const char* message);

  static constexpr size_t kAtOnce = 32;
  static constexpr int64_t kLookUs = 50'000;  // how often it looks whether the client has left

  const Model& model_;
  const Inputs& inputs_;
  inlay_queue* queue_ = nullptr;
  inlay_error error_ = {};
  std::vector<float> values_;
  uint64_t n_tokens_ = 0;
  size_t n_done_ = 0;
};

std::optional<Refusal> Vectors::submit(size_t i) {
  inlay_embed_params embed = sized<inlay_embed_params>();
  embed.pooling = model_.pooling;
  embed.flags = INLAY_EMBED_NORMALIZE;
  inlay_request request = sized<inlay_request>();
  request.kind = INLAY_REQUEST_EMBED;
  request.embed = &embed;
  request.user = i;
  const std::vector<int32_t>& tokens = inputs_.tokens[i];
  if (tokens.empty()) {
    request.text = inputs_.texts[i].data();
    request.text_len = inputs_.texts[i].size();
  } else {
    request.tokens = tokens.data();
    request.n_tokens = tokens.size();
  }
  uint64_t id = 0;
  if (inlay_submit(queue_, &request, &id, &error_) == INLAY_OK) return std::nullopt;
  return refused(error_, model_);
}

std::optional<Refusal> Vectors::take(const inlay_request_event& end, const char* message) {
  Refusal refusal;
  if (failed(end, std::string(message, end.text_bytes), refusal)) return refusal;
  values_.resize(end.n_values * inputs_.texts.size());
  n_tokens_ += static_cast<uint64_t>(end.n_prompt);
  ++n_done_;
  float* to = values_.data() + end.user * end.n_values;
  if (inlay_request_take_values(queue_, end.request, to, end.n_values, nullptr, &error_) == INLAY_OK) return std::nullopt;
  return refusal_of(error_);
}

std::optional<Refusal> Vectors::collect() {
  std::vector<inlay_request_event> events(kAtOnce);
  std::vector<char> text(1024);
  size_t n = 0;
  if (inlay_poll(queue_, events.data(), events.size(), sizeof events[0], nullptr, 0, text.data(), text.size(), &n, &error_) != INLAY_OK) return refusal_of(error_);
  for (const inlay_request_event& event : std::span(events).first(n)) {
    if (event.kind != INLAY_REQUEST_EVENT_END) continue;
    if (std::optional<Refusal> refusal = take(event, text.data() + event.text)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> Vectors::compute(const std::atomic<bool>& has_left) {
  const Clock::time_point end = end_of(model_);
  if (inlay_queue_create(model_.engine, nullptr, &queue_, &error_) != INLAY_OK) return refusal_of(error_);
  for (size_t n_begun = 0; n_done_ < inputs_.texts.size();) {
    for (; n_begun < inputs_.texts.size() && n_begun - n_done_ < kAtOnce; ++n_begun)
      if (std::optional<Refusal> refusal = submit(n_begun)) return refusal;
    int32_t is_ready = 0;
    if (inlay_wait(queue_, kLookUs, &is_ready, &error_) != INLAY_OK) return refusal_of(error_);
    if (Clock::now() > end) return too_late();
    if (has_left.load()) return Refusal{503, "nobody waits for the answer", "", "closing"};
    if (std::optional<Refusal> refusal = collect()) return refusal;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> embed(std::string_view json, const Model& model, const std::atomic<bool>& has_left, std::string& answer) {
  Json value;
  std::string reason, format = "float";
  if (!parse_json(json, value, reason)) return Refusal{400, reason, "", ""};
  Inputs inputs;
  FieldReader fields(value);
  read_model(fields, model);
  read_inputs(fields, model, inputs);
  fields.text("encoding_format", format);
  if (format != "float" && format != "base64") fields.refuse("encoding_format", "is neither float nor base64");
  fields.only("dimensions", model.info.d_model);
  ignore_common(fields);
  if (std::optional<Refusal> refusal = fields.end()) return refusal;
  Vectors vectors(model, inputs);
  if (std::optional<Refusal> refusal = vectors.compute(has_left)) return refusal;
  answer = written(model, vectors.values(), inputs.texts.size(), format == "base64", vectors.n_tokens());
  return std::nullopt;
}

}  // namespace inlay::server
