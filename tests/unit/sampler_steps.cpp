// The steps beyond top-k, top-p and min-p: by hand, against the plain oracle alone and in pairs, at their limits, and
// from draw to draw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "src/sampler/sampler.h"
#include "tests/unit/sampler_reference.h"

namespace inlay {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

SampleResult draw(const std::vector<float>& logits, const SamplerParams& params, uint64_t position = 0,
                  const DrawContext& context = {}, const std::vector<int32_t>& history = {}) {
  Sampler sampler(static_cast<int32_t>(logits.size()));
  SampleResult result;
  const Status status = sampler.sample(logits, params, history, 5, position, result, context);
  EXPECT_TRUE(status.ok()) << status.message;
  return result;
}

std::vector<float> logits_of(std::initializer_list<double> probabilities) {
  std::vector<float> out;
  for (const double p : probabilities) out.push_back(static_cast<float>(std::log(p)));
  return out;
}

// The tokens that come in many draws.
std::string kept(const std::vector<float>& logits, const SamplerParams& params, const SamplerState& state = {}) {
  std::vector<bool> seen(logits.size());
  for (uint64_t position = 0; position < 3000; ++position)
    seen[draw(logits, params, position, {.state = state}).token] = true;
  std::string out;
  for (size_t t = 0; t < seen.size(); ++t) out += seen[t] ? static_cast<char>('0' + t) : '-';
  return out;
}

TEST(SamplerSteps, TypicalByHand) {
  // Entropy 1.1655: the surprises 0.5978, 1.6094, 2.3026 and 1.8971 are 0.568, 0.444, 1.137 and 0.732 off.
  const std::vector<float> logits = logits_of({0.55, 0.2, 0.1, 0.15});
  EXPECT_EQ(kept(logits, {.temperature = 1, .typical_p = 0.19f}), "-1--");
  EXPECT_EQ(kept(logits, {.temperature = 1, .typical_p = 0.5f}), "01--");
  EXPECT_EQ(kept(logits, {.temperature = 1, .typical_p = 0.8f}), "01-3");
  EXPECT_EQ(kept(logits, {.temperature = 1, .typical_p = 0.95f}), "0123");
  EXPECT_EQ(kept(logits, {.temperature = 1, .top_p = 0.5f}), "0---")
      << "negative control: another filter keeps other tokens";
}

TEST(SamplerSteps, SigmaByHand) {
  // Mean 1, standard deviation 3 / sqrt(2) = 2.12.
  const std::vector<float> logits = {4, -kInf, 1, 1, -2};
  EXPECT_EQ(kept(logits, {.temperature = 2, .top_n_sigma = 1.4f}), "0----");  // from 1.03 on
  EXPECT_EQ(kept(logits, {.temperature = 2, .top_n_sigma = 1.45f}), "0-23-");  // from 0.92 on
  EXPECT_EQ(kept(logits, {.temperature = 2, .top_n_sigma = 2.9f}), "0-234");
}

TEST(SamplerSteps, DynamicTemperatureByHand) {
  // A sure token has a low entropy, and so a low temperature.
  const std::vector<float> sure = {10, 0, 0, 0};
  EXPECT_EQ(kept(sure, {.temperature = 5}), "0123");
  EXPECT_EQ(kept(sure, {.temperature = 5, .dynatemp_range = 4.9f}), "0---") << "near 0.1, where it was 5";
  EXPECT_EQ(kept(sure, {.temperature = 5, .dynatemp_range = 4.9f, .dynatemp_exponent = 0.01f}), "0123") << "near 9.8";
}

TEST(SamplerSteps, TopChoicesByHand) {
  const std::vector<float> logits = logits_of({0.1, 0.4, 0.3, 0.2});
  const auto with = [](float probability, float threshold) {
    return SamplerParams{.temperature = 1, .xtc_probability = probability, .xtc_threshold = threshold};
  };
  EXPECT_EQ(kept(logits, with(1, 0.25f)), "0-23");
  EXPECT_EQ(kept(logits, with(1, 0.15f)), "0--3");
  EXPECT_EQ(kept(logits, with(1, 0.35f)), "0123") << "one top choice stays";
  EXPECT_EQ(kept(logits, with(0.5f, 0.15f)), "0123") << "not always";
  EXPECT_EQ(kept({1, 1, 1}, with(1, 0.3f)), "--2") << "among equals the highest id is the last in rank";
}

TEST(SamplerSteps, MirostatByHand) {
  const std::vector<float> logits = logits_of({0.5, 0.25, 0.125, 0.125});  // surprises of 1, 2, 3 and 3 bits
  const SamplerParams params = {.temperature = 1, .top_k = 1, .mirostat_tau = 1.25f, .mirostat_eta = 0.5f};  // mu 2.5
  EXPECT_EQ(kept(logits, params), "01--") << "top_k changes nothing";
  EXPECT_EQ(kept(logits, params, {.mirostat_drift = 0.6}), "0123");
  EXPECT_EQ(kept(logits, params, {.mirostat_drift = -1}), "0---");
  EXPECT_EQ(kept(logits, params, {.mirostat_drift = -9}), "0---") << "the first in rank always stays";

  SamplerState state;
  const SampleResult drawn = draw(logits, params);
  EXPECT_FLOAT_EQ(drawn.p_kept, drawn.token == 0 ? 2.0f / 3 : 1.0f / 3);
  advance(params, drawn, state);
  EXPECT_NEAR(state.mirostat_drift, -0.5 * (-std::log2(drawn.p_kept) - 1.25), 1e-6);
}

TEST(SamplerSteps, AdaptiveByHand) {
  const std::vector<float> logits = logits_of({0.7, 0.2, 0.1});
  const SamplerParams params = {.temperature = 1, .adaptive_target = 0.2f, .adaptive_decay = 0.5f};
  int32_t n[3] = {};
  for (uint64_t position = 0; position < 3000; ++position) ++n[draw(logits, params, position).token];
  // Distances in widths: 5/3, 0, 1/3; weights exp(-10 d^2 / (1 + d)): 2.99e-5, 1, 0.4346.
  EXPECT_EQ(n[0], 0);
  EXPECT_NEAR(n[1], 3000 / 1.4346, 100);
  EXPECT_NEAR(n[2], 3000 * 0.4346 / 1.4346, 100);

  SamplerState state;
  SampleResult drawn;
  drawn.p_kept = 0.7f;
  advance(params, drawn, state);
  EXPECT_NEAR(state.adaptive_lead, 0.25,
              1e-6);  // the average is 0.45; the aim becomes 2 * 0.2 - 0.45, and that is below 0
  drawn.p_kept = 0.1f;
  advance(params, drawn, state);
  EXPECT_NEAR(state.adaptive_lead, 0.075, 1e-6);
}

TEST(SamplerSteps, GreedyRowsAndOthersHaveNoState) {
  SamplerState state;
  SampleResult drawn;
  drawn.p_kept = 0.5f;
  advance({.temperature = 0, .mirostat_tau = 5}, drawn, state);
  advance({.temperature = 1}, drawn, state);
  EXPECT_EQ(state, SamplerState{});
  advance({.temperature = 1, .mirostat_tau = 5}, drawn, state);
  EXPECT_NE(state, SamplerState{}) << "negative control";
}

// ---- against the oracle

struct Feature {
  const char* name;
  void (*set)(SamplerParams& p, std::mt19937& random);
};

template <class T, size_t N>
T one_of(std::mt19937& random, const T (&values)[N]) {
  return values[random() % N];
}

const Feature kFeatures[] = {
    {"bias",
     [](auto& p, auto& r) {
       p.bias = {{static_cast<int32_t>(r() % 2), one_of(r, {-1.0f, 3.0f})}};
     }},
    {"penalties",
     [](auto& p, auto& r) {
       p.repetition_penalty = one_of(r, {1.3f, 0.8f}), p.frequency_penalty = 0.3f;
     }},
    {"temperature_last",
     [](auto& p, auto&) {
       p.temperature_last = true;
     }},
    {"spare_end_tokens",
     [](auto& p, auto& r) {
       p.spare_end_tokens = true, p.presence_penalty = one_of(r, {0.5f, 2.0f});
     }},
    {"top_k",
     [](auto& p, auto& r) {
       p.top_k = one_of(r, {1, 3, 40, 700});
     }},
    {"top_p",
     [](auto& p, auto& r) {
       p.top_p = one_of(r, {0.1f, 0.7f, 0.99f});
     }},
    {"min_p",
     [](auto& p, auto& r) {
       p.min_p = one_of(r, {0.01f, 0.3f, 1.0f});
     }},
    {"typical_p",
     [](auto& p, auto& r) {
       p.typical_p = one_of(r, {0.05f, 0.5f, 0.97f});
     }},
    {"top_n_sigma",
     [](auto& p, auto& r) {
       p.top_n_sigma = one_of(r, {0.3f, 1.1f, 2.5f});
     }},
    {"dynatemp",
     [](auto& p, auto& r) {
       p.dynatemp_range = one_of(r, {0.2f, 3.0f}), p.dynatemp_exponent = one_of(r, {0.5f, 1.0f, 2.0f});
     }},
    {"xtc",
     [](auto& p, auto& r) {
       p.xtc_probability = one_of(r, {0.5f, 1.0f}), p.xtc_threshold = one_of(r, {0.005f, 0.1f, 0.3f});
     }},
    {"mirostat",
     [](auto& p, auto& r) {
       p.mirostat_tau = one_of(r, {0.2f, 1.5f, 5.0f}), p.adaptive_target = 0;
     }},
    {"adaptive",
     [](auto& p, auto& r) {
       p.adaptive_target = one_of(r, {0.05f, 0.4f, 1.0f}), p.mirostat_tau = 0;
     }},
};

std::vector<float> random_row(std::mt19937& random) {
  const int n = one_of(random, {2, 17, 300, 3000});
  std::normal_distribution<float> normal(one_of(random, {0.0f, -20.0f, 12.0f}), one_of(random, {0.01f, 1.0f, 5.0f}));
  std::vector<float> logits(static_cast<size_t>(n));
  for (float& l : logits) l = normal(random);
  const auto kind = random() % 4;
  for (float& l : logits) {
    if (kind == 0) l = std::round(l * 2) / 2;
    if (kind == 1 && random() % 4 == 0) l = -kInf;
  }
  logits[random() % logits.size()] = 1.0f;
  return logits;
}

double xtc_number(uint64_t seed, uint64_t position) {
  const PhiloxCounter words =
      philox4x32({{static_cast<uint32_t>(position), 0, 5, 0}}, {{static_cast<uint32_t>(seed), 0}});
  return std::ldexp(static_cast<double>((static_cast<uint64_t>(words.w[2]) << 32 | words.w[3]) >> 11), -53);
}

// Draws with random parameters of the features; what differs from the oracle's draw of `wanted`'s parameters.
int count_different(const std::vector<const Feature*>& features, int n_trials, bool spoil, std::mt19937& random) {
  int n_different = 0;
  for (int trial = 0; trial < n_trials; ++trial) {
    const std::vector<float> logits = random_row(random);
    SamplerParams params = {.temperature = one_of(random, {0.4f, 1.0f, 2.5f}), .seed = random() % 1000};
    for (const Feature* feature : features) feature->set(params, random);
    if (params.mirostat_tau > 0) params.adaptive_target = 0;
    EXPECT_TRUE(validate(params, static_cast<int32_t>(logits.size())).ok());
    const SamplerState state = {.mirostat_drift = one_of(random, {0.0, -0.5, 2.0}),
                                .adaptive_lead = one_of(random, {0.0, 0.1, -0.2})};
    std::vector<int32_t> history(random() % 8), spared;
    for (int32_t& t : history) t = static_cast<int32_t>(random() % logits.size());
    for (int32_t t = 0; t < static_cast<int32_t>(logits.size()); t += 3) spared.push_back(t);
    for (uint64_t position = 0; position < 4; ++position) {
      const bool xtc = xtc_number(params.seed, position) < params.xtc_probability;
      const reference::Distribution wanted = reference::distribution(logits, params, history, state, xtc, spared);
      const int32_t expected = reference::draw(wanted.draw, philox_uniform(params.seed, 5, position));
      SamplerParams given = params;
      if (spoil) given.temperature *= 1.5f;
      const SampleResult got = draw(logits, given, position, {.state = state, .spared = spared}, history);
      n_different += got.token != expected;
      if (spoil || got.token != expected) continue;
      EXPECT_NEAR(got.p_kept, has_state(params) ? wanted.p[expected] : 0.0, 1e-6);
    }
  }
  return n_different;
}

TEST(SamplerSteps, AgreeWithTheReferenceAloneAndInPairs) {
  std::mt19937 random(7);
  for (const Feature& a : kFeatures) {
    for (const Feature& b : kFeatures) {
      if (&b < &a) continue;
      SCOPED_TRACE(std::string(a.name) + " and " + b.name);
      EXPECT_EQ(count_different({&a, &b}, 40, false, random), 0);
    }
  }
}

TEST(SamplerSteps, AgreeWithTheReferenceAllTogether) {
  std::mt19937 random(8);
  std::vector<const Feature*> all;
  for (const Feature& feature : kFeatures) all.push_back(&feature);
  EXPECT_EQ(count_different(all, 400, false, random), 0);
  std::swap(all[all.size() - 1], all[all.size() - 2]);  // mirostat last
  EXPECT_EQ(count_different(all, 400, false, random), 0);
  EXPECT_GT(count_different({&kFeatures[7]}, 40, true, random), 5) << "negative control: another temperature shows";
}

// At the limits of their ranges some token stays, and it is one that the model allows.
TEST(SamplerSteps, OneTokenAlwaysStays) {
  const std::vector<std::vector<float>> rows = {{-kInf, -7, -kInf}, {3, 3, 3}, {-3e38f, 3e38f, 0}, {100, -kInf, 99.9f}};
  constexpr float kTiny = 1e-30f, kLarge = 3e38f;
  const SamplerParams many[] = {
      {.temperature = 1, .typical_p = kTiny},
      {.temperature = 1, .top_n_sigma = kTiny},
      {.temperature = 1, .top_n_sigma = kLarge},
      {.temperature = kTiny, .dynatemp_range = kLarge, .dynatemp_exponent = kLarge},
      {.temperature = kTiny, .dynatemp_range = kTiny, .dynatemp_exponent = kTiny},
      {.temperature = kLarge, .dynatemp_range = kLarge},
      {.temperature = 1, .xtc_probability = 1, .xtc_threshold = kTiny},
      {.temperature = 1, .xtc_probability = 1, .xtc_threshold = 1},
      {.temperature = 1, .mirostat_tau = kTiny, .mirostat_eta = kLarge},
      {.temperature = 1, .mirostat_tau = kLarge},
      {.temperature = 1, .adaptive_target = 1},
      {.temperature = 1, .adaptive_target = kTiny, .adaptive_decay = 0},
      {.temperature = kTiny, .top_k = 1, .top_p = kTiny, .min_p = 1, .typical_p = kTiny, .top_n_sigma = kTiny,
       .xtc_probability = 1, .xtc_threshold = kTiny, .adaptive_target = 1},
  };
  for (const std::vector<float>& row : rows) {
    for (const SamplerParams& params : many) {
      ASSERT_TRUE(validate(params, 3).ok());
      SamplerState state;
      for (uint64_t position = 0; position < 20; ++position) {
        const SampleResult drawn = draw(row, params, position, {.state = state});
        ASSERT_GE(drawn.token, 0);
        EXPECT_GT(row[static_cast<size_t>(drawn.token)], -kInf);
        advance(params, drawn, state);
        EXPECT_TRUE(std::isfinite(state.mirostat_drift) && std::isfinite(state.adaptive_lead));
      }
    }
  }
}

// ---- from draw to draw

// Mean of what is observed over many draws from one row, whose p_kept varies.
double mean_of(const SamplerParams& params, double (*observe)(float p)) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> logits(2000);
  Sampler sampler(2000);
  SamplerState state;
  double sum = 0;
  constexpr int kDraws = 2000;
  for (int position = 0; position < kDraws; ++position) {
    for (float& l : logits) l = normal(random);
    SampleResult result;
    EXPECT_TRUE(sampler.sample(logits, params, {}, 0, static_cast<uint64_t>(position), result, {.state = state}).ok());
    advance(params, result, state);
    sum += observe(result.p_kept);
  }
  return sum / kDraws;
}

