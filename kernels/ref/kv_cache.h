// The reference cache: blocks of (n_kv_heads, block_tokens, d_head) float, keys and values alike.
#pragma once

#include <cstddef>

#include "kernels/common/op_args.h"

namespace inlay::ref {

size_t kv_block_bytes(int64_t n_kv_heads, int64_t d_head, int64_t block_tokens);

// Writes rows [m_begin, m_end) of k and v at their positions.
void kv_append(const KvAppendArgs& args, int64_t m_begin, int64_t m_end);

// Of heads [head_begin, head_end).
void kv_move(const KvMoveArgs& args, int64_t head_begin, int64_t head_end);

}  // namespace inlay::ref
