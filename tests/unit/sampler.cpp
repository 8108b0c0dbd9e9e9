#include "src/sampler/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/exp_nonpositive.h"
#include "src/sampler/row.h"
#include "tests/support/allocation_counter.h"
#include "tests/unit/sampler_reference.h"

namespace inlay {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_logits(int n, uint32_t seed, float spread = 3.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> logits(n);
  for (float& l : logits) l = normal(generator);
  return logits;
}

int32_t sample(const std::vector<float>& logits, const SamplerParams& params, const std::vector<int32_t>& history = {},
               uint64_t stream = 0, uint64_t position = 0) {
  Sampler sampler(static_cast<int32_t>(logits.size()));
  SampleResult result;
  const Status status = sampler.sample(logits, params, history, stream, position, result);
  EXPECT_TRUE(status.ok()) << status.message;
  return result.token;
}

TEST(SamplerRow, ExpIsAccurateAndVanishesFarDown) {
  for (double x = 0; x > -700; x -= 0.0137) {
    EXPECT_NEAR(exp_nonpositive(x) / std::exp(x), 1.0, 1e-12) << x;
  }
  EXPECT_EQ(exp_nonpositive(0.0), 1.0);
  EXPECT_EQ(exp_nonpositive(-701.0), 0.0);
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(SamplerRow, MaxSeesEveryLaneAndEveryBadValue) {
  for (size_t n = 1; n < 50; ++n) {
    for (size_t at = 0; at < n; ++at) {
      std::vector<float> row(n, -5.0f);
      row[at] = 2.0f;
      EXPECT_EQ(row_max(row).max, 2.0f);
      EXPECT_FALSE(row_max(row).has_bad);
      row[at] = kNan;
      EXPECT_TRUE(row_max(row).has_bad);
      row[at] = kInf;
      EXPECT_TRUE(row_max(row).has_bad);
    }
  }
}

TEST(Sampler, GreedyTakesTheLargestAndTheLowerIdOfEquals) {
  EXPECT_EQ(sample({0, 3, 1}, {}), 1);
  EXPECT_EQ(sample({0, 3, 1, 3}, {}), 1);
  EXPECT_EQ(sample({-1, -1, -1}, {}), 0);
  EXPECT_EQ(sample({-kInf, -7, -kInf}, {}), 1);
}

TEST(Sampler, BiasAddsAndBans) {
  SamplerParams params;
  params.bias = {{2, 2.5f}};
  EXPECT_EQ(sample({0, 3, 1}, params), 2);  // 3.5 against 3
  params.bias = {{2, 1.5f}};
  EXPECT_EQ(sample({0, 3, 1}, params), 1);
  params.bias = {{1, -kInf}, {2, -kInf}};
  EXPECT_EQ(sample({0, 3, 1}, params), 0);
  params.bias = {{0, 1e30f}};  // a banned token stays banned
  EXPECT_EQ(sample({-kInf, 3, 1}, params), 1);
}

TEST(Sampler, AMaskComesBeforeAllStepsAndChangesNoProbability) {
  std::mt19937 generator(7);
  for (int trial = 0; trial < 400; ++trial) {
    const int n = std::vector<int>{3, 31, 32, 33, 500}[generator() % 5];
    const std::vector<float> logits = random_logits(n, generator(), 2);
    std::vector<uint32_t> mask(mask_words(n));
    for (uint32_t& word : mask) word = static_cast<uint32_t>(generator() & generator());
    std::vector<float> allowed = logits;
    bool any = false;
    for (int t = 0; t < n; ++t) {
      const bool may = (mask[static_cast<size_t>(t) / 32] >> (t % 32) & 1) != 0;
      if (!may) allowed[static_cast<size_t>(t)] = -kInf;
      any = any || may;
    }
    SamplerParams params{.temperature = trial % 3 == 0 ? 0.0f : 1.5f, .top_k = trial % 4 == 0 ? 5 : 0, .repetition_penalty = 1.2f, .seed = generator(), .n_logprobs = 3};
    if (trial % 5 == 0) params.top_n_sigma = 1;
    params.bias = {{static_cast<int32_t>(generator() % static_cast<unsigned>(n)), 3.0f}};
    const std::vector<int32_t> history = {0, 2, 2};
    Sampler sampler(n);
    SampleResult got, want, free;
    ASSERT_TRUE(sampler.sample(logits, params, history, 1, 2, got, {.allowed = mask}).ok());
    ASSERT_TRUE(sampler.sample(logits, params, history, 1, 2, free).ok());
    if (!any) {
      EXPECT_EQ(got.token, -1);
      continue;
    }
    ASSERT_TRUE(sampler.sample(allowed, params, history, 1, 2, want).ok());
    EXPECT_EQ(got.token, want.token);
    ASSERT_EQ(got.n_logprobs, free.n_logprobs);
    for (int i = 0; i < got.n_logprobs; ++i) EXPECT_EQ(got.top[i].token, free.top[i].token) << "the model's, without the mask";
    if (got.token == free.token) {
      EXPECT_EQ(got.logprob, free.logprob);
    }
  }
}

TEST(Sampler, AMaskThatLeavesNoTokenIsNoError) {
  Sampler sampler(3);
  SampleResult out{.token = 7};
  const std::vector<uint32_t> none = {0}, second = {2}, too_many = {7, 7};
  const std::vector<float> logits = {0, 1, 2};
  ASSERT_TRUE(sampler.sample(logits, {}, {}, 0, 0, out, {.allowed = none}).ok());
  EXPECT_EQ(out.token, -1);
  ASSERT_TRUE(sampler.sample(logits, {}, {}, 0, 0, out, {.allowed = second}).ok());
  EXPECT_EQ(out.token, 1);
  ASSERT_TRUE(sampler.sample(logits, {.bias = {{1, -kInf}}}, {}, 0, 0, out, {.allowed = second}).ok());
  EXPECT_EQ(out.token, -1);
  EXPECT_EQ(sampler.sample(logits, {}, {}, 0, 0, out, {.allowed = too_many}).code, Code::invalid_argument);
  EXPECT_EQ(sampler.sample(std::vector<float>{0, 1, kInf}, {}, {}, 0, 0, out, {.allowed = second}).code, Code::format) << "a bad logit that the mask hides";
}

TEST(Sampler, PenaltiesByHand) {
  SamplerParams params;
  params.repetition_penalty = 2;
  EXPECT_EQ(sample({4, 3, 1}, params, {0}), 1);     // 4 / 2 = 2 < 3
  EXPECT_EQ(sample({-1, -1.5f}, params, {0}), 1);   // -1 * 2 = -2 < -1.5
  EXPECT_EQ(sample({4, 1.9f}, params, {0, 0}), 0);  // once, however often it occurs: 2 > 1.9
  params = {};
  params.frequency_penalty = 0.5f;
  EXPECT_EQ(sample({4, 3.1f, 0}, params, {0, 2, 0}), 1);  // 4 - 2 * 0.5 = 3 < 3.1
  EXPECT_EQ(sample({4, 3.1f, 0}, params, {0, 2}), 0);     // 3.5
}

TEST(Sampler, PresencePenaltyCountsOnceAndOnlyInTheWindow) {
  SamplerParams params;
  params.presence_penalty = 0.8f;
  EXPECT_EQ(sample({4, 3.1f}, params, {0, 0, 0}), 0);  // 3.2
  params.presence_penalty = 1.0f;
  EXPECT_EQ(sample({4, 3.1f, 0}, params, {0, 2, 2}), 1);
  params.penalty_window = 2;  // token 0 is out of the window
  EXPECT_EQ(sample({4, 3.1f, 0}, params, {0, 2, 2}), 0);
  params.penalty_window = 0;
  EXPECT_EQ(sample({4, 3.1f, 0}, params, {0, 0, 0}), 0);
  params.penalty_window = -1;
  std::vector<int32_t> history(1000, 2);
  history[0] = 0;
  EXPECT_EQ(sample({4, 3.1f, 0}, params, history), 1);
}

TEST(Sampler, PenaltiesLeaveNothingBehind) {
  const std::vector<float> logits = {4, 3};
  Sampler sampler(2);
  SampleResult result;
  SamplerParams params;
  params.frequency_penalty = 1.0f;
  for (int call = 0; call < 5; ++call) {  // two occurrences: 2 < 3; a leftover count would change nothing else
    ASSERT_TRUE(sampler.sample(logits, params, std::vector<int32_t>{0, 0}, 0, 0, result).ok());
    EXPECT_EQ(result.token, 1);
    ASSERT_TRUE(sampler.sample(logits, params, std::vector<int32_t>{1}, 0, 0, result).ok());
    EXPECT_EQ(result.token, 0);
    EXPECT_FALSE(sampler.sample(logits, params, std::vector<int32_t>{0, 0, 0, 2}, 0, 0, result).ok());
  }
}

// Draws `n` positions and returns the chi-square statistic against `expected`; cells below 5 expected draws are pooled.
struct ChiSquare {
  double statistic = 0;
  int degrees = 0;
  bool impossible = false;  // a token of probability 0 was drawn
  // Mean plus 5 standard deviations of the distribution; a right sampler exceeds it once in some 100,000 seeds.
  double limit() const { return degrees + 5 * std::sqrt(2.0 * degrees); }
};

ChiSquare chi_square(const std::vector<float>& logits, const SamplerParams& params, const std::vector<double>& expected,
                     int n) {
  Sampler sampler(static_cast<int32_t>(logits.size()));
  std::vector<int> seen(logits.size());
  SampleResult result;
  for (int position = 0; position < n; ++position) {
    EXPECT_TRUE(sampler.sample(logits, params, {}, 11, position, result).ok());
    ++seen[result.token];
  }
  ChiSquare chi;
  double pooled_expected = 0, pooled_seen = 0;
  const auto cell = [&](double e, double s) {
    chi.statistic += (s - e) * (s - e) / e;
    ++chi.degrees;
  };
  for (size_t t = 0; t < expected.size(); ++t) {
    chi.impossible |= expected[t] == 0 && seen[t] > 0;
    if (expected[t] * n >= 5) {
      cell(expected[t] * n, seen[t]);
    } else {
      pooled_expected += expected[t] * n;
      pooled_seen += seen[t];
    }
  }
  if (pooled_expected > 1) cell(pooled_expected, pooled_seen);
  --chi.degrees;
  return chi;
}

struct StatisticalCase {
  const char* name;
  SamplerParams params;
};

class SamplerDistribution : public testing::TestWithParam<StatisticalCase> {};

TEST_P(SamplerDistribution, MatchesExactProbabilities) {
  constexpr int kDraws = 40000;
  const std::vector<float> logits = random_logits(60, 5, 1.5f);
  const SamplerParams& params = GetParam().params;
  const ChiSquare right = chi_square(logits, params, reference::probabilities(logits, params), kDraws);
  EXPECT_GT(right.degrees, 3);
  EXPECT_FALSE(right.impossible);
  EXPECT_LT(right.statistic, right.limit());

  SamplerParams wrong = params;  // the test must notice a temperature that is 8 % off
  wrong.temperature *= 1.08f;
  const ChiSquare control = chi_square(logits, wrong, reference::probabilities(logits, params), kDraws);
  EXPECT_TRUE(control.impossible || control.statistic > control.limit()) << control.statistic << " " << control.limit();
}

INSTANTIATE_TEST_SUITE_P(
    Steps, SamplerDistribution,
    testing::Values(
        StatisticalCase{"temperature", {.temperature = 1.0f, .seed = 1}},
        StatisticalCase{"hot", {.temperature = 1.7f, .seed = 2}},
        StatisticalCase{"top_k", {.temperature = 0.9f, .top_k = 12, .seed = 3}},
        StatisticalCase{"top_p", {.temperature = 1.1f, .top_p = 0.83f, .seed = 4}},
        StatisticalCase{"min_p", {.temperature = 1.0f, .min_p = 0.07f, .seed = 5}},
        StatisticalCase{"all", {.temperature = 1.3f, .top_k = 30, .top_p = 0.9f, .min_p = 0.05f, .seed = 6}},
        StatisticalCase{"typical_p", {.temperature = 1.0f, .seed = 7, .typical_p = 0.7f}},
        StatisticalCase{"top_n_sigma", {.temperature = 1.5f, .seed = 8, .top_n_sigma = 1.6f}},
        StatisticalCase{"dynatemp",
                        {.temperature = 1.0f, .seed = 9, .dynatemp_range = 0.6f, .dynatemp_exponent = 1.4f}},
        StatisticalCase{"xtc", {.temperature = 1.0f, .seed = 10, .xtc_probability = 0.4f, .xtc_threshold = 0.06f}},
        StatisticalCase{"mirostat", {.temperature = 1.0f, .seed = 11, .mirostat_tau = 2.8f}},
        StatisticalCase{"adaptive_p", {.temperature = 1.0f, .min_p = 0.08f, .seed = 12, .adaptive_target = 0.15f}}),
    [](const auto& test_case) { return std::string(test_case.param.name); });

// Every draw against the oracle with the same random number: vocabularies with many ties, banned tokens, all steps
// mixed.
TEST(Sampler, AgreesWithTheReferenceDrawByDraw) {
  std::mt19937 generator(99);
  const auto pick = [&](auto... options) {
    const double values[] = {static_cast<double>(options)...};
    return values[generator() % sizeof...(options)];
  };
  for (int trial = 0; trial < 3000; ++trial) {
    const int n = static_cast<int>(pick(2, 17, 300, 5000));
    std::vector<float> logits = random_logits(n, generator(), static_cast<float>(pick(0.01, 1, 5)));
    if (trial % 2 == 0) {
      for (float& l : logits) l = std::round(l * 2) / 2;
    }
    for (int i = 0; i < n / 10; ++i) logits[generator() % n] = -kInf;
    logits[generator() % n] = 1.0f;
    SamplerParams params;
    params.temperature = static_cast<float>(pick(0.3, 1, 4));
    params.top_k = static_cast<int32_t>(pick(0, 0, 1, 40, 600, 100000));
    params.top_p = static_cast<float>(pick(1, 0.05, 0.9, 0.999));
    params.min_p = static_cast<float>(pick(0, 0.02, 1));
    params.repetition_penalty = static_cast<float>(pick(1, 1.3));
    params.frequency_penalty = static_cast<float>(pick(0, 0.2));
    params.presence_penalty = static_cast<float>(pick(0, -0.4));
    params.penalty_window = static_cast<int32_t>(pick(-1, 0, 8));
    params.seed = generator();
    params.bias = {{static_cast<int32_t>(generator() % n), static_cast<float>(pick(-1, 4))}};
    std::vector<int32_t> history(generator() % 20);
    for (int32_t& t : history) t = static_cast<int32_t>(generator() % n);
    ASSERT_TRUE(validate(params, n).ok());
    const int32_t expected =
        reference::draw(reference::probabilities(logits, params, history), philox_uniform(params.seed, 5, trial));
    ASSERT_EQ(sample(logits, params, history, 5, trial), expected) << "trial " << trial;
  }
}

TEST(Sampler, LogprobsAreOfTheModelsDistribution) {
  std::vector<float> logits = random_logits(3000, 21);
  logits[7] = logits[8] = 14.0f;  // a tie at the top
  logits[9] = -kInf;
  SamplerParams params;
  params.temperature = 0.7f;
  params.top_k = 5;
  params.n_logprobs = 20;
  params.bias = {{7, -3.0f}};  // must not show in any logprob
  Sampler sampler(3000);
  SampleResult result;
  ASSERT_TRUE(sampler.sample(logits, params, std::vector<int32_t>{8}, 0, 0, result).ok());
  EXPECT_NEAR(result.logprob, reference::log_softmax(logits, result.token), 2e-6);
  ASSERT_EQ(result.n_logprobs, 20);
  std::vector<int32_t> order(3000);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(result.top[i].token, order[i]);
    EXPECT_NEAR(result.top[i].logprob, reference::log_softmax(logits, order[i]), 2e-6);
  }
  ASSERT_TRUE(Sampler(3).sample(std::vector<float>{1, -kInf, 2}, params = {.n_logprobs = 5}, {}, 0, 0, result).ok());
  ASSERT_EQ(result.n_logprobs, 2);
  EXPECT_EQ(result.top[0].token, 2);
  EXPECT_EQ(result.top[1].token, 0);
}

TEST(Sampler, DependsOnSeedStreamAndPositionAlone) {
  const std::vector<float> logits = random_logits(1000, 3, 0.5f);
  const auto other = random_logits(1000, 4, 0.5f);
  const SamplerParams params = {.temperature = 1.0f, .seed = 42};
  const auto run = [&](uint64_t seed, uint64_t stream, bool interleaved) {
    Sampler sampler(1000);
    std::vector<int32_t> tokens;
    for (uint64_t position = 0; position < 64; ++position) {
      SampleResult result;
      if (interleaved) {  // another sequence of the batch, other logits and parameters
        const SamplerParams noise = {.temperature = 2.0f, .top_k = 9, .repetition_penalty = 1.2f, .seed = 1};
        EXPECT_TRUE(sampler.sample(other, noise, std::vector<int32_t>{1, 2, 3}, 77, position, result).ok());
      }
      SamplerParams mine = params;
      mine.seed = seed;
      EXPECT_TRUE(sampler.sample(logits, mine, {}, stream, position, result).ok());
      tokens.push_back(result.token);
    }
    return tokens;
  };
  const auto alone = run(42, 1, false);
  EXPECT_EQ(run(42, 1, true), alone);
  EXPECT_NE(run(43, 1, false), alone);
  EXPECT_NE(run(42, 2, false), alone);
}

// Programs count on their seeds: rows without the steps of sampler_steps.cpp draw the same in every version.
TEST(Sampler, SeedsDrawWhatTheyAlwaysDrew) {
  std::vector<float> logits(997);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7919 % 997) / 128.0f;
  const SamplerParams many[] = {{.temperature = 1.0f, .seed = 3},
                                {.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .seed = 4},
                                {.temperature = 1.5f, .top_p = 0.9f, .seed = 5},
                                {.temperature = 1.2f, .min_p = 0.05f, .repetition_penalty = 1.3f, .seed = 6}};
  const int32_t wanted[][8] = {{228, 142, 193, 246, 739, 860, 525, 945},
                               {490, 228, 980, 315, 945, 525, 105, 560},
                               {580, 228, 232, 214, 175, 528, 89, 177},
                               {368, 193, 231, 385, 479, 578, 406, 858}};
  for (size_t i = 0; i < std::size(many); ++i) {
    for (uint64_t position = 0; position < 8; ++position) {
      EXPECT_EQ(sample(logits, many[i], {1, 2, 3, 500}, 9, position), wanted[i][position]) << i << " " << position;
    }
  }
}

