#include "src/engine/embed.h"

#include "src/base/format.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

Status read_params(const inlay_embed_params* given, EmbedOptions& out) {
  inlay_embed_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_range(params.pooling, INLAY_POOLING_DEFAULT, INLAY_POOLING_FIRST, "params.pooling"));
  INLAY_TRY(check_flags(params.flags, INLAY_EMBED_NORMALIZE, "params.flags"));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  out.normalize = (params.flags & INLAY_EMBED_NORMALIZE) != 0;
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
  return {};
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_embed(const inlay_engine* engine, const int32_t* tokens, size_t n_tokens, const int32_t* lengths,
                         size_t n_texts, const inlay_embed_params* params, float* out, size_t cap, size_t* needed,
                         inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    INLAY_ASSIGN(const std::span<const int32_t> counts, read_tokens(lengths, n_texts, "lengths"));
    EmbedOptions options;
    INLAY_TRY(read_params(params, options));
    INLAY_ASSIGN(const auto texts, cut_texts(ids, counts));
    const size_t n_values = texts.size() * static_cast<size_t>(engine->engine->spec().d_model);
    if (needed) *needed = n_values;
    if (!out && cap == 0) return {};
    INLAY_TRY(check_not_null(out, "out"));
    if (cap < n_values) {
      Status small = error(Code::buffer_too_small, "%s have %zu values, the buffer has room for %zu",
                           counted(texts.size(), "text").c_str(), n_values, cap);
      small.required = n_values;
      small.available = cap;
      return small;
    }
    return embed(*engine->engine, texts, options, {out, n_values});
  });
}
