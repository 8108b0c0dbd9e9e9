// Linear layers of the types of compact_blocks.h: the loop around what each instruction set does with a record.
//
// Order of operations: that of quant_layout.h, with the sums of up to kSumsM activation rows in memory between records,
// which changes no bit. Bound at m = 1: expanding the blocks, in plain C++; at large m as the 8-bit types.
// Measured on an AMD Zen 5 server core with tests/bench/linear_speed, AVX-512: m = 1 5 to 8 * 10^9 weights per second;
// m = 512 280 to 330 * 10^9 operations per second.
//
// Included by one file of each instruction set; everything has internal linkage.
#pragma once

#include "kernels/cpu/compact_blocks.h"

namespace inlay::cpu {
namespace {

constexpr int kSumsM = 64;

// kAddRecord(record, groups, stride, n, sums): sums[j] += a record's share of n activation rows, `stride` bytes apart.
// kStore(args, tile, j, sums): writes activation row j of the result.
template <DType kType, auto kAddRecord, auto kStore>
void run_compact_tile(const LinearArgs& args, int64_t tile, int64_t m_begin, int m) {
  alignas(64) uint8_t record[LayoutExpanded::kRecordBytes];
  alignas(64) float sums[kSumsM][kLanes];
  std::memset(sums, 0, sizeof(sums[0]) * static_cast<size_t>(m));
  const uint8_t* blocks = static_cast<const uint8_t*>(args.weights) + tile * compact_tile_bytes(kType, args.n_cols);
  const size_t stride = q8_row_bytes(args.n_cols);
  const uint8_t* groups = static_cast<const uint8_t*>(args.activations) + m_begin * stride;
  for (int64_t i = args.n_cols / LayoutExpanded::kColumns; i > 0; --i) {
    expand_compact(kType, blocks, record);
    kAddRecord(record, groups, stride, m, sums);
    blocks += compact_record_bytes(kType);
    groups += LayoutExpanded::kGroups * sizeof(Q8Group);
  }
  for (int j = 0; j < m; ++j) kStore(args, tile, m_begin + j, sums[j]);
}

template <DType kType, auto kAddRecord, auto kStore>
void run_compact(const LinearArgs& args, int64_t tile_begin, int64_t tile_end, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; j += kSumsM) {
    const int m = static_cast<int>(m_end - j < kSumsM ? m_end - j : kSumsM);
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
      run_compact_tile<kType, kAddRecord, kStore>(args, tile, j, m);
    }
  }
}

}  // namespace
}  // namespace inlay::cpu
