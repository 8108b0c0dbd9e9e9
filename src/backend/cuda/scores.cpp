// The head once more, for any rows of the step before: their logits, or what these say of known tokens.
#include "src/backend/cuda/executor.h"

#include <algorithm>

namespace inlay {
namespace {

// Parts of the buffer `scores` for so many rows.
struct ScoreParts {
  ScoreParts(std::byte* at, uint64_t rows)
      : scores(reinterpret_cast<cuda::RowScore*>(at)),
        top(reinterpret_cast<cuda::TokenProbability*>(scores + rows)),
        tokens(reinterpret_cast<int32_t*>(top + rows * cuda::kMaxLogprobs)) {}

  cuda::RowScore* scores;
  cuda::TokenProbability* top;
  int32_t* tokens;
};

Status status_of(const cuda::RowScore& score, int32_t n_vocab) {
  switch (score.error) {
    case cuda::RowError::bad_logit:
      return error(Code::format, "the model gave a logit that is not finite for token %d", score.bad_token);
    case cuda::RowError::no_finite_logit:
      return error(Code::format, "the model gave no finite logit among %d", n_vocab);
    default:
      return {};
  }
}

}  // namespace

uint64_t CudaExecutor::score_bytes(uint64_t rows) {
  return rows * (sizeof(cuda::RowScore) + cuda::kMaxLogprobs * sizeof(cuda::TokenProbability) + sizeof(int32_t));
}

// Into logit_rows.
Status CudaExecutor::logits_of_rows(int32_t first_row, int32_t n) {
  const int64_t d = plan_.spec.d_model;
  n_logit_rows_ = n;
  INLAY_CUDA_TRY(cudaMemcpyAsync(b_.head_rows.data(), b_.hidden.as<float>() + first_row * d,
                                 static_cast<size_t>(n * d) * sizeof(float), cudaMemcpyDeviceToDevice, stream_.get()),
                 "copying rows");
  prefills_ = prefill_.has_value();
  if (prefills_) prefill_->begin_step();
  Status status = make_logits(plan_.head_op());
  prefills_ = false;
  return status;
}

Status CudaExecutor::row_logits(int32_t first_row, std::span<float> out) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_TRY(end_failed_step());
  const auto n_vocab = static_cast<size_t>(plan_.spec.n_vocab);
  const auto n_rows = static_cast<int32_t>(out.size() / n_vocab);
  for (int32_t first = 0, n = 0; first < n_rows; first += n) {
    n = std::min(n_rows - first, scored_rows());
    INLAY_TRY(logits_of_rows(first_row + first, n));
    const std::span<float> part = out.subspan(static_cast<size_t>(first) * n_vocab, static_cast<size_t>(n) * n_vocab);
    INLAY_CUDA_TRY(cudaMemcpyAsync(part.data(), b_.logit_rows.data(), part.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()),
                   "reading logits");
  }
  INLAY_TRY(wait_for(stream_.get(), "reading logits"));
  is_running_ = false;
  return {};
}

Status CudaExecutor::score(int32_t first_row, std::span<const int32_t> next, const Scores& scores) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_TRY(end_failed_step());
  const ScoreParts parts(b_.scores.data(), next.size());
  INLAY_TRY(copy_to_device(parts.tokens, next.data(), next.size_bytes(), "scoring tokens"));
  const auto n_rows = static_cast<int32_t>(next.size());
  for (int32_t first = 0, n = 0; first < n_rows; first += n) {
    n = std::min(n_rows - first, scored_rows());
    INLAY_TRY(logits_of_rows(first_row + first, n));
    INLAY_CUDA_TRY(cuda::launch_score({.logits = b_.logit_rows.as<float>(),
                                       .tokens = parts.tokens + first,
                                       .scores = parts.scores + first,
                                       .top = parts.top + int64_t{first} * scores.n_top,
                                       .n_vocab = plan_.spec.n_vocab,
                                       .n = n,
                                       .n_top = scores.n_top},
                                      target()),
                   "scoring tokens");
  }
  std::vector<cuda::RowScore> of_rows(next.size());
  static_assert(sizeof(TokenLogprob) == sizeof(cuda::TokenProbability));
  INLAY_CUDA_TRY(cudaMemcpyAsync(of_rows.data(), parts.scores, of_rows.size() * sizeof(cuda::RowScore),
                                 cudaMemcpyDeviceToHost, stream_.get()),
                 "reading scores");
  if (!scores.top.empty()) {
    INLAY_CUDA_TRY(cudaMemcpyAsync(scores.top.data(), parts.top, scores.top.size_bytes(), cudaMemcpyDeviceToHost,
                                   stream_.get()),
                   "reading scores");
  }
  INLAY_TRY(wait_for(stream_.get(), "reading scores"));
  is_running_ = false;
  for (size_t i = 0; i < of_rows.size(); ++i) {
    INLAY_TRY(status_of(of_rows[i], plan_.spec.n_vocab));
    scores.of_rows[i] = {of_rows[i].logprob, of_rows[i].rank};
  }
  return {};
}

}  // namespace inlay
