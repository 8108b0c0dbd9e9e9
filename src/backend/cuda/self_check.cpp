// Looks once, when the weights are there, whether the fast ways compute what single launches do: steps of one and of
// several rows, and a projection of a prompt's rows and of a batch's for each type of weights. A way that does not is
// refused, and the log says so.
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

// One token each of n sequences that have no others.
struct FirstTokens {
  FirstTokens(int32_t n, const ModelSpec& spec, size_t n_kv_groups) : positions(static_cast<size_t>(n)) {
    for (int32_t i = 0; i < n; ++i) {
      tokens.push_back(static_cast<int32_t>((i + 1) * int64_t{spec.n_vocab} / (n + 1)));
      sequences.push_back({.first_token = i, .n_tokens = 1, .first_block = static_cast<int32_t>(tables.size())});
      tables.insert(tables.end(), n_kv_groups, i);
      logit_rows.push_back({.token = i, .slot = i});
    }
  }
  StepBatch batch() const {
    return {.tokens = tokens,
            .positions = positions,
            .sequences = sequences,
            .block_tables = tables,
            .logit_rows = logit_rows};
  }

  std::vector<int32_t> tokens, positions, tables;
  std::vector<SequenceSlice> sequences;
  std::vector<LogitRow> logit_rows;
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
  std::vector<float> logits(batch.logit_rows.size() * static_cast<size_t>(plan_.spec.n_vocab));
  const size_t bytes = logits.size() * sizeof(float);
  INLAY_CUDA_TRY(cudaMemsetAsync(b_.slots.data(), 0xff, bytes, stream_.get()), "checking a step");
  if (way == Way::single_launches) {
    INLAY_TRY(run_step(batch, {}));
  } else if (injected_cuda_error(CudaPoint::step_without_body) == 0) {
    INLAY_TRY(replay(batch, static_cast<size_t>(bucket_of(batch))));
  }
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

Result<bool> CudaExecutor::step_differs(int32_t n_rows) {
  const FirstTokens step(n_rows, plan_.spec, plan_.kv.groups.size());
  INLAY_ASSIGN(const std::vector<float> logits, checked_logits(step.batch(), Way::one_launch));
  INLAY_ASSIGN(const std::vector<float> right, checked_logits(step.batch(), Way::single_launches));
  return differs(logits, right);
}

Result<bool> CudaExecutor::projection_differs(const Op& op, int32_t m, Way way) {
  const auto n_cols = static_cast<size_t>(plan_.weight(op, slot::projection)->n_cols);
  const std::vector<float> x = made_up_rows(static_cast<size_t>(m) * n_cols);
  INLAY_ASSIGN(const std::vector<float> hidden, checked_projection(op, x, m, way));
  INLAY_ASSIGN(const std::vector<float> right, checked_projection(op, x, m, Way::single_launches));
  return differs(hidden, right);
}

void CudaExecutor::refuse(Way way) {
  const char* const name = way == Way::one_launch ? "one launch for all layers"
                           : way == Way::clusters ? "products by clusters"
                                                  : "products of prompts";
  if (!remark_.empty()) remark_ += "; ";
  remark_ += std::string(name) + " gave other values than single launches on this device and are not used";
}

// A block of the cache for each row, and no more rows than a step may have.
int32_t CudaExecutor::most_checked_rows() const {
  int32_t n = std::min({token_rows(config_), config_.max_sequences, config_.n_logit_slots});
  for (size_t group = 0; group < plan_.kv.groups.size(); ++group) n = std::min(n, config_.n_kv_blocks[group]);
  return n;
}

Status CudaExecutor::check_steps() {
  const int32_t most = most_checked_rows();
  bool wrong = false;
  for (int32_t n = 1; n <= most && !wrong; n = n < most ? most : most + 1) {
    const FirstTokens step(n, plan_.spec, plan_.kv.groups.size());
    const int32_t bucket = bucket_of(step.batch());
    if (bucket < 0 || !token_steps_[0][static_cast<size_t>(bucket)]) continue;
    INLAY_ASSIGN(wrong, step_differs(n));
  }
  if (!wrong) return {};
  refuse(Way::one_launch);
  one_launch_is_wrong_ = true;
  for (auto& steps : token_steps_) steps.fill({});
  return make_all_graphs();
}

Status CudaExecutor::check_products() {
  constexpr int32_t kPromptRows = 64;
  std::vector<bool> seen(static_cast<size_t>(DType::count));
  for (const Op& op : plan_.ops) {
    if (op.kind != OpKind::attn_out && op.kind != OpKind::ffn_out) continue;
    const auto type = static_cast<size_t>(plan_.weight(op, slot::projection)->dtype);
    if (seen[type]) continue;
    seen[type] = true;
    if (has_group_rows_) {
      INLAY_ASSIGN(const bool wrong, projection_differs(op, cuda::kMostGroupRows, Way::clusters));
      if (wrong) refuse(Way::clusters), has_group_rows_ = false;
    }
    const int32_t m = std::min(kPromptRows, config_.max_step_tokens);
    if (!prefill_ || !prefill_->takes(op, m)) continue;
    INLAY_ASSIGN(const bool wrong, projection_differs(op, m, Way::prompts));
    if (wrong) refuse(Way::prompts), prefill_.reset();
  }
  return {};
}

Status CudaExecutor::check_ways() {
  INLAY_TRY(check_products());
  return check_steps();
}

}  // namespace inlay
