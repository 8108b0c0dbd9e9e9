// The Plan run by the scalar kernels of kernels/ref on an F32 cache: slow, and what every other backend is compared with.
#pragma once

#include <memory>

#include "src/backend/backend.h"

namespace inlay {

Result<std::unique_ptr<Backend>> make_reference_backend(Plan plan, WeightReader& reader, const BackendConfig& config,
                                                        const LoadProgress& progress);
MemoryNeeds reference_memory_needs(const Plan& plan, const BackendConfig& config);

}  // namespace inlay