TEST(SamplerSteps, MirostatReachesItsSurprise) {
  const auto surprise = [](float p) { return -std::log2(static_cast<double>(p)); };
  for (const float tau : {2.0f, 4.0f, 6.0f})
    EXPECT_NEAR(mean_of({.temperature = 1, .mirostat_tau = tau}, surprise), tau, 0.1);
  SamplerParams still = {.temperature = 1, .mirostat_tau = 4.0f, .mirostat_eta = 1e-9f};
  EXPECT_GT(std::fabs(mean_of(still, surprise) - 4), 0.2) << "negative control: without learning it does not";
}

TEST(SamplerSteps, AdaptiveReachesItsProbability) {
  const auto probability = [](float p) { return static_cast<double>(p); };
  const auto off = [&](float target) {
    return std::fabs(mean_of({.temperature = 0.3f, .min_p = 0.05f, .adaptive_target = target}, probability) - target);
  };
  EXPECT_LT(off(0.3f), 0.06);
  EXPECT_LT(off(0.5f), 0.06);
  EXPECT_GT(std::fabs(mean_of({.temperature = 0.3f, .min_p = 0.05f, .adaptive_target = 0.3f}, probability) - 0.5), 0.1)
      << "negative control: the target decides";
}

TEST(SamplerSteps, ChanceOfTopChoicesLeavesTheDrawsNumberAlone) {
  const std::vector<float> logits = {1, 0.9f, 0.8f, 0.7f, 0.6f};
  const SamplerParams plain = {.temperature = 1, .seed = 4};
  SamplerParams never = plain, always = plain;
  never.xtc_probability = 1e-9f;
  always.xtc_probability = 1;
  int n_same = 0;
  for (uint64_t position = 0; position < 200; ++position) {
    EXPECT_EQ(draw(logits, never, position).token, draw(logits, plain, position).token);
    n_same += draw(logits, always, position).token == draw(logits, plain, position).token;
  }
  EXPECT_LT(n_same, 150) << "negative control";
}

