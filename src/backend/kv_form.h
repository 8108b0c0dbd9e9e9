// How keys and values lie in a block of one layer, and the same as rows: a row has a position's keys or values in one layer, (n_heads, d_head)
// elements and, of types with scales, an F32 for each head. Rows are the same for every backend with the same type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/plan/plan.h"

namespace inlay {

// Strides in bytes.
struct KvForm {
  struct Places {
    int64_t position = 0, element = 0;
  };

  int64_t n_heads = 0, d_head = 0;
  int64_t element = 0;         // its size: 1, 2 or 4
  int64_t head = 0;            // from one to the next
  Places keys, values;         // within a head
  bool has_scales = false;     // behind all heads: F32, (n_heads, kKvBlockTokens)

  uint64_t row_bytes() const { return static_cast<uint64_t>(n_heads * (d_head * element + (has_scales ? 4 : 0))); }
};

// Keys and values alike: (n_heads, kKvBlockTokens, d_head) elements of that size.
KvForm kv_form_of_heads(const ModelSpec& spec, int64_t element);

// Positions of one block: its pools are the keys and the values of one layer after the other, block_bytes each. Positions [first, end) of the
// block are rows behind one another, of each position all pools.
struct KvBlockPart {
  int32_t n_pools = 0;
  uint64_t block_bytes = 0;
  int32_t first = 0, end = 0;
};
void kv_block_to_rows(const KvForm& form, const KvBlockPart& part, const std::byte* block, std::byte* rows);
// Other positions, and what fills heads up, become zeros.
void kv_rows_to_block(const KvForm& form, const KvBlockPart& part, const std::byte* rows, std::byte* block);

}  // namespace inlay
