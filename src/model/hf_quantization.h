// How a Hugging Face folder says that its matrices are quantized: quantization_config of config.json.
#pragma once

#include <cstdint>

#include "src/formats/json.h"

namespace inlay {

enum class HfPacking : uint8_t {
  none,
  fp8,         // E4M3 with scales
  gptq,        // 4 or 8 bits, packed along the inputs
  awq,         // 4 bits, packed along the outputs in an order of their own
  compressed,  // compressed-tensors: the tensors' names tell which of its formats
};

struct HfQuantization {
  HfPacking packing = HfPacking::none;
  int32_t bits = 0;                            // gptq, awq
  int64_t group_size = 0;                      // gptq, awq: inputs that share a scale; 0: all
  bool zeros_less_one = false;                 // gptq: zero points are stored minus one
  int64_t block_rows = 128, block_cols = 128;  // fp8: of scales in two dimensions
};

// Of the whole of config.json. UNSUPPORTED names the key of what is not known.
Result<HfQuantization> read_hf_quantization(const JsonValue& config);

}  // namespace inlay
