// The Plan on the processor: packed weights, SIMD kernels chosen at run time, a thread pool, an FP16 cache.
#pragma once

#include <memory>

#include "kernels/cpu/cpu_kernels.h"
#include "src/backend/backend.h"

namespace inlay {

// isa: which kernels to use, for tests; best_isa() otherwise.
Result<std::unique_ptr<Backend>> make_cpu_backend(Plan plan, WeightReader& reader, const BackendConfig& config,
                                                  const LoadProgress& progress, cpu::Isa isa = cpu::best_isa());
MemoryNeeds cpu_memory_needs(const Plan& plan, const BackendConfig& config, cpu::Isa isa = cpu::best_isa());

}  // namespace inlay
