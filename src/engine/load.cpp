// From a file to an engine: options settled, model understood, plan built, memory counted, backend filled.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "src/backend/cpu/cpu_backend.h"
#include "src/backend/host_buffers.h"
#include "src/backend/ref/reference_backend.h"
#include "src/engine/engine.h"
#include "src/engine/step_arrays.h"

namespace inlay {
namespace {

struct Settled {
  DeviceKind device = DeviceKind::cpu;
  int32_t prefill_chunk = 0;
  BackendConfig config;
};

Status check_ranges(const EngineOptions& o, const ModelSpec& spec) {
  struct Range {
    const char* name;
    int64_t value, max;
  };
  const Range ranges[] = {{"device_index", o.device_index, 0},
                          {"n_context", o.n_context, spec.n_context_train},
                          {"max_sessions", o.max_sessions, kMaxSessions},
                          {"n_threads", o.n_threads, 1024},
                          {"prefill_chunk", o.prefill_chunk, kMaxPrefillChunk}};
  for (const Range& r : ranges) {
    if (r.value < 0 || r.value > r.max) {
      return error(Code::invalid_argument, "%s is %lld, expected 0 to %lld", r.name, static_cast<long long>(r.value),
                   static_cast<long long>(r.max));
    }
  }
  return {};
}

Result<DeviceKind> settle_device(const EngineOptions& o) {
  switch (o.device) {
    case DeviceKind::automatic:
    case DeviceKind::cpu: return DeviceKind::cpu;
    case DeviceKind::reference: return DeviceKind::reference;
    case DeviceKind::cuda: return error(Code::no_device, "this build has no CUDA backend");
  }
  return error(Code::invalid_argument, "device %d", static_cast<int>(o.device));
}

Result<KvDType> settle_kv_dtype(const EngineOptions& o, DeviceKind device) {
  const KvDType native = device == DeviceKind::reference ? KvDType::f32 : KvDType::f16;
  if (o.kv_dtype.value_or(native) != native) {
    return error(Code::unsupported, "the %s keeps its KV cache in %s", device == DeviceKind::reference ? "reference interpreter" : "CPU",
                 native == KvDType::f32 ? "F32" : "F16");
  }
  return native;
}

// How many KV blocks the budget gives; a full context of one session at least.
Result<int32_t> settle_kv_blocks(const EngineOptions& o, const ModelSpec& spec, const BackendConfig& config) {
  const uint64_t block_bytes = kv_block_bytes(spec, config.kv_dtype) * static_cast<uint64_t>(spec.n_layers);
  const uint64_t per_context = static_cast<uint64_t>((config.n_context + kKvBlockTokens - 1) / kKvBlockTokens);
  uint64_t n_blocks = per_context * static_cast<uint64_t>(config.n_logit_slots);
  if (o.kv_budget_bytes != 0) {
    n_blocks = o.kv_budget_bytes / block_bytes;
    if (n_blocks == 0) {
      Status small = error(Code::invalid_argument, "kv_budget_bytes is %llu, one block of %d tokens takes %llu",
                           static_cast<unsigned long long>(o.kv_budget_bytes), kKvBlockTokens, static_cast<unsigned long long>(block_bytes));
      small.required = block_bytes;
      small.available = o.kv_budget_bytes;
      return small;
    }
  } else {
    n_blocks = std::min(n_blocks, std::max(per_context, kDefaultKvBudget / block_bytes));
  }
  return static_cast<int32_t>(std::min<uint64_t>(n_blocks, INT32_MAX / 2));
}

Result<Settled> settle(const EngineOptions& o, const ModelSpec& spec) {
  INLAY_TRY(check_ranges(o, spec));
  Settled s;
  INLAY_ASSIGN(s.device, settle_device(o));
  INLAY_ASSIGN(s.config.kv_dtype, settle_kv_dtype(o, s.device));
  s.config.n_context = o.n_context ? o.n_context : std::min(spec.n_context_train, kDefaultContext);
  const int32_t max_sessions = o.max_sessions ? o.max_sessions : kDefaultSessions;
  s.prefill_chunk = o.prefill_chunk ? o.prefill_chunk : kDefaultPrefillChunk;
  s.config.max_step_tokens = std::max(std::min(s.prefill_chunk, s.config.n_context), max_sessions);
  s.config.max_sequences = s.config.n_logit_slots = max_sessions;
  s.config.n_threads = o.n_threads ? o.n_threads : static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
  INLAY_ASSIGN(s.config.n_kv_blocks, settle_kv_blocks(o, spec, s.config));
  return s;
}

MemoryNeeds needs_of(const Plan& plan, const Settled& s) {
  return s.device == DeviceKind::reference ? reference_memory_needs(plan, s.config) : cpu_memory_needs(plan, s.config);
}

Result<std::unique_ptr<Backend>> make_backend(Plan plan, WeightReader& reader, const Settled& s, const LoadProgress& progress) {
  if (s.device == DeviceKind::reference) return make_reference_backend(std::move(plan), reader, s.config, progress);
  return make_cpu_backend(std::move(plan), reader, s.config, progress);
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Metadata& metadata, const ModelSpec& spec) {
  INLAY_ASSIGN(std::unique_ptr<Tokenizer> tokenizer, Tokenizer::from_metadata(metadata));
  if (tokenizer && tokenizer->n_tokens() > spec.n_vocab) {
    return error(Code::format, "the tokenizer has %d tokens, the model's vocabulary %d", tokenizer->n_tokens(), spec.n_vocab);
  }
  return tokenizer;
}

EngineInfo make_info(const Model& model, const MemoryNeeds& memory, const Settled& settled) {
  return {.n_params = model.n_params(),
          .memory = memory,
          .n_context = settled.config.n_context,
          .max_sessions = settled.config.n_logit_slots,
          .n_threads = settled.config.n_threads,
          .device = settled.device};
}

Status check_memory(const MemoryNeeds& needs) {
  const uint64_t available = available_host_memory();
  if (needs.total() <= available) return {};
  Status s = error(Code::out_of_memory, "loading takes %llu bytes (weights %llu, KV cache %llu, workspace %llu), %llu are available",
                   static_cast<unsigned long long>(needs.total()), static_cast<unsigned long long>(needs.weights),
                   static_cast<unsigned long long>(needs.kv), static_cast<unsigned long long>(needs.workspace),
                   static_cast<unsigned long long>(available));
  s.required = needs.total();
  s.available = available;
  return s;
}

}  // namespace

struct Engine::Parts {
  std::unique_ptr<Log> log;
  Metadata metadata;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  EngineInfo info;
  int32_t prefill_chunk;
};

Engine::Engine(Parts parts)
    : log_(std::move(parts.log)),
      metadata_(std::move(parts.metadata)),
      tokenizer_(std::move(parts.tokenizer)),
      backend_(std::move(parts.backend)),
      info_(parts.info),
      prefill_chunk_(parts.prefill_chunk),
      pool_(backend_->config().n_kv_blocks),
      arrays_(std::make_unique<StepArrays>(backend_->config())) {
  for (int32_t slot = info_.max_sessions - 1; slot >= 0; --slot) free_slots_.push_back(slot);
}

Engine::~Engine() = default;

Result<std::shared_ptr<Engine>> Engine::load(const std::string& path, const EngineOptions& options) {
  return assemble(open_gguf(path), options);
}

Result<std::shared_ptr<Engine>> Engine::load(std::unique_ptr<ByteSource> source, const EngineOptions& options) {
  return assemble(read_gguf(std::move(source)), options);
}

Result<EngineInfo> Engine::plan_memory(const std::string& path, const EngineOptions& options) {
  INLAY_ASSIGN(const Checkpoint checkpoint, open_gguf(path));
  INLAY_ASSIGN(const Model model, Model::from_checkpoint(checkpoint));
  INLAY_ASSIGN(const Plan plan, build_plan(model));
  INLAY_ASSIGN(const Settled settled, settle(options, plan.spec));
  return make_info(model, needs_of(plan, settled), settled);
}

Result<std::shared_ptr<Engine>> Engine::assemble(Result<Checkpoint> opened, const EngineOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  INLAY_ASSIGN(const Checkpoint checkpoint, std::move(opened));
  INLAY_ASSIGN(const Model model, Model::from_checkpoint(checkpoint));
  INLAY_ASSIGN(Plan plan, build_plan(model));
  INLAY_ASSIGN(const Settled settled, settle(options, plan.spec));
  INLAY_TRY(check_memory(needs_of(plan, settled)));

  Parts parts;
  parts.log = std::make_unique<Log>(options.log_level, options.log);
  INLAY_ASSIGN(parts.tokenizer, load_tokenizer(checkpoint.metadata(), plan.spec));
  WeightReader reader(checkpoint, model);
  INLAY_ASSIGN(parts.backend, make_backend(std::move(plan), reader, settled, options.progress));
  parts.metadata = checkpoint.metadata();
  parts.info = make_info(model, parts.backend->memory(), settled);
  parts.prefill_chunk = std::min(settled.prefill_chunk, settled.config.max_step_tokens);

  const std::shared_ptr<Engine> engine(new Engine(std::move(parts)));
  engine->stats_.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  char line[256];
  const ModelSpec& spec = engine->spec();
  std::snprintf(line, sizeof line, "loaded %s (%s, %.2f billion parameters) on %s, context %d, %d KV blocks of %d tokens, %.2f s",
                spec.name.c_str(), spec.arch.c_str(), static_cast<double>(engine->info_.n_params) * 1e-9,
                engine->backend_->description().c_str(), settled.config.n_context, settled.config.n_kv_blocks, kKvBlockTokens,
                engine->stats_.load_seconds);
  engine->log_->write(LogLevel::info, line);
  return engine;
}

EngineInfo Engine::info() const { return info_; }

EngineStats Engine::stats() const {
  const std::lock_guard lock(mutex_);
  EngineStats s = stats_;
  s.n_sessions = info_.max_sessions - static_cast<int32_t>(free_slots_.size());
  s.n_kv_blocks = pool_.n_blocks();
  s.n_kv_blocks_used = pool_.n_used();
  return s;
}

Result<std::shared_ptr<Session>> Engine::create_session(const SessionOptions& options) {
  INLAY_TRY(validate(options.sampler, spec().n_vocab));
  if (options.max_tokens < 0) return error(Code::invalid_argument, "max_tokens is %d, expected 0 or more", options.max_tokens);
  int32_t slot = -1;
  {
    const std::lock_guard lock(mutex_);
    if (free_slots_.empty()) {
      Status full = error(Code::session_limit, "all %d sessions are in use", info_.max_sessions);
      full.required = static_cast<uint64_t>(info_.max_sessions) + 1;
      full.available = static_cast<uint64_t>(info_.max_sessions);
      return full;
    }
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return std::shared_ptr<Session>(new Session(shared_from_this(), options, slot));
}

void Engine::return_slot(Session& session) {
  const std::lock_guard lock(mutex_);
  release_blocks(session, 0);
  free_slots_.push_back(session.slot_);
}

}  // namespace inlay
