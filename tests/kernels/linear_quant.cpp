// The quantized linear kernels of every instruction set that this processor has, against plain double sums over the
// dequantized blocks.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "kernels/cpu/quant_layout.h"
#include "tests/kernels/linear_data.h"
#include "tests/support/test_data.h"

namespace inlay {
namespace {

using cpu::Isa;
using test::PackedMatrix;
using test::PreparedActivations;

constexpr float kGuard = 12345.678f;

struct Case {
  DType type;
  Isa isa;
};

const char* isa_name(Isa isa) {
  const char* names[] = {"generic", "avx2", "avx512"};
  return names[static_cast<size_t>(isa)];
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (int type = static_cast<int>(DType::q8_0); type < static_cast<int>(DType::count); ++type) {
    for (int isa = 0; isa < static_cast<int>(Isa::count); ++isa) {
      cases.push_back({static_cast<DType>(type), static_cast<Isa>(isa)});
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(traits(info.param.type).name) + "_" + isa_name(info.param.isa);
}

class LinearQuant : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!cpu::supported(GetParam().isa)) GTEST_SKIP() << "needs a processor with " << isa_name(GetParam().isa);
    kernels = &cpu::kernels(GetParam().isa);
    kernel = &kernels->linear[static_cast<size_t>(type)];
    ASSERT_NE(kernel->run, nullptr);
    ASSERT_EQ(kernel->form, cpu::ActivationForm::q8);
  }

  // Rows of the result are ld apart; what no row owns keeps the guard value.
  std::vector<float> run(PackedMatrix& w, PreparedActivations& x, int64_t ld, const float* bias = nullptr) {
    std::vector<float> out(x.m * ld + 64, kGuard);
    const cpu::LinearArgs args = {w.bytes.data(), x.bytes.data(), out.data(), bias, w.n_rows, w.n_cols, x.m, ld, 0};
    kernel->run(args, 0, cpu::n_tiles(w.n_rows), 0, x.m);
    return out;
  }

  // Largest error in units of the sum of the products' magnitudes.
  static double worst(const std::vector<float>& out, int64_t ld, const std::vector<double>& exact,
                      const std::vector<double>& magnitude, int64_t n_rows) {
    double largest = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      const double error = std::fabs(out[i / n_rows * ld + i % n_rows] - exact[i]);
      largest = std::fmax(largest, error / std::fmax(magnitude[i], 1e-30));
      if (!std::isfinite(out[i / n_rows * ld + i % n_rows])) return INFINITY;
    }
    return largest;
  }

  void check_shape(int64_t n_rows, int64_t n_cols, int64_t m) {
    for (const float fine_above : {cpu::kNoneFine, kSomeFine, cpu::kAllFine}) check_shape(n_rows, n_cols, m, fine_above);
  }

  void check_shape(int64_t n_rows, int64_t n_cols, int64_t m, float fine_above) {
    const auto blocks = test::random_blocks(type, n_rows, n_cols, static_cast<uint32_t>(n_rows * 31 + n_cols + m));
    const auto x = test::random_activations(m, n_cols, static_cast<uint32_t>(m));
    PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
    PreparedActivations prepared(*kernels, kernel->form, x, n_cols, fine_above);
    const int64_t ld = n_rows + 5;
    const std::vector<float> out = run(packed, prepared, ld);

    const std::vector<float> w = test::dequantize(type, blocks, n_rows, n_cols);
    std::vector<double> exact, magnitude;
    const std::string what = std::to_string(n_rows) + " x " + std::to_string(n_cols) + ", m " + std::to_string(m) +
                             ", 16 bits above " + std::to_string(fine_above);
    test::exact_linear(w, test::rounded_activations(x, n_cols, fine_above), n_cols, exact, magnitude);
    EXPECT_LT(worst(out, ld, exact, magnitude, n_rows), kTight) << what;
    test::exact_linear(w, x, n_cols, exact, magnitude);
    EXPECT_LT(worst(out, ld, exact, magnitude, n_rows), fine_above == cpu::kAllFine ? kLoose / 128 : kLoose) << what;
    for (size_t i = 0; i < out.size(); ++i) {
      const bool owned = static_cast<int64_t>(i) / ld < m && static_cast<int64_t>(i) % ld < n_rows;
      if (owned) continue;
      ASSERT_EQ(out[i], kGuard) << "wrote outside of its rows at " << i;
    }
  }

