// The types whose blocks stay in memory as the file has them, because any form that a dot product takes directly would
// be much larger: IQ1, IQ2, IQ3 and TQ1_0. A tile of 16 rows is [block][16 rows], padded to whole cache lines. A
// product expands the 16 blocks of a record into a LayoutExpanded in the cache, once for all its activation rows.
#pragma once

#include "kernels/cpu/quant_layout.h"
#include "kernels/cpu/quant_linear.h"

namespace inlay::cpu {

inline constexpr DType kFirstCompact = DType::tq1_0;

static constexpr size_t compact_record_bytes(DType type) { return kLanes * traits(type).block_bytes; }
static constexpr size_t compact_tile_bytes(DType type, int64_t n_cols) {
  const int64_t n_records = n_cols / traits(type).block_elements;
  return (static_cast<size_t>(n_records) * compact_record_bytes(type) + 63) / 64 * 64;
}

const QuantPacking& compact_packing(DType type);

// blocks: of 16 rows; record: LayoutExpanded::kRecordBytes.
void expand_compact(DType type, const uint8_t* blocks, uint8_t* record);

}  // namespace inlay::cpu
