// What rows of logits say of tokens that are known: log-probability, rank, and the likeliest tokens; src/sampler/score.h is
// the specification.
//
//   logprob = l[token] - max - ln sum exp(l - max)      rank = tokens that are likelier, or as likely with a lower id
//
// Layout: one CTA of 512 threads a row, which reads the row once for its maximum, once for sum and rank, and once or more
// for each of the likeliest. Rows come from a product a moment before and are in the L2 cache.
// Edges:  NaN and +inf have the largest keys, so the maximum finds them.
// Bound:  latency and L2, for some tens of rows.
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/sample/block.cuh"

namespace inlay::cuda {
namespace sampling {
namespace {

__global__ void __launch_bounds__(kThreads) score_kernel(const __grid_constant__ ScoreArgs args) {
  const int row = static_cast<int>(blockIdx.x);
  const float* const logits = args.logits + row * args.n_vocab;
  const auto n = static_cast<int>(args.n_vocab);
  RowScore* const out = args.scores + row;
  const auto key_of = [&](int id) { return make_key(rank_of(logits[id]), id); };

  Key largest = 0;
  for (int id = static_cast<int>(threadIdx.x); id < n; id += kThreads) largest = max(largest, key_of(id));
  largest = block_max(largest);
  if (largest == 0 || is_bad(largest)) {
    if (threadIdx.x == 0) {
      *out = {0, 0, largest == 0 ? RowError::no_finite_logit : RowError::bad_logit, largest == 0 ? -1 : key_token(largest)};
    }
    return;
  }

  const int token = args.tokens[row];
  const float max_logit = key_logit(largest), own = logits[token];
  double sum = 0;
  int rank = 0;
  for (int id = static_cast<int>(threadIdx.x); id < n; id += kThreads) {
    const float logit = logits[id];
    sum += expf(logit - max_logit);
    rank += logit > own || (logit == own && id < token) ? 1 : 0;
  }
  sum = block_reduce(sum, Sum{});
  rank = block_reduce(rank, Sum{});
  const double log_sum = max_logit + log(sum);
  if (threadIdx.x == 0) *out = {static_cast<float>(own - log_sum), rank, RowError::none, -1};

  TokenProbability* const top = args.top + static_cast<int64_t>(row) * args.n_top;
  const auto next = [&](Key bound) {
    Key best = 0;
    for (int id = static_cast<int>(threadIdx.x); id < n; id += kThreads) {
      const Key key = key_of(id);
      if (key < bound) best = max(best, key);
    }
    return best;
  };
  const auto emit = [&](int i, Key key) { top[i] = {key_token(key), static_cast<float>(key_logit(key) - log_sum)}; };
  const int kept = args.n_top > 0 ? extract_top(args.n_top, next, emit) : 0;
  for (int i = kept + static_cast<int>(threadIdx.x); i < args.n_top; i += kThreads) top[i] = {-1, 0};
}

}  // namespace
}  // namespace sampling

cudaError_t launch_score(const ScoreArgs& args, LaunchTarget target) {
  if (args.n < 0 || args.n_vocab < 1 || args.n_vocab > INT32_MAX || args.n_top < 0) return cudaErrorInvalidValue;
  if (args.n == 0) return cudaSuccess;
  return launch_kernel(target, dim3(static_cast<unsigned>(args.n)), sampling::kThreads, sampling::score_kernel, args);
}

}  // namespace inlay::cuda
