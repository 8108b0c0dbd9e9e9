// Packed weights, one layout for repack, embed and linear. Loss-free: every code and every scale of the file is there.
//
// value = d * sc * (code - offset)             Q8_0, Q4_0, Q5_0 (sc = 1), Q6_K
// value = d * E4M3 that the code is            F8_E4M3, otherwise as Q8_0
// value = d * sc * code + m  or  - dmin * mn   Q4_1, Q5_1 (sc = 1) or Q4_K, Q5_K
//
// A matrix is a sequence of tiles of 16 rows (zeros beyond the last row), columns padded with zeros to units of 64.
//
// F16, BF16, F32: a tile is its 16 rows one after another, so the matrix is row-major with padded rows.
//
// Quantized: a tile is a sequence of chunks of 256 columns, the last one perhaps of fewer units. A chunk is what one
// warp copies and multiplies at a time; its parts, for row pairs (g, g + 8):
//
//   scales    8 pairs x groups x 2 rows: FP16 d, or one byte sc (Q4_K, Q5_K, and Q6_K: signed)
//   minimums  32 lanes 4 g + t x {group t, row g; t, g + 8; t + 4, g; t + 4, g + 8}: bytes mn (Q4_K, Q5_K), FP16 m
//   (Q4_1, Q5_1) supers    K types: 8 pairs x 2 FP16 d [, 2 FP16 dmin] codes     units x (16 rows x 64 columns in the
//   order of the A fragments of mma.m16n8k16): a lane finds its part of a
//             unit in vectors of 16 bytes, vector j of all lanes before vector j + 1
//
// Four k-steps s of 16 columns make a unit. Fragment register i (0..3) of lane 4 g + t holds two columns of row
// g + 8 * (i & 1). Which columns stand at which k is free as long as both operands agree; they are chosen so that a
// lane reads its activations in one piece:
//   groups of 32:  column 32 * (s / 2) + 8 t + 4 * (s % 2) + 2 * (i / 2) + half    (16 bytes of FP16 for two k-steps)
//   groups of 16:  column 16 s + 4 t + 2 * (i / 2) + half                          (8 bytes a k-step)
//
// Codes of a lane:
//   4 low bits   word s of the one vector; register i at bit 4 i (half 0) and 16 + 4 i (half 1)
//   + 1 high bit   a word a lane after the vectors; pair p = 4 s + i at bit p and 16 + p
//   + 2 high bits  two words a lane; word s / 2, pair p = 4 * (s % 2) + i at bit 2 p and 16 + 2 p
//   8 bits       vector s / 2, byte 8 * (s % 2) + 2 i + half
#pragma once

#include <cuda_fp16.h>

#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

struct Format {
  int low_bits, high_bits, offset;
  int group_cols;  // columns that share a scale
  bool minimum, super;
  bool e4m3 = false;
};

__host__ __device__ constexpr Format format_of(DType type) {
  switch (type) {
    case DType::f32:
      return {32, 0, 0, 64, false, false};
    case DType::f8_e4m3:
      return {8, 0, 0, 32, false, false, true};
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
    default:
      return {16, 0, 0, 64, false, false};  // f16, bf16
  }
}

__host__ __device__ constexpr int64_t units_of(int64_t n_cols) { return (n_cols + kUnitCols - 1) / kUnitCols; }

inline constexpr int kChunkCols = 256;  // of quantized types, and of the scales of activations
inline constexpr int kChunkUnits = kChunkCols / kUnitCols;

