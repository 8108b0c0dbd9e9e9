// Packed weights, one layout for repack, embed and linear. Loss-free: every value of the file comes out bit for bit.
//
// value = d * sc * (code - offset)             Q8_0, Q4_0, Q5_0, TQ2_0 (sc = 1), Q6_K, Q3_K
// value = d * sc * code + m  or  - dmin * mn   Q4_1, Q5_1 (sc = 1) or Q4_K, Q5_K, Q2_K
// value = d * E4M3 that the code is            F8_E4M3, otherwise as Q8_0
// value = 2^e * E2M1 that the code is          MXFP4
// value = d * sc * unit * table[code]          IQ4_NL (sc = 1), IQ4_XS, IQ3_XXS, IQ3_S, IQ2_S, IQ1_M (code_table)
//
// Others take one of these forms (packed_form): TQ1_0, whose digits become codes of TQ2_0; IQ2_XXS and IQ2_XS, which
// share the levels of IQ2_S; IQ1_S. What IQ types look up, 8 or 4 columns at a time, is expanded to a code for each
// column: signed levels, of which IQ2 and IQ1 have six (3 bits), IQ3 sixteen (4 bits).
//
// A matrix is a sequence of tiles of 16 rows (zeros beyond the last row), columns padded with zeros to units of 64.
//
// F16, BF16, F32: a tile is its 16 rows one after another, so the matrix is row-major with padded rows.
//
// Quantized: a tile is a sequence of chunks of 256 columns, the last one perhaps of fewer units. A chunk is what one
// warp copies and multiplies at a time; its parts, for row pairs (g, g + 8):
//
//   scales    8 pairs x groups x 2 rows: FP16 d, or one byte: sc (Q4_K, Q5_K; the others that have a d for 256 columns:
//             signed), sc in the low nibble and mn in the high one (Q2_K), exponent e + 128 (MXFP4)
//   minimums  32 lanes 4 g + t x {group t, row g; t, g + 8; t + 4, g; t + 4, g + 8}: bytes mn (Q4_K, Q5_K), FP16 m
//             (Q4_1, Q5_1)
//   supers    types with a d for 256 columns: 8 pairs x 2 FP16 d [, 2 FP16 dmin]
//   codes     units x (16 rows x 64 columns in the order of the A fragments of mma.m16n8k16, codes.cuh)
#pragma once

#include <cuda_fp16.h>

#include "kernels/common/quant_blocks.h"
#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

enum class CodeKind : uint8_t { integer, table, e4m3, e2m1 };

struct Format {
  int low_bits, high_bits, offset;  // table: the offset is what the table's entries are stored with
  int group_cols;                   // columns that share a scale
  bool minimum, super;
  CodeKind kind = CodeKind::integer;
  float unit = 1.0f;  // a power of two
};

__host__ __device__ constexpr Format format_of(DType type) {
  switch (type) {
    case DType::f32:
      return {32, 0, 0, 64, false, false};
    case DType::f8_e4m3:
      return {8, 0, 0, 32, false, false, CodeKind::e4m3};
    case DType::q8_0:
      return {8, 0, 128, 32, false, false};
    case DType::q4_0:
      return {4, 0, 8, 32, false, false};
    case DType::q4_1:
      return {4, 0, 0, 32, true, false};
    case DType::q5_0:
      return {4, 1, 16, 32, false, false};
    case DType::q5_1:
      return {4, 1, 0, 32, true, false};
    case DType::q4_k:
      return {4, 0, 0, 32, true, true};
    case DType::q5_k:
      return {4, 1, 0, 32, true, true};
    case DType::q6_k:
      return {4, 2, 32, 16, false, true};
    case DType::q2_k:
      return {2, 0, 0, 16, true, true};
    case DType::q3_k:
      return {3, 0, 4, 16, false, true};
    case DType::tq2_0:
      return {2, 0, 1, 32, false, false};
    case DType::mxfp4:
      return {4, 0, 0, 32, false, false, CodeKind::e2m1};
    case DType::iq4_nl:
      return {4, 0, 127, 32, false, false, CodeKind::table};
    case DType::iq4_xs:
      return {4, 0, 127, 32, false, true, CodeKind::table};
    case DType::iq3_xxs:
      return {4, 0, 62, 32, false, true, CodeKind::table, 0.25f};
    case DType::iq3_s:
      return {4, 0, 15, 32, false, true, CodeKind::table};
    case DType::iq2_s:
      return {3, 0, 43, 16, false, true, CodeKind::table, 0.125f};
    case DType::iq1_m:
      return {3, 0, 9, 16, false, true, CodeKind::table, 0.125f};
    default:
      return {16, 0, 0, 64, false, false};  // f16, bf16
  }
}

// What a code stands for, plus the offset: no entry is negative. Words, so that entries are chosen by byte_perm.
struct CodeTable {
  uint32_t words[4];
  __host__ __device__ constexpr uint32_t entry(int code) const { return words[code / 4] >> (8 * (code % 4)) & 255; }
};

template <size_t n>
__host__ __device__ constexpr CodeTable table_of_values(const int8_t (&values)[n], int offset) {
  CodeTable table = {};
  for (size_t i = 0; i < n; ++i) table.words[i / 4] |= static_cast<uint32_t>(values[i] + offset) << (8 * (i % 4));
  return table;
}

