#include "src/backend/cuda/device_weights.h"

#include <cstring>

#include "src/backend/cuda/weight_upload.h"

namespace inlay {

uint64_t DeviceWeights::staging_bytes(const Plan& plan, int32_t n_threads) {
  return inlay::staging_bytes(plan, WeightLayout(plan), n_threads);
}

uint64_t DeviceWeights::bytes(const Plan& plan) { return WeightLayout(plan).n_bytes(); }

Result<DeviceWeights> DeviceWeights::allocate(const Plan& plan) {
  DeviceWeights held;
  held.layout_ = WeightLayout(plan);
  for (const Weight& w : plan.weights) held.shapes_.push_back({w.dtype, w.n_rows, w.n_cols});
  INLAY_ASSIGN(held.storage_, DeviceBuffer::allocate(held.layout_.n_bytes(), "device memory for weights"));
  return held;
}

Status DeviceWeights::upload(const Plan& plan, WeightReader& reader, int32_t n_threads, const LoadProgress& progress) {
  return upload_weights({plan, layout_, reader, progress}, storage_.data(), n_threads);
}

PackedMatrix DeviceWeights::matrix(WeightIndex i) const {
  const Shape& s = shapes_[i];
  return {storage_.data() + layout_.offset(i), s.dtype, layout_.is_interleaved(i) ? 2 * s.n_rows : s.n_rows, s.n_cols};
}

QkvRuns DeviceWeights::qkv(const Plan& plan, const Op& attn_in) const {
  QkvRuns out;
  int64_t first_row = 0;
  for (size_t part = slot::q; part <= slot::v;) {
    QkvRun& run = out.runs[out.n++];
    run = {matrix(attn_in.weights[part]), vector(attn_in.weights[part - slot::q + slot::q_bias]), first_row};
    const size_t end = part + joined_parts(plan, attn_in, part);
    while (++part < end) run.matrix.n_rows += shapes_[attn_in.weights[part]].n_rows;
    first_row += run.matrix.n_rows;
  }
  return out;
}

}  // namespace inlay