  // Against the rounded activations only float rounding is left: a few units in the last place per group of columns.
  // Against the exact ones, half a step of 1/127 of a group's largest value, in every product; of 1/32512 with 16 bits.
  static constexpr double kTight = 2e-6, kLoose = 1e-2;
  static constexpr float kSomeFine = 1;  // of random activations about half

  DType type = GetParam().type;
  const cpu::Kernels* kernels = nullptr;
  const cpu::LinearKernel* kernel = nullptr;
};

TEST_P(LinearQuant, MatchesDoubleSums) {
  const int64_t block = traits(type).block_elements;
  for (const int64_t n_rows : {1, 15, 16, 17, 160}) {
    for (const int64_t n_cols : {block, 3 * block, int64_t{1536}}) check_shape(n_rows, n_cols, 3);
  }
  check_shape(1000, 512, 2);
}

TEST_P(LinearQuant, EveryBatchSize) {
  for (int64_t m = 1; m <= 40; ++m) check_shape(33, 512, m);
}

// What rounded activations cost, over the squares of the layer's results. Normally distributed ones have steps of about
// 0.017 deviations with 8 bits, an error of 2.5e-5; with 16 bits of 1/256 of that, an error of 4e-10.
TEST_P(LinearQuant, ErrorOfTheWholeLayer) {
  const int64_t n_rows = 160, n_cols = 1536, m = 8;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 18);
  const auto x = test::random_activations(m, n_cols, 19);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  std::vector<double> exact, magnitude;
  test::exact_linear(test::dequantize(type, blocks, n_rows, n_cols), x, n_cols, exact, magnitude);
  const auto error_of = [&](float fine_above) {
    PreparedActivations prepared(*kernels, kernel->form, x, n_cols, fine_above);
    const std::vector<float> out = run(packed, prepared, n_rows);
    double error = 0, square = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      error += (out[i] - exact[i]) * (out[i] - exact[i]);
      square += exact[i] * exact[i];
    }
    return error / square;
  };
  const double coarse = error_of(cpu::kNoneFine), some = error_of(kSomeFine), fine = error_of(cpu::kAllFine);
  EXPECT_LT(coarse, 6e-5);
  EXPECT_GT(coarse, 1e-6) << "the activations were not rounded at all: the test is not looking at the kernel";
  EXPECT_LT(some, 0.6 * coarse);
  EXPECT_GT(some, 0.2 * coarse) << "groups that should have 8 bits have more";
  EXPECT_LT(fine, 2e-9);
  EXPECT_GT(fine, 1e-11) << "more than 16 bits: the test is not looking at the kernel";
}

// Kernels may skip the fine codes of groups that have none, for some rows of a batch or for all.
TEST_P(LinearQuant, FineCodesOfZeroChangeNoBit) {
  const int64_t n_rows = 40, n_cols = 768, m = 21;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 23);
  const auto x = test::random_activations(m, n_cols, 24);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  PreparedActivations prepared(*kernels, kernel->form, x, n_cols, kSomeFine);
  const std::vector<float> expected = run(packed, prepared, n_rows);
  int64_t n_fine = 0;
  for (int64_t j = 0; j < m; ++j) {
    auto* row = reinterpret_cast<cpu::Q8Group*>(prepared.bytes.data() + j * cpu::q8_row_bytes(n_cols));
    for (int64_t g = 0; g < n_cols / cpu::kGroup; ++g) {
      n_fine += row[g].fine;
      row[g].fine = 1;
    }
  }
  EXPECT_GT(n_fine, m * n_cols / cpu::kGroup / 4);
  EXPECT_LT(n_fine, m * n_cols / cpu::kGroup * 3 / 4);
  const std::vector<float> out = run(packed, prepared, n_rows);
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
}

