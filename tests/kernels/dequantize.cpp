// Every block type against values made by two independent implementations (tests/data/quant): bit for bit.
#include "kernels/ref/dequantize.h"
#include "tests/support/test_data.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace inlay {
namespace {

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool same_bits(const float& a, const float& b) { return std::memcmp(&a, &b, sizeof(float)) == 0; }

class Dequantize : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    blocks = read_file(test::blocks_file(traits(type).name));
    const std::vector<char> expected_bytes = read_file(test::values_file(traits(type).name));
    ASSERT_GT(blocks.size(), 0u) << traits(type).name;
    n = static_cast<int64_t>(blocks.size() / traits(type).block_bytes * traits(type).block_elements);
    ASSERT_EQ(expected_bytes.size(), n * sizeof(float));
    expected.resize(n);
    std::memcpy(expected.data(), expected_bytes.data(), expected_bytes.size());
  }

  int64_t mismatches(const std::vector<char>& bytes) const {
    std::vector<float> out(n);
    ref::dequantize_row(type, bytes.data(), n, out.data());
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += !same_bits(out[i], expected[i]);
    return count;
  }

  DType type = static_cast<DType>(GetParam());
  std::vector<char> blocks;
  std::vector<float> expected;
  int64_t n = 0;
};

TEST_P(Dequantize, BitEqualToTheFixture) { EXPECT_EQ(mismatches(blocks), 0) << "of " << n; }

TEST_P(Dequantize, UnalignedBlocksGiveTheSame) {
  std::vector<char> shifted(blocks.size() + 1);
  std::copy(blocks.begin(), blocks.end(), shifted.begin() + 1);
  std::vector<float> out(n);
  ref::dequantize_row(type, shifted.data() + 1, n, out.data());
  for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(out[i], expected[i])) << i;
}

TEST_P(Dequantize, EveryByteOfABlockMatters) {
  for (uint32_t byte = 0; byte < traits(type).block_bytes; ++byte) {
    std::vector<char> broken = blocks;
    for (size_t at = byte; at < broken.size(); at += traits(type).block_bytes) broken[at] ^= 0x55;
    EXPECT_GT(mismatches(broken), 0) << "byte " << byte << " of a block is not read";
  }
}

// What files hold; F8_E4M3 is made while loading (tests/unit/fp8.cpp).
std::vector<int> types_of_files() {
  std::vector<int> types;
  for (int i = static_cast<int>(DType::f16); i < static_cast<int>(DType::count); ++i) {
    if (kDTypeTable[i].ggml_type != kNotInFiles) types.push_back(i);
  }
  return types;
}

INSTANTIATE_TEST_SUITE_P(Types, Dequantize, testing::ValuesIn(types_of_files()),
                         [](const auto& p) { return std::string(traits(static_cast<DType>(p.param)).name); });

TEST(DequantizeF32, IsACopy) {
  const float in[3] = {1.5f, -0.0f, 1e-42f};
  float out[3] = {};
  ref::dequantize_row(DType::f32, in, 3, out);
  EXPECT_EQ(std::memcmp(in, out, sizeof(in)), 0);
}

}  // namespace
}  // namespace inlay
