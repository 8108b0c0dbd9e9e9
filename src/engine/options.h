// How an engine is loaded and what a session is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/backend/backend.h"
#include "src/constraint/constraint.h"

namespace inlay {

namespace cpu {
enum class Isa : uint8_t;  // kernels/cpu/cpu_kernels.h
}

enum class DeviceKind : int32_t { automatic = 0, cpu = 1, cuda = 2, reference = 3 };
enum class LogLevel : int32_t { error = 1, warning = 2, info = 3, debug = 4 };

// fp8: matrices of F32, F16 and BF16 become F8_E4M3 while they are loaded (Model::hold_as_f8); the others: matrices get the
// types of the recipe of that name (Model::hold_as).
enum class WeightDType : uint8_t { as_stored, fp8, q8_0, q4_0, q4_k_m, q5_k_m, q6_k };

using LogSink = std::function<void(LogLevel level, std::string_view text)>;

struct EngineOptions {
  DeviceKind device = DeviceKind::automatic;
  int32_t device_index = 0;
  int32_t n_context = 0;     // 0: the model's, at most kDefaultContext
  int32_t max_sessions = 0;  // 0: kDefaultSessions
  uint64_t kv_budget_bytes =
      0;  // 0: max_sessions full contexts, at most kDefaultKvBudget but one full context at least
  uint64_t prefix_cache_host_bytes = 0;  // of the host's memory, for kept blocks whose room in the pool is wanted
  std::optional<KvDType> kv_dtype;  // none: the device's own: F16, on the reference interpreter F32
  WeightDType weight_dtype = WeightDType::as_stored;
  int32_t n_threads = 0;           // 0: all cores
  int32_t prefill_chunk = 0;       // tokens of a prompt per execution; 0: default_prefill_chunk
  bool allow_token_kernel = true;  // cuda: as in BackendConfig
  bool allow_cublas = true;        // cuda: as in BackendConfig
  bool allow_mixed_gemm = true;    // cuda: as in BackendConfig
  bool always_group_rows = false;  // cuda: as in BackendConfig
  bool run_ahead = false;          // as in BackendConfig
  bool no_prefix_cache = false;    // requests compute all of their prompts
  bool take_pages_later = false;   // cpu: as in BackendConfig
  bool exact_activations = false;  // cpu: as in BackendConfig
  std::optional<cpu::Isa> isa;     // cpu: which kernels; none: those of the widest instructions
  std::vector<std::string> tuned;  // keys of `tuning` that were given
  std::string pre_tokenizer;       // instead of the file's tokenizer.ggml.pre; empty: that
  LogLevel log_level = LogLevel::info;
  LogSink log;  // called on the thread of the call that logs
  LoadProgress progress;
};

inline constexpr int32_t kDefaultContext = 4096;
inline constexpr int32_t kDefaultSessions = 8;
inline constexpr uint64_t kDefaultKvBudget = uint64_t{2} << 30;
// Longer on a GPU: each chunk expands the quantized weights anew (docs/design/prefill-products.md).
// causal: else a text is run as a whole, and has to have room in a step.
constexpr int32_t default_prefill_chunk(DeviceKind device, bool causal) { return !causal ? 2048 : device == DeviceKind::cuda ? 1024 : 512; }
inline constexpr int32_t kMaxSessions = 1024;
inline constexpr int32_t kMaxPrefillChunk = 4096;

struct SessionOptions {
  SamplerParams sampler;
  uint64_t stream = 0;     // with the seed: sessions of equal seed and stream draw equal numbers
  int32_t max_tokens = 0;  // drawn tokens after which the sequence ends; 0: no limit but the context
  bool ignore_end_of_generation = false;
  bool reserve = false;  // a prefill takes the KV blocks of max_tokens, too
  bool for_requests = false;  // requests alone run on it; of a session, not of a request
  std::vector<int32_t> stop_tokens;  // end the generation when drawn; at most kMaxStopTokens
  std::vector<std::string> stops;    // texts that end it, when the session is made
  std::shared_ptr<const constraint::Constraint> constraint = {};  // what each generation may write
};

inline constexpr size_t kMaxStopTokens = 1024;
// INVALID_ARGUMENT where there are too many, or one is no token of the vocabulary.
Status validate_stop_tokens(std::span<const int32_t> tokens, int32_t n_vocab);

}  // namespace inlay