// Activation rows are taken in chunks that fit into a cache; wide rows make the chunks small.
TEST_P(LinearQuant, WideRowsInManyChunks) { check_shape(18, 35 * 256, 70); }

TEST_P(LinearQuant, BatchInvariantBits) {
  const int64_t n_rows = 100, n_cols = 768, m = 33;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 7);
  const auto x = test::random_activations(m, n_cols, 8);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  PreparedActivations all(*kernels, kernel->form, x, n_cols, kSomeFine);
  const std::vector<float> whole = run(packed, all, n_rows);

  for (int64_t size = 1; size <= m; ++size) {  // the last `size` rows as a batch of their own
    const std::vector<float> some(x.end() - size * n_cols, x.end());
    PreparedActivations prepared(*kernels, kernel->form, some, n_cols, kSomeFine);
    const std::vector<float> out = run(packed, prepared, n_rows);
    ASSERT_EQ(std::memcmp(out.data(), whole.data() + (m - size) * n_rows, size * n_rows * sizeof(float)), 0) << size;
  }

  std::mt19937 rng(9);
  for (int round = 0; round < 20; ++round) {  // random cuts of tiles and of the batch
    std::vector<float> out(m * n_rows, kGuard);
    const cpu::LinearArgs args = {
        packed.bytes.data(), all.bytes.data(), out.data(), nullptr, n_rows, n_cols, m, n_rows, 0};
    for (int64_t tile = 0; tile < cpu::n_tiles(n_rows);) {
      const int64_t tile_end = std::min<int64_t>(tile + 1 + rng() % 4, cpu::n_tiles(n_rows));
      for (int64_t j = 0; j < m;) {
        const int64_t j_end = std::min<int64_t>(j + 1 + rng() % 20, m);
        kernel->run(args, tile, tile_end, j, j_end);
        j = j_end;
      }
      tile = tile_end;
    }
    ASSERT_EQ(std::memcmp(out.data(), whole.data(), out.size() * sizeof(float)), 0) << "round " << round;
  }
}

TEST_P(LinearQuant, BiasAndResidual) {
  const int64_t n_rows = 21, n_cols = 256, m = 5;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 1);
  const auto x = test::random_activations(m, n_cols, 2);
  const auto bias = test::random_activations(1, n_rows, 3);
  const auto residual = test::random_activations(m, n_rows, 4);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  PreparedActivations prepared(*kernels, kernel->form, x, n_cols);
  const std::vector<float> plain = run(packed, prepared, n_rows);
  const std::vector<float> biased = run(packed, prepared, n_rows, bias.data());
  std::vector<float> added = residual;
  const cpu::LinearArgs args = {
      packed.bytes.data(), prepared.bytes.data(), added.data(), bias.data(), n_rows, n_cols, m, n_rows, 1};
  kernel->run(args, 0, cpu::n_tiles(n_rows), 0, m);
  for (int64_t i = 0; i < m * n_rows; ++i) {
    EXPECT_EQ(biased[i], plain[i] + bias[i % n_rows]);
    EXPECT_EQ(added[i], residual[i] + biased[i]);
  }
}

TEST_P(LinearQuant, UnpackedRowsAreTheFilesValues) {
  const int64_t n_rows = 37, n_cols = 3 * 256;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 11);
  const std::vector<float> expected = test::dequantize(type, blocks, n_rows, n_cols);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  std::vector<float> out(n_cols);
  for (int64_t row = 0; row < n_rows; ++row) {
    kernel->unpack_row(packed.bytes.data(), n_cols, row, out.data());
    ASSERT_EQ(std::memcmp(out.data(), expected.data() + row * n_cols, n_cols * sizeof(float)), 0) << row;
  }
}

