// Norm, rotary embedding, gated activations and soft caps against the reference.
#include <gtest/gtest.h>

#include "kernels/ref/clamped_swiglu.h"
#include "kernels/ref/gelu_mul.h"
#include "kernels/ref/rms_norm.h"
#include "kernels/ref/rope.h"
#include "kernels/ref/silu_mul.h"
#include "kernels/ref/soft_cap.h"
#include "tests/kernels/float_data.h"

namespace inlay {
namespace {

using cpu::Kernels;

double largest_relative_error(const std::vector<float>& a, const std::vector<float>& b, double floor) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double e = std::fabs(static_cast<double>(a[i]) - b[i]) / std::max<double>(std::fabs(b[i]), floor);
    worst = std::isnan(e) ? INFINITY : std::max(worst, e);
  }
  return worst;
}

TEST(RmsNorm, MatchesTheReferenceAndIsBatchInvariant) {
  for (const Kernels* k : test::all_tables()) {
    for (const int64_t n : {1, 5, 16, 17, 63, 64, 65, 96, 128, 1000, 4096, 8192}) {
      const int64_t m = 5;
      const auto x = test::random_floats(m * n, static_cast<uint32_t>(n), 3.0f), weight = test::random_floats(n, 9);
      std::vector<float> exact(x.size());
      const float epsilon = 1e-5f;
      ref::rms_norm({x.data(), weight.data(), exact.data(), n, n, n, epsilon}, 0, m);
      test::GuardedRows out(m, n), single(m, n);
      k->rms_norm({x.data(), weight.data(), out.data(), n, n, out.ld(), epsilon}, 0, m);
      for (int64_t j = m - 1; j >= 0; --j) {
        k->rms_norm({x.data(), weight.data(), single.data(), n, n, single.ld(), epsilon}, j, j + 1);
      }
      EXPECT_TRUE(out.guards_intact());
      EXPECT_LT(largest_relative_error(out.values(), exact, 1e-30), 1e-6) << k->name << " n " << n;
      EXPECT_TRUE(test::same_bits(out.values().data(), single.values().data(), m * n)) << k->name;
      // In place, and a wrong epsilon shows.
      out.fill(x.data());
      k->rms_norm({out.data(), weight.data(), out.data(), n, out.ld(), out.ld(), epsilon}, 0, m);
      EXPECT_TRUE(test::same_bits(out.values().data(), single.values().data(), m * n)) << k->name;
      k->rms_norm({x.data(), weight.data(), out.data(), n, n, out.ld(), 1.0f}, 0, m);
      EXPECT_GT(largest_relative_error(out.values(), exact, 1e-30), 1e-6);
    }
  }
}

std::vector<float> frequencies(int64_t n_rot) {
  std::vector<float> out;
  for (int64_t i = 0; i < n_rot / 2; ++i) {
    out.push_back(static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(n_rot))));
  }
  return out;
}

TEST(Rope, MatchesTheReferenceUpToAMillionPositions) {
  const int64_t n_heads = 3;
  for (const Kernels* k : test::all_tables()) {
    for (const auto& [d_head, n_rot] :
         {std::pair<int64_t, int64_t>{16, 16}, {64, 64}, {128, 128}, {256, 256}, {80, 32}, {96, 96}, {18, 10}}) {
      const std::vector<int32_t> positions = {0, 1, 2, 31, 1000, 65535, 131071, 777777, 1000000, 1048575};
      const int64_t m = static_cast<int64_t>(positions.size()), n = n_heads * d_head;
      const auto x = test::random_floats(m * n, 4);
      const auto inv_freq = frequencies(n_rot);
      std::vector<float> exact = x;
      ref::rope({exact.data(), positions.data(), inv_freq.data(), n_heads, d_head, n_rot, n, 1.25f}, 0, m);
      test::GuardedRows out(m, n), single(m, n);
      out.fill(x.data());
      single.fill(x.data());
      k->rope({out.data(), positions.data(), inv_freq.data(), n_heads, d_head, n_rot, out.ld(), 1.25f}, 0, m);
      for (int64_t j = 0; j < m; ++j) {
        k->rope({single.data(), positions.data(), inv_freq.data(), n_heads, d_head, n_rot, single.ld(), 1.25f}, j,
                j + 1);
      }
      EXPECT_TRUE(out.guards_intact());
      EXPECT_LT(largest_relative_error(out.values(), exact, 1.0), 1e-6) << k->name << " d_head " << d_head;
      EXPECT_TRUE(test::same_bits(out.values().data(), single.values().data(), m * n));
      // One position further is seen.
      std::vector<int32_t> moved = positions;
      moved[8]++;
      out.fill(x.data());
      k->rope({out.data(), moved.data(), inv_freq.data(), n_heads, d_head, n_rot, out.ld(), 1.25f}, 0, m);
      EXPECT_GT(largest_relative_error(out.values(), exact, 1.0), 1e-3);
    }
  }
}

