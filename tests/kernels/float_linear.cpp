// Linear layers of F32, F16, BF16 and F8_E4M3 weights against the reference: odd shapes, bias, residual, guards, and
// the bits of a row whatever the batch and however the work is cut.
#include <gtest/gtest.h>

#include "kernels/ref/dequantize.h"
#include "kernels/ref/linear.h"
#include "src/base/thread_pool.h"
#include "tests/kernels/float_data.h"

namespace inlay {
namespace {

using cpu::ActivationForm;
using cpu::Kernels;
using cpu::LinearKernel;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3};

// Whole blocks at least.
int64_t columns_for(DType type, int64_t n) {
  const int64_t block = traits(type).block_elements;
  return (n + block - 1) / block * block;
}

// Rows in the file's form.
std::vector<uint8_t> random_rows(DType type, int64_t n, uint32_t seed) {
  const std::vector<float> values = test::random_floats(n, seed, 0.1f);
  std::vector<uint8_t> out(row_bytes(type, static_cast<uint64_t>(n)));
  if (type == DType::f8_e4m3) {  // any codes; scales of either sign, 2^-7 to 2^-5
    std::mt19937 generator(seed);
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(generator());
    for (size_t at = 1; at < out.size(); at += traits(type).block_bytes) {
      out[at] = static_cast<uint8_t>((out[at] & 0x87) | 0x20);
    }
    return out;
  }
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    memcpy(&bits, &values[static_cast<size_t>(i)], 4);
    // Any pattern without infinities will do: for F16 sign, an exponent below that of 1, ten bits of fraction.
    const uint16_t half = static_cast<uint16_t>((bits >> 16 & 0x8000u) | (bits & 0x3fffu) % 0x3c00u);
    const uint16_t brain = static_cast<uint16_t>(bits >> 16);
    const size_t at = static_cast<size_t>(i) * traits(type).block_bytes;
    if (type == DType::f32) memcpy(&out[at], &bits, 4);
    if (type == DType::f16) memcpy(&out[at], &half, 2);
    if (type == DType::bf16) memcpy(&out[at], &brain, 2);
  }
  return out;
}

// A matrix packed by a kernel, at 64 bytes' alignment.
class Packed {
 public:
  Packed(const LinearKernel& kernel, const std::vector<uint8_t>& rows, int64_t n_rows, int64_t n_cols)
      : bytes_(kernel.tile_bytes(n_cols) * static_cast<size_t>(cpu::n_tiles(n_rows)) + 64, 0xa5) {
    const int64_t tiles = cpu::n_tiles(n_rows);
    kernel.pack(rows.data(), n_rows, n_cols, tiles / 2, tiles, data());
    kernel.pack(rows.data(), n_rows, n_cols, 0, tiles / 2, data());
  }
  void* data() { return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(bytes_.data()) + 63) / 64 * 64); }

 private:
  std::vector<uint8_t> bytes_;
};

std::vector<uint8_t> prepared(const Kernels& k, ActivationForm form, const std::vector<float>& x, int64_t m,
                              int64_t n_cols) {
  std::vector<uint8_t> out(k.activation_row_bytes(form, n_cols) * static_cast<size_t>(m), 0xa5);
  k.prepare(form, x.data(), n_cols, n_cols, m / 2, m, cpu::kNoneFine, out.data());
  k.prepare(form, x.data(), n_cols, n_cols, 0, m / 2, cpu::kNoneFine, out.data());
  return out;
}

struct Case {
  int64_t n_rows, n_cols, m;
  bool bias = false, add = false;
};

struct Problem {
  Case c;
  std::vector<uint8_t> rows;
  std::vector<float> x, bias, residual;

  Problem(DType type, const Case& shape)
      : c{shape.n_rows, columns_for(type, shape.n_cols), shape.m, shape.bias, shape.add},
        rows(random_rows(type, c.n_rows * c.n_cols, 1)),
        x(test::random_floats(c.m * c.n_cols, 2)),
        bias(test::random_floats(shape.n_rows, 3)),
        residual(test::random_floats(shape.m * shape.n_rows, 4)) {}