TEST(Sampler, AllocatesNothing) {
  const std::vector<float> logits = random_logits(20000, 8, 0.3f);
  const std::vector<int32_t> history(500, 17);
  Sampler sampler(20000);
  SampleResult result;
  const auto count = [&](const SamplerParams& params) {
    const int64_t before = test::allocation_count();
    const bool ok = sampler.sample(logits, params, history, 0, 0, result).ok();
    const int64_t made = test::allocation_count() - before;
    EXPECT_TRUE(ok);
    return made;
  };
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({.temperature = 1.0f}), 0);
  EXPECT_EQ(count({.temperature = 1.0f, .top_k = 15000, .top_p = 0.99f, .min_p = 0.01f}), 0);
  EXPECT_EQ(count({.temperature = 1.0f, .top_p = 0.999f}), 0);
  EXPECT_EQ(count({.temperature = 1.0f, .min_p = 0.001f, .repetition_penalty = 1.1f, .n_logprobs = 20}), 0);
  EXPECT_EQ(count({.temperature = 1.0f,
                   .top_p = 0.99f,
                   .typical_p = 0.999f,
                   .top_n_sigma = 4.0f,
                   .dynatemp_range = 0.5f,
                   .xtc_probability = 1.0f,
                   .xtc_threshold = 1e-4f,
                   .adaptive_target = 0.3f}),
            0);
  EXPECT_EQ(count({.temperature = 1.0f, .mirostat_tau = 5.0f}), 0);
  const int64_t before = test::allocation_count();  // the counter does count
  EXPECT_FALSE(std::vector<int>(100).empty());
  EXPECT_GT(test::allocation_count() - before, 0);
}

