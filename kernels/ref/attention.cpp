#include "kernels/ref/attention.h"

#include <cmath>
#include <vector>

namespace inlay::ref {
namespace {

// The d_head values of one cached position and KV head.
const float* cached(const AttentionArgs& a, const void* pool, int64_t position, int64_t kv_head) {
  const int64_t block = a.block_table[position / a.block_tokens];
  const int64_t slot = position % a.block_tokens;
  const auto* const values = reinterpret_cast<const float*>(static_cast<const char*>(pool) + block * a.block_stride);
  return values + (kv_head * a.block_tokens + slot) * a.d_head;
}

// Turns scores into exp(score - max) and returns their sum; `sink`: a score that takes part in both, or null.
double exponentials(std::vector<float>& scores, const float* sink) {
  float max = sink ? *sink : scores[0];
  for (const float s : scores) max = s > max ? s : max;
  double sum = sink ? std::exp(*sink - max) : 0;
  for (float& s : scores) {
    s = std::exp(s - max);
    sum += s;
  }
  return sum;
}

void attend(const AttentionArgs& a, int64_t query, int64_t head, std::vector<float>& scores) {
  const int64_t first = a.first_key(query), n_keys = a.end_key(query) - first;
  const int64_t kv_head = head / (a.n_heads / a.n_kv_heads);
  const float* q = a.q + query * a.ld_q + head * a.d_head;
  float* out = a.out + query * a.ld_out + head * a.d_head;
  scores.resize(static_cast<size_t>(n_keys));
  for (int64_t t = 0; t < n_keys; ++t) {
    const float* k = cached(a, a.k_pool, first + t, kv_head);
    double dot = 0;
    for (int64_t i = 0; i < a.d_head; ++i) dot += static_cast<double>(q[i]) * k[i];
    const float score = static_cast<float>(dot) * a.scale;
    scores[static_cast<size_t>(t)] = a.softcap > 0 ? a.softcap * std::tanh(score / a.softcap) : score;
  }
  const double sum = exponentials(scores, a.sinks ? a.sinks + head : nullptr);
  std::vector<double> mix(static_cast<size_t>(a.d_head), 0.0);
  for (int64_t t = 0; t < n_keys; ++t) {
    const float* v = cached(a, a.v_pool, first + t, kv_head);
    for (int64_t i = 0; i < a.d_head; ++i) {
      mix[static_cast<size_t>(i)] += static_cast<double>(scores[static_cast<size_t>(t)]) * v[i];
    }
  }
  for (int64_t i = 0; i < a.d_head; ++i) out[i] = static_cast<float>(mix[static_cast<size_t>(i)] / sum);
}

}  // namespace

void attention(const AttentionArgs& a, int64_t m_begin, int64_t m_end) {
  std::vector<float> scores;
  for (int64_t query = m_begin; query < m_end; ++query) {
    for (int64_t head = 0; head < a.n_heads; ++head) attend(a, query, head, scores);
  }
}

}  // namespace inlay::ref
