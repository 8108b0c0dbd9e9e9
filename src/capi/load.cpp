#include <algorithm>
#include <limits>
#include <utility>

#include "src/base/host_call.h"
#include "src/base/thread_pool.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"
#include "src/engine/convert.h"
#include "src/engine/devices.h"
#include "src/engine/explain.h"
#include "src/engine/requests.h"
#include "src/engine/tuning.h"

namespace inlay::capi {
namespace {

LogSink host_log(inlay_log_fn log, void* user) {
  if (!log) return {};
  return [log, user](LogLevel level, std::string_view text) {
    const std::string line(text);  // for the terminating zero
    call_host([&] { log(user, static_cast<inlay_log_level>(level), line.c_str(), line.size()); });
  };
}

Result<std::string> read_path(const char* path, size_t path_len, const char* what = "path") {
  INLAY_TRY(check_not_null(path, what));
  INLAY_ASSIGN(const std::string_view text, read_text(path, path_len, what));
  if (text.empty()) return error(Code::invalid_argument, "%s is empty", what);
  if (text.find('\0') != std::string_view::npos)
    return error(Code::invalid_argument, "%s has a zero byte inside", what);
  return std::string(text);
}

Result<ConvertType> read_convert_type(inlay_convert_type type) {
  switch (type) {
    case INLAY_CONVERT_DEFAULT:
    case INLAY_CONVERT_F16:
      return ConvertType::f16;
    case INLAY_CONVERT_BF16:
      return ConvertType::bf16;
    case INLAY_CONVERT_F32:
      return ConvertType::f32;
    case INLAY_CONVERT_Q8_0:
      return ConvertType::q8_0;
    case INLAY_CONVERT_Q4_0:
      return ConvertType::q4_0;
    case INLAY_CONVERT_Q4_K_M:
      return ConvertType::q4_k_m;
    case INLAY_CONVERT_Q5_K_M:
      return ConvertType::q5_k_m;
    case INLAY_CONVERT_Q6_K:
      return ConvertType::q6_k;
    case INLAY_WEIGHT_FP8:
      return error(Code::invalid_argument, "params.type is %d (FP8), which no GGUF file can have", type);
    default:
      return error(Code::invalid_argument, "params.type is %d, expected %d, or %d to %d", type, INLAY_CONVERT_DEFAULT,
                   INLAY_CONVERT_Q8_0, INLAY_CONVERT_F32);
  }
}

// The loaded engine as a handle of the caller.
Status hand_over(Result<std::shared_ptr<Engine>> loaded, inlay_engine** out) {
  if (!loaded.ok()) return std::move(loaded).status();
  INLAY_TRY(watch_forks());
  auto handle = std::make_unique<inlay_engine>();
  handle->engine = *std::move(loaded);
  handle->shared = std::make_shared<Shared>();
  *out = handle.release();
  return {};
}

}  // namespace

Status read_load_params(const inlay_load_params* given, EngineOptions& out) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  inlay_load_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_range(params.device, INLAY_DEVICE_AUTO, INLAY_DEVICE_REFERENCE, "params.device"));
  INLAY_TRY(check_range(params.device_index, 0, kMost, "params.device_index"));
  INLAY_TRY(check_range(params.n_context, 0, kMost, "params.n_context"));
  INLAY_TRY(check_range(params.max_sessions, 0, kMaxSessions, "params.max_sessions"));
  INLAY_TRY(check_range(params.n_threads, 0, ThreadPool::kMaxThreads, "params.n_threads"));
  INLAY_TRY(check_range(params.kv_dtype, INLAY_KV_DEFAULT, INLAY_KV_INT8, "params.kv_dtype"));
  INLAY_TRY(check_range(params.prefill_chunk, 0, kMaxPrefillChunk, "params.prefill_chunk"));
  INLAY_TRY(check_range(params.log_level, INLAY_LOG_OFF, INLAY_LOG_DEBUG, "params.log_level"));
  INLAY_TRY(check_range(params.weight_dtype, INLAY_WEIGHT_DEFAULT, INLAY_WEIGHT_Q6_K, "params.weight_dtype"));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  INLAY_TRY(check_flags(params.flags, INLAY_LOAD_NO_CUBLAS | INLAY_LOAD_RUN_AHEAD | INLAY_LOAD_TAKE_PAGES_LATER |
                                          INLAY_LOAD_EXACT_ACTIVATIONS | INLAY_LOAD_NO_PREFIX_CACHE,
                        "params.flags"));
  out.device = static_cast<DeviceKind>(params.device);
  out.device_index = params.device_index;
  out.n_context = params.n_context;
  out.max_sessions = params.max_sessions;
  out.kv_budget_bytes = params.kv_budget_bytes;
  out.prefix_cache_host_bytes = params.prefix_cache_host_bytes;
  switch (params.kv_dtype) {
    case INLAY_KV_F16:
      out.kv_dtype = KvDType::f16;
      break;
    case INLAY_KV_F32:
      out.kv_dtype = KvDType::f32;
      break;
    case INLAY_KV_FP8:
      out.kv_dtype = KvDType::fp8;
      break;
    case INLAY_KV_INT8:
      out.kv_dtype = KvDType::int8;
      break;
    default:
      break;
  }
  INLAY_ASSIGN(out.pre_tokenizer, read_text(params.pre_tokenizer, params.pre_tokenizer_len, "params.pre_tokenizer"));
  INLAY_ASSIGN(const std::string_view tuning, read_text(params.tuning, params.tuning_len, "params.tuning"));
  INLAY_TRY(apply_tuning(tuning, out));
  out.weight_dtype = static_cast<WeightDType>(params.weight_dtype);
  out.n_threads = params.n_threads;
  out.prefill_chunk = params.prefill_chunk;
  if ((params.flags & INLAY_LOAD_NO_CUBLAS) != 0) {
    if (out.allow_cublas && std::ranges::find(out.tuned, "cublas") != out.tuned.end())
      return error(Code::invalid_argument, "params.flags has NO_CUBLAS, but params.tuning has cublas=1");
    out.allow_cublas = false;
  }
  out.run_ahead = (params.flags & INLAY_LOAD_RUN_AHEAD) != 0;
  out.take_pages_later = (params.flags & INLAY_LOAD_TAKE_PAGES_LATER) != 0;
  out.no_prefix_cache = (params.flags & INLAY_LOAD_NO_PREFIX_CACHE) != 0;
  out.exact_activations = (params.flags & INLAY_LOAD_EXACT_ACTIVATIONS) != 0;
  if (params.log_level != INLAY_LOG_DEFAULT) {
    // The engine's levels begin at 1, so that 0 lets nothing through.
    out.log_level = params.log_level == INLAY_LOG_OFF ? LogLevel{0} : static_cast<LogLevel>(params.log_level);
  }
  out.log = host_log(params.log, params.log_user);
  out.progress = host_progress(params.progress, params.progress_user);
  return {};
}

}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_load(const char* path, size_t path_len, const inlay_load_params* params, inlay_engine** engine,
                        inlay_error* err) {
  clear(engine);
  return guarded(err, [&]() -> Status {
    INLAY_TRY(check_not_null(engine, "engine"));
    INLAY_ASSIGN(const std::string file, read_path(path, path_len));
    EngineOptions options;
    INLAY_TRY(read_load_params(params, options));
    return hand_over(Engine::load(file, options), engine);
  });
}