TEST(Sampler, BadRowsAreErrorsAndLeaveTheResultAlone) {
  struct Case {
    std::vector<float> logits;
    const char* message;
  };
  const Case cases[] = {{{1, kNan, 2}, "logit nan for token 1"},
                        {{1, 2, kInf}, "logit inf for token 2"},
                        {{-kInf, -kInf, -kInf}, "no finite logit"},
                        {{1, 2}, "2 logits"}};
  for (const Case& c : cases) {
    for (const float temperature : {0.0f, 1.0f}) {
      Sampler sampler(3);
      SampleResult result;
      const Status status = sampler.sample(c.logits, {.temperature = temperature}, {}, 0, 0, result);
      EXPECT_FALSE(status.ok());
      EXPECT_NE(status.message.find(c.message), std::string::npos) << status.message;
      EXPECT_EQ(result.token, -1);
    }
  }
}

TEST(Sampler, BadArgumentsAreErrors) {
  Sampler sampler(2);
  SampleResult result;
  const std::vector<float> logits = {1, 2};
  SamplerParams all_banned;
  all_banned.bias = {{0, -kInf}, {1, -kInf}};
  EXPECT_EQ(sampler.sample(logits, all_banned, {}, 0, 0, result).code, Code::invalid_argument);
  const SamplerParams penalty = {.presence_penalty = 1};
  for (const int32_t token : {-1, 2}) {
    EXPECT_EQ(sampler.sample(logits, penalty, std::vector<int32_t>{token}, 0, 0, result).code, Code::invalid_argument);
  }
}

