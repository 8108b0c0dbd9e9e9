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

}  // namespace

Status logit_status(cuda::RowError error_code, int32_t bad_token, int32_t n_vocab) {
  switch (error_code) {
    case cuda::RowError::bad_logit:
      return error(Code::format, "the model gave a logit that is not finite for token %d", bad_token);
    case cuda::RowError::no_finite_logit:
      return error(Code::format, "the model gave no finite logit among %d", n_vocab);
    case cuda::RowError::none:
    case cuda::RowError::everything_banned:
      break;
  }
  return {};
}

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

// Of the step in the block in use; waits.
Status CudaExecutor::read_rows(const StepResults& results) {
  const Block& b = *block_;
  const auto d_model = static_cast<size_t>(plan_.spec.d_model), n_vocab = static_cast<size_t>(plan_.spec.n_vocab);
  std::vector<cuda::RowScore> scores(results.scores.size());
  size_t n_done = 0;
  for (size_t at = 0, n_ranges = 0; at < b.asked_rows.size(); at += n_ranges) {
    n_ranges = n_adjoining(std::span(b.asked_rows).subspan(at));
    const std::span<const AskedRows> ranges = std::span(b.asked_rows).subspan(at, n_ranges);
    const size_t n_rows = n_rows_of(ranges);
    const StepResults part = results.part(n_done, n_rows, b.asked == RowValues::hidden ? d_model : n_vocab);
    if (b.asked == RowValues::hidden) {
      INLAY_CUDA_TRY(cudaMemcpyAsync(part.rows.data(), b_.hidden.as<float>() + static_cast<size_t>(ranges[0].first_row) * d_model,
                                     part.rows.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()),
                     "reading hidden states");
    } else if (b.asked == RowValues::logits) {
      INLAY_TRY(queue_row_logits(ranges[0].first_row, part.rows));
    } else {
      INLAY_TRY(queue_scores(ranges, part, std::span(scores).subspan(n_done, n_rows)));
    }
    n_done += n_rows;
  }
  INLAY_TRY(wait_for(stream_.get(), "reading rows"));
  for (size_t i = 0; i < scores.size(); ++i) {
    INLAY_TRY(logit_status(scores[i].error, scores[i].bad_token, plan_.spec.n_vocab));
    results.scores[i] = {scores[i].logprob, scores[i].rank};
  }
  return {};
}

Status CudaExecutor::queue_row_logits(int32_t first_row, std::span<float> out) {
  const auto n_vocab = static_cast<size_t>(plan_.spec.n_vocab);
  const auto n_rows = static_cast<int32_t>(out.size() / n_vocab);
  for (int32_t first = 0, n = 0; first < n_rows; first += n) {
    n = std::min(n_rows - first, scored_rows());
    INLAY_TRY(logits_of_rows(first_row + first, n));
    const std::span<float> part = out.subspan(static_cast<size_t>(first) * n_vocab, static_cast<size_t>(n) * n_vocab);
    INLAY_CUDA_TRY(cudaMemcpyAsync(part.data(), b_.logit_rows.data(), part.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()),
                   "reading logits");
  }
  return {};
}

// Of rows that follow one another. The device's memory for scores has room for those of one call: what is queued for the next ones runs behind
// the copies of these.
Status CudaExecutor::queue_scores(std::span<const AskedRows> ranges, const StepResults& results, std::span<cuda::RowScore> scores) {
  const ScoreParts parts(b_.scores.data(), scores.size());
  int32_t* tokens = parts.tokens;
  for (const AskedRows& asked : ranges) {
    INLAY_CUDA_TRY(cudaMemcpyAsync(tokens, asked.next.data(), asked.next.size_bytes(), cudaMemcpyHostToDevice, stream_.get()), "scoring tokens");
    tokens += asked.n_rows;
  }
  const auto n_rows = static_cast<int32_t>(scores.size());
  for (int32_t first = 0, n = 0; first < n_rows; first += n) {
    n = std::min(n_rows - first, scored_rows());
    INLAY_TRY(logits_of_rows(ranges[0].first_row + first, n));
    INLAY_CUDA_TRY(cuda::launch_score({.logits = b_.logit_rows.as<float>(),
                                       .tokens = parts.tokens + first,
                                       .scores = parts.scores + first,
                                       .top = parts.top + int64_t{first} * results.n_top,
                                       .n_vocab = plan_.spec.n_vocab,
                                       .n = n,
                                       .n_top = results.n_top},
                                      target()),
                   "scoring tokens");
  }
  static_assert(sizeof(TokenLogprob) == sizeof(cuda::TokenProbability));
  INLAY_CUDA_TRY(cudaMemcpyAsync(scores.data(), parts.scores, scores.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()), "reading scores");
  if (results.top.empty()) return {};
  return cuda_status(cudaMemcpyAsync(results.top.data(), parts.top, results.top.size_bytes(), cudaMemcpyDeviceToHost, stream_.get()),
                     "reading scores");
}

}  // namespace inlay