TEST_P(LinearQuant, PackingByPartsAndSizeOfTheTiles) {
  const int64_t n_rows = 50, n_cols = 512;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 12);
  PackedMatrix whole(*kernel, blocks, n_rows, n_cols);
  test::AlignedBytes parts(whole.bytes.size());
  std::memset(parts.data(), 0xee, parts.size());
  for (int64_t tile = cpu::n_tiles(n_rows) - 1; tile >= 0; --tile) {
    kernel->pack(blocks.data(), n_rows, n_cols, tile, tile + 1, parts.data());
  }
  EXPECT_EQ(std::memcmp(whole.bytes.data(), parts.data(), parts.size()), 0);
  const double file_bytes = static_cast<double>(16 * row_bytes(type, 8192));
  EXPECT_LT(kernel->tile_bytes(8192), 1.04 * file_bytes);
  EXPECT_EQ(kernel->tile_bytes(256) % 64, 0u);
}

TEST_P(LinearQuant, AFlippedBitOfAFactorIsSeen) {
  const int64_t n_rows = 16, n_cols = 1536;
  auto blocks = test::random_blocks(type, n_rows, n_cols, 13);
  const auto x = test::random_activations(1, n_cols, 14);
  std::vector<double> exact, magnitude;
  test::exact_linear(test::dequantize(type, blocks, n_rows, n_cols), test::rounded_activations(x, n_cols), n_cols,
                     exact, magnitude);
  PreparedActivations prepared(*kernels, kernel->form, x, n_cols);
  test::damage_factor(type, blocks.data());  // one block of one row
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  EXPECT_GT(worst(run(packed, prepared, n_rows), n_rows, exact, magnitude, n_rows), kTight);
}

// What the q8 form says about values that it cannot hold.
TEST_P(LinearQuant, ExtremeActivations) {
  const int64_t n_rows = 3, n_cols = 512;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 20);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  auto x = test::random_activations(6, n_cols, 21);
  float* row = x.data();
  std::fill(row, row + n_cols, 0.0f);                             // 0: zero
  for (int64_t i = 0; i < n_cols; ++i) row[n_cols + i] = 1e-40f;  // 1: subnormal, counts as zero
  for (int64_t i = 0; i < n_cols; ++i) row[2 * n_cols + i] *= 1e30f;
  row[3 * n_cols + 40] = NAN;
  row[4 * n_cols + 511] = -INFINITY;  // 5: ordinary
  const std::vector<float> big(x.begin() + 2 * n_cols, x.begin() + 3 * n_cols);
  for (const float fine_above : {cpu::kNoneFine, kSomeFine, cpu::kAllFine}) {
    PreparedActivations prepared(*kernels, kernel->form, x, n_cols, fine_above);
    const std::vector<float> out = run(packed, prepared, n_rows);
    std::vector<double> exact, magnitude;
    test::exact_linear(test::dequantize(type, blocks, n_rows, n_cols),
                       test::rounded_activations(big, n_cols, fine_above), n_cols, exact, magnitude);
    for (int64_t i = 0; i < n_rows; ++i) {
      EXPECT_EQ(out[i], 0.0f);
      EXPECT_EQ(out[n_rows + i], 0.0f);
      EXPECT_NEAR(out[2 * n_rows + i], exact[i], kTight * magnitude[i]);
      EXPECT_TRUE(std::isnan(out[3 * n_rows + i])) << "a NaN must not turn into a number";
      EXPECT_TRUE(std::isnan(out[4 * n_rows + i])) << "nor an infinity";
      EXPECT_TRUE(std::isfinite(out[5 * n_rows + i]));
    }
  }
}

