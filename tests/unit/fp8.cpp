// Weights quantized to F8_E4M3 while they are read: codes and scales against a search over all codes in double, and
// which weights of a model it is done to.
#include "src/model/fp8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/common/half.h"
#include "kernels/ref/dequantize.h"
#include "src/base/thread_pool.h"
#include "src/formats/gguf.h"
#include "src/model/model.h"
#include "tests/support/random_model.h"
#include "tests/unit/llama_image.h"

namespace inlay::testing {
namespace {

using Values = std::vector<float>;  // whole blocks

std::vector<BlockF8_E4M3> quantized(const Values& values) {
  std::vector<BlockF8_E4M3> out(values.size() / 32);
  quantize_f8_e4m3(DType::f32, reinterpret_cast<const std::byte*>(values.data()), static_cast<int64_t>(values.size()),
                   reinterpret_cast<std::byte*>(out.data()));
  return out;
}

Values dequantized(const std::vector<BlockF8_E4M3>& blocks) {
  Values out(32 * blocks.size());
  ref::dequantize_row(DType::f8_e4m3, blocks.data(), static_cast<int64_t>(out.size()), out.data());
  return out;
}

// The format's definition.
double value_of(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

// 31 values behind one that makes the scale 1.
uint8_t code_at_scale_one(float value) {
  Values values(32, 0.0f);
  values[0] = 448.0f;
  values[5] = value;
  const BlockF8_E4M3 block = quantized(values)[0];
  EXPECT_EQ(to_float(block.d), 1.0f);
  return block.q[5];
}

TEST(Fp8, EveryCodeIsTheValueOfItsDefinition) {
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(e4m3_to_float(static_cast<uint8_t>(code)), value_of(code)) << code;
    if ((code & 0x7f) == 0x7f) continue;
    EXPECT_EQ(code_at_scale_one(static_cast<float>(value_of(code))), code == 0x80 ? 0x80 : code);
  }
  EXPECT_EQ(value_of(0x7e), 448.0);
  EXPECT_NE(value_of(0x08), value_of(0x07)) << "negative control";
}

TEST(Fp8, HalfwayValuesGoToTheEvenCode) {
  for (int code = 0; code < 0x7e; ++code) {
    const auto middle = static_cast<float>((value_of(code) + value_of(code + 1)) / 2);
    for (const int sign : {0, 0x80}) {
      const float s = sign ? -1.0f : 1.0f;
      EXPECT_EQ(code_at_scale_one(s * middle), sign | (code + code % 2)) << code;
      EXPECT_EQ(code_at_scale_one(s * std::nextafter(middle, 0.0f)), sign | code) << code;
      EXPECT_EQ(code_at_scale_one(s * std::nextafter(middle, 1e3f)), sign | (code + 1)) << code;
    }
  }
}

// Blocks of values that spread over several powers of two, of all sizes.
Values random_values(size_t n_blocks, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Values out;
  for (size_t i = 0; i < n_blocks; ++i) {
    const float size =
        std::ldexp(1.0f + static_cast<float>(random() % 1000) / 1000.0f, static_cast<int>(random() % 44) - 24);
    for (int k = 0; k < 32; ++k)
      out.push_back(size * normal(random) * std::ldexp(1.0f, -static_cast<int>(random() % 12)));
  }
  return out;
}

TEST(Fp8, ScalesAreTheSmallestThatNothingOverflows) {
  const Values values = random_values(4000, 1);
  const auto blocks = quantized(values);
  for (size_t i = 0; i < blocks.size(); ++i) {
    double largest = 0;
    for (size_t k = 0; k < 32; ++k) largest = std::max(largest, std::abs(double{values[32 * i + k]}));
    const auto bits = static_cast<uint16_t>(blocks[i].d.bytes[0] | blocks[i].d.bytes[1] << 8);
    ASSERT_GE(448.0 * float_from_f16(bits), largest) << i;
    ASSERT_LT(448.0 * float_from_f16(static_cast<uint16_t>(bits - 1)), largest) << i << ": a smaller one would do";
  }
}

TEST(Fp8, CodesAreTheNearestOfAll) {
  const Values values = random_values(3000, 2);
  const auto blocks = quantized(values);
  for (size_t i = 0; i < values.size(); ++i) {
    const double wanted = double{values[i]} / to_float(blocks[i / 32].d);
    const uint8_t code = blocks[i / 32].q[i % 32];
    ASSERT_NE(code & 0x7f, 0x7f);
    double nearest = std::numeric_limits<double>::infinity();
    for (int other = 0; other < 256; ++other) {
      if ((other & 0x7f) != 0x7f) nearest = std::min(nearest, std::abs(value_of(other) - wanted));
    }
    ASSERT_EQ(std::abs(value_of(code) - wanted), nearest) << values[i];
  }
}

TEST(Fp8, MagnitudesThatNoScaleReachesSaturate) {
  Values values(64, 1e9f);
  values[1] = -3e38f;
  values[32] = -448.0f * 65504.0f;
  const Values out = dequantized(quantized(values));
  EXPECT_EQ(out[0], 448.0f * 65504.0f);
  EXPECT_EQ(out[1], -448.0f * 65504.0f);
  EXPECT_EQ(out[32], -448.0f * 65504.0f);
}

TEST(Fp8, ZerosStayAndWhatIsNoNumberShows) {
  Values values(128, 0.4375f);  // 448 / 1024
  for (int k = 0; k < 32; ++k) values[static_cast<size_t>(k)] = k % 2 ? -0.0f : 0.0f;
  values[40] = std::numeric_limits<float>::quiet_NaN();
  values[70] = -std::numeric_limits<float>::infinity();
  const Values out = dequantized(quantized(values));
  for (size_t k = 0; k < 32; ++k) EXPECT_EQ(out[k], 0.0f);
  for (size_t k = 32; k < 96; ++k) EXPECT_TRUE(std::isnan(out[k])) << k;
  for (size_t k = 96; k < 128; ++k) EXPECT_EQ(out[k], 0.4375f) << k;
}

TEST(Fp8, NormalWeightsLoseWhatThreeBitsOfMantissaCost) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  Values values(32 * 4096);
  for (float& v : values) v = normal(random);
  const Values out = dequantized(quantized(values));
  double error = 0, power = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(double{out[i]} - values[i], 2);
    power += std::pow(double{values[i]}, 2);
  }
  EXPECT_LT(error / power, 8e-4);
  EXPECT_GT(error / power, 4e-4);
}

