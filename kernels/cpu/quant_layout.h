// Packed form of the quantized weights, and the q8 form of activations: one layout for all instruction sets.
//
// A tile is 16 output rows. Along the columns it is a sequence of records of 32 columns (types with 32-column blocks)
// or 256 columns (the others); within a record everything lies "rows innermost":
//
//   factor     16 FP16                                 d of each row (MXFP4: 16 bytes, the exponents)
//   m          16 FP16        (types with a minimum)   Q4_1, Q5_1: the minimum; K types: the factor of the minimums
//   scales     16 bytes per group, or per half group   sub-scales, signed or not, lossless (Q2_K: the minimum is in
//                                                      the high nibble)
//   minimums   16 bytes per group                      Q4_K, Q5_K
//   codes      per group of 32 columns = 8 quads of 4 columns; a quad is a vector of 64 bytes, byte 4 * row + k being
//              row's code of column 4 * quad + k, unsigned (value + kOffset, or an index into the type's table):
//     low four bits   4 vectors; vector v has quad v in its low nibbles and quad v + 4 in its high ones
//     5-bit types     1 vector more; bit b of a byte is bit 4 of quad b
//     6-bit types     2 vectors more; in vector h, bits 2b and 2b + 1 are bits 4 and 5 of quad 4h + b
//     2-bit types     2 vectors instead; in vector h, bits 2b and 2b + 1 are quad 4h + b
//     3-bit types     as 2-bit ones, and 1 vector more; bit b of a byte is bit 2 of quad b
//     8-bit types     8 vectors instead
//
// A quad is the operand of one byte dot product (4 columns) whose 16 lanes are the rows, so one broadcast word of
// activations serves it and nothing is ever added across lanes.
//
// The value of a column: scale * (code - kOffset) + minimum. Of a group's share in the result of row r and activation
// j:
//   t = float(dot) * scale                   dot: int32, exact, kOffset already taken off
//   (scales per 16 columns: t = fma(float(dot of the second half), its scale, t))
//   (minimums per 16 columns: t = fma(minimum, float(sum over the halves of sub-minimum * activation sum), t))
//   acc = fma(t, activation scale, acc)
//   acc = fma(minimum, activation scale * activation sum, acc)      types with minimums per 32 columns or more
// in the order of the columns, whatever the instruction set (the generic code rounds the product of an fma as well).
//
// Functions are static: this header is compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/common/quant_blocks.h"

