// Weights in device memory in the form of the CUDA kernels: vectors as float, matrices packed; see weight_layout.h for
// what stands beside what.
#pragma once

#include <array>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/backend.h"
#include "src/backend/cuda/device.h"
#include "src/backend/cuda/weight_layout.h"

namespace inlay {

struct PackedMatrix {
  const void* data;
  DType dtype;
  int64_t n_rows;  // gate and up interleaved: of both; of all experts
  int64_t n_cols;
};

// Adjacent ones of q, k and v that are one matrix.
struct QkvRun {
  PackedMatrix matrix;
  const float* bias;  // (matrix.n_rows) or null
  int64_t first_row;  // of the matrix, among all rows of q, k and v
};

struct QkvRuns {
  std::array<QkvRun, 3> runs;
  size_t n = 0;
  const QkvRun* begin() const { return runs.data(); }
  const QkvRun* end() const { return runs.data() + n; }
};

class DeviceWeights {
 public:
  // Zeros, of which uploading makes the weights. Until then products with them mean nothing, but do no harm.
  static Result<DeviceWeights> allocate(const Plan& plan);
  // Reads, copies and packs with up to n_threads threads at once; a reader that is not concurrent is called on this
  // thread alone.
  Status upload(const Plan& plan, WeightReader& reader, int32_t n_threads, const LoadProgress& progress);
  // The matrices that were BF16 in the plan that was uploaded, and are F16 in that of allocate(), become it; false, and nothing changes: F16 would
  // lose of one of them more than a hundred-thousandth, root mean square.
  Result<bool> make_f16(const Plan& uploaded);
  // What allocate() would have made of it.
  void use_types_of(const Plan& plan);
  static uint64_t bytes(const Plan& plan);
  static uint64_t staging_bytes(const Plan& plan, int32_t n_threads);  // on the device, while uploading

  PackedMatrix matrix(WeightIndex i) const;  // of gate: gate and up as one if they are interleaved
  bool is_interleaved(WeightIndex gate) const { return layout_.is_interleaved(gate); }
  const float* vector(WeightIndex i) const {
    return i == kNoWeight ? nullptr : reinterpret_cast<const float*>(storage_.data() + layout_.offset(i));
  }
  // q, k and v of an attn_in as few matrices as their types allow: one if they are of one type, two if one differs
  // (three if it is k).
  QkvRuns qkv(const Plan& plan, const Op& attn_in) const;

 private:
  struct Shape {
    DType dtype;
    int64_t n_rows, n_cols;
  };

  DeviceBuffer storage_;
  WeightLayout layout_;
  std::vector<Shape> shapes_;  // by weight
};

}  // namespace inlay