// The same values in each of the file's types, at an odd address.
TEST(Fp8, SourcesOfEveryTypeGiveTheSameBlocks) {
  Values values(96);
  std::mt19937 random(4);
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 255) - 127) / 64.0f;  // exact in all
  const auto wanted = quantized(values);
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    std::vector<std::byte> source(1);
    for (const float v : values) {
      const uint32_t bits = type == DType::f32 ? bits_of(v) : type == DType::f16 ? f16_from_float(v) : bits_of(v) >> 16;
      const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
      source.insert(source.end(), bytes, bytes + traits(type).block_bytes);
    }
    std::vector<std::byte> blocks(wanted.size() * sizeof(BlockF8_E4M3));
    quantize_f8_e4m3(type, source.data() + 1, static_cast<int64_t>(values.size()), blocks.data());
    EXPECT_EQ(std::memcmp(blocks.data(), wanted.data(), blocks.size()), 0) << traits(type).name;
  }
}

// ---- weights of models

constexpr LlamaSizes kSizes{
    .d_model = 64, .d_ff = 48, .n_heads = 4, .n_kv_heads = 2, .d_head = 16, .n_rot = 12, .n_vocab = 40};

TEST(Fp8Weights, WholeRowsAreReadAsTheyAreReadAtOnce) {
  const GgufImage::Bytes bytes = llama_image(kSizes);
  const auto checkpoint = read_gguf(borrow_memory(bytes, "image"));
  const auto stored = Model::from_checkpoint(*checkpoint);
  auto model = Model::from_checkpoint(*checkpoint);
  ASSERT_TRUE(stored.ok() && model.ok());
  model->hold_as_f8();
  WeightReader of_file(*checkpoint, *stored), reader(*checkpoint, *model), threaded(*checkpoint, *model);
  ThreadPool pool(3);
  ReadScratch scratch;
  std::mt19937 random(5);
  size_t n_quantized = 0;
  for (size_t i = 0; i < model->weights().size(); ++i) {
    const Weight& w = model->weights()[i];
    if (w.dtype != DType::f8_e4m3) continue;
    ++n_quantized;
    const auto values = of_file.read(stored->weights()[i]);
    ASSERT_TRUE(values.ok());
    std::vector<std::byte> wanted(w.n_bytes()), parts(w.n_bytes());
    quantize_f8_e4m3(DType::f32, *values, w.n_rows * w.n_cols, wanted.data());
    EXPECT_EQ(std::memcmp(*reader.read(w), wanted.data(), wanted.size()), 0) << w.name;
    EXPECT_EQ(std::memcmp(*threaded.read(w, &pool), wanted.data(), wanted.size()), 0) << w.name;
    const uint64_t row = w.n_bytes() / static_cast<uint64_t>(w.n_rows);
    for (uint64_t at = 0; at < parts.size();) {
      const uint64_t n = std::min<uint64_t>((1 + random() % 20) * row, parts.size() - at);
      const Status status = reader.read_range(w, at, {parts.data() + at, n}, scratch);
      ASSERT_TRUE(status.ok()) << status.message;
      at += n;
    }
    EXPECT_EQ(parts, wanted) << w.name;
    EXPECT_EQ(reader.read_range(w, 1, {parts.data(), row}, scratch).code, Code::invalid_argument);
    EXPECT_EQ(reader.read_range(w, 0, {parts.data(), row - 1}, scratch).code, Code::invalid_argument);
    EXPECT_EQ(reader.read_range(w, w.n_bytes(), {parts.data(), row}, scratch).code, Code::invalid_argument);
  }
  EXPECT_EQ(n_quantized, 7u) << "all but those of rows of 48, and norms";
}

TEST(Fp8Weights, MatricesOfWholeBlocksAreQuantizedAndNothingElse) {
  const GgufImage::Bytes tied_bytes = llama_image(kSizes), untied_bytes = inlay::test::random_model({});
  for (const bool tied : {true, false}) {
    const auto checkpoint = read_gguf(borrow_memory(tied ? tied_bytes : untied_bytes, "image"));
    auto model = Model::from_checkpoint(*checkpoint);
    ASSERT_TRUE(model.ok()) << model.status().message;
    ASSERT_EQ(model->spec().tied_embeddings, tied);
    EXPECT_FALSE(model->is_quantized_at_load());
    model->hold_as_f8();
    EXPECT_TRUE(model->is_quantized_at_load());
    for (const Weight& w : model->weights()) {
      const bool stays = w.n_rows == 1 || w.n_cols % 32 != 0 || (w.role == WeightRole::token_embd && !tied);
      EXPECT_EQ(w.dtype, stays ? checkpoint->tensors()[w.tensor].dtype : DType::f8_e4m3) << w.name;
    }
    EXPECT_EQ(model->find(WeightRole::token_embd)->dtype, tied ? DType::f8_e4m3 : DType::f16);
  }
}

}  // namespace
}  // namespace inlay::testing
