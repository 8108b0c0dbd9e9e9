// Packed form of the quantized weights, and the q8 form of activations: one layout for all instruction sets.
//
// A tile is 16 output rows. Along the columns it is a sequence of records of 32 columns (types with 32-column blocks)
// or 256 columns (K types); within a record everything lies "rows innermost":
//
//   d          16 FP16                                 factor of each row
//   m          16 FP16        (types with a minimum)   Q4_1, Q5_1: the minimum; K types: the factor of the minimums
//   scales     16 bytes per group, or per half group   K types: sub-scales as the file has them, lossless
//   minimums   16 bytes per group                      K types with minimums
//   codes      per group of 32 columns = 8 quads of 4 columns; a quad is a vector of 64 bytes, byte 4 * row + k being
//              row's code of column 4 * quad + k, unsigned (value + kOffset):
//     low four bits   4 vectors; vector v has quad v in its low nibbles and quad v + 4 in its high ones
//     5-bit types     1 vector more; bit b of a byte is bit 4 of quad b
//     6-bit types     2 vectors more; in vector h, bits 2b and 2b + 1 are bits 4 and 5 of quad 4h + b
//     8-bit types     8 vectors instead
//
// A quad is the operand of one byte dot product (4 columns) whose 16 lanes are the rows, so one broadcast word of
// activations serves it and nothing is ever added across lanes.
//
// The value of a column: scale * (code - kOffset) + minimum. Of a group's share in the result of row r and activation
// j:
//   t = float(dot) * scale                   dot: int32, exact, kOffset already taken off
//   (scales per 16 columns: t = fma(float(dot of the second half), its scale, t))
//   acc = fma(t, activation scale, acc)
//   acc = fma(minimum, activation scale * activation sum, acc)      types with minimums
// in the order of the columns, whatever the instruction set (the generic code rounds the product of an fma as well).
//
// Functions are static: this header is compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/common/dtype.h"

namespace inlay::cpu {

inline constexpr int kLanes = 16;   // rows of a tile
inline constexpr int kGroup = 32;   // columns per activation scale
inline constexpr int kVector = 64;  // bytes of a quad

// What a quantized type is, as far as the kernels are concerned.
template <int kBits_, int kOffset_, bool kMinimum_, int kGroups_, int kScales_>
struct QuantLayout {
  static constexpr int kBits = kBits_;
  static constexpr int kOffset = kOffset_;  // of the unsigned code
  static constexpr bool kMinimum = kMinimum_;
  static constexpr int kGroups = kGroups_;     // groups of a record: 1, or 8 for K types
  static constexpr int kScales = kScales_;     // sub-scales per group: 0, 1 or 2
  static constexpr bool kSuper = kScales > 0;  // K type
  static constexpr int kMinimumAt = 2 * kLanes;
  static constexpr int kScalesAt = kMinimumAt + (kMinimum ? 2 * kLanes : 0);
  static constexpr int kSubMinimumsAt = kScalesAt + kGroups * kScales * kLanes;
  static constexpr int kCodesAt = kSubMinimumsAt + (kSuper && kMinimum ? kGroups * kLanes : 0);
  static constexpr int kGroupBytes = kBits * kVector;  // 32 columns * 16 rows * kBits / 8
  static constexpr int kRecordBytes = kCodesAt + kGroups * kGroupBytes;
  static constexpr int kColumns = kGroups * kGroup;
};

using LayoutQ8_0 = QuantLayout<8, 128, false, 1, 0>;
using LayoutQ4_0 = QuantLayout<4, 8, false, 1, 0>;
using LayoutQ4_1 = QuantLayout<4, 0, true, 1, 0>;
using LayoutQ5_0 = QuantLayout<5, 16, false, 1, 0>;
using LayoutQ5_1 = QuantLayout<5, 0, true, 1, 0>;
using LayoutQ4_K = QuantLayout<4, 0, true, 8, 1>;
using LayoutQ5_K = QuantLayout<5, 0, true, 8, 1>;
using LayoutQ6_K = QuantLayout<6, 32, false, 8, 2>;

template <class L>
static constexpr size_t quant_tile_bytes(int64_t n_cols) {
  return (static_cast<size_t>(n_cols / L::kColumns) * L::kRecordBytes + 63) / 64 * 64;
}

// A quad of one row: four codes as a little-endian word.
[[maybe_unused]] static inline uint32_t load_quad(const uint8_t* p) {
  uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}
[[maybe_unused]] static inline void store_quad(uint8_t* p, uint32_t word) { std::memcpy(p, &word, 4); }

// One row's 32 codes of a group, one per byte.
template <int kBits>
[[maybe_unused]] static inline void unpack_codes(const uint8_t* group, int row, uint8_t* codes) {
  const uint8_t* from = group + 4 * row;
  for (int i = 0; i < 8; ++i) {
    uint32_t quad;
    if constexpr (kBits == 8) {
      quad = load_quad(from + kVector * i);
    } else {
      quad = load_quad(from + kVector * (i % 4)) >> (4 * (i / 4)) & 0x0f0f0f0f;
    }
    if constexpr (kBits == 5) quad |= (load_quad(from + kVector * 4) >> i & 0x01010101) << 4;
    if constexpr (kBits == 6) quad |= (load_quad(from + kVector * (4 + i / 4)) >> (2 * (i % 4)) & 0x03030303) << 4;
    store_quad(codes + 4 * i, quad);
  }
}

// 32 columns of one activation row: value = scale * code, symmetric, |code| <= 127. A group with an infinity or a NaN
// has codes of 0 and a scale of NaN, so that it shows in every result; one below 2^-100 throughout counts as zero.
struct Q8Group {
  int8_t codes[kGroup];
  float scale;
  int16_t sums[2];   // of the codes of each half
  float scaled_sum;  // scale * (sums[0] + sums[1])
};
static_assert(sizeof(Q8Group) == 44);

inline constexpr uint32_t kQ8TinyBits = 0x0d800000;  // 2^-100
inline constexpr uint32_t kQ8InfinityBits = 0x7f800000;

// Whole cache lines, an odd number of them: rows a power of two apart would fall into the same few sets of a cache.
static constexpr size_t q8_row_bytes(int64_t n_cols) {
  return ((static_cast<size_t>(n_cols / kGroup) * sizeof(Q8Group) + 63) / 64 | 1) * 64;
}

}  // namespace inlay::cpu