// Blocks of the fixtures: real quantizer output, random bytes, and edge cases (zero, negative, subnormal factors; all-0
// and all-1 codes). Those that hold infinities, NaN or values that lose themselves in sums of a float are left out.
TEST_P(LinearQuant, FixtureBlocks) {
  std::ifstream in(test::blocks_file(traits(type).name), std::ios::binary);
  const std::vector<char> file((std::istreambuf_iterator<char>(in)), {});
  const int64_t n_cols = traits(type).block_elements;
  const size_t bytes = traits(type).block_bytes;
  std::vector<uint8_t> blocks;
  for (size_t at = 0; at + bytes <= file.size(); at += bytes) {
    const std::vector<uint8_t> block(file.begin() + at, file.begin() + at + bytes);
    bool finite = true;
    for (const float value : test::dequantize(type, block, 1, n_cols)) finite = finite && std::fabs(value) < 1e30f;
    if (finite) blocks.insert(blocks.end(), block.begin(), block.end());
  }
  const int64_t n_rows = static_cast<int64_t>(blocks.size() / bytes);
  ASSERT_GT(n_rows, 30);
  const auto x = test::random_activations(4, n_cols, 15);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  PreparedActivations prepared(*kernels, kernel->form, x, n_cols);
  std::vector<double> exact, magnitude;
  test::exact_linear(test::dequantize(type, blocks, n_rows, n_cols), test::rounded_activations(x, n_cols), n_cols,
                     exact, magnitude);
  const std::vector<float> out = run(packed, prepared, n_rows);
  for (size_t i = 0; i < exact.size(); ++i) {
    // A minimum and a code may cancel, so the bound is that of their separate products.
    ASSERT_NEAR(out[i], exact[i], kTight * (magnitude[i] * 64) + 1e-30) << "block " << i % n_rows;
  }
}

TEST_P(LinearQuant, AgreesWithTheOtherInstructionSets) {
  const int64_t n_rows = 48, n_cols = 2048, m = 9;
  const auto blocks = test::random_blocks(type, n_rows, n_cols, 16);
  const auto x = test::random_activations(m, n_cols, 17);
  PackedMatrix packed(*kernel, blocks, n_rows, n_cols);
  PreparedActivations prepared(*kernels, kernel->form, x, n_cols, kSomeFine);
  const std::vector<float> out = run(packed, prepared, n_rows);

  const cpu::Kernels& generic = cpu::kernels(Isa::generic);
  PackedMatrix generic_packed(generic.linear[static_cast<size_t>(type)], blocks, n_rows, n_cols);
  ASSERT_EQ(std::memcmp(packed.bytes.data(), generic_packed.bytes.data(), packed.bytes.size()), 0) << "one packed form";
  PreparedActivations generic_prepared(generic, kernel->form, x, n_cols, kSomeFine);
  ASSERT_EQ(std::memcmp(prepared.bytes.data(), generic_prepared.bytes.data(), prepared.bytes.size()), 0)
      << "one q8 form";

  // Both SIMD paths do the same float operations on the same integers; the generic one rounds products.
  if (GetParam().isa == Isa::avx512 && cpu::supported(Isa::avx2)) {
    kernel = &cpu::kernels(Isa::avx2).linear[static_cast<size_t>(type)];
    const std::vector<float> other = run(packed, prepared, n_rows);
    EXPECT_EQ(std::memcmp(out.data(), other.data(), out.size() * sizeof(float)), 0);
  }
}

// The q8 form itself, value by value; ties, the largest magnitude, and rows taken from a wider matrix.
TEST(PrepareQ8, EveryInstructionSetMakesTheSameBytes) {
  const int64_t n_cols = 320, ld = 333, m = 7;
  auto x = test::random_activations(m, ld, 22);
  for (int64_t i = 0; i < 32; ++i) x[i] = static_cast<float>(i) - 15.5f;  // steps of 15.5 / 127: many near-ties
  for (int64_t i = 32; i < 64; ++i) x[i] = i == 40 ? 127.0f : static_cast<float>(i - 40) + 0.5f;  // exact ties
  for (int64_t i = 64; i < 96; ++i) x[i] = -3e38f;
  for (int64_t i = 0; i < n_cols; ++i) x[5 * ld + i] *= i < 32 ? 1e3f : 1.0f;
  const cpu::Kernels& generic = cpu::kernels(Isa::generic);
  const size_t bytes = m * generic.activation_row_bytes(cpu::ActivationForm::q8, n_cols);
  for (const float fine_above : {cpu::kNoneFine, 1.0f, cpu::kAllFine}) {
    test::AlignedBytes expected(bytes);
    generic.prepare(cpu::ActivationForm::q8, x.data(), n_cols, ld, 0, m, fine_above, expected.data());
    for (int isa = 1; isa < static_cast<int>(Isa::count); ++isa) {
      if (!cpu::supported(static_cast<Isa>(isa))) continue;
      const cpu::Kernels& kernels = cpu::kernels(static_cast<Isa>(isa));
      test::AlignedBytes out(bytes);
      kernels.prepare(cpu::ActivationForm::q8, x.data(), n_cols, ld, 3, m, fine_above, out.data());
      kernels.prepare(cpu::ActivationForm::q8, x.data(), n_cols, ld, 0, 3, fine_above, out.data());
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), bytes), 0) << kernels.name << ", 16 bits above " << fine_above;
    }
  }
}