inlay_status inlay_load_memory(const void* data, size_t n_bytes, const inlay_load_params* params, inlay_engine** engine,
                               inlay_error* err) {
  clear(engine);
  return guarded(err, [&]() -> Status {
    INLAY_TRY(check_not_null(engine, "engine"));
    INLAY_TRY(check_not_null(data, "data"));
    EngineOptions options;
    INLAY_TRY(read_load_params(params, options));
    const std::span bytes(static_cast<const std::byte*>(data), n_bytes);
    return hand_over(Engine::load(borrow_memory(bytes, "the model in memory"), options), engine);
  });
}

inlay_status inlay_load_reader(const inlay_reader* reader, const inlay_load_params* params, inlay_engine** engine,
                               inlay_error* err) {
  clear(engine);
  return guarded(err, [&]() -> Status {
    INLAY_TRY(check_not_null(engine, "engine"));
    INLAY_TRY(check_not_null(reader, "reader"));
    inlay_reader source;
    INLAY_TRY(read_struct(reader, "reader", source));
    if (source.reserved != 0) return error(Code::invalid_argument, "reader.reserved is not 0");
    if (source.size == 0) return error(Code::invalid_argument, "reader.size is 0");
    if (!source.read) return error(Code::invalid_argument, "reader.read is NULL");
    EngineOptions options;
    INLAY_TRY(read_load_params(params, options));
    return hand_over(
        Engine::load(read_through(source.read, source.user, source.size, "the model behind the reader"), options),
        engine);
  });
}

