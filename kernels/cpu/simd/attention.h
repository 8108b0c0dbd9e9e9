// Causal attention over a paged FP16 cache.
//
// Layout: a block of 32 positions is (n_kv_heads, d_head, 32) halfs in the K pool, so that the scores of 32 positions
// are lanes, and (n_kv_heads, 32, d_pad) in the V pool, d_pad being d_head rounded up to 16. Both take the same bytes.
//
// The queries of all heads that share a KV head are its rows, row = query * group + head in group. An item takes up to
// kRowBlock rows through the cache in chunks of kChunk positions: scores (dot_block.h), softmax numerators against the
// chunk's own maximum, their product with V; each chunk's (maximum, sum, output) is merged into the running one in the
// order of the chunks. With few queries the chunks are items too, their results go through the scratch memory and
// attention_merge does the same merging in the same order. So a query has the same bits however the work was cut.
//
// With a window a row sees the keys from some position on. Chunks keep their places, so that the bits stay a matter of
// the query's position alone; blocks that no row of an item sees are not touched.
//
// Bounds: one query, the reading of the cache (each half once for all heads of the group); many, the multiply-adds,
// with 2 conversions from FP16 per 2 x kRows of them. Measured on an EPYC of the Zen 5 generation, per core: one query
// 16 to 18 GB/s (4 cores together more than the memory gives), 512 queries 150 to 210 GFLOP/s, 55 to 77 % of the peak.
//
// Included by one file of each instruction set after its vec16.h; everything has internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/simd/dot_block.h"
#include "kernels/cpu/simd/exp.h"
#include "kernels/cpu/simd/soft_cap.h"

