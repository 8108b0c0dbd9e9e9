// A llama of one layer with random F32 weights, as the bytes of a GGUF file.
#pragma once

#include <cmath>
#include <functional>
#include <random>

#include "tests/unit/gguf_image.h"

namespace inlay::testing {

struct LlamaSizes {
  uint32_t d_model, d_ff, n_heads, n_kv_heads, d_head, n_rot, n_vocab, n_context = 64;
};

// `more` adds entries to the metadata.
// `up_scale` multiplies two matrices behind each other.
// `nan_token`: whose embedding is NaN; the head then has a matrix of its own.
inline GgufImage::Bytes llama_image(const LlamaSizes& s, const std::function<void(GgufImage&)>& more = {},
                                    float up_scale = 1.0f, int nan_token = -1) {
  GgufImage image;
  image.text("general.architecture", "llama")
      .u32("llama.block_count", 1)
      .u32("llama.context_length", s.n_context)
      .u32("llama.embedding_length", s.d_model)
      .u32("llama.feed_forward_length", s.d_ff)
      .u32("llama.attention.head_count", s.n_heads)
      .u32("llama.attention.head_count_kv", s.n_kv_heads)
      .u32("llama.attention.key_length", s.d_head)
      .u32("llama.attention.value_length", s.d_head)
      .u32("llama.rope.dimension_count", s.n_rot)
      .f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  if (more) more(image);
  std::mt19937 random(1);
  bool has_head = false;
  const auto add = [&](const char* name, uint64_t n_rows, uint64_t n_cols, float factor = 1.0f) {
    GgufImage::Bytes bytes(n_rows * n_cols * sizeof(float));
    const float scale = n_rows > 1 ? 1.0f / std::sqrt(static_cast<float>(n_cols)) : 1.0f;
    for (uint64_t i = 0; i < n_rows * n_cols; ++i) {
      float value = factor * scale * (static_cast<float>(random() % 4096) / 2048.0f - 1.0f);
      if (n_rows == s.n_vocab && !has_head && static_cast<int>(i / n_cols) == nan_token) value = std::nanf("");
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    std::vector<uint64_t> dims = {n_cols};
    if (n_rows > 1) dims.push_back(n_rows);
    image.tensor(name, dims, 0, bytes);
  };
  const uint64_t d = s.d_model, q = uint64_t{s.n_heads} * s.d_head, kv = uint64_t{s.n_kv_heads} * s.d_head;
  add("token_embd.weight", s.n_vocab, d);
  add("output_norm.weight", 1, d);
  has_head = nan_token >= 0;
  if (has_head) add("output.weight", s.n_vocab, d);
  add("blk.0.attn_norm.weight", 1, d);
  add("blk.0.attn_q.weight", q, d);
  add("blk.0.attn_k.weight", kv, d);
  add("blk.0.attn_v.weight", kv, d);
  add("blk.0.attn_output.weight", d, q);
  add("blk.0.ffn_norm.weight", 1, d);
  add("blk.0.ffn_gate.weight", s.d_ff, d);
  add("blk.0.ffn_up.weight", s.d_ff, d, up_scale);
  add("blk.0.ffn_down.weight", d, s.d_ff, up_scale);
  return image.build();
}

}  // namespace inlay::testing
