// Floats to each storage type and back: how much is lost, and what happens to values that no block can hold.
#include "src/model/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/ref/dequantize.h"

namespace inlay {
namespace {

constexpr int64_t kColumns = 256 * 16;

std::vector<float> normal_values(float scale) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> out(kColumns);
  for (float& v : out) v = normal(random);
  return out;
}

std::vector<float> there_and_back(DType type, const std::vector<float>& values) {
  const auto n = static_cast<int64_t>(values.size());
  std::vector<std::byte> blocks(row_bytes(type, values.size()) + 1);  // at an odd address
  quantize(type, values.data(), n, blocks.data() + 1);
  std::vector<float> out(values.size());
  ref::dequantize_row(type, blocks.data() + 1, n, out.data());
  return out;
}

// Root of the mean squared error over the root of the mean square.
double relative_error(const std::vector<float>& got, const std::vector<float>& want) {
  double off = 0, all = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    off += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
    all += double{want[i]} * want[i];
  }
  return std::sqrt(off / all);
}

struct Limits {
  DType type;
  double low, high;  // of the error for normally distributed values: a codec better than its bits allow is wrong too
};

class Quantize : public ::testing::TestWithParam<Limits> {};

TEST_P(Quantize, LosesAsMuchAsItsBitsSay) {
  for (const float scale : {1.0f, 1e-3f, 300.0f}) {
    const std::vector<float> values = normal_values(scale);
    const double error = relative_error(there_and_back(GetParam().type, values), values);
    if (scale == 1.0f) std::printf("%-5s relative error %.5f\n", traits(GetParam().type).name, error);
    EXPECT_GE(error, GetParam().low);
    EXPECT_LE(error, GetParam().high);
  }
}

TEST_P(Quantize, ZerosStayZerosAndConstantsStayClose) {
  const std::vector<float> zeros(256, 0.0f);
  EXPECT_EQ(there_and_back(GetParam().type, zeros), zeros);
  for (const float v : {0.75f, -0.75f}) {
    const std::vector<float> same(256, v);
    EXPECT_LE(relative_error(there_and_back(GetParam().type, same), same), 0.02);
  }
}

TEST_P(Quantize, WhatIsNoNumberShows) {
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    std::vector<float> values(512, 1.0f);
    values[300] = bad;
    const std::vector<float> out = there_and_back(GetParam().type, values);
    EXPECT_FALSE(std::isfinite(out[300]));
    EXPECT_NEAR(out[0], 1.0f, 0.02f) << "another block";
  }
}

TEST_P(Quantize, ExtremesDoNotEndTheProgram) {
  for (const float v : {3e38f, 1e-45f, 1e-39f, 70000.0f * 200.0f}) {
    std::vector<float> values(256, v);
    for (size_t i = 0; i < values.size(); i += 3) values[i] = -v;
    const std::vector<float> out = there_and_back(GetParam().type, values);
    if (v < 1e-30f) {
      for (const float o : out) EXPECT_LE(std::fabs(o), 1e-30f);
    }
  }
}

ConversionLoss loss_of_conversion(DType to, const std::vector<float>& values) {
  std::vector<std::byte> out(row_bytes(to, values.size()));
  return convert(DType::f32, reinterpret_cast<const std::byte*>(values.data()), to, static_cast<int64_t>(values.size()), out.data());
}

TEST_P(Quantize, WhatATypeCannotHoldIsTold) {
  const DType type = GetParam().type;
  const bool has_range = type == DType::f32 || type == DType::bf16;
  for (const float scale : {1e-5f, 2e-5f, 1e-4f, 0.002f, 0.02f, 1.0f, 1000.0f}) {
    EXPECT_FALSE(loss_of_conversion(type, normal_values(scale)).is_too_much(type)) << scale;
  }
  for (const float scale : {1e9f, 1e15f, 1e-9f, 1e-15f}) {
    const ConversionLoss loss = loss_of_conversion(type, normal_values(scale));
    EXPECT_EQ(loss.is_too_much(type), !has_range) << scale;
    EXPECT_EQ(loss.is_beyond(), !has_range && scale > 1) << scale;
  }
}

TEST_P(Quantize, SmallRowsBesideOthersAndWhatWasNoNumberBeforeAreNoLoss) {
  const DType type = GetParam().type;
  std::vector<float> values = normal_values(0.02f);
  for (size_t i = 1024; i < 3072; ++i) values[i] *= 1e-9f;
  EXPECT_FALSE(loss_of_conversion(type, values).is_too_much(type));
  values[0] = INFINITY, values[1025] = NAN;
  EXPECT_FALSE(loss_of_conversion(type, values).is_too_much(type));
  values[3500] = 1e15f;
  EXPECT_EQ(loss_of_conversion(type, values).is_too_much(type), type != DType::f32 && type != DType::bf16) << "the control";
}

INSTANTIATE_TEST_SUITE_P(Types, Quantize,
                         ::testing::Values(Limits{DType::f32, 0, 0}, Limits{DType::f16, 1e-5, 4e-4},
                                           Limits{DType::bf16, 1e-4, 3e-3}, Limits{DType::q8_0, 2e-3, 7e-3},
                                           Limits{DType::q6_k, 0.008, 0.022}, Limits{DType::q5_1, 0.02, 0.045},
                                           Limits{DType::q5_0, 0.02, 0.045}, Limits{DType::q5_k, 0.015, 0.038},
                                           Limits{DType::q4_k, 0.04, 0.075}, Limits{DType::q4_0, 0.05, 0.1}),
                         [](const auto& p) { return std::string(traits(p.param.type).name); });

TEST(QuantizeTypes, OthersAreNotOffered) {
  EXPECT_TRUE(can_quantize_to(DType::q4_k));
  EXPECT_FALSE(can_quantize_to(DType::f8_e4m3));
  EXPECT_FALSE(can_quantize_to(DType::count));
}

TEST(QuantizeTypes, Fp8TellsWhatItCannotHold) {
  for (const float scale : {0.002f, 1.0f, 1000.0f}) {
    EXPECT_FALSE(loss_of_conversion(DType::f8_e4m3, normal_values(scale)).is_too_much(DType::f8_e4m3)) << scale;
  }
  for (const float scale : {1e9f, 1e-11f}) {
    EXPECT_TRUE(loss_of_conversion(DType::f8_e4m3, normal_values(scale)).is_too_much(DType::f8_e4m3)) << scale;
  }
}

TEST(QuantizeTypes, TheErrorNamesTensorValueAndTypesThatHold) {
  const Status large = cannot_hold("blk.0.a", DType::q8_0, {.largest = 2e9f});
  EXPECT_EQ(large.message, "blk.0.a has values of up to 2e+09, beyond what Q8_0 holds: its numbers or scales are FP16; BF16 and F32 hold them");
  EXPECT_NE(cannot_hold("a", DType::f16, {.largest = 1e-9f}).message.find("below what F16"), std::string::npos);
  EXPECT_NE(cannot_hold("a", DType::bf16, {.largest = 3.4e38f}).message.find("F32 holds them"), std::string::npos);
}

}  // namespace
}  // namespace inlay
