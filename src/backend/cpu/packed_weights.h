// Weights in the form of the CPU kernels: matrices packed in tiles, vectors as float.
#pragma once

#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "src/backend/backend.h"
#include "src/base/alloc.h"
#include "src/base/thread_pool.h"

namespace inlay {

class PackedWeights {
 public:
  // Packs with all threads of the pool while the file is read.
  static Result<PackedWeights> load(const Plan& plan, WeightReader& reader, const cpu::Kernels& kernels, ThreadPool& pool,
                                    const LoadProgress& progress);
  static uint64_t bytes(const Plan& plan, const cpu::Kernels& kernels);

  const std::byte* matrix(WeightIndex i) const { return storage_.data() + offsets_[i]; }
  const float* vector(WeightIndex i) const { return i == kNoWeight ? nullptr : storage_.as<float>() + offsets_[i] / sizeof(float); }

 private:
  HostBuffer storage_;
  std::vector<uint64_t> offsets_;  // by weight index
};

}  // namespace inlay