TEST(Sampler, ExtremePenaltiesNeverBanOrBreak) {
  SamplerParams params = {.temperature = 1e-30f, .repetition_penalty = 1e-38f, .frequency_penalty = 3e38f};
  const int32_t token =
      sample({5, -kInf, 5}, params, {0, 0, 1, 1, 2, 2});  // both end at the lowest finite logit: a tie
  EXPECT_TRUE(token == 0 || token == 2) << token;
  params.temperature = 1e30f;
  EXPECT_GE(sample({5, -5}, params, {0, 1}), 0);
}

TEST(SamplerParams, ValidateNamesTheField) {
  struct Case {
    const char* field;
    std::function<void(SamplerParams&)> spoil;
  };
  const Case cases[] = {
      {"temperature", [](auto& p) { p.temperature = -0.1f; }},
      {"temperature", [](auto& p) { p.temperature = kNan; }},
      {"temperature", [](auto& p) { p.temperature = kInf; }},
      {"top_k", [](auto& p) { p.top_k = -1; }},
      {"top_p", [](auto& p) { p.top_p = 0; }},
      {"top_p", [](auto& p) { p.top_p = 1.01f; }},
      {"top_p", [](auto& p) { p.top_p = kNan; }},
      {"min_p", [](auto& p) { p.min_p = -0.1f; }},
      {"min_p", [](auto& p) { p.min_p = 1.5f; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = 0; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = kNan; }},
      {"frequency_penalty", [](auto& p) { p.frequency_penalty = kInf; }},
      {"presence_penalty", [](auto& p) { p.presence_penalty = kNan; }},
      {"penalty_window", [](auto& p) { p.penalty_window = -2; }},
      {"typical_p", [](auto& p) { p.typical_p = 0; }},
      {"typical_p", [](auto& p) { p.typical_p = kNan; }},
      {"top_n_sigma", [](auto& p) { p.top_n_sigma = -1; }},
      {"top_n_sigma", [](auto& p) { p.top_n_sigma = kInf; }},
      {"dynatemp_range", [](auto& p) { p.dynatemp_range = -0.1f; }},
      {"dynatemp_range", [](auto& p) { p.dynatemp_range = kNan; }},
      {"dynatemp_exponent", [](auto& p) { p.dynatemp_exponent = 0; }},
      {"dynatemp_exponent", [](auto& p) { p.dynatemp_exponent = kInf; }},
      {"xtc_probability", [](auto& p) { p.xtc_probability = 1.1f; }},
      {"xtc_probability", [](auto& p) { p.xtc_probability = kNan; }},
      {"xtc_threshold", [](auto& p) { p.xtc_threshold = 0; }},
      {"xtc_threshold", [](auto& p) { p.xtc_threshold = 1.5f; }},
      {"mirostat_tau", [](auto& p) { p.mirostat_tau = -1; }},
      {"mirostat_tau", [](auto& p) { p.mirostat_tau = kInf; }},
      {"mirostat_eta", [](auto& p) { p.mirostat_eta = 0; }},
      {"mirostat_eta", [](auto& p) { p.mirostat_eta = kNan; }},
      {"adaptive_target", [](auto& p) { p.adaptive_target = 1.1f; }},
      {"adaptive_target", [](auto& p) { p.adaptive_target = kNan; }},
      {"adaptive_decay", [](auto& p) { p.adaptive_decay = 1; }},
      {"adaptive_decay", [](auto& p) { p.adaptive_decay = -0.1f; }},
      {"must be 0 beside adaptive-p", [](auto& p) { p.mirostat_tau = 5, p.adaptive_target = 0.5f; }},
      {"dry_multiplier", [](auto& p) { p.dry_multiplier = -1; }},
      {"dry_multiplier", [](auto& p) { p.dry_multiplier = kNan; }},
      {"dry_base", [](auto& p) { p.dry_base = 0.9f; }},
      {"dry_base", [](auto& p) { p.dry_base = kInf; }},
      {"dry_allowed_length", [](auto& p) { p.dry_allowed_length = 0; }},
      {"dry_window", [](auto& p) { p.dry_window = -2; }},
      {"dry_breakers has 65 texts", [](auto& p) { p.dry_breakers.assign(65, "a"); }},
      {"dry_breakers has 129 bytes in text 1",
       [](auto& p) {
         p.dry_breakers = {"a", std::string(129, 'a')};
       }},
      {"n_logprobs", [](auto& p) { p.n_logprobs = kMaxLogprobs + 1; }},
      {"n_logprobs", [](auto& p) { p.n_logprobs = -1; }},
      {"names token 10",
       [](auto& p) {
         p.bias = {{10, 0}};
       }},
      {"names token -1",
       [](auto& p) {
         p.bias = {{-1, 0}};
       }},
      {"names token 3 twice",
       [](auto& p) {
         p.bias = {{3, 0}, {4, 0}, {3, 1}};
       }},
      {"bias of token 3",
       [](auto& p) {
         p.bias = {{3, kInf}};
       }},
      {"bias has 1025 entries",
       [](auto& p) {
         p.bias.assign(kMaxBias + 1, {0, 0});
       }},
  };
  EXPECT_TRUE(validate({}, 10).ok());
  for (const Case& c : cases) {
    SamplerParams params;
    c.spoil(params);
    const Status status = validate(params, 10);
    EXPECT_EQ(status.code, Code::invalid_argument) << c.field;
    EXPECT_NE(status.message.find(c.field), std::string::npos) << status.message;
  }
}

}  // namespace
}  // namespace inlay