struct Gate {
  Activation activation;
  void (*reference)(float*, const float*, int64_t, int64_t, int64_t, int64_t);
  double (*exact)(double gate);  // with an up of 1
};
constexpr Gate kGates[] = {
    {Activation::silu, ref::silu_mul, [](double g) { return g / (1 + std::exp(-g)); }},
    {Activation::gelu_tanh, ref::gelu_mul,
     [](double g) { return g / (1 + std::exp(-1.5957691216057308 * (g + 0.044715 * g * g * g))); }},
    {Activation::clamped_swiglu, ref::clamped_swiglu,
     [](double g) { return 2 * std::min(g, 7.0) / (1 + std::exp(-1.702 * std::min(g, 7.0))); }},
};
static_assert(std::size(kGates) == kActivations);

// One value.
float activated(const Kernels& k, const Gate& gate, float x, float up) {
  k.gated[static_cast<size_t>(gate.activation)](&x, &up, 1, 1, 0, 1);
  return x;
}

TEST(Gated, MatchesTheReference) {
  for (const Kernels* k : test::all_tables()) {
    for (const Gate& gate : kGates) {
      for (const int64_t n : {1, 15, 16, 17, 100, 4864}) {
        const int64_t m = 3;
        auto values = test::random_floats(m * n, 5, 8.0f);
        const auto up = test::random_floats(m * (n + 5), 6, 5.0f);
        test::GuardedRows out(m, n), exact(m, n);
        out.fill(values.data());
        exact.fill(values.data());
        k->gated[static_cast<size_t>(gate.activation)](out.data(), up.data(), n, out.ld(), 0, m);
        gate.reference(exact.data(), up.data(), n, exact.ld(), 0, m);
        EXPECT_TRUE(out.guards_intact());
        EXPECT_LT(largest_relative_error(out.values(), exact.values(), 1e-4), 2e-6) << k->name << " n " << n;
      }
    }
  }
}

TEST(Gated, SingleValuesAreRight) {
  for (const Kernels* k : test::all_tables()) {
    for (const Gate& gate : kGates) {
      SCOPED_TRACE(std::string(k->name) + ", activation " + std::to_string(static_cast<int>(gate.activation)));
      for (float x = -9.0f; x < 20.0f; x += 0.0371f) {
        ASSERT_NEAR(activated(*k, gate, x, 1.0f) / gate.exact(double{x}), 1.0, 1e-4) << "at " << x;
      }
      EXPECT_EQ(activated(*k, gate, 0.0f, 5.0f), 0.0f);
      EXPECT_NEAR(activated(*k, gate, -1000.0f, 1.0f), 0.0f, 1e-30f);
      EXPECT_TRUE(std::isnan(activated(*k, gate, NAN, 1.0f)));
      EXPECT_TRUE(std::isnan(activated(*k, gate, 1.0f, NAN)));
      EXPECT_GT(std::fabs(activated(*k, gate, 1.0f, 1.0f) - activated(*k, gate, 1.0001f, 1.0f)), 5e-5f) << "the comparison can fail";
    }
    for (float x = -87.0f; x < 90.0f; x += 0.0371f) {
      ASSERT_NEAR(activated(*k, kGates[0], x, 1.0f) / kGates[0].exact(double{x}), 1.0, 4e-7) << k->name << " at " << x;
    }
    EXPECT_EQ(activated(*k, kGates[0], 1000.0f, 2.0f), 2000.0f);
    EXPECT_NEAR(activated(*k, kGates[2], 1000.0f, -1000.0f), -42.0f, 1e-3f) << "7 times 1 - 7";
  }
}

TEST(SoftCap, ScalesAndBoundsAsTheReference) {
  for (const Kernels* k : test::all_tables()) {
    for (const int64_t n : {1, 15, 16, 17, 1000}) {
      for (const float cap : {0.0f, 5.0f, 30.0f}) {
        const auto x = test::random_floats(n, 3, 100.0f);
        std::vector<float> exact = x;
        ref::soft_cap(exact.data(), n, 0.5f, cap);
        test::GuardedRows out(1, n);
        out.fill(x.data());
        k->soft_cap(out.data(), n, 0.5f, cap);
        EXPECT_TRUE(out.guards_intact());
        EXPECT_LT(largest_relative_error(out.values(), exact, 1.0), 1e-5) << k->name << " cap " << cap;
        if (cap == 0) continue;
        for (const float v : out.values()) EXPECT_LE(std::fabs(v), cap);
        ref::soft_cap(exact.data(), n, 0.5f, cap);
        EXPECT_GT(largest_relative_error(out.values(), exact, 1.0), 1e-5) << "the comparison can fail";
      }
    }
    float far[] = {1e30f, -1e30f, 0.0f};
    k->soft_cap(far, 3, 1.0f, 30.0f);
    EXPECT_EQ(far[0], 30.0f);
    EXPECT_EQ(far[1], -30.0f);
    EXPECT_NEAR(far[2], 0.0f, 1e-6f);
  }
}

TEST(AddScaled, AddsToWhatIsThere) {
  for (const Kernels* k : test::all_tables()) {
    for (const int64_t n : {1, 15, 16, 17, 1000}) {
      const auto x = test::random_floats(n, 3), before = test::random_floats(n, 4);
      test::GuardedRows out(1, n);
      out.fill(before.data());
      k->add_scaled(x.data(), n, 0.22f, out.data());
      EXPECT_TRUE(out.guards_intact());
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(out.values()[i], before[i] + 0.22f * x[i], 1e-6f) << k->name;
    }
  }
}

}  // namespace
}  // namespace inlay
