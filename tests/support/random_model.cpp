#include "tests/support/random_model.h"

#include <random>
#include <string>

#include "tests/support/random_tensors.h"
#include "tests/unit/gguf_image.h"

namespace inlay::test {
namespace {

using inlay::testing::GgufImage;

constexpr uint64_t kModel = 128, kFeedForward = 256;
constexpr uint32_t kF32 = 0, kF16 = 1;

void add_layer(GgufImage& image, const std::string& prefix, const HeadShape& heads, std::mt19937& random) {
  const uint64_t n_queries = heads.n_heads * heads.d_head, n_keys = heads.n_kv_heads * heads.d_head;
  const auto matrix = [&](const char* name, uint64_t n_rows, uint64_t n_cols, int exponent) {
    image.tensor(prefix + name + ".weight", {n_cols, n_rows}, kF16, halves(n_rows * n_cols, exponent, random));
  };
  image.tensor(prefix + "attn_norm.weight", {kModel}, kF32, floats(kModel, 1.2f));
  matrix("attn_q", n_queries, kModel, -4);
  matrix("attn_k", n_keys, kModel, -4);
  matrix("attn_v", n_keys, kModel, -4);
  matrix("attn_output", kModel, n_queries, -1);
  image.tensor(prefix + "ffn_norm.weight", {kModel}, kF32, floats(kModel, 1.0f));
  matrix("ffn_gate", kFeedForward, kModel, -4);
  matrix("ffn_up", kFeedForward, kModel, -4);
  matrix("ffn_down", kModel, kFeedForward, -5);
}

}  // namespace

std::vector<std::byte> random_model(const HeadShape& heads, Windows windows, uint32_t window, uint32_t n_layers, uint32_t n_vocab) {
  std::mt19937 random(20240229);
  GgufImage image;
  image.text("general.architecture", "llama")
      .u32("llama.block_count", n_layers)
      .u32("llama.context_length", kRandomModelContext)
      .u32("llama.embedding_length", kModel)
      .u32("llama.feed_forward_length", kFeedForward)
      .u32("llama.attention.head_count", heads.n_heads)
      .u32("llama.attention.head_count_kv", heads.n_kv_heads)
      .u32("llama.attention.key_length", heads.d_head)
      .u32("llama.attention.value_length", heads.d_head)
      .u32("llama.rope.dimension_count", heads.n_rot > 0 ? heads.n_rot : heads.d_head)
      .f32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
      .f32("llama.rope.freq_base", 500000.0f)
      .text("tokenizer.ggml.model", "no_vocab");
  if (windows != Windows::none) {
    image.u32("llama.attention.sliding_window", window)
        .u32("llama.attention.sliding_window_pattern", windows == Windows::first_layer ? 2 : 1);
  }
  image.tensor("token_embd.weight", {kModel, n_vocab}, kF16, halves(kModel * n_vocab, -1, random));
  for (uint32_t l = 0; l < n_layers; ++l) add_layer(image, "blk." + std::to_string(l) + ".", heads, random);
  image.tensor("output_norm.weight", {kModel}, kF32, floats(kModel, 1.0f));
  image.tensor("output.weight", {kModel, n_vocab}, kF16, halves(kModel * n_vocab, -4, random));
  return image.build();
}

}  // namespace inlay::test
