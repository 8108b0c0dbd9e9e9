// Brings the weights from their file into device memory: read into page-locked memory, copied, packed on the device,
// all three at once.
#pragma once

#include "src/backend/backend.h"
#include "src/backend/cuda/weight_layout.h"

namespace inlay {

struct WeightSource {
  const Plan& plan;
  const WeightLayout& layout;
  WeightReader& reader;
  const LoadProgress& progress;  // called on this thread, once for the vectors and once for each piece
};

// Device memory that an upload takes while it runs, and page-locked memory of the host.
uint64_t staging_bytes(const Plan& plan, const WeightLayout& layout, int32_t n_threads);

// `storage` has layout.n_bytes() bytes on the current device. All work on the device is done when this returns,
// whatever it returns.
Status upload_weights(const WeightSource& source, std::byte* storage, int32_t n_threads);

}  // namespace inlay
