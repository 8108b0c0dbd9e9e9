// A model file brought onto one backend, without the engine around it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "src/backend/cpu/cpu_backend.h"
#if INLAY_HAS_CUDA
#include "src/backend/cuda/cuda_backend.h"
#endif
#include "src/backend/ref/reference_backend.h"
#include "src/model/hf_folder.h"
#include "src/plan/plan.h"
#include "tests/support/needs_gpu.h"

namespace inlay::golden {

enum class Runs : uint8_t { reference, cpu, cuda };

struct Target {
  const char* name;
  Runs on;
  cpu::Isa isa = cpu::Isa::generic;
};

// Shown by a failed test.
inline void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

inline constexpr Target kReference{"reference", Runs::reference};

// Whether the machine has what a target of this build needs: a test that is told no has to skip.
inline bool can_run([[maybe_unused]] Runs on) {
#if INLAY_HAS_CUDA
  return on != Runs::cuda || n_cuda_devices() > 0;
#else
  return true;
#endif
}

// The reference interpreter, each instruction set that this machine runs, and the GPU if the build has CUDA.
inline std::vector<Target> all_targets() {
  std::vector<Target> targets{kReference};
  const Target cpus[] = {{"cpu-generic", Runs::cpu, cpu::Isa::generic}, {"cpu-avx2", Runs::cpu, cpu::Isa::avx2}, {"cpu-avx512", Runs::cpu, cpu::Isa::avx512}};
  for (const Target& t : cpus) {
    if (cpu::supported(t.isa)) targets.push_back(t);
  }
  if (INLAY_HAS_CUDA) targets.push_back({"cuda", Runs::cuda});
  return targets;
}

// Of a test whose parameters are a model and a target.
inline std::string model_on_target(const testing::TestParamInfo<std::tuple<const char*, Target>>& p) {
  std::string name = std::string(std::get<0>(p.param)) + "_" + std::get<1>(p.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// `hold`: what the load option for the weights does to the model.
inline Result<std::unique_ptr<Backend>> load_backend(const std::string& path, const Target& target, BackendConfig config,
                                                     const std::function<void(Model&)>& hold = {}) {
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path));
  INLAY_ASSIGN(Model model, Model::from_checkpoint(checkpoint));
  if (hold) hold(model);
  INLAY_ASSIGN(Plan plan, build_plan(model, config.n_context));
  WeightReader reader(checkpoint, model);
  config.kv_dtype = target.on == Runs::reference ? KvDType::f32 : KvDType::f16;
  if (target.on == Runs::reference) return make_reference_backend(std::move(plan), reader, config, {});
#if INLAY_HAS_CUDA
  if (target.on == Runs::cuda) return make_cuda_backend(std::move(plan), reader, config, 0, {});
#endif
  return make_cpu_backend(std::move(plan), reader, config, {}, target.isa);
}

// The units of a step, all at once.
inline Status run_step(Backend& backend, const StepBatch& batch, std::span<const StepUnit> units, const StepResults& results) {
  INLAY_ASSIGN(const Ticket ticket, backend.begin(batch, units));
  INLAY_TRY(backend.advance(ticket, units.size()));
  return backend.wait(ticket, results);
}

// All ops as one unit.
inline StepUnit whole_step(const Plan& plan) { return {0, static_cast<int32_t>(plan.ops.size()), {}}; }

inline Status run_step(Backend& backend, const StepBatch& batch, std::span<Draw> draws) {
  const StepUnit whole = whole_step(backend.plan());
  return run_step(backend, batch, {&whole, 1}, {.draws = draws});
}

// Logits of every position of one sequence run as a single step, (tokens, n_vocab).
inline Result<std::vector<float>> logits_of(Backend& backend, std::span<const int32_t> tokens) {
  const auto n = static_cast<int32_t>(tokens.size());
  const auto n_vocab = static_cast<size_t>(backend.plan().spec.n_vocab);
  std::vector<int32_t> positions, blocks;
  std::vector<LogitRow> rows;
  for (int32_t i = 0; i < n; ++i) {
    positions.push_back(i);
    rows.push_back({i, i});
  }
  for (size_t group = 0; group < backend.plan().kv.groups.size(); ++group) {
    for (int32_t b = 0; b < kv_blocks_for(n); ++b) blocks.push_back(b);
  }
  const SequenceSlice slice{.first_token = 0, .n_tokens = n, .first_position = 0, .first_block = 0};
  INLAY_TRY(run_step(backend, {tokens, positions, {&slice, 1}, blocks, rows, {}}, {}));
  std::vector<float> out(tokens.size() * n_vocab);
  for (int32_t i = 0; i < n; ++i) {
    INLAY_TRY(backend.copy_logits(i, std::span(out).subspan(static_cast<size_t>(i) * n_vocab, n_vocab)));
  }
  return out;
}

// The same of a model that is loaded for it alone; none after a failure, which is reported.
inline std::vector<float> file_logits(const std::string& path, const Target& target, const std::vector<int32_t>& tokens,
                                      const std::function<void(Model&)>& hold = {}) {
  const auto n = static_cast<int32_t>(tokens.size());
  const BackendConfig config = {
      .n_kv_blocks = 2, .max_step_tokens = n, .max_sequences = 1, .n_logit_slots = n, .n_context = n, .n_threads = 3};
  const auto backend = load_backend(path, target, config, hold);
  EXPECT_TRUE(backend.ok()) << backend.status().message;
  if (!backend.ok()) return {};
  const auto out = logits_of(**backend, tokens);
  EXPECT_TRUE(out.ok()) << out.status().message;
  return out.ok() ? *out : std::vector<float>();
}

}  // namespace inlay::golden