template <DType kType>
struct Layout {
  static constexpr Format kFormat = format_of(kType);
  static constexpr bool kScaled = kFormat.low_bits < 16;
  static constexpr int kElementBytes = kFormat.low_bits / 8;  // of the types that are not scaled
  static constexpr int kVectors = kFormat.low_bits / 4;       // of 16 bytes a lane
  static constexpr int kGroups = kChunkCols / kFormat.group_cols;
  static constexpr int kLowBytes = kTileRows * kUnitCols * kFormat.low_bits / 8;
  static constexpr int kUnitBytes = kLowBytes + 128 * kFormat.high_bits;
  static constexpr int kPairScaleBytes = !kScaled ? 0 : kFormat.super ? 2 * kGroups : 4 * kGroups;
  static constexpr int kLaneMinimumBytes = !kFormat.minimum ? 0 : kFormat.super ? 4 : 8;
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

// Calls call(std::integral_constant-like tag with ::kType) for a type known at run time.
template <DType type>
struct TypeTag {
  static constexpr DType kType = type;
};
#pragma nv_exec_check_disable  // host code calls host code, device code device code
template <class Call>
__host__ __device__ __forceinline__ auto with_type(DType type, Call&& call) {
  switch (type) {
    case DType::f16:
      return call(TypeTag<DType::f16>{});
    case DType::bf16:
      return call(TypeTag<DType::bf16>{});
    case DType::f8_e4m3:
      return call(TypeTag<DType::f8_e4m3>{});
    case DType::q8_0:
      return call(TypeTag<DType::q8_0>{});
    case DType::q4_0:
      return call(TypeTag<DType::q4_0>{});
    case DType::q4_1:
      return call(TypeTag<DType::q4_1>{});
    case DType::q5_0:
      return call(TypeTag<DType::q5_0>{});
    case DType::q5_1:
      return call(TypeTag<DType::q5_1>{});
    case DType::q4_k:
      return call(TypeTag<DType::q4_k>{});
    case DType::q5_k:
      return call(TypeTag<DType::q5_k>{});
    case DType::q6_k:
      return call(TypeTag<DType::q6_k>{});
    default:
      return call(TypeTag<DType::f32>{});
  }
}

// Where a code of a unit lies: lane, k-step, fragment register, half of it.
struct CodePlace {
  int lane, step, reg, half;
};

template <DType kType>
__device__ __forceinline__ CodePlace place_of(int row, int col) {
  const int g = row % 8, upper = row / 8;
  if constexpr (Layout<kType>::kFormat.group_cols == 16) {
    return {4 * g + col % 16 / 4, col / 16, upper + 2 * (col % 4 / 2), col % 2};
  } else {
    const int e = col % 8;
    return {4 * g + col % 32 / 8, 2 * (col / 32) + e / 4, upper + 2 * (e % 4 / 2), col % 2};
  }
}

__device__ __forceinline__ int row_of(int lane, int reg) { return lane / 4 + 8 * (reg & 1); }

template <DType kType>
__device__ __forceinline__ int col_of(int lane, int step, int reg, int half) {
  const int t = lane % 4, in_pair = 2 * (reg / 2) + half;
  if constexpr (Layout<kType>::kFormat.group_cols == 16) {
    return 16 * step + 4 * t + in_pair;
  } else {
    return 32 * (step / 2) + 8 * t + 4 * (step % 2) + in_pair;
  }
}

// The unsigned code of an element of a quantized unit.
template <DType kType>
__device__ __forceinline__ uint32_t code_of(const uint8_t* unit, int row, int col) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  const CodePlace p = place_of<kType>(row, col);
  if constexpr (kFormat.low_bits == 8) {
    return unit[p.step / 2 * 512 + p.lane * 16 + p.step % 2 * 8 + p.reg * 2 + p.half];
  } else {
    uint32_t code =
        *reinterpret_cast<const uint32_t*>(unit + p.lane * 16 + p.step * 4) >> (4 * p.reg + 16 * p.half) & 15;
    const auto* high = reinterpret_cast<const uint32_t*>(unit + L::kLowBytes + p.lane * 4 * kFormat.high_bits);
    if constexpr (kFormat.high_bits == 1) code |= (high[0] >> (4 * p.step + p.reg + 16 * p.half) & 1) << 4;
    if constexpr (kFormat.high_bits == 2) {
      code |= (high[p.step / 2] >> (2 * (p.step % 2 * 4 + p.reg) + 16 * p.half) & 3) << 4;
    }
    return code;
  }
}

// E4M3 codes as FP16 are their values * 2^-8, subnormals included: the exponent's four bits take the place of FP16's
// lower four. Any architecture does this, where a conversion takes 8.9. Two codes, in bytes 1 and 3 of `codes`.
inline constexpr float kE4m3Unit = 256.0f;
__device__ __forceinline__ uint32_t e4m3_halves(uint32_t codes) {
  return (codes & 0x80008000u) | (codes >> 1 & 0x3f803f80u);
}

// Where the minimum of a group stands among the minimums of a chunk.
__host__ __device__ constexpr int minimum_at(int group, int row) {
  return 4 * (4 * (row % 8) + group % 4) + 2 * (group / 4) + row / 8;
}

template <DType kType>
__device__ __forceinline__ float quantized_element_of(const uint8_t* chunk, int row, int col) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  const int g = row % 8, upper = row / 8, group = col / kFormat.group_cols;
  const uint8_t* unit = chunk + L::kCodesAt + col / kUnitCols * L::kUnitBytes;
  const uint32_t bits = code_of<kType>(unit, row, col % kUnitCols);
  const float code = kFormat.e4m3
                         ? __half2float(__ushort_as_half(static_cast<uint16_t>(e4m3_halves(bits << 8)))) * kE4m3Unit
                         : static_cast<float>(static_cast<int>(bits) - kFormat.offset);
  const uint8_t* scales = chunk + g * L::kPairScaleBytes;
  const uint8_t* minimums = chunk + L::kMinimumsAt;
  if constexpr (kFormat.super) {
    const auto* d = reinterpret_cast<const __half*>(chunk + L::kSupersAt + g * L::kPairSuperBytes);
    if constexpr (kFormat.minimum) {
      const float scale = __fmul_rn(__half2float(d[upper]), static_cast<float>(scales[2 * group + upper]));
      const auto mn = static_cast<float>(minimums[minimum_at(group, row)]);
      return __fsub_rn(__fmul_rn(scale, code), __fmul_rn(__half2float(d[2 + upper]), mn));
    } else {
      const auto sub = static_cast<float>(static_cast<int8_t>(scales[2 * group + upper]));
      return __fmul_rn(__fmul_rn(__half2float(d[upper]), sub), code);
    }
  } else {
    const float product = __fmul_rn(__half2float(reinterpret_cast<const __half*>(scales)[2 * group + upper]), code);
    if constexpr (!kFormat.minimum) return product;
    return __fadd_rn(product, __half2float(reinterpret_cast<const __half*>(minimums)[minimum_at(group, row)]));
  }
}

// One element as a float: the bits that dequantizing the file's block gives (no contraction).
template <DType kType>
__device__ __forceinline__ float element_of(const uint8_t* tile, int64_t n_units, int row, int64_t column) {
  using L = Layout<kType>;
  const int64_t at = row * n_units * kUnitCols + column;
  if constexpr (kType == DType::f32) {
    return reinterpret_cast<const float*>(tile)[at];
  } else if constexpr (kType == DType::bf16) {
    return __uint_as_float(static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(tile)[at]) << 16);
  } else if constexpr (kType == DType::f16) {
    return __half2float(reinterpret_cast<const __half*>(tile)[at]);
  } else {
    const uint8_t* chunk = tile + column / kChunkCols * L::kChunkBytes;
    return quantized_element_of<kType>(chunk, row, static_cast<int>(column % kChunkCols));
  }
}

}  // namespace inlay::cuda
