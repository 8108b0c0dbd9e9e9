#include "src/backend/cuda/device_weights.h"

#include <algorithm>
#include <cstring>

#include "src/backend/cuda/context.h"
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

Result<bool> DeviceWeights::make_f16(const Plan& uploaded) {
  constexpr float kMostLoss = 1e-10f;  // of the squares
  struct Region {
    std::byte* at;
    int64_t n_rows, n_cols;
  };
  std::vector<Region> regions;
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (uploaded.weights[i].dtype != DType::bf16 || shapes_[i].dtype != DType::f16) continue;
    const PackedMatrix m = matrix(static_cast<WeightIndex>(i));
    std::byte* const at = storage_.data() + layout_.offset(static_cast<WeightIndex>(i));
    const auto same = std::ranges::find(regions, at, &Region::at);  // a gate and what is interleaved with it
    if (same == regions.end()) {
      regions.push_back({at, m.n_rows, m.n_cols});
    } else {
      same->n_rows = std::max(same->n_rows, m.n_rows);
    }
  }
  if (regions.empty()) return true;
  constexpr const char* kWhat = "making BF16 weights F16";
  constexpr size_t kSums = 4;  // of a region: squares and losses, twice
  INLAY_ASSIGN(const Stream stream, make_stream());
  INLAY_ASSIGN(DeviceBuffer sums, DeviceBuffer::allocate(regions.size() * kSums * sizeof(float), kWhat));
  for (size_t i = 0; i < regions.size(); ++i)
    INLAY_CUDA_TRY(cuda::launch_f16_loss(regions[i].at, regions[i].n_rows, regions[i].n_cols, sums.as<float>() + kSums * i, stream.get()), kWhat);
  std::vector<float> found(regions.size() * kSums);
  INLAY_CUDA_TRY(cudaMemcpyAsync(found.data(), sums.data(), found.size() * sizeof(float), cudaMemcpyDeviceToHost, stream.get()), kWhat);
  INLAY_TRY(wait_for(stream.get(), kWhat));
  for (size_t i = 0; i < found.size(); i += 2) {
    if (!(found[i + 1] <= kMostLoss * found[i])) return false;
  }
  for (const Region& r : regions) INLAY_CUDA_TRY(cuda::launch_bf16_to_f16(r.at, r.n_rows, r.n_cols, stream.get()), kWhat);
  INLAY_TRY(wait_for(stream.get(), kWhat));
  return true;
}

void DeviceWeights::use_types_of(const Plan& plan) {
  for (size_t i = 0; i < shapes_.size(); ++i) shapes_[i].dtype = plan.weights[i].dtype;
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
