// Packed weights, one layout for repack, embed and linear. Loss-free: every code and every scale of the file is there.
//
// value = d * sc * (code - offset)             Q8_0, Q4_0, Q5_0 (sc = 1), Q6_K
// value = d * sc * code + m  or  - dmin * mn   Q4_1, Q5_1 (sc = 1) or Q4_K, Q5_K
//
// A matrix is a sequence of tiles of 16 rows (zeros beyond the last row). A tile has three planes, each over the whole
// width, n_units = padded columns / 64:
//
//   codes   n_units x unit   16 rows x 64 columns in the order of the A fragments of mma.m16n8k16: a lane finds its
//   part of
//                            a unit in vectors of 16 bytes, vector j of all lanes before vector j + 1
//   scales  n_units x 8 row pairs (g, g + 8) x 8 or 16 bytes, element 2 * group + (row >= 8):
//             types of 32-column blocks: 4 FP16 d [, 4 FP16 m]; Q4_K, Q5_K: 4 bytes sc, 4 bytes mn; Q6_K: 8 signed
//             bytes
//   supers  K types: n_cols / 256 x 8 row pairs x 2 FP16 d [, 2 FP16 dmin]
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
//   16 bits      vector s, word i
//   F32          16 rows x 64 floats, no fragments
#pragma once

#include <cuda_fp16.h>

#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

struct Format {
  int low_bits, high_bits, offset;
  int group_cols;  // columns that share a scale
  bool minimum, super;
};

__host__ __device__ constexpr Format format_of(DType type) {
  switch (type) {
    case DType::f32:
      return {32, 0, 0, 64, false, false};
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

inline constexpr int kUnitsPerSuper = 256 / kUnitCols;

template <DType kType>
struct Layout {
  static constexpr Format kFormat = format_of(kType);
  static constexpr bool kScaled = kFormat.low_bits < 16;
  static constexpr int kVectors = kFormat.low_bits / 4;  // of 16 bytes a lane
  static constexpr int kGroups = kUnitCols / kFormat.group_cols;
  static constexpr int kStepsPerGroup = 4 / kGroups;
  static constexpr int kLowBytes = kTileRows * kUnitCols * kFormat.low_bits / 8;
  static constexpr int kUnitBytes = kLowBytes + 128 * kFormat.high_bits;
  static constexpr int kScaleWords = !kScaled ? 0 : kFormat.minimum && !kFormat.super ? 4 : 2;  // of a row pair
  static constexpr int kSuperWords = !kFormat.super ? 0 : kFormat.minimum ? 2 : 1;
  static constexpr int kScaleBytes = 32 * kScaleWords;  // of a unit
  static constexpr int kSuperBytes = 32 * kSuperWords;

  __host__ __device__ static int64_t scales_at(int64_t n_units) { return n_units * kUnitBytes; }
  __host__ __device__ static int64_t supers_at(int64_t n_units) { return n_units * (kUnitBytes + kScaleBytes); }
  // Whole cache lines, so that every vector of every tile is aligned.
  __host__ __device__ static int64_t tile_bytes(int64_t n_units) {
    const int64_t supers = (n_units + kUnitsPerSuper - 1) / kUnitsPerSuper;
    return (supers_at(n_units) + supers * kSuperBytes + 127) / 128 * 128;
  }
};

// Calls call(std::integral_constant-like tag with ::kType) for a type known at run time.
template <DType type>
struct TypeTag {
  static constexpr DType kType = type;
};
template <class Call>
auto with_type(DType type, Call&& call) {
  switch (type) {
    case DType::f16:
      return call(TypeTag<DType::f16>{});
    case DType::bf16:
      return call(TypeTag<DType::bf16>{});
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

// The unsigned code (types below 16 bits) or the 16 bits of an element.
template <DType kType>
__device__ __forceinline__ uint32_t code_of(const uint8_t* unit, int row, int col) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  const CodePlace p = place_of<kType>(row, col);
  if constexpr (kFormat.low_bits == 16) {
    return *reinterpret_cast<const uint16_t*>(unit + p.step * 512 + p.lane * 16 + p.reg * 4 + p.half * 2);
  } else if constexpr (kFormat.low_bits == 8) {
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

// One element as a float: the bits that dequantizing the file's block gives (no contraction).
template <DType kType>
__device__ __forceinline__ float element_of(const uint8_t* tile, int64_t n_units, int row, int64_t column) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  const int64_t u = column / kUnitCols;
  const int col = static_cast<int>(column % kUnitCols), g = row % 8, upper = row / 8;
  const uint8_t* unit = tile + u * L::kUnitBytes;
  if constexpr (kType == DType::f32) {
    return reinterpret_cast<const float*>(unit)[row * kUnitCols + col];
  } else if constexpr (kType == DType::bf16) {
    return __uint_as_float(code_of<kType>(unit, row, col) << 16);
  } else if constexpr (kType == DType::f16) {
    return __half2float(__ushort_as_half(static_cast<uint16_t>(code_of<kType>(unit, row, col))));
  } else {
    const float code = static_cast<float>(static_cast<int>(code_of<kType>(unit, row, col)) - kFormat.offset);
    const uint8_t* scales = tile + L::scales_at(n_units) + u * L::kScaleBytes + g * 4 * L::kScaleWords;
    const int at = 2 * (col / kFormat.group_cols) + upper;
    if constexpr (kFormat.super) {
      const auto* d = reinterpret_cast<const __half*>(tile + L::supers_at(n_units) +
                                                      u / kUnitsPerSuper * L::kSuperBytes + g * 4 * L::kSuperWords);
      if constexpr (kFormat.minimum) {
        const float scale = __fmul_rn(__half2float(d[upper]), static_cast<float>(scales[at]));
        const float minimum = __fmul_rn(__half2float(d[2 + upper]), static_cast<float>(scales[4 + at]));
        return __fsub_rn(__fmul_rn(scale, code), minimum);
      } else {
        const float sub = static_cast<float>(static_cast<int8_t>(scales[at]));
        return __fmul_rn(__fmul_rn(__half2float(d[upper]), sub), code);
      }
    } else {
      const auto* d = reinterpret_cast<const __half*>(scales);
      const float product = __fmul_rn(__half2float(d[at]), code);
      if constexpr (kFormat.minimum) return __fadd_rn(product, __half2float(d[4 + at]));
      return product;
    }
  }
}

}  // namespace inlay::cuda
