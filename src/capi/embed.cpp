#include "src/engine/embed.h"

#include "src/base/format.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"
#include "src/engine/progress_report.h"

namespace inlay::capi {

Status read_embed_params(const inlay_embed_params* given, EmbedOptions& out) {
  inlay_embed_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_range(params.pooling, INLAY_POOLING_DEFAULT, INLAY_POOLING_FIRST, "params.pooling"));
  INLAY_TRY(check_flags(params.flags, INLAY_EMBED_NORMALIZE | INLAY_EMBED_NO_PROMPT, "params.flags"));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  out.normalize = (params.flags & INLAY_EMBED_NORMALIZE) != 0;
  out.without_prompt = (params.flags & INLAY_EMBED_NO_PROMPT) != 0;
  switch (params.pooling) {
    case INLAY_POOLING_MEAN:
      out.pooling = Pooling::mean;
      break;
    case INLAY_POOLING_LAST:
      out.pooling = Pooling::last;
      break;
    case INLAY_POOLING_FIRST:
      out.pooling = Pooling::first;
      break;
    default:
      break;
  }
  out.progress = host_progress(params.progress, params.progress_user);
  return {};
}

namespace {

// The tokens of one text; `made` holds those that are made of its characters.
Result<std::span<const int32_t>> read_input(const Engine& engine, const inlay_embed_input& input, size_t i, const EmbedOptions& options,
                                            std::vector<int32_t>& made) {
  const bool has_tokens = input.tokens || input.n_tokens != 0, has_text = input.text || input.text_len != 0;
  if (has_tokens == has_text)
    return error(Code::invalid_argument, "inputs[%zu] has %s", i, has_text ? "tokens and a text" : "neither tokens nor a text");
  const std::string name = "inputs[" + std::to_string(i) + (has_text ? "].text" : "].tokens");
  if (has_tokens) return read_tokens(input.tokens, input.n_tokens, name.c_str());
  INLAY_ASSIGN(const std::string_view text, read_text(input.text, input.text_len, name.c_str()));
  if (Status status = encode_for_embedding(engine, text, options, made); !status.ok()) {
    status.message = name + ": " + status.message;
    return status;
  }
  return std::span<const int32_t>(made);
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_embed(const inlay_engine* engine, const inlay_embed_input* inputs, size_t n_inputs, size_t input_stride,
                         const inlay_embed_params* params, float* out, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    if (n_inputs != 0) INLAY_TRY(check_not_null(inputs, "inputs"));
    if (n_inputs > INT32_MAX) return error(Code::invalid_argument, "n_inputs is %zu, expected at most %d", n_inputs, INT32_MAX);
    INLAY_TRY(check_stride(input_stride, kFirstSize<inlay_embed_input>, alignof(inlay_embed_input), "input_stride"));
    EmbedOptions options;
    INLAY_TRY(read_embed_params(params, options));
    const size_t n_values = n_inputs * embedding_width(*engine->engine, options);
    if (needed) *needed = n_values;
    if (!out && cap == 0) return {};
    INLAY_TRY(check_not_null(out, "out"));
    if (cap < n_values) {
      Status small = error(Code::buffer_too_small, "%s have %zu values, the buffer has room for %zu",
                           counted(n_inputs, "text").c_str(), n_values, cap);
      small.required = n_values;
      small.available = cap;
      return small;
    }
    std::vector<std::vector<int32_t>> made(n_inputs);
    std::vector<std::span<const int32_t>> texts;
    ProgressReport report(options.progress, kEmbeddingStopped);
    const Pulse pulse([&](uint64_t n) -> Status {
      INLAY_TRY(check_not_freed(*engine));
      return report.beat(n);
    });
    for (size_t i = 0; i < n_inputs; ++i) {
      inlay_embed_input input;
      INLAY_TRY(read_element(inputs, i, input_stride, "an element of inputs", input));
      INLAY_ASSIGN(const std::span<const int32_t> text, read_input(*engine->engine, input, i, options, made[i]));
      texts.push_back(text);
    }
    return embed(*engine->engine, texts, options, {out, n_values});
  });
}
