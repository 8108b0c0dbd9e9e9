#include "kernels/ref/kv_cache.h"

#include <algorithm>

namespace inlay::ref {

size_t kv_block_bytes(int64_t n_kv_heads, int64_t d_head, int64_t block_tokens) {
  return static_cast<size_t>(n_kv_heads * d_head * block_tokens) * sizeof(float);
}

void kv_append(const KvAppendArgs& a, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; ++j) {
    const int64_t block = a.block_table[a.positions[j] / a.block_tokens] * a.block_stride;
    auto* const keys = reinterpret_cast<float*>(static_cast<char*>(a.k_pool) + block);
    auto* const values = reinterpret_cast<float*>(static_cast<char*>(a.v_pool) + block);
    const int64_t slot = a.positions[j] % a.block_tokens;
    for (int64_t h = 0; h < a.n_kv_heads; ++h) {
      const int64_t to = (h * a.block_tokens + slot) * a.d_head;
      const int64_t from = j * a.ld + h * a.d_head;
      for (int64_t i = 0; i < a.d_head; ++i) {
        keys[to + i] = a.k[from + i];
        values[to + i] = a.v[from + i];
      }
    }
  }
}

void kv_move(const KvMoveArgs& a, int64_t head_begin, int64_t head_end) {
  const int64_t half = a.n_rot / 2;
  const auto row = [&](void* pool, int64_t position, int64_t head) {
    const int64_t block = a.block_table[position / a.block_tokens] * a.block_stride;
    return reinterpret_cast<float*>(static_cast<char*>(pool) + block) +
           (head * a.block_tokens + position % a.block_tokens) * a.d_head;
  };
  for (int64_t p = a.first; p + a.distance < a.end; ++p) {
    for (int64_t h = head_begin; h < head_end; ++h) {
      float* const k = row(a.k_pool, p, h);
      std::copy_n(row(a.v_pool, p + a.distance, h), a.d_head, row(a.v_pool, p, h));
      std::copy_n(row(a.k_pool, p + a.distance, h), a.d_head, k);
      for (int64_t i = 0; i < half; ++i) {
        const float x0 = k[i], x1 = k[i + half];
        k[i] = x0 * a.cos[i] - x1 * a.sin[i];
        k[i + half] = x0 * a.sin[i] + x1 * a.cos[i];
      }
    }
  }
}

}  // namespace inlay::ref