// One group a thousand times as large as the others is what a row's error comes from: it alone has 16 bits.
TEST(PrepareQ8, LargeGroupsHave16Bits) {
  const int64_t n_cols = 320, n_groups = n_cols / cpu::kGroup;
  auto x = test::random_activations(1, n_cols, 25);
  for (int64_t i = 64; i < 96; ++i) x[i] *= 1000;
  const cpu::Kernels& kernels = cpu::kernels(cpu::best_isa());
  const auto fine_groups = [&](float fine_above) {
    test::AlignedBytes out(kernels.activation_row_bytes(cpu::ActivationForm::q8, n_cols));
    kernels.prepare(cpu::ActivationForm::q8, x.data(), n_cols, n_cols, 0, 1, fine_above, out.data());
    const auto* row = reinterpret_cast<const cpu::Q8Group*>(out.data());
    std::vector<int64_t> fine;
    for (int64_t g = 0; g < n_groups; ++g) {
      if (row[g].fine) fine.push_back(g);
      int sum = 0;
      for (const int8_t code : row[g].fine_codes) sum += code != 0;
      EXPECT_EQ(sum > 0, row[g].fine == 1) << g;
    }
    return fine;
  };
  EXPECT_EQ(fine_groups(cpu::kNoneFine), std::vector<int64_t>{});
  EXPECT_EQ(fine_groups(1), std::vector<int64_t>{2});
  EXPECT_EQ(static_cast<int64_t>(fine_groups(cpu::kAllFine).size()), n_groups);
}

TEST(Dispatch, BestIsSupportedAndNamesItself) {
  EXPECT_TRUE(cpu::supported(Isa::generic));
  EXPECT_FALSE(cpu::supported(Isa::count));
  EXPECT_TRUE(cpu::supported(cpu::best_isa()));
  for (int isa = 0; isa < static_cast<int>(Isa::count); ++isa) {
    if (!cpu::supported(static_cast<Isa>(isa))) continue;
    const cpu::Kernels& kernels = cpu::kernels(static_cast<Isa>(isa));
    EXPECT_EQ(kernels.isa, static_cast<Isa>(isa));
    EXPECT_EQ(std::string(kernels.name).rfind(isa_name(static_cast<Isa>(isa)), 0), 0u) << kernels.name;
  }
}

TEST(Dispatch, TablesAreComplete) {
  for (int isa = 0; isa < static_cast<int>(Isa::count); ++isa) {
    if (!cpu::supported(static_cast<Isa>(isa))) continue;
    const cpu::Kernels& k = cpu::kernels(static_cast<Isa>(isa));
    for (size_t type = 0; type < static_cast<size_t>(DType::count); ++type) {
      const cpu::LinearKernel& linear = k.linear[type];
      EXPECT_TRUE(linear.run && linear.tile_bytes && linear.pack && linear.unpack_row)
          << k.name << kDTypeTable[type].name;
    }
    EXPECT_TRUE(k.activation_row_bytes && k.prepare && k.rms_norm && k.rope && k.gated[0]) << k.name;
    EXPECT_TRUE(k.kv_block_bytes && k.kv_append && k.attention_items && k.attention_scratch_bytes) << k.name;
    EXPECT_TRUE(k.attention && k.attention_merge) << k.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LinearQuant, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace inlay
