// Where a model goes: the device, the sizes of cache and steps, and the memory that this takes.
#pragma once

#include <memory>
#include <string>

#include "src/backend/backend.h"
#include "src/backend/cpu/cpu_backend.h"
#include "src/engine/options.h"

namespace inlay {

struct Placement {
  DeviceKind device = DeviceKind::cpu;  // never automatic
  int32_t device_index = 0;
  int32_t prefill_chunk = 0;
  BackendConfig config;
  cpu::Isa isa = cpu::best_isa();  // on the CPU
  MemoryNeeds needs;
  uint64_t prefix_cache_host_bytes = 0;  // whole blocks of it; on a host's device beside these
  std::string remark;  // why `automatic` did not take the faster device; empty if it did
  std::string times;   // LoadTimes::text() of finding it
};

// Whether EngineOptions::prefix_cache_host_bytes means anything for the model.
bool keeps_blocks_on_host(const Plan& plan);

// Tokens of the longest session.
int32_t context_length(const EngineOptions& options, const ModelSpec& spec);

// Names the option that is out of its range or that the device cannot do.
Result<Placement> place(const Plan& plan, const EngineOptions& options);

// OUT_OF_MEMORY or DEVICE_OUT_OF_MEMORY, with the bytes required and available.
Status check_memory(const Placement& placement);

Result<std::unique_ptr<Backend>> make_backend(Plan plan, WeightReader& reader, const Placement& placement, const LoadProgress& progress);

}  // namespace inlay
