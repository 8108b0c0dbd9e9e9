// The searches of the K-quants' quantizer: all instruction sets give the same bits, and no scale near the one found is
// better.
#include "kernels/cpu/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"

namespace inlay::cpu {
namespace {

template <int kSize>
struct Groups {
  GroupValues<kSize> x;
};

// Lanes of many kinds: normal numbers of several sizes, one sign, constants, zeros, one large value, tiny and huge
// ones.
template <int kSize>
std::vector<Groups<kSize>> many_groups() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::vector<Groups<kSize>> out(40);
  for (Groups<kSize>& groups : out) {
    const float size = std::pow(10.0f, static_cast<float>(random() % 7) - 4.0f);
    for (int i = 0; i < kSize; ++i) {
      for (int g = 0; g < kGroupsAtOnce; ++g) {
        const float v = size * normal(random);
        const float kinds[] = {v,    std::fabs(v),      -std::fabs(v), size,     -size,
                               0.0f, i == 3 ? v : 0.0f, v * 1e-38f,    v * 1e36f};
        groups.x[i][g] = kinds[g % 9];
      }
    }
  }
  return out;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class QuantizersOf : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!supported(GetParam())) GTEST_SKIP() << "needs a processor with " << (GetParam() == Isa::avx512 ? "avx512" : "avx2");
  }
  const Quantizers& mine() const { return kernels(GetParam()).quantizers; }
  const Quantizers& generic() const { return kernels(Isa::generic).quantizers; }
};

TEST_P(QuantizersOf, GiveTheSameBits) {
  for (const Groups<32>& groups : many_groups<32>()) {
    for (const int max_code : {15, 31}) {
      AffineFits fits, expected;
      mine().fit_affine(groups.x, max_code, fits);
      generic().fit_affine(groups.x, max_code, expected);
      ASSERT_TRUE(same_bits(fits, expected));
      uint8_t codes[32][16], expected_codes[32][16];
      mine().encode_affine(groups.x, fits, max_code, codes);
      generic().encode_affine(groups.x, fits, max_code, expected_codes);
      ASSERT_TRUE(same_bits(codes, expected_codes));
    }
  }
  for (const Groups<16>& groups : many_groups<16>()) {
    float scale[16], expected[16];
    mine().fit_symmetric(groups.x, scale);
    generic().fit_symmetric(groups.x, expected);
    ASSERT_TRUE(same_bits(scale, expected));
    uint8_t codes[16][16], expected_codes[16][16];
    mine().encode_symmetric(groups.x, scale, codes);
    generic().encode_symmetric(groups.x, scale, expected_codes);
    ASSERT_TRUE(same_bits(codes, expected_codes));
  }
}

// By the definition, in double.
double affine_error(const GroupValues<32>& x, int g, double scale, double min, int max_code) {
  double squares = 0, error = 0;
  for (int i = 0; i < 32; ++i) squares += double{x[i][g]} * x[i][g];
  for (int i = 0; i < 32; ++i) {
    const double code = std::clamp(std::nearbyint((x[i][g] + min) / scale), 0.0, double(max_code));
    const double off = scale * code - min - x[i][g];
    error += (std::sqrt(squares / 32) + std::fabs(x[i][g])) * off * off;
  }
  return error;
}

TEST_P(QuantizersOf, FindFitsThatAreHardToImprove) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  double found = 0, searched = 0, plain = 0;
  for (int run = 0; run < 20; ++run) {
    Groups<32> groups;
    for (auto& row : groups.x) {
      for (float& v : row) v = normal(random);
    }
    AffineFits fits;
    mine().fit_affine(groups.x, 15, fits);
    for (int g = 0; g < kGroupsAtOnce; ++g) {
      float low = 0, high = 0;
      for (int i = 0; i < 32; ++i) low = std::min(low, groups.x[i][g]), high = std::max(high, groups.x[i][g]);
      double best = INFINITY;
      for (int s = -30; s <= 30; ++s) {
        for (int m = -30; m <= 30; ++m) {
          const double scale = (high - low) / 15.0 * (1 + 0.01 * s), min = -low * (1 + 0.01 * m);
          best = std::min(best, affine_error(groups.x, g, scale, min, 15));
        }
      }
      found += affine_error(groups.x, g, fits.scale[g], fits.min[g], 15);
      plain += affine_error(groups.x, g, (high - low) / 15.0, -low, 15);
      searched += best;
    }
  }
  std::printf("error found / of a fine grid %.4f, plain / grid %.4f\n", found / searched, plain / searched);
  EXPECT_LT(found, 1.05 * searched);
  EXPECT_GT(plain, 1.2 * searched) << "negative control: without a search";
}

std::string name_of(const ::testing::TestParamInfo<Isa>& p) {
  constexpr const char* kNames[] = {"generic", "avx2", "avx512"};
  return kNames[static_cast<size_t>(p.param)];
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, QuantizersOf, ::testing::Values(Isa::generic, Isa::avx2, Isa::avx512),
                         name_of);

}  // namespace
}  // namespace inlay::cpu
