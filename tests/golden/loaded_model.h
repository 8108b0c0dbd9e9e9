// A model file brought onto one backend, without the engine around it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/backend/cpu/cpu_backend.h"
#include "src/backend/ref/reference_backend.h"
#include "src/formats/gguf.h"
#include "src/plan/plan.h"

namespace inlay::golden {

struct Target {
  const char* name;
  bool reference;
  cpu::Isa isa;
};

inline constexpr Target kReference{"reference", true, cpu::Isa::generic};

// The reference interpreter and each instruction set that this machine runs.
inline std::vector<Target> all_targets() {
  std::vector<Target> targets{kReference};
  const Target cpus[] = {{"cpu-generic", false, cpu::Isa::generic}, {"cpu-avx2", false, cpu::Isa::avx2}, {"cpu-avx512", false, cpu::Isa::avx512}};
  for (const Target& t : cpus) {
    if (cpu::supported(t.isa)) targets.push_back(t);
  }
  return targets;
}

inline Result<std::unique_ptr<Backend>> load_backend(const std::string& path, const Target& target, BackendConfig config) {
  INLAY_ASSIGN(const Checkpoint checkpoint, open_gguf(path));
  INLAY_ASSIGN(const Model model, Model::from_checkpoint(checkpoint));
  INLAY_ASSIGN(Plan plan, build_plan(model));
  WeightReader reader(checkpoint, model);
  config.kv_dtype = target.reference ? KvDType::f32 : KvDType::f16;
  if (target.reference) return make_reference_backend(std::move(plan), reader, config, {});
  return make_cpu_backend(std::move(plan), reader, config, {}, target.isa);
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
  for (int32_t b = 0; b * kKvBlockTokens < n; ++b) blocks.push_back(b);
  const SequenceSlice slice{.first_token = 0, .n_tokens = n, .first_position = 0, .first_block = 0};
  INLAY_TRY(backend.execute({tokens, positions, {&slice, 1}, blocks, rows, {}}, {}));
  std::vector<float> out(tokens.size() * n_vocab);
  for (int32_t i = 0; i < n; ++i) {
    INLAY_TRY(backend.copy_logits(i, std::span(out).subspan(static_cast<size_t>(i) * n_vocab, n_vocab)));
  }
  return out;
}

}  // namespace inlay::golden