// At temperature 3 min-p lets everything through that stands within a factor of exp(3) of the likeliest; behind it the filter sees what the
// model said.
TEST(SamplerSteps, TheTemperatureBehindTheFiltersLeavesTheirTokens) {
  std::vector<float> logits(100, 0.0f);
  logits[0] = 8, logits[1] = 7.5f;
  SamplerParams first = {.temperature = 3, .min_p = 0.05f, .seed = 2}, last = first;
  last.temperature_last = true;
  int n_first = 0, n_last = 0, n_second = 0;
  for (uint64_t position = 0; position < 400; ++position) {
    n_first += draw(logits, first, position).token > 1;
    n_last += draw(logits, last, position).token > 1;
    n_second += draw(logits, last, position).token == 1;
  }
  EXPECT_GT(n_first, 100);
  EXPECT_EQ(n_last, 0);
  EXPECT_NEAR(n_second / 400.0, 1 / (1 + std::exp(0.5 / 3)), 0.08) << "what is kept is drawn by the temperature";
  // With Mirostat its place does not change.
  first.mirostat_tau = last.mirostat_tau = 3;
  for (uint64_t position = 0; position < 50; ++position) EXPECT_EQ(draw(logits, first, position).token, draw(logits, last, position).token);
}

// XTC may take the likeliest tokens away, and a low temperature then makes much of what is left of the distance to them.
TEST(SamplerSteps, ALateLowTemperatureSeesWhatIsLeft) {
  const std::vector<float> logits = {10, 9.5f, 9, 2};
  const SamplerParams params = {.temperature = 1e-4f, .xtc_probability = 1, .xtc_threshold = 0.15f, .temperature_last = true};
  for (uint64_t position = 0; position < 20; ++position) EXPECT_EQ(draw(logits, params, position).token, 2);
}

