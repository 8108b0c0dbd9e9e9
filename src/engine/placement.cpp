#include "src/engine/placement.h"

#include <algorithm>
#include <thread>

#include "src/backend/cpu/cpu_backend.h"
#include "src/backend/host_buffers.h"
#include "src/backend/ref/reference_backend.h"
#include "src/base/format.h"
#include "src/base/host_limits.h"
#include "src/base/load_times.h"
#include "src/engine/devices.h"
#include "src/engine/tuning.h"
#if INLAY_HAS_CUDA
#include "src/backend/cuda/cuda_backend.h"
#endif

namespace inlay {
namespace {

Status check_ranges(const EngineOptions& o, const ModelSpec& spec) {
  struct Range {
    const char* name;
    int64_t value, max;
  };
  const Range ranges[] = {{"device_index", o.device_index, INT32_MAX},
                          {"n_context", o.n_context, spec.n_context_train},
                          {"max_sessions", o.max_sessions, kMaxSessions},
                          {"n_threads", o.n_threads, 1024},
                          {"prefill_chunk", o.prefill_chunk, kMaxPrefillChunk}};
  if (o.n_context > spec.n_context_train) {
    return error(Code::invalid_argument, "n_context is %d, but the model was trained for contexts of at most %s", o.n_context,
                 counted(static_cast<uint64_t>(spec.n_context_train), "token").c_str());
  }
  for (const Range& r : ranges) {
    if (r.value < 0 || r.value > r.max) {
      return error(Code::invalid_argument, "%s is %lld, expected 0 to %lld", r.name, static_cast<long long>(r.value),
                   static_cast<long long>(r.max));
    }
  }
  return {};
}

const char* name_of(DeviceKind device) {
  switch (device) {
    case DeviceKind::cuda:
      return "CUDA backend";
    case DeviceKind::reference:
      return "reference interpreter";
    default:
      return "CPU";
  }
}

const char* name_of(KvDType type) {
  switch (type) {
    case KvDType::f32:
      return "F32";
    case KvDType::fp8:
      return "FP8";
    case KvDType::int8:
      return "INT8";
    default:
      return "F16";
  }
}

Result<KvDType> settle_kv_dtype(const EngineOptions& o, DeviceKind device) {
  const KvDType native = device == DeviceKind::reference ? KvDType::f32 : KvDType::f16;
  const KvDType wanted = o.kv_dtype.value_or(native);
  const bool of_gpu = wanted == KvDType::fp8 || wanted == KvDType::int8;
  if (wanted == native || (of_gpu && device == DeviceKind::cuda)) return wanted;
  const char* kept = native == KvDType::f32 ? "F32" : device == DeviceKind::cuda ? "F16, FP8 or INT8" : "F16";
  return error(Code::unsupported, "the %s keeps its KV cache in %s, not in %s", name_of(device), kept, name_of(wanted));
}

// How the blocks of the KV cache are shared out to the groups of layers. A session has as many blocks in a group with a
// window as in one without, or fewer: so the pool of a window is as large as the others, up to what all sessions
// together can have in it, and is never the first to be full.
class KvShares {
 public:
  KvShares(const Plan& plan, const BackendConfig& config, int32_t prefill_chunk)
      : per_context_(static_cast<uint64_t>(kv_blocks_for(config.n_context))),
        n_sessions_(static_cast<uint64_t>(config.max_sequences)) {
    const uint64_t layer_bytes = kv_block_bytes(plan.spec, config.kv_dtype);
    const int32_t step = std::min(prefill_chunk, config.n_context);
    for (const KvGroup& group : plan.kv.groups) {
      const uint64_t of_session =
          group.window == 0 ? kMostBlocks : static_cast<uint64_t>(kv_blocks_of_window(group.window, step));
      groups_.push_back({.most = group.window == 0 ? kMostBlocks : n_sessions_ * std::min(per_context_, of_session),
                         .block_bytes = layer_bytes * static_cast<uint64_t>(group.n_layers)});
    }
  }

  uint64_t all_contexts() const { return per_context_ * n_sessions_; }
  uint64_t one_context() const { return per_context_; }
  // With n blocks for every group that can use so many.
  uint64_t bytes(uint64_t n) const {
    uint64_t sum = 0;
    for (const Group& group : groups_) sum += std::min(n, group.most) * group.block_bytes;
    return sum;
  }
  uint64_t fitting(uint64_t budget) const {
    uint64_t fits = 0, too_many = kMostBlocks + 1;
    while (too_many - fits > 1) {
      const uint64_t middle = fits + (too_many - fits) / 2;
      (bytes(middle) <= budget ? fits : too_many) = middle;
    }
    return fits;
  }
  KvBlockCounts counts(uint64_t n) const {
    std::vector<int32_t> out;
    for (const Group& group : groups_) out.push_back(static_cast<int32_t>(std::min({n, group.most, kMostBlocks})));
    return KvBlockCounts(std::move(out));
  }

