// Exact sums over a group of columns, codes times activations, for the 16 rows of a tile. What the processor multiplies best decides in
// which form the codes are held; the sums are the same:
//
// - Bytes (NEON): the rows are innermost, a vector holds one column of them, and nothing is added across it. A few products are summed in
//   16 bits.
// - 16 bits (SSE2): the columns are innermost; one instruction adds products in pairs.
//
// Loops stay loops (unroll 1): GCC makes vectors of such a loop, but not of 16 copies of its body. And what expands the codes is a function
// of its own, because inlined it was not made of vectors for some types.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu/quant_layout.h"

namespace inlay::cpu::generic {
namespace {

#if defined(__aarch64__)

struct GroupCodes {
  int8_t at[kGroup][kLanes];  // offset taken off
};

// A code as it is packed, value + kOffset or an index; `byte` is where it has its low bits in the quad's vector, if that is the first one.
template <class L>
int code_of(const uint8_t* byte, int quad) {
  constexpr int kBits = L::kBits;
  int code;
  if constexpr (kBits == 8) {
    code = byte[kVector * quad];
  } else if constexpr (kBits < 4) {
    code = byte[kVector * (quad / 4)] >> (2 * (quad % 4)) & 3;
  } else {
    code = byte[kVector * (quad % 4)] >> (4 * (quad / 4)) & 15;
  }
  if constexpr (kBits == 3) code += (byte[kVector * 2] >> quad & 1) * 4;
  if constexpr (kBits == 5) code += (byte[kVector * 4] >> quad & 1) * 16;
  if constexpr (kBits == 6) code += (byte[kVector * (4 + quad / 4)] >> (2 * (quad % 4)) & 3) * 16;
  return code;
}

// The values of a column's indices. GCC makes no vectors of a loop over a table.
template <class L>
void look_up(int8_t* column) {
  constexpr CodeTable kTable = code_table<L>();
#if defined(__clang__)
  for (int row = 0; row < kLanes; ++row) column[row] = static_cast<int8_t>(kTable.codes[column[row]] - L::kOffset);
#else
  using Bytes [[gnu::vector_size(kLanes)]] = uint8_t;
  Bytes table, indices;
  std::memcpy(&table, kTable.codes, sizeof(table));
  std::memcpy(&indices, column, sizeof(indices));
  const Bytes values = __builtin_shuffle(table, indices) - static_cast<uint8_t>(L::kOffset);
  std::memcpy(column, &values, sizeof(values));
#endif
}

// Two quads at a time, since low and high nibbles lie together.
template <class L>
__attribute__((noinline)) void expand_codes(const uint8_t* __restrict group, GroupCodes& __restrict out) {
  constexpr bool kIndices = L::kCodes != Codes::plain;
  constexpr int kOffset = kIndices ? 0 : L::kOffset;
#pragma GCC unroll 4
  for (int quad = 0; quad < 4; ++quad) {
#pragma GCC unroll 1
    for (int row = 0; row < kLanes; ++row) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        const uint8_t* byte = group + 4 * row + k;
        out.at[4 * quad + k][row] = static_cast<int8_t>(code_of<L>(byte, quad) - kOffset);
        out.at[16 + 4 * quad + k][row] = static_cast<int8_t>(code_of<L>(byte, quad + 4) - kOffset);
      }
    }
  }
  if constexpr (kIndices) {
    for (auto& column : out.at) look_up<L>(column);
  }
}

// Sums over the columns [kBegin, kEnd) of all rows.
template <class L, int kBegin, int kEnd>
void dot(const GroupCodes& codes, const int8_t* activations, int32_t* sums) {
  // Products that are summed in 16 bits: codes of up to 6 bits are at most 32 in magnitude, those of 8 bits 128.
  constexpr int kSummed = L::kDotBits == 8 ? 2 : 8;
  static_assert(kSummed * 127 * (L::kDotBits == 8 ? 128 : 32) <= 32767);
  int32_t all[kLanes] = {};
#pragma GCC unroll 1
  for (int i = kBegin; i < kEnd; i += kSummed) {
#pragma GCC unroll 1
    for (int row = 0; row < kLanes; ++row) {
      int16_t sum = 0;
#pragma GCC unroll 8
      for (int k = 0; k < kSummed; ++k) sum = static_cast<int16_t>(sum + codes.at[i + k][row] * activations[i + k]);
      all[row] += sum;
    }
  }
  std::memcpy(sums, all, sizeof(all));
}

#else

struct GroupCodes {
  int16_t at[kLanes][kGroup];  // offset taken off
};

template <class L>
__attribute__((noinline)) void expand_codes(const uint8_t* __restrict group, GroupCodes& __restrict out) {
  for (int row = 0; row < kLanes; ++row) {
    uint8_t bytes[kGroup];
    unpack_codes<L>(group, row, bytes);
#pragma GCC unroll 1
    for (int i = 0; i < kGroup; ++i) out.at[row][i] = static_cast<int16_t>(bytes[i] - L::kOffset);
  }
}

// Sums over the columns [kBegin, kEnd) of all rows.
template <class L, int kBegin, int kEnd>
void dot(const GroupCodes& codes, const int8_t* activations, int32_t* sums) {
  int16_t wide[kEnd - kBegin];
  for (int i = kBegin; i < kEnd; ++i) wide[i - kBegin] = activations[i];
  for (int row = 0; row < kLanes; ++row) {
    int32_t sum = 0;
#pragma GCC unroll 1
    for (int i = kBegin; i < kEnd; ++i) sum += static_cast<int32_t>(codes.at[row][i]) * wide[i - kBegin];
    sums[row] = sum;
  }
}

#endif

}  // namespace
}  // namespace inlay::cpu::generic
