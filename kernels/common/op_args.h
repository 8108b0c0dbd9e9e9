// Arguments of the kernels that every backend shares, one POD struct per op. Activations are float, (row, column) with
// the column contiguous; a "row" of activations belongs to one token.
#pragma once

#include <cstdint>

namespace inlay {

struct RmsNormArgs {
  const float* x;       // (m, ld_x), n columns used
  const float* weight;  // (n)
  float* out;           // (m, ld_out)
  int64_t n, ld_x, ld_out;
  float epsilon;
};

// Rotates the first n_rot dimensions of every head in place; the pairs are (i, i + n_rot/2) ("NEOX" order): the loader
// has already brought interleaved checkpoints into this order.
struct RopeArgs {
  float* x;                  // (m, n_heads, d_head), rows ld_x apart
  const int32_t* positions;  // (m)
  const float* inv_freq;     // (n_rot / 2) radians per position, scaling already applied
  int64_t n_heads, d_head, n_rot, ld_x;
  float magnitude;           // multiplies cosine and sine (YaRN), 1 otherwise
};

// Keys and values of one layer live in blocks of block_tokens positions, block_stride bytes apart. How a block is laid out
// inside is the backend's business.
struct KvAppendArgs {
  const float* k;             // (m, n_kv_heads, d_head), rows ld apart
  const float* v;
  void* k_pool;               // first block of this layer
  void* v_pool;
  const int32_t* positions;   // (m)
  const int32_t* block_table; // (blocks of this sequence); position p is in block_table[p / block_tokens]
  int64_t block_stride;
  int64_t m, n_kv_heads, d_head, block_tokens, ld;
};

// Moves what is cached of a sequence: position p + distance to p, from `first` on, while p + distance < end. Keys are turned
// on the way: the pair (x[i], x[i + n_rot/2]) of each head by (cos[i], sin[i]).
struct KvMoveArgs {
  void* k_pool;               // first block of this layer
  void* v_pool;
  const int32_t* block_table;
  int64_t block_stride;
  int64_t first, distance, end;
  int64_t n_kv_heads, d_head, block_tokens;
  int64_t n_rot;              // 0: keys stay as they are
  const float* cos;           // (n_rot / 2)
  const float* sin;
};

// Attention of the m consecutive queries of one sequence over what is cached up to each of them: all of it, or the last
// `window` positions, the query's own included. With both_ways also over as many behind it, up to the last query. Keys and
// values that no query sees are not read: their places in the block table may hold anything.
struct AttentionArgs {
  const float* q;             // (m, n_heads, d_head), rows ld_q apart
  float* out;                 // (m, n_heads, d_head), rows ld_out apart
  const void* k_pool;
  const void* v_pool;
  const int32_t* block_table;
  int64_t block_stride;
  int64_t m, first_position, n_heads, n_kv_heads, d_head, block_tokens, ld_q, ld_out;
  float scale;         // of scores
  float softcap;       // scaled scores become softcap * tanh(score / softcap); 0: they stay
  int64_t window;      // 0: all
  const float* sinks;  // (n_heads) joins the sum that softmax divides by, as exp of a score; null: none
  bool both_ways = false;

  // The first position that a query sees.
  int64_t first_key(int64_t query) const {
    const int64_t first = first_position + query + 1 - window;
    return window == 0 || first < 0 ? 0 : first;
  }
  // Behind the last one that it sees.
  int64_t end_key(int64_t query) const {
    const int64_t own = first_position + query, end = first_position + m;
    if (!both_ways) return own + 1;
    return window == 0 || own + window > end ? end : own + window;
  }
};

}  // namespace inlay
