#include "src/backend/cuda/weight_layout.h"

#include <algorithm>

#include "kernels/cuda/cuda_kernels.h"

namespace inlay {
namespace {

constexpr uint64_t kNotPlaced = UINT64_MAX;
constexpr size_t kNoSlot = SIZE_MAX;

uint64_t align(uint64_t n, uint64_t alignment) { return (n + alignment - 1) / alignment * alignment; }

bool is_vector(const Weight& w) { return w.n_rows == 1; }

bool follows_without_gap(const Op& op, size_t at) {
  return op.kind == OpKind::attn_in && (at == slot::k || at == slot::v || at == slot::k_bias || at == slot::v_bias);
}

// The slot of up where `at` is that of gate.
size_t up_slot(const Op& op, size_t at) {
  if ((op.kind == OpKind::ffn_in || op.kind == OpKind::moe_in) && at == slot::gate) return slot::up;
  if (op.kind == OpKind::moe_in && at == slot::shared_gate) return slot::shared_up;
  return kNoSlot;
}

}  // namespace

size_t joined_parts(const Plan& plan, const Op& attn_in, size_t part) {
  size_t end = part + 1;
  while (end <= slot::v && plan.weight(attn_in, end)->dtype == plan.weight(attn_in, part)->dtype &&
         plan.weight(attn_in, end - 1)->n_rows % cuda::kTileRows == 0) {
    ++end;
  }
  return end - part;
}

Plan with_f16(const Plan& plan) {
  Plan out = plan;
  for (Weight& w : out.weights) {
    if (w.dtype == DType::bf16 && !is_vector(w)) w.dtype = DType::f16;
  }
  for (const Op& op : plan.ops) {
    for (size_t at = 0; at < op.weights.size(); ++at) {
      const size_t up = up_slot(op, at);
      if (up == kNoSlot || op.weights[at] == kNoWeight || plan.weight(op, at)->dtype == plan.weight(op, up)->dtype) continue;
      for (const size_t i : {at, up}) out.weights[op.weights[i]].dtype = plan.weight(op, i)->dtype;
    }
  }
  return out;
}

WeightLayout::WeightLayout(const Plan& plan)
    : offsets_(plan.weights.size(), kNotPlaced), ups_(plan.weights.size(), kNoWeight) {
  for (const bool vectors : {true, false}) {
    for (const Op& op : plan.ops) {
      for (size_t at = 0; at < op.weights.size(); ++at) place(plan, op, at, vectors);
    }
    n_bytes_ = align(n_bytes_, kAlignment);
    if (vectors) n_vector_bytes_ = n_bytes_;
  }
}

void WeightLayout::place(const Plan& plan, const Op& op, size_t at, bool vectors) {
  const WeightIndex i = op.weights[at];
  if (i == kNoWeight || is_vector(plan.weights[i]) != vectors || offsets_[i] != kNotPlaced) return;
  const Weight& w = plan.weights[i];
  int64_t n_rows = w.n_rows;
  const size_t up = up_slot(op, at);
  if (up != kNoSlot && plan.weight(op, up)->dtype == w.dtype) {
    ups_[i] = op.weights[up];
    n_rows *= 2;
  }
  if (!follows_without_gap(op, at)) n_bytes_ = align(n_bytes_, kAlignment);
  offsets_[i] = n_bytes_;
  if (ups_[i] != kNoWeight) offsets_[ups_[i]] = n_bytes_;
  n_bytes_ += vectors ? align(static_cast<uint64_t>(w.n_cols), cuda::kTileRows) * sizeof(float)
                      : cuda::packed_bytes(w.dtype, n_rows, w.n_cols);
}

std::vector<WeightPiece> WeightLayout::pieces(const Plan& plan, uint64_t staged_bytes) const {
  std::vector<bool> is_up(plan.weights.size(), false);
  for (const WeightIndex up : ups_) {
    if (up != kNoWeight) is_up[up] = true;
  }
  std::vector<WeightPiece> out;
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const Weight& w = plan.weights[i];
    if (is_vector(w) || is_up[i] || offsets_[i] == kNotPlaced) continue;
    const bool interleaved = ups_[i] != kNoWeight;
    const int64_t rows_per_tile = interleaved ? cuda::kTileRows / 2 : cuda::kTileRows;  // of each part
    const uint64_t row = row_bytes(w.dtype, static_cast<uint64_t>(w.n_cols));
    const uint64_t part =
        interleaved ? staged_bytes / 2 / WeightPiece::kPartAlignment * WeightPiece::kPartAlignment : staged_bytes;
    const int64_t fitting = static_cast<int64_t>(part / row) / rows_per_tile * rows_per_tile;
    const int64_t step = std::max(rows_per_tile, fitting);
    for (int64_t first = 0; first < w.n_rows; first += step) {
      const int64_t n_rows = std::min(step, w.n_rows - first);
      out.push_back({.weight = static_cast<WeightIndex>(i),
                     .up = ups_[i],
                     .first_row = first,
                     .n_rows = n_rows,
                     .n_bytes = row * static_cast<uint64_t>(n_rows),
                     .packed_at = offsets_[i] + static_cast<uint64_t>(first / rows_per_tile) *
                                                    cuda::packed_bytes(w.dtype, cuda::kTileRows, w.n_cols)});
    }
  }
  return out;
}

}  // namespace inlay