// Entries are magnitudes of both signs, in ascending order.
template <size_t n>
__host__ __device__ constexpr CodeTable table_of_levels(const int8_t (&levels)[n], int offset) {
  int8_t values[2 * n] = {};
  for (size_t i = 0; i < n; ++i) {
    values[n + i] = levels[i];
    values[n - 1 - i] = static_cast<int8_t>(-levels[i]);
  }
  return table_of_values(values, offset);
}

__host__ __device__ constexpr CodeTable code_table(DType type) {
  const int offset = format_of(type).offset;
  switch (type) {
    case DType::iq4_nl:
    case DType::iq4_xs:
      return table_of_values(kIq4Values, offset);
    case DType::iq3_xxs:
      return table_of_levels({4, 12, 20, 28, 36, 44, 52, 62}, offset);
    case DType::iq3_s:
      return table_of_levels({1, 3, 5, 7, 9, 11, 13, 15}, offset);
    case DType::iq2_s:
      return table_of_levels({8, 25, 43}, offset);
    case DType::iq1_m:
      return table_of_levels({1, 7, 9}, offset);
    default:
      return {};
  }
}

__host__ __device__ constexpr int64_t units_of(int64_t n_cols) { return (n_cols + kUnitCols - 1) / kUnitCols; }

inline constexpr int kChunkCols = 256;  // of quantized types, and of the scales of activations
inline constexpr int kChunkUnits = kChunkCols / kUnitCols;

template <DType kType>
struct Layout {
  static constexpr Format kFormat = format_of(kType);
  static constexpr bool kScaled = kFormat.low_bits < 16;
  static constexpr ActivationForm kForm = activation_form(kType);  // of x
  static constexpr bool kPlanes = kForm == ActivationForm::planes;
  static constexpr bool kBySteps = kPlanes || kFormat.group_cols == 16;  // how columns lie in a unit: codes.cuh
  static constexpr int kElementBytes = kFormat.low_bits / 8;             // of the types that are not scaled
  static constexpr int kGroups = kChunkCols / kFormat.group_cols;
  static constexpr int kLowBytes = kTileRows * kUnitCols * kFormat.low_bits / 8;
  static constexpr int kUnitBytes = kLowBytes + 128 * kFormat.high_bits;
  static constexpr bool kNibbleScales = kFormat.minimum && kFormat.group_cols == 16;  // a byte holds sc and mn
  static constexpr bool kByteScales = kFormat.super || kFormat.kind == CodeKind::e2m1;
  static constexpr int kPairScaleBytes = !kScaled ? 0 : kByteScales ? 2 * kGroups : 4 * kGroups;
  static constexpr int kLaneMinimumBytes = !kFormat.minimum || kNibbleScales ? 0 : kFormat.super ? 4 : 8;
  static constexpr int kPairSuperBytes = !kFormat.super ? 0 : kFormat.minimum ? 8 : 4;
  static constexpr int kMinimumsAt = 8 * kPairScaleBytes;
  static constexpr int kSupersAt = kMinimumsAt + 32 * kLaneMinimumBytes;
  static constexpr int kCodesAt = kSupersAt + 8 * kPairSuperBytes;
  static constexpr int kChunkBytes = kCodesAt + kChunkUnits * kUnitBytes;  // of a whole chunk

  // Of a tile; tiles follow one another without gaps. Multiples of 128, so that every vector is aligned.
  __host__ __device__ static int64_t tile_bytes(int64_t n_units) {
    if (!kScaled) return n_units * kUnitBytes;
    const int64_t n_chunks = (n_units + kChunkUnits - 1) / kChunkUnits;
    return (n_chunks * kCodesAt + n_units * kUnitBytes + 127) / 128 * 128;
  }
};

// A type as a type: tag::kType.
template <DType type>
struct TypeTag {
  static constexpr DType kType = type;
};

// Calls call(tag) for a type known at run time: one that has kernels, or with kForms one that is its own packed form.
// `otherwise` for any other value.
template <bool kForms, int kIndex = 0, class Result, class Call>
Result choose_type(DType type, Result otherwise, const Call& call) {
  if constexpr (kIndex == static_cast<int>(DType::count)) {
    return otherwise;
  } else {
    constexpr DType kType = static_cast<DType>(kIndex);
    if constexpr (kForms ? packed_form(kType) == kType : has_kernels(kType)) {
      if (type == kType) return call(TypeTag<kType>{});
    }
    return choose_type<kForms, kIndex + 1>(type, otherwise, call);
  }
}
// Of a file's type.
template <class Result, class Call>
Result with_type(DType type, Result otherwise, const Call& call) {
  return choose_type<false>(type, otherwise, call);
}
// Of the form in which weights of a type lie in device memory.
template <class Result, class Call>
Result with_form(DType type, Result otherwise, const Call& call) {
  return choose_type<true>(packed_form(type), otherwise, call);
}

// Where the minimum of a group stands among the minimums of a chunk.
__host__ __device__ constexpr int minimum_at(int group, int row) {
  return 4 * (4 * (row % 8) + group % 4) + 2 * (group / 4) + row / 8;
}

}  // namespace inlay::cuda