namespace inlay::cpu {

inline constexpr int kLanes = 16;   // rows of a tile
inline constexpr int kGroup = 32;   // columns per activation scale
inline constexpr int kVector = 64;  // bytes of a quad

enum class Factor : uint8_t { half, exponent, none };  // of a record: FP16, 2^(byte - 128), or 1
enum class Codes : uint8_t { plain, iq4, fp4 };  // plain: value + offset; else an index into kIq4Values, kFp4Values
enum class SubScale : uint8_t { unsigned_byte, signed_byte, with_minimum, real };  // with_minimum: a nibble each; F32

// What a quantized type is, as far as the kernels are concerned.
struct QuantFormat {
  int bits;        // of a code as it is packed
  int offset = 0;  // of the unsigned code
  bool minimum = false;
  int groups = 1;  // of a record: 1, or 8
  int scales = 0;  // sub-scales per group: 0, 1 or 2
  SubScale sub_scale = SubScale::unsigned_byte;
  Factor factor = Factor::half;
  Codes codes = Codes::plain;
};

template <QuantFormat kFormat>
struct QuantLayout {
  static constexpr int kBits = kFormat.bits;
  static constexpr int kOffset = kFormat.offset;
  static constexpr bool kMinimum = kFormat.minimum;
  static constexpr int kGroups = kFormat.groups;
  static constexpr int kScales = kFormat.scales;
  static constexpr SubScale kSubScale = kFormat.sub_scale;
  static constexpr Factor kFactor = kFormat.factor;
  static constexpr Codes kCodes = kFormat.codes;
  // Of a code as a dot product takes it, value + kOffset.
  static constexpr int kDotBits = kCodes == Codes::iq4 ? 8 : kCodes == Codes::fp4 ? 5 : kBits;
  static constexpr bool kHalfMinimums = kScales == 2 && kSubScale == SubScale::with_minimum;  // per 16 columns
  static constexpr bool kSubMinimums = kMinimum && kScales == 1;                              // per 32 columns
  static constexpr int kScaleBytes = kSubScale == SubScale::real ? 4 : 1;
  static constexpr int kMinimumAt = (kFactor == Factor::half ? 2 : kFactor == Factor::exponent ? 1 : 0) * kLanes;
  static constexpr int kScalesAt = kMinimumAt + (kMinimum ? 2 * kLanes : 0);
  static constexpr int kSubMinimumsAt = kScalesAt + kGroups * kScales * kLanes * kScaleBytes;
  static constexpr int kCodesAt = kSubMinimumsAt + (kSubMinimums ? kGroups * kLanes : 0);
  static constexpr int kGroupBytes = kBits * kVector;  // 32 columns * 16 rows * kBits / 8
  static constexpr int kRecordBytes = kCodesAt + kGroups * kGroupBytes;
  static constexpr int kColumns = kGroups * kGroup;
};

using LayoutQ8_0 = QuantLayout<QuantFormat{.bits = 8, .offset = 128}>;
using LayoutQ4_0 = QuantLayout<QuantFormat{.bits = 4, .offset = 8}>;
using LayoutQ4_1 = QuantLayout<QuantFormat{.bits = 4, .minimum = true}>;
using LayoutQ5_0 = QuantLayout<QuantFormat{.bits = 5, .offset = 16}>;
using LayoutQ5_1 = QuantLayout<QuantFormat{.bits = 5, .minimum = true}>;
using LayoutQ4_K = QuantLayout<QuantFormat{.bits = 4, .minimum = true, .groups = 8, .scales = 1}>;
using LayoutQ5_K = QuantLayout<QuantFormat{.bits = 5, .minimum = true, .groups = 8, .scales = 1}>;
using LayoutQ6_K =
    QuantLayout<QuantFormat{.bits = 6, .offset = 32, .groups = 8, .scales = 2, .sub_scale = SubScale::signed_byte}>;
using LayoutQ2_K =
    QuantLayout<QuantFormat{.bits = 2, .minimum = true, .groups = 8, .scales = 2, .sub_scale = SubScale::with_minimum}>;
using LayoutQ3_K =
    QuantLayout<QuantFormat{.bits = 3, .offset = 4, .groups = 8, .scales = 2, .sub_scale = SubScale::signed_byte}>;
using LayoutIQ4_NL = QuantLayout<QuantFormat{.bits = 4, .offset = 128, .codes = Codes::iq4}>;
using LayoutIQ4_XS = QuantLayout<QuantFormat{
    .bits = 4, .offset = 128, .groups = 8, .scales = 1, .sub_scale = SubScale::signed_byte, .codes = Codes::iq4}>;
using LayoutMXFP4 = QuantLayout<QuantFormat{.bits = 4, .offset = 12, .factor = Factor::exponent, .codes = Codes::fp4}>;
using LayoutTQ2_0 = QuantLayout<QuantFormat{.bits = 2, .offset = 1, .groups = 8}>;
// What a record of the types of compact_blocks.h becomes for a product; not a packed form.
using LayoutExpanded = QuantLayout<QuantFormat{
    .bits = 8, .offset = 128, .groups = 8, .scales = 2, .sub_scale = SubScale::real, .factor = Factor::none}>;

// value + kOffset of every index of a type with a table.
struct CodeTable {
  uint8_t codes[16];
};
template <class L>
static constexpr CodeTable code_table() {
  CodeTable table = {};
  for (int i = 0; i < 16; ++i) {
    const int value = L::kCodes == Codes::iq4 ? kIq4Values[i] : kFp4Values[i];
    table.codes[i] = static_cast<uint8_t>(value + L::kOffset);
  }
  return table;
}

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

// One row's 32 codes of a group, one per byte, as value + kOffset.
template <class L>
[[maybe_unused]] static inline void unpack_codes(const uint8_t* group, int row, uint8_t* codes) {
  constexpr int kBits = L::kBits;
  const uint8_t* from = group + 4 * row;
  for (int i = 0; i < 8; ++i) {
    uint32_t quad;
    if constexpr (kBits == 8) {
      quad = load_quad(from + kVector * i);
    } else if constexpr (kBits < 4) {
      quad = load_quad(from + kVector * (i / 4)) >> (2 * (i % 4)) & 0x03030303;
    } else {
      quad = load_quad(from + kVector * (i % 4)) >> (4 * (i / 4)) & 0x0f0f0f0f;
    }
    if constexpr (kBits == 3) quad |= (load_quad(from + kVector * 2) >> i & 0x01010101) << 2;
    if constexpr (kBits == 5) quad |= (load_quad(from + kVector * 4) >> i & 0x01010101) << 4;
    if constexpr (kBits == 6) quad |= (load_quad(from + kVector * (4 + i / 4)) >> (2 * (i % 4)) & 0x03030303) << 4;
    store_quad(codes + 4 * i, quad);
  }
  if constexpr (L::kCodes != Codes::plain) {
    constexpr CodeTable kTable = code_table<L>();
    for (int i = 0; i < kGroup; ++i) codes[i] = kTable.codes[codes[i]];
  }
}

// 32 columns of one activation row, symmetric: value = scale * (code + fine code / 256), |code| and |fine code| <= 127.
// Where `fine` is 0 so are the fine codes, and kernels skip them: they would add 0 to an exact sum, so that skipping
// changes no bit. A group with an infinity or a NaN has codes of 0 and a scale of NaN, so that it shows in every result;
// one below 2^-100 throughout counts as zero.
struct Q8Group {
  int8_t codes[kGroup];
  int16_t sums[2];   // of the codes of each half
  float scale;
  float scaled_sum;  // scale * (sum of the codes + sum of the fine codes / 256)
  int8_t fine_codes[kGroup];
  int16_t fine_sums[2];
  uint32_t fine;
};
static_assert(sizeof(Q8Group) == 84);
inline constexpr size_t kFineAt = offsetof(Q8Group, fine_codes);  // fine codes and their sums lie as the others do
static_assert(offsetof(Q8Group, fine_sums) == kFineAt + offsetof(Q8Group, sums));

inline constexpr float kFineUnit = 1.0f / 256;  // of a fine code, in codes; a power of two, so that it rounds nothing
inline constexpr uint32_t kQ8TinyBits = 0x0d800000;  // 2^-100
inline constexpr uint32_t kQ8InfinityBits = 0x7f800000;

// Whole cache lines, an odd number of them: rows a power of two apart would fall into the same few sets of a cache.
static constexpr size_t q8_row_bytes(int64_t n_cols) {
  return ((static_cast<size_t>(n_cols / kGroup) * sizeof(Q8Group) + 63) / 64 | 1) * 64;
}

}  // namespace inlay::cpu
