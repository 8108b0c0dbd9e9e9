// Looks once, when the weights are there, whether the fast ways compute what single launches do: a step of one row, and a
// projection of a prompt's rows and of a batch's. A way that does not is refused, and the log says so.
#include <cmath>

#include "src/backend/cuda/executor.h"

namespace inlay {
namespace {

// Of the length of what single launches give. Ways that round otherwise are some hundredths apart; a launch that
// computed nothing is 1 or more.
constexpr double kMostApart = 0.25;

bool differs(std::span<const float> values, std::span<const float> right) {
  double apart = 0, length = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const double d = static_cast<double>(values[i]) - right[i];
    apart += d * d;
    length += static_cast<double>(right[i]) * right[i];
  }
  if (!std::isfinite(length) || length == 0) return false;  // the model's own numbers overflow: that tells nothing
  return !(apart <= kMostApart * kMostApart * length);      // a NaN differs
}

// One token of a sequence that has no others.
struct FirstToken {
  FirstToken(const ModelSpec& spec, size_t n_kv_groups) : token(spec.n_vocab / 2), tables(n_kv_groups) {}
  StepBatch batch() const {
    return {.tokens = {&token, 1},
            .positions = {&position, 1},
            .sequences = {&sequence, 1},
            .block_tables = tables,
            .logit_rows = {&logit_row, 1}};
  }

  int32_t token, position = 0;
  std::vector<int32_t> tables;
  SequenceSlice sequence{.n_tokens = 1};
  LogitRow logit_row{};
};

std::vector<float> made_up_rows(size_t n) {
  std::vector<float> values(n);
  uint32_t state = 1;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
  return values;
}

}  // namespace

Result<std::vector<float>> CudaExecutor::checked_logits(const StepBatch& batch, Way way) {
  std::vector<float> logits(static_cast<size_t>(plan_.spec.n_vocab));
  const size_t bytes = logits.size() * sizeof(float);
  INLAY_CUDA_TRY(cudaMemsetAsync(b_.slots.data(), 0xff, bytes, stream_.get()), "checking a step");
  const StepUnit whole[] = {{0, static_cast<int32_t>(plan_.ops.size()), {}}};
  use_block(0);
  INLAY_TRY(describe(batch, whole));
  block_->replays = way == Way::one_launch;
  if (way == Way::single_launches || injected_cuda_error(CudaPoint::step_without_body) == 0) INLAY_TRY(queue(1));
  INLAY_CUDA_TRY(cudaMemcpyAsync(logits.data(), b_.slots.data(), bytes, cudaMemcpyDeviceToHost, stream_.get()),
                 "checking a step");
  INLAY_TRY(wait_for(stream_.get(), "checking a step"));
  return logits;
}

// hidden = x W^T of m rows.
Result<std::vector<float>> CudaExecutor::checked_projection(const Op& op, std::span<const float> x, int32_t m,
                                                            Way way) {
  std::vector<float> hidden(static_cast<size_t>(m) * static_cast<size_t>(plan_.spec.d_model));
  const size_t bytes = hidden.size() * sizeof(float);
  float* const rows = op.kind == OpKind::attn_out ? b_.heads.as<float>() : b_.ffn.as<float>();
  INLAY_CUDA_TRY(cudaMemcpyAsync(rows, x.data(), x.size_bytes(), cudaMemcpyHostToDevice, stream_.get()),
                 "checking a product");
  INLAY_CUDA_TRY(cudaMemsetAsync(b_.hidden.data(), 0, bytes, stream_.get()), "checking a product");
  m_ = m;
  const bool had_groups = std::exchange(has_group_rows_, has_group_rows_ && way == Way::clusters);
  Status status;
  if (way == Way::single_launches) {
    status = project(op, rows);
  } else if (way == Way::clusters) {
    if (injected_cuda_error(CudaPoint::group_without_body) == 0) status = project(op, rows);
  } else if (injected_cuda_error(CudaPoint::prompt_without_body) == 0) {
    prefill_->begin_step();
    status = prefill_->project(op, rows, b_.hidden.as<float>(), m);
    prefill_->begin_step();
  }
  has_group_rows_ = had_groups;
  INLAY_TRY(std::move(status));
  INLAY_CUDA_TRY(cudaMemcpyAsync(hidden.data(), b_.hidden.data(), bytes, cudaMemcpyDeviceToHost, stream_.get()),
                 "checking a product");
  INLAY_TRY(wait_for(stream_.get(), "checking a product"));
  return hidden;
}

void CudaExecutor::refuse(Way way) {
  const char* const name = way == Way::one_launch ? "one launch for all layers"
                           : way == Way::clusters ? "products by clusters"
                                                  : "products of prompts";
  if (!remark_.empty()) remark_ += "; ";
  remark_ += std::string(name) + " gave other values than single launches on this device and are not used";
}

Status CudaExecutor::check_one_launch() {
  if (!token_steps_[0][0]) return {};
  const FirstToken step(plan_.spec, plan_.kv.groups.size());
  INLAY_ASSIGN(const std::vector<float> logits, checked_logits(step.batch(), Way::one_launch));
  INLAY_ASSIGN(const std::vector<float> right, checked_logits(step.batch(), Way::single_launches));
  if (!differs(logits, right)) return {};
  refuse(Way::one_launch);
  one_launch_is_wrong_ = true;
  for (auto& steps : token_steps_) steps.fill({});
  return make_all_graphs();
}

// The rows that all ways have are compared.
Status CudaExecutor::check_products() {
  constexpr int32_t kBatchRows = cuda::kMostGroupRows, kPromptRows = 64;
  const auto op = std::ranges::find(plan_.ops, OpKind::attn_out, &Op::kind);
  if (op == plan_.ops.end()) return {};
  const int32_t m = std::min(kPromptRows, config_.max_step_tokens);
  const auto n_cols = static_cast<size_t>(plan_.weight(*op, slot::projection)->n_cols);
  const std::vector<float> x = made_up_rows(static_cast<size_t>(kPromptRows) * n_cols);
  const auto rows = [&](int32_t n) { return std::span(x).first(static_cast<size_t>(n) * n_cols); };
  INLAY_ASSIGN(const std::vector<float> right,
               checked_projection(*op, rows(kBatchRows), kBatchRows, Way::single_launches));
  INLAY_ASSIGN(const std::vector<float> of_batch, checked_projection(*op, rows(kBatchRows), kBatchRows, Way::clusters));
  if (differs(of_batch, right)) refuse(Way::clusters), has_group_rows_ = false;
  if (m < kBatchRows || !prefill_ || !prefill_->takes(*op, m)) return {};
  INLAY_ASSIGN(const std::vector<float> of_prompt, checked_projection(*op, rows(m), m, Way::prompts));
  if (differs(of_prompt, right)) refuse(Way::prompts), prefill_.reset();
  return {};
}

Status CudaExecutor::check_ways() {
  INLAY_TRY(check_products());
  return check_one_launch();
}

}  // namespace inlay
