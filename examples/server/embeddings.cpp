#include "examples/server/embeddings.h"

#include <chrono>
#include <cstring>
#include <vector>

#include "examples/server/field_reader.h"
#include "examples/server/generate_body.h"

namespace inlay::server {

namespace {

constexpr size_t kMaxInputs = 2048, kMaxValues = 4 << 20;

struct Inputs {
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> tokens;  // of each input; empty: it is a text
};

struct Progress {
  const std::atomic<bool>* has_left;
  std::chrono::steady_clock::time_point end;
  uint64_t n_tokens = 0;
  bool is_late = false;
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

std::chrono::steady_clock::time_point end_of(const Model& model) {
  using Clock = std::chrono::steady_clock;
  return model.timeout_us == 0 ? Clock::time_point::max() : Clock::now() + std::chrono::microseconds(model.timeout_us);
}

int32_t on_progress(void* user, uint64_t, uint64_t n_total) {
  auto* progress = static_cast<Progress*>(user);
  progress->n_tokens = n_total;
  progress->is_late = std::chrono::steady_clock::now() > progress->end;
  return progress->is_late || progress->has_left->load() ? 1 : 0;
}

inlay_status compute(const Model& model, const Inputs& inputs, Progress& progress, std::vector<float>& values, inlay_error& error) {
  std::vector<inlay_embed_input> given(inputs.texts.size());
  for (size_t i = 0; i < given.size(); ++i)
    given[i] = {inputs.tokens[i].empty() ? nullptr : inputs.tokens[i].data(), inputs.tokens[i].size(),
                inputs.tokens[i].empty() ? inputs.texts[i].data() : nullptr, inputs.texts[i].size()};
  inlay_embed_params params = sized<inlay_embed_params>();
  params.pooling = model.pooling;
  params.flags = INLAY_EMBED_NORMALIZE;
  params.progress = on_progress;
  params.progress_user = &progress;
  size_t needed = 0;  // for one
  const inlay_status asked = inlay_embed(model.engine, given.data(), 1, sizeof given[0], &params, nullptr, 0, &needed, &error);
  if (asked != INLAY_BUFFER_TOO_SMALL && asked != INLAY_OK) return asked;
  values.resize(needed * given.size());
  return inlay_embed(model.engine, given.data(), given.size(), sizeof given[0], &params, values.data(), values.size(), &needed, &error);
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
  Progress progress{&has_left, end_of(model)};
  std::vector<float> values;
  inlay_error error;
  const inlay_status status = compute(model, inputs, progress, values, error);
  if (status == INLAY_CANCELLED && progress.is_late) return Refusal{504, "the answer took longer than the server allows", "", "timeout"};
  if (status != INLAY_OK) return refused(error, model);
  answer = written(model, values, inputs.texts.size(), format == "base64", progress.n_tokens);
  return std::nullopt;
}

}  // namespace inlay::server
