// Decode steps of one row in one launch: what the executor would launch is recorded once, and becomes the token
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

// A step of rows that are single tokens; the one row of the smallest bucket by the token kernel, if that is there.
Status CudaExecutor::launch_decode_step() {
  if (m_ != 1 || !token_step_) {
    for (const Op& op : plan_.ops) INLAY_TRY(launch_op(op));
    return {};
  }
  for (const Op& op : plan_.ops) {
    if (op.kind == OpKind::embed) INLAY_TRY(embed(op, b_.token_values.as<float>(), true));
  }
  INLAY_CUDA_TRY(cuda::launch_token(*token_step_, b_.token_phases.data(), stream_.get()), "the layers of a token");
  return sample();
}

// The layers and the head, with the tags of what they exchange.
Status CudaExecutor::record_layers(std::vector<cuda::TokenOp>& ops) {
  const int32_t n_layers = plan_.spec.n_layers;
  const int32_t n_generations[] = {2 * n_layers + 1, n_layers, n_layers, n_layers};
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
    for (size_t i = first; i < ops.size(); ++i) ops[i].tag_in = in, ops[i].tag_out = out;
  }
  recorded_ = nullptr;
  return status;
}

// The recorded ops work on memory of their own: what other steps leave in the executor's buffers has no tags.
void CudaExecutor::move_to_token_memory(std::vector<cuda::TokenOp>& ops, float* values) {
  const ModelSpec& s = plan_.spec;
  const struct {
    DeviceBuffer& buffer;
    int64_t n;
  } parts[] = {{b_.hidden, s.d_model}, {b_.qkv, d_qkv()}, {b_.heads, s.d_q()}, {b_.ffn, s.d_ff}};
  const auto moved = [&](const float* p) {
    float* to = values;
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

uint64_t CudaExecutor::token_value_bytes(const ModelSpec& s) {
  const int64_t n =
      token_part(s.d_model) + token_part(s.d_q() + 2 * s.d_kv()) + token_part(s.d_q()) + token_part(s.d_ff);
  return sizeof(float) * static_cast<uint64_t>(n);
}

// An op is at most three products.
int32_t CudaExecutor::most_token_ops(const Plan& plan) { return 3 * static_cast<int32_t>(plan.ops.size()); }

// Called for the bucket of one row. No kernel for this model or device: steps are launched op by op.
Status CudaExecutor::make_token_step() {
  if (!config_.allow_token_kernel || !runs_in_one_launch(plan_.spec)) return {};
  std::vector<cuda::TokenOp> ops;
  INLAY_TRY(record_layers(ops));
  const auto n_ops = static_cast<int32_t>(ops.size());
  if (!cuda::token_runs(ops.data(), n_ops)) return {};
  // The tag that a token before it would have left.
  INLAY_CUDA_TRY(cudaMemsetAsync(b_.token_values.data(), 0xff, token_value_bytes(plan_.spec), stream_.get()),
                 "tagging the values of a token");
  INLAY_CUDA_TRY(cudaMemsetAsync(b_.token_records.data(), 0xff, b_.token_records.size(), stream_.get()),
                 "tagging the records of a token");
  move_to_token_memory(ops, b_.token_values.as<float>());
  std::vector<std::byte> table(cuda::token_table_bytes(n_ops));
  cuda::TokenLaunch launch;
  const cudaError_t made = cuda::make_token_table(ops.data(), n_ops, table.data(), launch);
  if (made == cudaErrorInvalidConfiguration) return {};  // too little shared memory on this device
  INLAY_CUDA_TRY(made, "cutting a token into phases");
  INLAY_CUDA_TRY(
      cudaMemcpyAsync(b_.token_phases.data(), table.data(), table.size(), cudaMemcpyHostToDevice, stream_.get()),
      "copying the phases of a token");
  INLAY_TRY(wait_for(stream_.get(), "copying the phases of a token"));
  token_step_ = launch;
  return {};
}

}  // namespace inlay