 private:
  static constexpr uint64_t kMostBlocks = INT32_MAX / 2;
  struct Group {
    uint64_t most, block_bytes;
  };
  const uint64_t per_context_, n_sessions_;
  std::vector<Group> groups_;
};

// How many KV blocks the budget gives; a full context of one session at least.
Result<KvBlockCounts> settle_kv_blocks(const EngineOptions& o, const Plan& plan, const BackendConfig& config,
                                       int32_t prefill_chunk) {
  const KvShares shares(plan, config, prefill_chunk);
  if (o.kv_budget_bytes == 0) {
    return shares.counts(
        std::min(shares.all_contexts(), std::max(shares.one_context(), shares.fitting(kDefaultKvBudget))));
  }
  const uint64_t n_blocks = shares.fitting(o.kv_budget_bytes);
  if (n_blocks > 0) return shares.counts(n_blocks);
  Status small = error(Code::invalid_argument, "kv_budget_bytes is %llu, but one block of %d tokens takes %llu",
                       static_cast<unsigned long long>(o.kv_budget_bytes), kKvBlockTokens,
                       static_cast<unsigned long long>(shares.bytes(1)));
  small.required = shares.bytes(1);
  small.available = o.kv_budget_bytes;
  return small;
}

// Whole blocks of the budget. Layers with windows keep theirs on the device alone, and a model that writes nothing keeps none: the load's log says so.
Result<uint64_t> settle_host_blocks(const EngineOptions& o, const Plan& plan, const BackendConfig& config, int32_t prefill_chunk) {
  const uint64_t budget = o.prefix_cache_host_bytes;
  if (budget == 0) return 0;
  if (o.no_prefix_cache) {
    return error(Code::invalid_argument, "prefix_cache_host_bytes is %llu, but with NO_PREFIX_CACHE no block is kept", static_cast<unsigned long long>(budget));
  }
  if (!keeps_blocks_on_host(plan)) return 0;
  const uint64_t block = KvShares(plan, config, prefill_chunk).bytes(1);
  if (budget >= block) return budget / block * block;
  Status small = error(Code::invalid_argument, "prefix_cache_host_bytes is %llu, but one block of %d tokens takes %llu", static_cast<unsigned long long>(budget),
                       kKvBlockTokens, static_cast<unsigned long long>(block));
  small.required = block;
  small.available = budget;
  return small;
}

Result<MemoryNeeds> needs_of(const Plan& plan, const Placement& p) {
  switch (p.device) {
    case DeviceKind::reference:
      return reference_memory_needs(plan, p.config);
#if INLAY_HAS_CUDA
    case DeviceKind::cuda:
      return cuda_memory_needs(plan, p.config, p.device_index);
#endif
    default:
      return cpu_memory_needs(plan, p.config, p.isa);
  }
}

Result<Placement> place_on(DeviceKind device, const Plan& plan, const EngineOptions& o, LoadTimes& times) {
  const ModelSpec& spec = plan.spec;
  if (device != DeviceKind::cuda && o.device_index != 0) {
    return error(Code::invalid_argument, "device_index is %d, expected 0: there is one processor", o.device_index);
  }
  if (device == DeviceKind::cpu && o.isa && !cpu::supported(*o.isa)) {
    return error(Code::unsupported, "tuning has isa=%s, but this processor or this build lacks these instructions",
                 std::string(isa_name(*o.isa)).c_str());
  }
  Placement p;
  p.device = device;
  p.device_index = o.device_index;
  if (o.isa) p.isa = *o.isa;
  INLAY_ASSIGN(const DeviceInfo found, find_device(device, o.device_index));
  times.mark("device");  // the first load on a GPU makes its context
  INLAY_ASSIGN(p.config.kv_dtype, settle_kv_dtype(o, device));
  p.config.n_context = context_length(o, spec);
  const int32_t max_sessions = o.max_sessions ? o.max_sessions : kDefaultSessions;
  p.config.max_sequences = max_sessions;
  p.config.n_logit_slots = o.run_ahead ? 2 * max_sessions : max_sessions;
  p.config.run_ahead = o.run_ahead;
  p.config.allow_cublas = o.allow_cublas;
  p.config.allow_token_kernel = o.allow_token_kernel;
  p.config.allow_mixed_gemm = o.allow_mixed_gemm;
  p.config.always_group_rows = o.always_group_rows;
  p.config.take_pages_later = o.take_pages_later;
  p.config.exact_activations = o.exact_activations;
  p.config.n_threads = device == DeviceKind::reference ? 1 : o.n_threads ? o.n_threads : default_threads();
  // A GPU that lacks the memory for chunks of its own default gets shorter ones.
  for (const DeviceKind defaults : {device, DeviceKind::cpu}) {
    p.prefill_chunk = o.prefill_chunk ? o.prefill_chunk : default_prefill_chunk(defaults, plan.spec.causal);
    p.config.max_step_tokens = std::max(std::min(p.prefill_chunk, p.config.n_context), max_sessions);
    INLAY_ASSIGN(p.config.n_kv_blocks, settle_kv_blocks(o, plan, p.config, p.prefill_chunk));
    INLAY_ASSIGN(p.needs, needs_of(plan, p));
    if (p.needs.total() <= found.free_bytes) break;
  }
  INLAY_ASSIGN(p.prefix_cache_host_bytes, settle_host_blocks(o, plan, p.config, p.prefill_chunk));
  times.mark("sizes");  // which depend on whether there is cuBLASLt
  return p;
}

// The GPU if there is one that runs the plan and has the memory, otherwise the processor, with the reason.
Result<Placement> place_automatically(const Plan& plan, const EngineOptions& o, LoadTimes& times) {
  if (const auto gpu = find_device(DeviceKind::cuda, o.device_index); !gpu.ok()) {
    INLAY_ASSIGN(Placement p, place_on(DeviceKind::cpu, plan, o, times));
    if (INLAY_HAS_CUDA) p.remark = "taking the CPU, not a GPU: " + gpu.status().message;
    return p;
  }
  Result<Placement> on_gpu = place_on(DeviceKind::cuda, plan, o, times);
  Status reason = on_gpu.ok() ? check_memory(*on_gpu) : on_gpu.status();
  if (reason.ok()) return on_gpu;
  EngineOptions on_cpu = o;
  on_cpu.device_index = 0;
  INLAY_ASSIGN(Placement p, place_on(DeviceKind::cpu, plan, on_cpu, times));
  p.remark = "taking the CPU, not the GPU: " + reason.message;
  return p;
}

Result<Placement> place(const Plan& plan, const EngineOptions& options, LoadTimes& times) {
  switch (options.device) {
    case DeviceKind::automatic:
    case DeviceKind::cuda: {
#if INLAY_HAS_CUDA
      const std::optional<Thread> opening = open_cublas_ahead(options.allow_cublas);  // beside the start of the device
#endif
      return options.device == DeviceKind::cuda ? place_on(DeviceKind::cuda, plan, options, times)
                                                : place_automatically(plan, options, times);
    }
    case DeviceKind::cpu:
    case DeviceKind::reference:
      return place_on(options.device, plan, options, times);
  }
  return error(Code::invalid_argument, "there is no device of kind %d", static_cast<int>(options.device));
}

}  // namespace

bool keeps_blocks_on_host(const Plan& plan) { return plan.spec.causal && plan.kv.groups.size() == 1 && plan.kv.groups[0].window == 0; }

int32_t context_length(const EngineOptions& o, const ModelSpec& spec) {
  return o.n_context ? o.n_context : std::min(spec.n_context_train, kDefaultContext);
}

Result<Placement> place(const Plan& plan, const EngineOptions& options) {
  INLAY_TRY(check_ranges(options, plan.spec));
  LoadTimes times;
  INLAY_ASSIGN(Placement p, place(plan, options, times));
  p.times = times.text();
  return p;
}

// That blocks of the cache go to, beside what else a host's device takes.
static Status check_host_memory(const Placement& p) {
  if (p.prefix_cache_host_bytes == 0) return {};
  INLAY_ASSIGN(const DeviceInfo host, find_device(DeviceKind::cpu, 0));
  const uint64_t others = p.device == DeviceKind::cuda ? 0 : p.needs.total();
  if (p.prefix_cache_host_bytes <= host.free_bytes - std::min(host.free_bytes, others)) return {};
  Status s = error(Code::out_of_memory, "prefix_cache_host_bytes takes %llu bytes of the host's memory beside %llu of the load, but only %llu are available",
                   static_cast<unsigned long long>(p.prefix_cache_host_bytes), static_cast<unsigned long long>(others),
                   static_cast<unsigned long long>(host.free_bytes));
  s.required = p.prefix_cache_host_bytes + others;
  s.available = host.free_bytes;
  return s;
}

Status check_memory(const Placement& p) {
  INLAY_ASSIGN(const DeviceInfo device, find_device(p.device, p.device_index));
  if (p.needs.total() <= device.free_bytes) return check_host_memory(p);
  const Code code = p.device == DeviceKind::cuda ? Code::device_out_of_memory : Code::out_of_memory;
  Status s = error(code, "loading takes %llu bytes (weights %llu, KV cache %llu, workspace %llu), but only %llu are available",
                   static_cast<unsigned long long>(p.needs.total()), static_cast<unsigned long long>(p.needs.weights),
                   static_cast<unsigned long long>(p.needs.kv), static_cast<unsigned long long>(p.needs.workspace),
                   static_cast<unsigned long long>(device.free_bytes));
  s.required = p.needs.total();
  s.available = device.free_bytes;
  return s;
}

Result<std::unique_ptr<Backend>> make_backend(Plan plan, WeightReader& reader, const Placement& p,
                                              const LoadProgress& progress) {
  switch (p.device) {
    case DeviceKind::reference:
      return make_reference_backend(std::move(plan), reader, p.config, progress);
#if INLAY_HAS_CUDA
    case DeviceKind::cuda:
      return make_cuda_backend(std::move(plan), reader, p.config, p.device_index, progress);
#endif
    default:
      return make_cpu_backend(std::move(plan), reader, p.config, progress, p.isa);
  }
}

}  // namespace inlay