namespace inlay::cpu {
namespace {

constexpr int64_t kBlockTokens = 32;
constexpr int64_t kChunk = 256;  // positions; part of the definition of a result's bits
constexpr int64_t kRowBlock = 24;
constexpr int64_t kMaxHead = 256;
constexpr int64_t kLd = kMaxHead + 16;  // of rows of floats: an odd number of cache lines (float_ops.h says why)
constexpr int64_t kSplitBelow = 16;     // fewer items than this: chunks become items as well

static_assert(kChunk <= kMaxHead, "rows hold scores as well");

int64_t round_up_16(int64_t n) { return (n + 15) / 16 * 16; }
int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
float vector_max(const Vec16& v) {
  float lanes[16];
  v.store(lanes);
  float max = lanes[0];
  for (int i = 1; i < 16; ++i) max = max > lanes[i] ? max : lanes[i];
  return max;
}
float vector_sum(const Vec16& v) {
  float lanes[16];
  v.store(lanes);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

// How a call is cut.
struct Cut {
  int64_t group;       // query heads per KV head
  int64_t rows;        // per KV head
  int64_t row_blocks;  // per KV head
  int64_t block_rows;  // of all row blocks but the last
  int64_t first_chunk;  // that any query sees
  int64_t chunks;       // from there on
  int64_t d_pad;
  bool split;  // chunks are items

  int64_t partial_floats() const { return d_pad + 16; }  // output, then maximum and sum, of one row and chunk
};

Cut cut_of(const AttentionArgs& a) {
  Cut c;
  c.group = a.n_heads / a.n_kv_heads;
  c.rows = a.m * c.group;
  c.row_blocks = (c.rows + kRowBlock - 1) / kRowBlock;
  c.block_rows = (c.rows + c.row_blocks - 1) / c.row_blocks;
  c.first_chunk = a.first_key(0) / kChunk;
  c.chunks = (a.first_position + a.m + kChunk - 1) / kChunk - c.first_chunk;
  c.d_pad = round_up_16(a.d_head);
  // Not a matter of the position, so that for given m the scratch memory grows with it: its size at the end of the
  // context, without a window, is enough for all of it.
  c.split = c.chunks > 1 && a.n_kv_heads * c.row_blocks < kSplitBelow;
  return c;
}

size_t kv_block_bytes(int64_t n_kv_heads, int64_t d_head, int64_t block_tokens) {
  if (block_tokens != kBlockTokens || d_head < 1 || d_head > kMaxHead) return 0;
  return static_cast<size_t>(n_kv_heads * round_up_16(d_head) * kBlockTokens) * 2;
}

void kv_append(const KvAppendArgs& a, int64_t m_begin, int64_t m_end) {
  const int64_t d_pad = round_up_16(a.d_head);
  const int64_t head_halfs = d_pad * kBlockTokens;
  for (int64_t j = m_begin; j < m_end; ++j) {
    const int64_t slot = a.positions[j] % kBlockTokens;
    const int64_t block = a.block_table[a.positions[j] / kBlockTokens] * a.block_stride;
    auto* const keys = reinterpret_cast<uint16_t*>(static_cast<char*>(a.k_pool) + block);
    auto* const values = reinterpret_cast<uint16_t*>(static_cast<char*>(a.v_pool) + block);
    for (int64_t h = 0; h < a.n_kv_heads; ++h) {
      const int64_t head = h * head_halfs;
      for (int64_t i = 0; i < a.d_head; i += 16) {
        const int64_t from = j * a.ld + h * a.d_head + i, n = smaller(a.d_head - i, 16);
        Vec16::load_n(a.v + from, n).store_f16(values + head + slot * d_pad + i);
        uint16_t k[16];
        Vec16::load_n(a.k + from, n).store_f16(k);
        for (int64_t l = 0; l < n; ++l) keys[head + (i + l) * kBlockTokens + slot] = k[l];
      }
    }
  }
}

// n positions of one block to places of the same or another one; keys: (d_head, 32) halfs from the first position's.
void move_keys(const KvMoveArgs& a, const uint16_t* from, uint16_t* to, int64_t n) {
  const int64_t half = a.n_rot / 2;
  const auto bytes = static_cast<size_t>(n) * 2;
  for (int64_t i = 0; i < half; ++i) {
    const int64_t x = i * kBlockTokens, y = (i + half) * kBlockTokens;
    const Vec16 cos = Vec16::broadcast(a.cos[i]), sin = Vec16::broadcast(a.sin[i]);
    uint16_t keys[2][kBlockTokens] = {};  // of what overlaps all is read before any is written
    memcpy(keys[0], from + x, bytes);
    memcpy(keys[1], from + y, bytes);
    for (int64_t l = 0; l < n; l += 16) {
      const Vec16 x0 = Vec16::load_f16(keys[0] + l), x1 = Vec16::load_f16(keys[1] + l);
      (x0 * cos - x1 * sin).store_f16(keys[0] + l);
      (x0 * sin + x1 * cos).store_f16(keys[1] + l);
    }
    memcpy(to + x, keys[0], bytes);
    memcpy(to + y, keys[1], bytes);
  }
  for (int64_t i = 2 * half; i < a.d_head; ++i) memmove(to + i * kBlockTokens, from + i * kBlockTokens, bytes);
}

// In order, as many positions at a time as lie beside each other at both places.
void kv_move(const KvMoveArgs& a, int64_t head_begin, int64_t head_end) {
  const int64_t d_pad = round_up_16(a.d_head);
  const auto at = [&](void* pool, int64_t position) {
    return reinterpret_cast<uint16_t*>(static_cast<char*>(pool) + a.block_table[position / kBlockTokens] * a.block_stride);
  };
  for (int64_t to = a.first, n = 0; to + a.distance < a.end; to += n) {
    const int64_t from = to + a.distance, to_slot = to % kBlockTokens, from_slot = from % kBlockTokens;
    n = smaller(kBlockTokens - (to_slot > from_slot ? to_slot : from_slot), a.end - from);
    for (int64_t h = head_begin; h < head_end; ++h) {
      const int64_t head = h * d_pad * kBlockTokens;
      move_keys(a, at(a.k_pool, from) + head + from_slot, at(a.k_pool, to) + head + to_slot, n);
      memmove(at(a.v_pool, to) + head + to_slot * d_pad, at(a.v_pool, from) + head + from_slot * d_pad,
              static_cast<size_t>(n * d_pad) * 2);
    }
  }
}

// What an item works with: rows of one KV head. Row i of the block is row first_row + i of the head. Too large for the
// stack of a host's thread, it lies in the workspace.
struct RowBlock {
  const AttentionArgs* args;
  Cut cut;
  int64_t kv_head, first_row, n_rows;
  alignas(64) float q[kRowBlock][kLd];
  float s[kRowBlock][kLd];  // scores of a chunk, then softmax numerators
  float o[kRowBlock][kLd];  // output of a chunk
  float out[kRowBlock][kLd];  // of all chunks so far
  float max[kRowBlock], sum[kRowBlock];

  int64_t query(int64_t i) const { return (first_row + i) / cut.group; }
  int64_t head(int64_t i) const { return kv_head * cut.group + (first_row + i) % cut.group; }
  // Row i sees keys [first_key, end_key) of the chunk; none if the first is not less.
  int64_t first_key(int64_t i, int64_t chunk) const {
    const int64_t n = args->first_key(query(i)) - chunk * kChunk;
    return n < 0 ? 0 : smaller(n, kChunk);
  }
  int64_t end_key(int64_t i, int64_t chunk) const {
    const int64_t n = args->end_key(query(i)) - chunk * kChunk;
    return n < 0 ? 0 : smaller(n, kChunk);
  }
  // KV head's part of the block that holds the positions from `position` on.
  const char* keys_or_values(const void* pool, int64_t position) const {
    const int64_t block = args->block_table[position / kBlockTokens];
    return static_cast<const char*>(pool) + block * args->block_stride + kv_head * cut.d_pad * kBlockTokens * 2;
  }
};

void load_queries(RowBlock& b) {
  const int64_t d_head = b.args->d_head;
  for (int64_t i = 0; i < b.n_rows; ++i) {
    const float* q = b.args->q + b.query(i) * b.args->ld_q + b.head(i) * d_head;
    for (int64_t d = 0; d < d_head; d += 16) {
      const int64_t n = smaller(d_head - d, 16);
      Vec16::load_n(q + d, n).store_n(b.q[i] + d, n);
    }
  }
}

// w: FP16 tiles of 16 lanes next to each other, n_vectors of them; step_stride in bytes.
void dot_f16(const char* w, ptrdiff_t step_stride, int64_t n_vectors, int64_t n_rows, DotBlock& b) {
  b.tile_stride = 32;
  b.step_stride = step_stride;
  float* acc = b.acc;
  int64_t v = 0;
  for (; v + Vec16::kTiles <= n_vectors; v += Vec16::kTiles) {
    b.w = w + v * 32;
    b.acc = acc + v * 16;
    dot_rows<StepF16, Vec16::kTiles>(n_rows, b);
  }
  for (; v < n_vectors; ++v) {
    b.w = w + v * 32;
    b.acc = acc + v * 16;
    dot_rows<StepF16, 1>(n_rows, b);
  }
}

// Sets what is requested from memory while block `index` of the chunk is worked on: the block that comes
// kBlocksAhead later in the order K blocks, V blocks. Blocks of a sequence lie anywhere, which no hardware foresees.
void prefetch_ahead(const RowBlock& b, DotBlock& d, int64_t chunk, int64_t index, int64_t n_blocks) {
  constexpr int64_t kBlocksAhead = 2;
  const int64_t ahead = index + kBlocksAhead;
  d.prefetch = d.prefetch_end = nullptr;
  if (ahead >= 2 * n_blocks) return;
  const void* pool = ahead < n_blocks ? b.args->k_pool : b.args->v_pool;
  d.prefetch = b.keys_or_values(pool, chunk * kChunk + ahead % n_blocks * kBlockTokens);
  d.prefetch_end = d.prefetch + b.cut.d_pad * kBlockTokens * 2;
}

// Rows of a block, one after the other.
struct Rows {
  int64_t first, end;
};

// Scores of the rows and all blocks of the chunk that any of them sees.
void chunk_scores(RowBlock& b, Rows rows, int64_t chunk) {
  const int64_t end = b.end_key(rows.end - 1, chunk);
  for (int64_t t = b.first_key(rows.first, chunk) / kBlockTokens * kBlockTokens; t < end; t += kBlockTokens) {
    DotBlock d;
    d.a = reinterpret_cast<const char*>(b.q[rows.first]);
    d.a_stride = kLd * 4;
    d.n_steps = b.args->d_head;
    d.acc = b.s[rows.first] + t;
    d.acc_stride = kLd;
    d.fresh = true;
    prefetch_ahead(b, d, chunk, t / kBlockTokens, (end + kBlockTokens - 1) / kBlockTokens);
    dot_f16(b.keys_or_values(b.args->k_pool, chunk * kChunk + t), kBlockTokens * 2, kBlockTokens / 16,
            rows.end - rows.first, d);
  }
}

// Row i's scores become exp(scale * score - maximum); fills max[i] and sum[i].
void chunk_softmax(RowBlock& b, int64_t i, int64_t chunk) {
  float* s = b.s[i];
  const int64_t begin = b.first_key(i, chunk), end = b.end_key(i, chunk);
  const int64_t first_lane = begin / 16 * 16, padded = round_up_16(end);
  const Vec16 scale = Vec16::broadcast(b.args->scale);
  for (int64_t t = first_lane; t < padded; t += 16) (Vec16::load(s + t) * scale).store(s + t);
  if (b.args->softcap > 0) {
    for (int64_t t = first_lane; t < padded; t += 16) soft_capped(Vec16::load(s + t), b.args->softcap).store(s + t);
  }
  for (int64_t t = first_lane; t < begin; ++t) s[t] = -__builtin_inff();
  for (int64_t t = end; t < padded; ++t) s[t] = -__builtin_inff();
  Vec16 max_lanes = Vec16::broadcast(-__builtin_inff());
  for (int64_t t = first_lane; t < padded; t += 16) max_lanes = max(max_lanes, Vec16::load(s + t));
  b.max[i] = vector_max(max_lanes);
  const Vec16 max = Vec16::broadcast(b.max[i]);
  Vec16 sum = Vec16::zero();
  for (int64_t t = first_lane; t < padded; t += 16) {
    const Vec16 p = exp(Vec16::load(s + t) - max);
    p.store(s + t);
    sum = sum + p;
  }
  b.sum[i] = vector_sum(sum);
}

// Keys of a chunk, one after the other.
struct Keys {
  int64_t begin, end;
};

// Adds the values of the keys, weighted, to the output of the rows, or starts it with them.
void chunk_values(RowBlock& b, Rows rows, int64_t chunk, Keys keys, bool starts) {
  for (int64_t t = keys.begin; t < keys.end;) {
    const int64_t in_block = t % kBlockTokens;
    const int64_t n = smaller(kBlockTokens - in_block, keys.end - t);
    const ptrdiff_t token_bytes = b.cut.d_pad * 2;
    DotBlock d;
    d.a = reinterpret_cast<const char*>(b.s[rows.first] + t);
    d.a_stride = kLd * 4;
    d.n_steps = n;
    d.acc = b.o[rows.first];
    d.acc_stride = kLd;
    d.fresh = starts && t == keys.begin;
    const int64_t n_blocks = (keys.end + kBlockTokens - 1) / kBlockTokens;
    prefetch_ahead(b, d, chunk, n_blocks + t / kBlockTokens, n_blocks);
    const char* values = b.keys_or_values(b.args->v_pool, chunk * kChunk + t) + in_block * token_bytes;
    dot_f16(values, token_bytes, b.cut.d_pad / 16, rows.end - rows.first, d);
    t += n;
  }
}

// Output of the rows of one chunk. What all rows see they take together, what comes before and after it each query by
// itself: a row must not even add zero times a value that it does not see. Every row adds its values in their order.
void values_of_rows(RowBlock& b, Rows rows, int64_t chunk) {
  const Keys common{b.first_key(rows.end - 1, chunk), b.end_key(rows.first, chunk)};
  const bool begin_together = b.first_key(rows.first, chunk) == common.begin;
  const auto for_queries = [&](const auto& body) {
    for (Rows same{rows.first, rows.first}; same.first < rows.end; same.first = same.end) {
      while (same.end < rows.end && b.query(same.end) == b.query(same.first)) ++same.end;
      body(same, Keys{b.first_key(same.first, chunk), b.end_key(same.first, chunk)});
    }
  };
  if (!begin_together) {
    for (int64_t i = rows.first; i < rows.end; ++i) {
      for (int64_t d = 0; d < b.cut.d_pad; d += 16) Vec16::zero().store(b.o[i] + d);
    }
    for_queries([&](Rows same, Keys seen) { chunk_values(b, same, chunk, {seen.begin, smaller(seen.end, common.begin)}, false); });
  }
  chunk_values(b, rows, chunk, common, begin_together);
  const int64_t after = common.end < common.begin ? common.begin : common.end;
  for_queries([&](Rows same, Keys seen) { chunk_values(b, same, chunk, {after, seen.end}, false); });
}

// Fills max, sum and o of the rows that see any of the chunk.
Rows attend_chunk(RowBlock& b, int64_t chunk) {
  Rows rows{0, b.n_rows};
  while (rows.first < rows.end && b.end_key(rows.first, chunk) == 0) ++rows.first;
  while (rows.end > rows.first && b.first_key(rows.end - 1, chunk) == kChunk) --rows.end;
  if (rows.first == rows.end) return rows;
  chunk_scores(b, rows, chunk);
  for (int64_t i = rows.first; i < rows.end; ++i) chunk_softmax(b, i, chunk);
  values_of_rows(b, rows, chunk);
  return rows;
}

// The softmax of the chunks seen so far: weights are relative to exp(max).
struct Running {
  float max = -__builtin_inff();
  float sum = 0;

  // Takes in a chunk's result; out: d_pad floats of output so far (anything before the first chunk).
  void merge(float chunk_max, float chunk_sum, const float* chunk_out, int64_t d_pad, float* out) {
    const bool first = max == -__builtin_inff() && sum == 0;
    const float new_max = chunk_max < max ? max : chunk_max;
    float factors[16] = {};
    factors[0] = max - new_max;
    factors[1] = chunk_max - new_max;
    exp(Vec16::load(factors)).store(factors);
    const Vec16 old_factor = Vec16::broadcast(factors[0]), chunk_factor = Vec16::broadcast(factors[1]);
    for (int64_t d = 0; d < d_pad; d += 16) {
      const Vec16 old = first ? Vec16::zero() : Vec16::load(out + d);
      fma(old, old_factor, Vec16::load(chunk_out + d) * chunk_factor).store(out + d);
    }
    sum = sum * factors[0] + chunk_sum * factors[1];
    max = new_max;
  }

  // A score without a value.
  void merge_sink(float sink, int64_t d_pad, float* out) {
    alignas(64) static constexpr float kNothing[kMaxHead] = {};
    merge(sink, 1.0f, kNothing, d_pad, out);
  }

  void finish(const float* out, int64_t d_head, float* to) const {
    const Vec16 total = Vec16::broadcast(sum);
    for (int64_t d = 0; d < d_head; d += 16) {
      const int64_t n = smaller(d_head - d, 16);
      (Vec16::load(out + d) / total).store_n(to + d, n);
    }
  }
};

float* output_of(const AttentionArgs& a, int64_t query, int64_t head) {
  return a.out + query * a.ld_out + head * a.d_head;
}

// A row's result of a chunk in the scratch memory.
int64_t partial_offset(const AttentionArgs& a, const Cut& cut, int64_t query, int64_t head, int64_t chunk) {
  return ((query * a.n_heads + head) * cut.chunks + chunk - cut.first_chunk) * cut.partial_floats();
}

void attend_one_chunk(RowBlock& b, int64_t chunk, float* scratch) {
  const Rows rows = attend_chunk(b, chunk);
  for (int64_t i = rows.first; i < rows.end; ++i) {
    float* to = scratch + partial_offset(*b.args, b.cut, b.query(i), b.head(i), chunk);
    for (int64_t d = 0; d < b.cut.d_pad; d += 16) Vec16::load(b.o[i] + d).store(to + d);
    to[b.cut.d_pad] = b.max[i];
    to[b.cut.d_pad + 1] = b.sum[i];
  }
}

void attend_all_chunks(RowBlock& b) {
  float(*out)[kLd] = b.out;
  Running running[kRowBlock];
  for (int64_t chunk = b.args->first_key(b.query(0)) / kChunk; b.end_key(b.n_rows - 1, chunk) > 0; ++chunk) {
    const Rows rows = attend_chunk(b, chunk);
    for (int64_t i = rows.first; i < rows.end; ++i) {
      running[i].merge(b.max[i], b.sum[i], b.o[i], b.cut.d_pad, out[i]);
    }
  }
  for (int64_t i = 0; i < b.n_rows; ++i) {
    if (b.args->sinks) running[i].merge_sink(b.args->sinks[b.head(i)], b.cut.d_pad, out[i]);
    running[i].finish(out[i], b.args->d_head, output_of(*b.args, b.query(i), b.head(i)));
  }
}

int64_t attention_items(const AttentionArgs& a) {
  const Cut c = cut_of(a);
  return a.n_kv_heads * c.row_blocks * (c.split ? c.chunks : 1);
}

size_t attention_scratch_bytes(const AttentionArgs& a) {
  const Cut c = cut_of(a);
  return c.split ? static_cast<size_t>(a.m * a.n_heads * c.chunks * c.partial_floats()) * sizeof(float) : 0;
}

size_t attention_workspace_bytes() { return sizeof(RowBlock); }

void attention(const AttentionArgs& a, int64_t item_begin, int64_t item_end, void* scratch, void* workspace) {
  RowBlock& b = *static_cast<RowBlock*>(workspace);
  b.args = &a;
  b.cut = cut_of(a);
  for (int64_t item = item_begin; item < item_end; ++item) {
    // Items next to each other read the same keys: KV heads outside, then chunks, row blocks inside. The last rows see
    // the most keys: they come first, so that threads end together.
    const int64_t chunk = b.cut.first_chunk + (b.cut.split ? item / b.cut.row_blocks % b.cut.chunks : 0);
    b.kv_head = item / (b.cut.row_blocks * (b.cut.split ? b.cut.chunks : 1));
    b.first_row = (b.cut.row_blocks - 1 - item % b.cut.row_blocks) * b.cut.block_rows;
    b.n_rows = smaller(b.cut.rows - b.first_row, b.cut.block_rows);
    load_queries(b);
    if (b.cut.split) {
      attend_one_chunk(b, chunk, static_cast<float*>(scratch));
    } else {
      attend_all_chunks(b);
    }
  }
}

void attention_merge(const AttentionArgs& a, int64_t m_begin, int64_t m_end, const void* scratch) {
  const Cut cut = cut_of(a);
  if (!cut.split) return;
  alignas(64) float out[kLd];
  for (int64_t query = m_begin; query < m_end; ++query) {
    const int64_t first_chunk = a.first_key(query) / kChunk, end_chunk = (a.first_position + query) / kChunk + 1;
    for (int64_t head = 0; head < a.n_heads; ++head) {
      Running running;
      for (int64_t chunk = first_chunk; chunk < end_chunk; ++chunk) {
        const float* p = static_cast<const float*>(scratch) + partial_offset(a, cut, query, head, chunk);
        running.merge(p[cut.d_pad], p[cut.d_pad + 1], p, cut.d_pad, out);
      }
      if (a.sinks) running.merge_sink(a.sinks[head], cut.d_pad, out);
      running.finish(out, a.d_head, output_of(a, query, head));
    }
  }
}

}  // namespace
}  // namespace inlay::cpu
