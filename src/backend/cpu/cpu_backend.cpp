#include "src/backend/cpu/cpu_backend.h"

#include <string>

#include "src/backend/cpu/executor.h"

namespace inlay {
namespace {

Status check_isa(cpu::Isa isa) {
  if (cpu::supported(isa)) return {};
  return error(Code::unsupported, "this processor does not run the kernels of instruction set %d", static_cast<int>(isa));
}

}  // namespace

MemoryNeeds cpu_memory_needs(const Plan& plan, const BackendConfig& config, cpu::Isa isa) {
  const cpu::Kernels& kernels = cpu::kernels(isa);
  MemoryNeeds needs;
  needs.weights = PackedWeights::bytes(plan, kernels);
  needs.kv = CpuExecutor::kv_memory_of(plan, config, kernels).bytes();
  needs.workspace = HostActivations::bytes(plan.spec, config) + LogitSlots::bytes(plan.spec.n_vocab, config.n_logit_slots) +
                    CpuExecutor::prepared_bytes(plan, config, kernels) + CpuExecutor::expert_row_bytes(plan, config, kernels) +
                    CpuExecutor::attention_scratch_bytes(plan, config, kernels) +
                    CpuExecutor::attention_workspace_bytes(config, kernels);
  return needs;
}

Result<std::unique_ptr<Backend>> make_cpu_backend(Plan plan, WeightReader& reader, const BackendConfig& config,
                                                  const LoadProgress& progress, cpu::Isa isa) {
  INLAY_TRY(check_isa(isa));
  auto executor = std::make_unique<CpuExecutor>(std::move(plan), config, cpu::kernels(isa));
  INLAY_TRY(executor->load(reader, progress));
  return std::unique_ptr<Backend>(std::move(executor));
}

}  // namespace inlay
