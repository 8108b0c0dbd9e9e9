// Writes a model as a GGUF file with weights of another type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/base/status.h"

namespace inlay {

// The numbers are those of inlay_convert_type in the C API (src/capi asserts it).
enum class ConvertType : uint8_t { f16, bf16, f32, q8_0, q4_0, q4_k_m, q5_k_m, q6_k, count };

struct ConvertOptions {
  ConvertType type = ConvertType::f16;
  int32_t n_threads = 0;  // 0: all cores
  // Bytes of the source that are done, of all; false stops with CANCELLED.
  std::function<bool(uint64_t n_done, uint64_t n_total)> progress;
};

// `from`: a path as open_checkpoint takes; its matrices must be F32, F16 or BF16. Norms and biases become F32. Until
// all is written, `to` is called "TO.partial".
Status convert_to_gguf(const std::string& from, const std::string& to, const ConvertOptions& options);

}  // namespace inlay
