// Models whose sizes the Plan and the kernels could not represent.
#include <gtest/gtest.h>

#include "src/formats/gguf.h"
#include "src/model/model.h"
#include "tests/unit/gguf_image.h"

namespace inlay::testing {
namespace {

struct Widths {
  uint32_t d_model = 16, d_ff = 2;
};

// A llama of one layer and one head of 16; a matrix of one row is stored with one dimension, as a vector is.
Result<Model> load(const Widths& w) {
  constexpr uint64_t kHead = 16, kVocab = 4;
  GgufImage image;
  image.text("general.architecture", "llama")
      .u32("llama.block_count", 1)
      .u32("llama.context_length", 64)
      .u32("llama.embedding_length", w.d_model)
      .u32("llama.feed_forward_length", w.d_ff)
      .u32("llama.attention.head_count", 1)
      .u32("llama.attention.key_length", kHead)
      .u32("llama.attention.value_length", kHead)
      .u32("llama.rope.dimension_count", kHead)
      .f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto add = [&](const char* name, uint64_t n_rows, uint64_t n_cols) {
    std::vector<uint64_t> dims = {n_cols};
    if (n_rows > 1) dims.push_back(n_rows);
    image.tensor(name, dims, 0, GgufImage::Bytes(n_rows * n_cols * sizeof(float)));
  };
  add("token_embd.weight", kVocab, w.d_model);
  add("output_norm.weight", 1, w.d_model);
  add("blk.0.attn_norm.weight", 1, w.d_model);
  for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"}) add(name, kHead, w.d_model);
  add("blk.0.attn_output.weight", w.d_model, kHead);
  add("blk.0.ffn_norm.weight", 1, w.d_model);
  add("blk.0.ffn_gate.weight", w.d_ff, w.d_model);
  add("blk.0.ffn_up.weight", w.d_ff, w.d_model);
  add("blk.0.ffn_down.weight", w.d_model, w.d_ff);
  const GgufImage::Bytes bytes = image.build();
  INLAY_ASSIGN(const Checkpoint checkpoint, read_gguf(borrow_memory(bytes, "image")));
  return Model::from_checkpoint(checkpoint);
}

TEST(Model, TheSmallestWidthsAreTaken) {
  const auto model = load({});
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_EQ(model->spec().d_ff, 2);
  EXPECT_EQ(model->weights().size(), 11u);
}

TEST(Model, AWidthOfOneIsRefusedByName) {
  const auto narrow = load({.d_ff = 1});
  ASSERT_FALSE(narrow.ok()) << "its gate would be taken for a vector";
  EXPECT_EQ(narrow.status().code, Code::unsupported);
  EXPECT_NE(narrow.status().message.find("llama.feed_forward_length is 1"), std::string::npos) << narrow.status().message;
  const auto thin = load({.d_model = 1});
  ASSERT_FALSE(thin.ok());
  EXPECT_NE(thin.status().message.find("llama.embedding_length is 1"), std::string::npos) << thin.status().message;
}

}  // namespace
}  // namespace inlay::testing