TEST(SamplerSteps, SparedTokensAreNotPenalised) {
  const std::vector<float> logits = {3, 2.9f, 0};
  const std::vector<int32_t> history = {0, 0, 0}, spared = {0};
  SamplerParams params = {.repetition_penalty = 1.5f};
  const DrawContext context{.spared = spared};
  EXPECT_EQ(draw(logits, params, 0, context, history).token, 1) << "nobody asked to spare any";
  params.spare_end_tokens = true;
  EXPECT_EQ(draw(logits, params, 0, context, history).token, 0);
  EXPECT_EQ(draw(logits, params, 0, {}, history).token, 1) << "negative control";
}

TEST(SamplerSteps, BiasWithDryStandsForTheBias) {
  SamplerParams params;
  params.bias = {{0, 5.0f}};
  const std::vector<float> logits = {1, 2, 3};
  EXPECT_EQ(draw(logits, params).token, 0);
  const LogitBias merged[] = {{0, 1.0f}, {2, -2.0f}};
  EXPECT_EQ(draw(logits, params, 0, {.bias_and_dry = merged}).token, 0);  // 2, 2, 1
  const LogitBias more[] = {{0, 0.5f}};
  EXPECT_EQ(draw(logits, params, 0, {.bias_and_dry = more}).token, 2);
}

}  // namespace
}  // namespace inlay