inlay_status inlay_memory_plan(const char* path, size_t path_len, const inlay_load_params* params,
                               inlay_memory_info* info, inlay_error* err) {
  return guarded(err, [&]() -> Status {
    INLAY_TRY(check_out_struct(info, "info"));
    INLAY_ASSIGN(const std::string file, read_path(path, path_len));
    EngineOptions options;
    INLAY_TRY(read_load_params(params, options));
    INLAY_ASSIGN(const EngineInfo plan, Engine::plan_memory(file, options));
    INLAY_ASSIGN(const DeviceInfo device, find_device(plan.device, options.device_index));
    inlay_memory_info out = {};
    out.device = static_cast<inlay_device_kind>(plan.device);
    out.n_context = plan.n_context;
    out.max_sessions = plan.max_sessions;
    out.weight_bytes = plan.memory.weights;
    out.kv_bytes = plan.memory.kv;
    out.scratch_bytes = plan.memory.workspace;
    out.total_bytes = plan.memory.total();
    out.available_bytes = device.free_bytes;
    out.weight_dtype = static_cast<inlay_weight_dtype>(plan.weight_dtype);
    out.prefix_cache_host_bytes = plan.prefix_cache_host_bytes;
    write_struct(info, out);
    return {};
  });
}

static_assert(static_cast<int>(WeightDType::fp8) == INLAY_WEIGHT_FP8 &&
              static_cast<int>(WeightDType::q8_0) == INLAY_WEIGHT_Q8_0 &&
              static_cast<int>(WeightDType::q4_0) == INLAY_WEIGHT_Q4_0 &&
              static_cast<int>(WeightDType::q4_k_m) == INLAY_WEIGHT_Q4_K_M &&
              static_cast<int>(WeightDType::q5_k_m) == INLAY_WEIGHT_Q5_K_M &&
              static_cast<int>(WeightDType::q6_k) == INLAY_WEIGHT_Q6_K);

static_assert(INLAY_WEIGHT_Q8_0 == INLAY_CONVERT_Q8_0 && INLAY_WEIGHT_Q4_0 == INLAY_CONVERT_Q4_0 &&
              INLAY_WEIGHT_Q4_K_M == INLAY_CONVERT_Q4_K_M && INLAY_WEIGHT_Q5_K_M == INLAY_CONVERT_Q5_K_M &&
              INLAY_WEIGHT_Q6_K == INLAY_CONVERT_Q6_K);

inlay_status inlay_explain(const char* path, size_t path_len, const inlay_load_params* params, inlay_explain_form form,
                           int32_t* n_devices, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded(err, [&]() -> Status {
    INLAY_ASSIGN(const std::string file, read_path(path, path_len));
    EngineOptions options;
    INLAY_TRY(read_load_params(params, options));
    INLAY_TRY(check_range(form, INLAY_EXPLAIN_TEXT, INLAY_EXPLAIN_JSON, "form"));
    INLAY_ASSIGN(const Explanation explanation, explain(file, options));
    if (n_devices) *n_devices = explanation.n_runs();
    if (form == INLAY_EXPLAIN_JSON) return write_text(explanation_json(explanation), buf, cap, needed);
    return write_lines(explanation_text(explanation), buf, cap, needed);
  });
}

inlay_status inlay_convert(const char* path, size_t path_len, const char* out_path, size_t out_path_len,
                           const inlay_convert_params* params, inlay_error* err) {
  return guarded(err, [&]() -> Status {
    INLAY_ASSIGN(const std::string from, read_path(path, path_len));
    INLAY_ASSIGN(const std::string to, read_path(out_path, out_path_len, "out_path"));
    inlay_convert_params p;
    INLAY_TRY(read_struct(params, "params", p));
    ConvertOptions options;
    INLAY_ASSIGN(options.type, read_convert_type(p.type));
    INLAY_TRY(check_range(p.n_threads, 0, ThreadPool::kMaxThreads, "params.n_threads"));
    if (p.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
    options.n_threads = p.n_threads;
    options.progress = host_progress(p.progress, p.progress_user);
    options.log = host_log(p.log, p.log_user);
    return convert_to_gguf(from, to, options);
  });
}

void inlay_free(inlay_engine* engine) {
  if (!may_be_freed(engine)) return;
  engine->engine->requests().stop();  // calls that are inside leave soon
  free_handle(engine);
}
