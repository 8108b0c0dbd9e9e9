// The images that the benchmark loads: well-formed GGUF files, with weights as wide as they should be, the same however
// they are read.
#include "examples/cli/synthetic_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "kernels/ref/dequantize.h"
#include "src/formats/gguf.h"

namespace inlay::cli {
namespace {

SyntheticModel built(const std::string& shape, const std::string& recipe, int32_t n_layers = 0, double scale = 1.0) {
  SyntheticModel model;
  std::string error;
  EXPECT_TRUE(model.build({.shape = shape, .recipe = recipe, .n_layers = n_layers, .scale = scale}, error)) << error;
  return model;
}

std::vector<std::byte> image_of(const SyntheticModel& model) {
  std::vector<std::byte> bytes(model.n_bytes());
  model.read(0, bytes.data(), bytes.size());
  return bytes;
}

struct Moments {
  double mean, deviation;
};

Moments moments(const std::vector<float>& values) {
  double sum = 0.0, squares = 0.0;
  for (const float v : values) sum += static_cast<double>(v);
  const double mean = sum / static_cast<double>(values.size());
  for (const float v : values) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  return {mean, std::sqrt(squares / static_cast<double>(values.size()))};
}

std::vector<float> values_of(const Checkpoint& checkpoint, const TensorEntry& tensor) {
  std::vector<std::byte> scratch;
  auto bytes = checkpoint.bytes(tensor, scratch);
  EXPECT_TRUE(bytes.ok());
  int64_t n = 1;
  for (const int64_t dim : tensor.shape) n *= dim;
  std::vector<float> values(static_cast<size_t>(n));
  ref::dequantize_row(tensor.dtype, *bytes, n, values.data());
  return values;
}

std::vector<std::string> shapes_of(const std::string& recipe) {
  if (recipe == "mxfp4") return {"tiny-qwen3moe", "tiny-gpt-oss"};  // no recipe for dense models
  return {"tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-qwen3moe", "tiny-gpt-oss"};
}

// The scatter of a block's mean square, halved: what it makes of the deviation.
double block_scatter(DType type) { return type == DType::mxfp4 ? 0.4 : 0.17; }

class Recipes : public testing::TestWithParam<std::string> {};

TEST_P(Recipes, WeightsAreAsWideAsTheyShouldBe) {
  for (const std::string& shape : shapes_of(GetParam())) {
    const std::vector<std::byte> image = image_of(built(shape, GetParam()));
    auto checkpoint = read_gguf(borrow_memory(image, "image"));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
    for (const TensorEntry& tensor : checkpoint->tensors()) {
      const std::vector<float> values = values_of(*checkpoint, tensor);
      const Moments m = moments(values);
      SCOPED_TRACE(shape + " " + std::string(tensor.name));
      const bool norm = tensor.name.find("norm") != std::string_view::npos,
                 bias = tensor.name.find("bias") != std::string_view::npos;
      const bool looked_up = tensor.name == "token_embd.weight" && checkpoint->find("output.weight");
      const bool sinks = tensor.name.find("sinks") != std::string_view::npos;
      const double wanted =
          norm || bias ? 0.1
          : looked_up || sinks
              ? 1.0
              : 1.0 / std::sqrt(static_cast<double>(tensor.shape[static_cast<size_t>(tensor.rank - 1)]));
      // Five times the scatter of a deviation: of single values, and of blocks, whose scales differ.
      const double n_blocks = static_cast<double>(values.size()) / traits(tensor.dtype).block_elements;
      const double tolerance = is_quantized(tensor.dtype)
                                   ? 0.01 + 5.0 * block_scatter(tensor.dtype) / std::sqrt(n_blocks)
                                   : 5.0 / std::sqrt(2.0 * n_blocks);
      EXPECT_NEAR(m.deviation / wanted, 1.0, tolerance);
      EXPECT_NEAR(m.mean, norm ? 1.0 : 0.0,
                  std::max(0.3, 5.0 / std::sqrt(static_cast<double>(values.size()))) * wanted);
    }
  }
}

TEST_P(Recipes, NoBlockIsAllZeros) {
  const SyntheticModel model = built(shapes_of(GetParam())[0], GetParam());
  const std::vector<std::byte> image = image_of(model);
  auto checkpoint = read_gguf(borrow_memory(image, "image"));
  ASSERT_TRUE(checkpoint.ok());
  for (const TensorEntry& tensor : checkpoint->tensors()) {
    if (!is_quantized(tensor.dtype)) continue;
    const std::vector<float> values = values_of(*checkpoint, tensor);
    const size_t block = traits(tensor.dtype).block_elements;
    for (size_t i = 0; i < values.size(); i += block) {
      float most = 0.0f;
      for (size_t k = 0; k < block; ++k) most = std::max(most, std::fabs(values[i + k]));
      ASSERT_TRUE(most > 0.0f && std::isfinite(most)) << tensor.name << ", block " << i / block;
    }
  }
}

TEST_P(Recipes, AnyPieceIsThePieceOfTheWhole) {
  const SyntheticModel model = built(shapes_of(GetParam()).back(), GetParam(), 1);
  const std::vector<std::byte> image = image_of(model);
  uint32_t random = 1;
  std::vector<std::byte> piece;
  for (int i = 0; i < 3000; ++i) {
    random = random * 1664525u + 1013904223u;
    const uint64_t offset = random % image.size();
    random = random * 1664525u + 1013904223u;
    piece.assign(std::min<uint64_t>((random >> 8) % 1500, image.size() - offset), std::byte{0xAA});
    model.read(offset, piece.data(), piece.size());
    ASSERT_EQ(std::memcmp(piece.data(), image.data() + offset, piece.size()), 0) << offset << " + " << piece.size();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recipes, testing::ValuesIn(synthetic_recipe_names()),
                         [](const auto& recipe) { return recipe.param; });

TEST(SyntheticModel, TensorsFillTheImageToItsEnd) {
  const SyntheticModel model = built("qwen2.5-1.5b", "q4_k_m", 3, 0.1);
  const std::vector<std::byte> image = image_of(model);
  auto checkpoint = read_gguf(borrow_memory(image, "image"));
  ASSERT_TRUE(checkpoint.ok());
  uint64_t end = model.data_offset(), n_params = 0;
  for (const TensorEntry& tensor : checkpoint->tensors()) {
    EXPECT_EQ(tensor.offset, end) << tensor.name;
    end = (tensor.offset + tensor.n_bytes + 31) / 32 * 32;
    uint64_t n = 1;
    for (const int64_t dim : tensor.shape) n *= static_cast<uint64_t>(dim);
    n_params += n;
  }
  EXPECT_EQ(end, image.size());
  EXPECT_EQ(n_params, model.n_params());
}

// Q4_K_M keeps some of the layers in Q6_K: of 28 the first and last three, and every third between.
TEST(SyntheticModel, TheMixtureOfQ4KM) {
  SyntheticModel model = built("qwen2.5-1.5b", "q4_k_m", 0, 0.05);
  const std::vector<std::byte> image = image_of(model);
  auto checkpoint = read_gguf(borrow_memory(image, "image"));
  ASSERT_TRUE(checkpoint.ok());
  const std::map<int, int> sensitive = {{0, 1},  {1, 1},  {2, 1},  {5, 1},  {8, 1},  {11, 1}, {14, 1},
                                        {17, 1}, {20, 1}, {23, 1}, {24, 1}, {25, 1}, {26, 1}, {27, 1}};
  for (int i = 0; i < 28; ++i) {
    const DType wanted = sensitive.count(i) ? DType::q6_k : DType::q4_k;
    for (const char* name : {"attn_v.weight", "ffn_down.weight"}) {
      const TensorEntry* tensor = checkpoint->find("blk." + std::to_string(i) + "." + name);
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(tensor->dtype, wanted) << tensor->name;
    }
    EXPECT_EQ(checkpoint->find("blk." + std::to_string(i) + ".attn_q.weight")->dtype, DType::q4_k);
  }
  EXPECT_EQ(checkpoint->find("token_embd.weight")->dtype, DType::q6_k);
}

// Rows of 2880 are no whole blocks of 256: what takes their place; experts' projections are kept like others'.
TEST(SyntheticModel, TypesOfExperts) {
  const auto type_of = [](const char* shape, const char* recipe, const std::string& name) {
    const std::vector<std::byte> image = image_of(built(shape, recipe, 4, 0.02));
    auto checkpoint = read_gguf(borrow_memory(image, "image"));
    EXPECT_TRUE(checkpoint.ok());
    const TensorEntry* tensor = checkpoint->find(name);
    EXPECT_NE(tensor, nullptr) << name;
    return tensor != nullptr ? tensor->dtype : DType::f32;
  };
  EXPECT_EQ(type_of("gpt-oss-20b", "mxfp4", "blk.1.ffn_gate_exps.weight"), DType::mxfp4);
  EXPECT_EQ(type_of("gpt-oss-20b", "mxfp4", "blk.1.ffn_down_exps.weight"), DType::mxfp4);
  EXPECT_EQ(type_of("gpt-oss-20b", "mxfp4", "blk.1.attn_q.weight"), DType::q8_0);
  EXPECT_EQ(type_of("gpt-oss-20b", "q4_k_m", "blk.1.ffn_gate_exps.weight"), DType::q5_0);
  EXPECT_EQ(type_of("gpt-oss-20b", "q4_k_m", "blk.3.ffn_down_exps.weight"), DType::q8_0);
  EXPECT_EQ(type_of("gpt-oss-20b", "q5_k_m", "blk.1.ffn_up_exps.weight"), DType::q5_1);
  EXPECT_EQ(type_of("qwen3-30b-a3b", "q4_k_m", "blk.1.ffn_down_exps.weight"), DType::q4_k);
  EXPECT_EQ(type_of("qwen3-30b-a3b", "q4_k_m", "blk.3.ffn_down_exps.weight"), DType::q6_k);
}

TEST(SyntheticModel, EveryScaleHasWholeBlocks) {
  for (const std::string& shape : synthetic_shape_names()) {
    for (const double scale : {0.01, 0.07, 0.1, 0.2}) {
      const SyntheticModel model = built(shape, "q4_k_m", 1, scale);
      const std::vector<std::byte> image = image_of(model);
      auto checkpoint = read_gguf(borrow_memory(image, "image"));
      EXPECT_TRUE(checkpoint.ok()) << shape << " " << scale << ": " << checkpoint.status().message;
    }
  }
}

TEST(SyntheticModel, MistakesAreNamed) {
  SyntheticModel model;
  const auto reason = [&](const SyntheticRequest& request) {
    std::string error;
    EXPECT_FALSE(model.build(request, error));
    return error;
  };
  EXPECT_NE(reason({.shape = "giant", .recipe = "f32"}).find("'giant'"), std::string::npos);
  EXPECT_NE(reason({.shape = "tiny-llama", .recipe = "q1"}).find("'q1'"), std::string::npos);
  EXPECT_NE(reason({.shape = "tiny-llama", .recipe = "mxfp4"}).find("experts"), std::string::npos);
  EXPECT_NE(reason({.shape = "tiny-llama", .recipe = "f32", .scale = 1.5}).find("scale"), std::string::npos);
  EXPECT_NE(reason({.shape = "tiny-llama", .recipe = "f32", .n_layers = -1}).find("layers"), std::string::npos);
}

}  // namespace
}  // namespace inlay::cli
