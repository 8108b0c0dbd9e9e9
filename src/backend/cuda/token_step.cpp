// Decode steps of few rows in one launch: what the executor would launch is recorded once, and becomes the token
// kernel's table.
#include "src/backend/cuda/executor.h"
#include "src/plan/features.h"

namespace inlay {
namespace {

// Tags of what a buffer holds, generation by generation, in every token anew. A reader may skip one generation, as CTAs
// that have rows of ffn_in and none of attn_in do with hidden states, so three that follow one another differ; or all
// but the last one, which has a tag of its own, and which is what the next token finds.
uint8_t tag_of(int32_t generation, int32_t n_generations) {
  return static_cast<uint8_t>(generation == n_generations - 1 ? 3 : generation % 3);
}

// What an op reads and writes besides weights and cache: in the order of the values' memory.
enum Exchanged { kHidden, kQkv, kHeads, kFfn, kNone };
struct OpValues {
  Exchanged in, out;
};
OpValues values_of(OpKind kind) {
  switch (kind) {
    case OpKind::attn_in:
      return {kHidden, kQkv};
    case OpKind::attention:
      return {kQkv, kHeads};
    case OpKind::attn_out:
      return {kHeads, kHidden};
    case OpKind::ffn_in:
      return {kHidden, kFfn};
    case OpKind::ffn_out:
      return {kFfn, kHidden};
    default:
      return {kHidden, kNone};
  }
}

// The token kernel is for models that need none of these.
bool runs_in_one_launch(const ModelSpec& spec) {
  for (auto i = uint8_t{0}; i < static_cast<uint8_t>(Feature::count); ++i) {
    const auto feature = static_cast<Feature>(i);
    if (feature != Feature::attention_scale && needs(spec, feature)) return false;
  }
  return spec.n_layers >= 2;
}

}  // namespace

// A step of rows that are single tokens; few of them by the token kernel, if that is there.
Status CudaExecutor::launch_decode_step(size_t bucket) {
  if (kBuckets[bucket] > segment_rows_) return launch_in_segments(kBuckets[bucket]);
  if (bucket >= kTokenBuckets || !token_step(bucket)) {
    for (const Op& op : plan_.ops) INLAY_TRY(launch_op(op));
    return {};
  }
  for (const Op& op : plan_.ops) {
    if (op.kind == OpKind::embed) INLAY_TRY(embed(op, b_.token_values.as<float>(), true));
  }
  INLAY_TRY(cuda_status(cuda::launch_token(*token_step(bucket), token_table(bucket), target()),
                        "the layers of a token", CudaPoint::resident_launch));
  return sample();
}

// The draws come once, behind all.
Status CudaExecutor::launch_in_segments(int32_t n_rows) {
  for (int32_t first = 0; first < n_rows; first += segment_rows_) {
    m_ = n_logit_rows_ = std::min(segment_rows_, n_rows - first);
    step_->select({.first_row = first, .n_rows = m_, .first_logit = first, .n_logits = m_, .decodes = true});
    for (const Op& op : plan_.ops) {
      if (op.kind != OpKind::sample) INLAY_TRY(launch_op(op));
    }
  }
  m_ = n_logit_rows_ = n_rows;
  return sample();
}

// The first launch of such a step. Where not all CTAs of the token kernel can be resident together, as on a device of
// which a process has only a part, the driver refuses it, and steps are launched op by op.
Status CudaExecutor::try_decode_step(size_t bucket) {
  Status status = launch_decode_step(bucket);
  if (status.native_code != cudaErrorCooperativeLaunchTooLarge) return status;
  one_launch_is_refused_ = true;
  token_step(bucket).reset();
  return launch_decode_step(bucket);
}

// Of the block in use.
std::optional<cuda::TokenLaunch>& CudaExecutor::token_step(size_t bucket) {
  return token_steps_[static_cast<size_t>(block_ - blocks_.data())][bucket];
}

std::string CudaExecutor::one_launch_remark() const {
  int32_t most = 0;
  for (size_t i = 0; i < kTokenBuckets; ++i) most = token_steps_[0][i] ? kBuckets[i] : most;
  if (most > 0) return "all layers of a step of up to " + std::to_string(most) + " sessions are one launch";
  if (!one_launch_is_refused_) return "";
  return "not all thread blocks of one launch for all layers can be resident, so every operation has its own";
}

// The layers and the head, with the tags of what they exchange.
Status CudaExecutor::record_layers(std::vector<cuda::TokenOp>& ops) {
  const ModelSpec& s = plan_.spec;
  const int32_t n_generations[] = {2 * s.n_layers + 1, s.n_layers, s.n_layers, s.n_layers};
  std::byte *const hidden_x = b_.token_x.data(), *const heads_x = hidden_x + cuda::token_x_bytes(s.d_model);
  std::byte* const prepared[] = {hidden_x, nullptr, heads_x, heads_x + cuda::token_x_bytes(s.d_q())};
  int32_t written[] = {1, 0, 0, 0};  // the embedding is the first hidden state
  recorded_ = &ops;
  Status status;
  for (const Op& op : plan_.ops) {
    if (op.kind == OpKind::embed || op.kind == OpKind::sample) continue;
    const size_t first = ops.size();
    status = launch_op(op);
    if (!status.ok()) break;
    const OpValues values = values_of(op.kind);
    const uint8_t in = tag_of(written[values.in] - 1, n_generations[values.in]);
    const uint8_t out =
        values.out == kNone ? cuda::kUntagged : tag_of(written[values.out]++, n_generations[values.out]);
    for (size_t i = first; i < ops.size(); ++i) {
      ops[i].tag_in = in, ops[i].tag_out = out;
      if (m_ > 1) ops[i].prepared = prepared[values.in];
    }
  }
  recorded_ = nullptr;
  return status;
}

// The recorded ops work on memory of their own: what other steps leave in the executor's buffers has no tags.
void CudaExecutor::move_to_token_memory(std::vector<cuda::TokenOp>& ops) {
  const ModelSpec& s = plan_.spec;
  const int64_t n_rows = token_rows(config_);
  const struct {
    DeviceBuffer& buffer;
    int64_t n;
  } parts[] = {{b_.hidden, n_rows * s.d_model},
               {b_.qkv, n_rows * d_qkv()},
               {b_.heads, n_rows * s.d_q()},
               {b_.ffn, n_rows * s.d_ff}};
  const auto moved = [&](const float* p) {
    float* to = b_.token_values.as<float>();
    for (const auto& part : parts) {
      const auto* from = part.buffer.as<float>();
      if (p >= from && p < from + part.n) return to + (p - from);
      to += token_part(part.n);
    }
    return const_cast<float*>(p);
  };
  for (cuda::TokenOp& op : ops) {
    op.linear.raw = moved(op.linear.raw), op.linear.out = moved(op.linear.out);
    op.attention.qkv = moved(op.attention.qkv), op.attention.out = moved(op.attention.out);
    op.attention.scratch = b_.token_records.data();
  }
}

// Rows that the token kernel's memory is for.
int32_t CudaExecutor::token_rows(const BackendConfig& config) {
  size_t bucket = 0;
  while (bucket + 1 < kTokenBuckets && kBuckets[bucket] < config.max_sequences) ++bucket;
  return kBuckets[bucket];
}

uint64_t CudaExecutor::token_value_bytes(const ModelSpec& s, int32_t n_rows) {
  const int64_t m = n_rows, n = token_part(m * s.d_model) + token_part(m * (s.d_q() + 2 * s.d_kv())) +
                                token_part(m * s.d_q()) + token_part(m * s.d_ff);
  return sizeof(float) * static_cast<uint64_t>(n);
}

uint64_t CudaExecutor::token_x_bytes(const ModelSpec& s, int32_t n_rows) {
  if (n_rows == 1) return 0;
  return cuda::token_x_bytes(s.d_model) + cuda::token_x_bytes(s.d_q()) + cuda::token_x_bytes(s.d_ff);
}

// An op is at most three products.
int32_t CudaExecutor::most_token_ops(const Plan& plan) { return 3 * static_cast<int32_t>(plan.ops.size()); }

// The tag that a token before the first one would have left, or none.
Status CudaExecutor::tag_token_memory() {
  for (DeviceBuffer* buffer : {&b_.token_values, &b_.token_x, &b_.token_records}) {
    INLAY_CUDA_TRY(cudaMemsetAsync(buffer->data(), 0xff, buffer->size(), stream_.get()),
                   "tagging the values of a token");
  }
  return {};
}

// Of the block in use.
std::byte* CudaExecutor::token_table(size_t bucket) {
  const size_t i = static_cast<size_t>(block_ - blocks_.data()) * kTokenBuckets + bucket;
  return b_.token_phases.data() + i * cuda::token_table_bytes(most_token_ops(plan_));
}

// For the block in use. No kernel for this model or device, or for so many rows: steps are launched op by op.
Status CudaExecutor::make_token_step(size_t bucket) {
  std::optional<cuda::TokenLaunch>& step = token_step(bucket);
  if (step) return {};
  if (!config_.allow_token_kernel || one_launch_is_refused_ || one_launch_is_wrong_ || !runs_in_one_launch(plan_.spec)) return {};
  std::vector<cuda::TokenOp> ops;
  INLAY_TRY(record_layers(ops));
  const auto n_ops = static_cast<int32_t>(ops.size());
  if (!cuda::token_runs(ops.data(), n_ops)) return {};
  if (!token_steps_[0][0]) INLAY_TRY(tag_token_memory());
  move_to_token_memory(ops);
  std::vector<std::byte> table(cuda::token_table_bytes(n_ops));
  cuda::TokenLaunch launch;
  const cudaError_t made = cuda::make_token_table(ops.data(), n_ops, table.data(), launch);
  if (made == cudaErrorInvalidConfiguration) return {};  // too little shared memory on this device
  INLAY_CUDA_TRY(made, "cutting a token into phases");
  INLAY_CUDA_TRY(
      cudaMemcpyAsync(token_table(bucket), table.data(), table.size(), cudaMemcpyHostToDevice, stream_.get()),
      "copying the phases of a token");
  INLAY_TRY(wait_for(stream_.get(), "copying the phases of a token"));
  step = launch;
  return {};
}

}  // namespace inlay
