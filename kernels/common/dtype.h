// The storage types of weights: one row of a table each. Adding a type starts with a row here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay {

// From q8_0 on codes are integers, or stand for integers in a table of the format.
enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  f8_e4m3,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q4_k,
  q5_k,
  q6_k,
  q2_k,
  q3_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  tq2_0,
  tq1_0,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  iq1_s,
  iq1_m,
  count
};

inline constexpr uint32_t kNotInFiles = UINT32_MAX;  // as DTypeTraits::ggml_type: made while loading

struct DTypeTraits {
  const char* name;
  uint32_t ggml_type;       // number in GGUF files
  uint32_t block_elements;  // consecutive elements of a row that share one block
  uint32_t block_bytes;
};

inline constexpr DTypeTraits kDTypeTable[] = {
    {"F32", 0, 1, 4},        {"F16", 1, 1, 2},       {"BF16", 30, 1, 2},       {"F8_E4M3", kNotInFiles, 32, 34},
    {"Q8_0", 8, 32, 34},     {"Q4_0", 2, 32, 18},    {"Q4_1", 3, 32, 20},      {"Q5_0", 6, 32, 22},
    {"Q5_1", 7, 32, 24},     {"Q4_K", 12, 256, 144}, {"Q5_K", 13, 256, 176},   {"Q6_K", 14, 256, 210},
    {"Q2_K", 10, 256, 84},   {"Q3_K", 11, 256, 110}, {"IQ4_NL", 20, 32, 18},   {"IQ4_XS", 23, 256, 136},
    {"MXFP4", 39, 32, 17},   {"TQ2_0", 35, 256, 66}, {"TQ1_0", 34, 256, 54},   {"IQ2_XXS", 16, 256, 66},
    {"IQ2_XS", 17, 256, 74}, {"IQ2_S", 22, 256, 82}, {"IQ3_XXS", 18, 256, 98}, {"IQ3_S", 21, 256, 110},
    {"IQ1_S", 19, 256, 50},  {"IQ1_M", 29, 256, 56},
};
static_assert(sizeof(kDTypeTable) / sizeof(kDTypeTable[0]) == static_cast<size_t>(DType::count));

constexpr const DTypeTraits& traits(DType t) { return kDTypeTable[static_cast<size_t>(t)]; }
constexpr bool is_quantized(DType t) { return traits(t).block_elements > 1; }

// Bytes of one row; n_cols must be a multiple of the block (checked where files are read).
constexpr uint64_t row_bytes(DType t, uint64_t n_cols) {
  return n_cols / traits(t).block_elements * traits(t).block_bytes;
}

}  // namespace inlay
