// Speeds that no memory can give: a step that reads its bytes faster than the device reads computed nothing, or not
// all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "include/capi/inlay.h"

namespace inlay::cli {

struct MemoryLimits {
  double bytes_per_second = 0;  // as a plain read of a large buffer was measured; 0: unknown, nothing is impossible
  double tolerance = 1;         // as many times faster may still be
  uint64_t cache_bytes = 0;     // of the last level
};

// Whether a step of so many bytes cannot have taken so little time. Steps of up to four times the cache are not judged:
// part of their bytes comes from there.
bool is_impossible(uint64_t n_bytes, double seconds, const MemoryLimits& limits);

// What the table of a profile by kinds says of a decode step.
struct StepFacts {
  uint64_t n_bytes = 0;
  double bytes_per_second = 0;  // of the memory
};
// False if the text is no such table.
bool read_step_facts(std::string_view table, StepFacts& facts);

// Bytes of the last level of cache: of all the processor's, or at least as many as GPUs have.
uint64_t last_level_cache(inlay_device_kind device);

}  // namespace inlay::cli
