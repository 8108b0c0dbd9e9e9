#include "src/engine/score.h"

#include "src/base/format.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

Status read_params(const inlay_score_params* given, ScoreOptions& out) {
  inlay_score_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_range(params.n_given, 0, INT32_MAX, "params.n_given"));
  INLAY_TRY(check_range(params.n_logprobs, 0, INLAY_MAX_LOGPROBS, "params.n_logprobs"));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  if (params.n_given > 0) out.n_given = params.n_given;
  out.n_top = params.n_logprobs;
  out.progress = host_progress(params.progress, params.progress_user);
  return {};
}

Status check_scores(const inlay_token_score* scores, size_t stride) {
  INLAY_TRY(check_not_null(scores, "scores"));
  return check_stride(stride, kFirstSize<inlay_token_score>, alignof(inlay_token_score), "score_stride");
}

inlay_token_score made_of(const ScoredToken& s) {
  return {.logprob = s.own.logprob,
          .rank = s.own.rank,
          .against_logprob = s.against.logprob,
          .against_rank = s.against.rank,
          .divergence = s.divergence,
          .same_best = s.same_best};
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_score(const inlay_engine* engine, const inlay_engine* against, const int32_t* tokens, size_t n_tokens,
                         const int32_t* lengths, size_t n_texts, const inlay_score_params* params, inlay_token_score* scores,
                         size_t score_stride, inlay_token_logprob* top, size_t top_cap, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    Use<inlay_engine> other;
    if (against) INLAY_TRY(other.begin(against, "against"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    INLAY_ASSIGN(const std::span<const int32_t> counts, read_tokens(lengths, n_texts, "lengths"));
    ScoreOptions options;
    INLAY_TRY(read_params(params, options));
    if (against) options.against = against->engine.get();
    std::vector<std::span<const int32_t>> texts;
    if (lengths || ids.empty()) {
      INLAY_ASSIGN(texts, cut_texts(ids, counts));
    } else {
      texts.push_back(ids);
    }
    if (ids.empty()) return {};
    INLAY_TRY(check_scores(scores, score_stride));
    const size_t n_top = ids.size() * static_cast<size_t>(options.n_top);
    if (n_top > 0) INLAY_TRY(check_not_null(top, "top"));
    if (top_cap < n_top) {
      Status small = error(Code::buffer_too_small, "%s have %zu likeliest tokens, top has room for %zu",
                           counted(ids.size(), "token").c_str(), n_top, top_cap);
      small.required = n_top;
      small.available = top_cap;
      return small;
    }
    std::vector<ScoredToken> scored(ids.size());
    std::vector<TokenLogprob> likeliest(n_top);
    INLAY_TRY(score(*engine->engine, texts, options, scored, likeliest));
    for (size_t i = 0; i < scored.size(); ++i)
      write_sized(reinterpret_cast<std::byte*>(scores) + i * score_stride, score_stride, made_of(scored[i]));
    for (size_t i = 0; i < n_top; ++i) top[i] = {likeliest[i].token, likeliest[i].logprob};
    return {};
  });
}