  std::vector<float> exact(DType type) const {
    std::vector<float> out = residual;
    ref::linear({type, rows.data(), x.data(), out.data(), c.bias ? bias.data() : nullptr, c.n_rows, c.n_cols, c.m,
                 c.n_cols, c.n_rows, c.add},
                0, c.n_rows);
    return out;
  }
};

// Runs the kernel in pieces of `tiles_at_once` x `m_at_once`.
std::vector<float> run(const Kernels& k, DType type, const Problem& p, int64_t tiles_at_once, int64_t m_at_once) {
  const LinearKernel& kernel = k.linear[static_cast<size_t>(type)];
  Packed weights(kernel, p.rows, p.c.n_rows, p.c.n_cols);
  const auto activations = prepared(k, kernel.form, p.x, p.c.m, p.c.n_cols);
  test::GuardedRows out(p.c.m, p.c.n_rows);
  if (p.c.add) out.fill(p.residual.data());
  const cpu::LinearArgs args = {weights.data(), activations.data(), out.data(), p.c.bias ? p.bias.data() : nullptr,
                                p.c.n_rows,     p.c.n_cols,         p.c.m,      out.ld(),
                                p.c.add};
  const int64_t tiles = cpu::n_tiles(p.c.n_rows);
  for (int64_t m = 0; m < p.c.m; m += m_at_once) {
    for (int64_t tile = 0; tile < tiles; tile += tiles_at_once) {
      kernel.run(args, tile, std::min(tile + tiles_at_once, tiles), m, std::min(m + m_at_once, p.c.m));
    }
  }
  EXPECT_TRUE(out.guards_intact()) << k.name;
  return out.values();
}

double limit(const Kernels& k, DType type) {
  const bool rounded = k.linear[static_cast<size_t>(type)].form == ActivationForm::bf16;
  return rounded ? 1e-5 : 1e-11;  // activations rounded to 8 bits: 2^-9 / sqrt(3) of each, squared
}

TEST(FloatLinear, MatchesTheReference) {
  const Case cases[] = {{1, 1, 1},
                        {16, 16, 1},
                        {17, 33, 2, true},
                        {48, 64, 3, false, true},
                        {33, 129, 5, true, true},
                        {64, 95, 11},
                        {100, 256, 12, true},
                        {31, 70, 13},
                        {96, 128, 25},
                        {40, 2050, 40, true},
                        {16, 5001, 7},
                        {32, 16384, 3},
                        {8, 40, 520, true, true}};
  for (const Kernels* k : test::all_tables()) {
    for (const DType type : kTypes) {
      for (const Case& c : cases) {
        const Problem p(type, c);
        EXPECT_LT(test::nmse(run(*k, type, p, 1000, 1000), p.exact(type)), limit(*k, type))
            << k->name << " " << traits(type).name << " " << c.n_rows << "x" << c.n_cols << " m " << c.m;
      }
    }
  }
}

TEST(FloatLinear, EveryRowHasTheSameBitsInAnyBatchAndCut) {
  const Case c = {83, 4999, 40, true, true};  // longer than one block of columns
  for (const Kernels* k : test::all_tables()) {
    for (const DType type : kTypes) {
      const Problem p(type, c);
      const auto whole = run(*k, type, p, 1000, 1000);
      for (const int64_t m_at_once : {1, 2, 7, 12, 13, 25}) {
        for (const int64_t tiles_at_once : {1, 2, 3}) {
          const auto cut = run(*k, type, p, tiles_at_once, m_at_once);
          EXPECT_TRUE(test::same_bits(whole.data(), cut.data(), c.m * c.n_rows))
              << k->name << " " << traits(type).name << " m " << m_at_once << " tiles " << tiles_at_once;
        }
      }
    }
  }
}

