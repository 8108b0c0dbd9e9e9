// Weights in device memory in the form of the CUDA kernels: matrices packed, gate and up as one, vectors as float.
#pragma once

#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/backend.h"
#include "src/backend/cuda/device.h"

namespace inlay {

class DeviceWeights {
 public:
  // Uploads through two pinned buffers while the file is read; packs on the device.
  static Result<DeviceWeights> load(const Plan& plan, WeightReader& reader, cudaStream_t stream, const LoadProgress& progress);
  static uint64_t bytes(const Plan& plan);
  // Whether the kernels can run this plan; names the weight that they cannot.
  static Status check(const Plan& plan);

  const void* matrix(WeightIndex i) const { return storage_.data() + offsets_[i]; }  // ffn_gate: gate and up as one
  const float* vector(WeightIndex i) const {
    return i == kNoWeight ? nullptr : reinterpret_cast<const float*>(storage_.data() + offsets_[i]);
  }

 private:
  DeviceBuffer storage_;
  std::vector<uint64_t> offsets_;  // by weight index; ffn_up has none of its own
};

}  // namespace inlay