TEST(FloatLinear, ThreadsShareACallAndAgree) {
  ThreadPool pool(4);
  for (const Kernels* k : test::all_tables()) {
    for (const DType type : kTypes) {
      const Problem p(type, {333, 700, 20, true, false});
      const Case& c = p.c;
      const auto alone = run(*k, type, p, 1, c.m);
      const LinearKernel& kernel = k->linear[static_cast<size_t>(type)];
      Packed weights(kernel, p.rows, c.n_rows, c.n_cols);
      std::vector<uint8_t> activations(k->activation_row_bytes(kernel.form, c.n_cols) * static_cast<size_t>(c.m));
      pool.parallel_for(c.m, 3, [&](int64_t begin, int64_t end, int) {
        k->prepare(kernel.form, p.x.data(), c.n_cols, c.n_cols, begin, end, cpu::kNoneFine, activations.data());
      });
      test::GuardedRows out(c.m, c.n_rows);
      const cpu::LinearArgs args = {
          weights.data(), activations.data(), out.data(), p.bias.data(), c.n_rows, c.n_cols, c.m, out.ld(), 0};
      pool.parallel_for(cpu::n_tiles(c.n_rows), 4,
                        [&](int64_t begin, int64_t end, int) { kernel.run(args, begin, end, 0, c.m); });
      EXPECT_TRUE(out.guards_intact());
      EXPECT_TRUE(test::same_bits(alone.data(), out.values().data(), c.m * c.n_rows))
          << k->name << " " << traits(type).name;
    }
  }
}

TEST(FloatLinear, SimdSetsAgreeToTheBit) {
  if (!cpu::supported(cpu::Isa::avx512)) GTEST_SKIP() << "needs a processor with avx512";
#if defined(__x86_64__)
  const Case c = {50, 301, 9, true, false};
  for (const DType type : kTypes) {
    const Problem p(type, c);
    const auto a = run(cpu::kernels(cpu::Isa::avx2), type, p, 1000, 1000);
    const auto b = run(cpu::avx512_table(), type, p, 1000, 1000);
    EXPECT_TRUE(test::same_bits(a.data(), b.data(), c.m * c.n_rows)) << traits(type).name;
  }
#endif
}

TEST(FloatLinear, UnpacksTheValuesOfTheFile) {
  const int64_t n_rows = 37;
  for (const Kernels* k : test::all_tables()) {
    for (const DType type : kTypes) {
      const int64_t n_cols = columns_for(type, 75);
      const auto rows = random_rows(type, n_rows * n_cols, 6);
      const LinearKernel& kernel = k->linear[static_cast<size_t>(type)];
      Packed weights(kernel, rows, n_rows, n_cols);
      for (int64_t row = 0; row < n_rows; ++row) {
        std::vector<float> want(static_cast<size_t>(n_cols)), got(static_cast<size_t>(n_cols) + 1, 7.0f);
        ref::dequantize_row(type, rows.data() + static_cast<size_t>(row) * row_bytes(type, n_cols), n_cols,
                            want.data());
        kernel.unpack_row(weights.data(), n_cols, row, got.data());
        EXPECT_TRUE(test::same_bits(want.data(), got.data(), n_cols)) << k->name << " " << traits(type).name;
        EXPECT_EQ(got.back(), 7.0f);
      }
    }
  }
}

TEST(FloatLinear, NegativeControls) {
  for (const DType type : kTypes) {
    const Case c = {32, 64, 3};
    Problem p(type, c);
    const auto exact = p.exact(type);
    for (const Kernels* k : test::all_tables()) {
      Problem other = p;
      other.x[70] += 0.25f;  // one column of one activation row
      EXPECT_GT(test::nmse(run(*k, type, other, 1000, 1000), exact), limit(*k, type));
      other = p;
      std::swap_ranges(other.rows.begin(), other.rows.begin() + 8, other.rows.begin() + 16);  // a few weights
      EXPECT_GT(test::nmse(run(*k, type, other, 1000, 1000), exact), limit(*k, type));
      other = p;
      other.c.bias = true;
      EXPECT_GT(test::nmse(run(*k, type, other, 1000, 1000), exact), limit(*k, type));
    }
  }
}

}  // namespace
}  // namespace inlay
