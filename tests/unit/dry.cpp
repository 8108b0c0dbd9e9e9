#include "src/sampler/dry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/allocation_counter.h"

namespace inlay {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Token t stands for the character 'a' + t, but for a few.
std::string text_of(int32_t token) {
  static const std::map<int32_t, std::string> others = {{20, "\n"}, {21, ": b"}, {22, "x<"},
                                                        {23, "br"}, {24, ">y"},  {25, ""}};
  const auto other = others.find(token);
  return other == others.end() ? std::string(1, static_cast<char>('a' + token)) : other->second;
}

std::string_view text(int32_t token) {
  static std::map<int32_t, std::string> texts;
  return texts.try_emplace(token, text_of(token)).first->second;
}

SamplerParams dry(std::vector<std::string> breakers = {"\n", ":", "\"", "*"}) {
  SamplerParams params;
  params.dry_multiplier = 0.8f;
  params.dry_breakers = std::move(breakers);
  return params;
}

std::map<int32_t, double> costs(const SamplerParams& params, const std::vector<int32_t>& history,
                                const TokenText& texts = text) {
  DryBias bias;
  std::map<int32_t, double> out;
  for (const LogitBias& entry : bias.merge(params, history, texts)) {
    EXPECT_TRUE(out.emplace(entry.token, -entry.bias).second) << "token " << entry.token << " twice";
  }
  return out;
}

using Costs = std::map<int32_t, double>;

void expect_near(const Costs& got, const Costs& wanted, const char* why = "") {
  SCOPED_TRACE(why);
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [token, cost] : wanted) {
    ASSERT_TRUE(got.contains(token)) << token;
    const bool same = got.at(token) == cost;  // infinities, too
    EXPECT_TRUE(same || std::fabs(got.at(token) - cost) < 1e-5 * std::fabs(cost))
        << token << ": " << got.at(token) << " " << cost;
  }
}

TEST(Dry, CostsGrowWithTheRepetition) {
  expect_near(costs(dry(), {1, 2, 3, 9, 1, 2}), {{3, 0.8}});                        // two tokens are alike
  expect_near(costs(dry(), {1, 2, 3, 4, 9, 1, 2, 3}), {{4, 0.8 * 1.75}});           // three
  expect_near(costs(dry(), {1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3}), {{4, 0.8 * 1.75}, {5, 0.8}});
  expect_near(costs(dry(), {1, 2, 3, 9, 8, 2}), {});                                // one is allowed
  expect_near(costs(dry(), {7, 7, 7, 7}), {{7, 0.8 * 1.75}});                       // repetitions may overlap
}

TEST(Dry, ParametersDecide) {
  SamplerParams params = dry();
  params.dry_base = 3;
  params.dry_allowed_length = 1;
  expect_near(costs(params, {1, 2, 3, 4, 9, 1, 2, 3}), {{4, 0.8 * 9}});
  params.dry_allowed_length = 4;
  expect_near(costs(params, {1, 2, 3, 4, 9, 1, 2, 3}), {});
  params = dry();
  params.dry_window = 7;
  expect_near(costs(params, {1, 2, 3, 4, 9, 1, 2, 3}), {{4, 0.8}});
  params.dry_window = 6;
  expect_near(costs(params, {1, 2, 3, 4, 9, 1, 2, 3}), {});
  params.dry_window = 0;
  expect_near(costs(params, {1, 2, 3, 4, 9, 1, 2, 3}), {});
  params = dry();
  params.dry_multiplier = 0;
  expect_near(costs(params, {1, 2, 3, 4, 9, 1, 2, 3}), {});
}

TEST(Dry, BreakersEndRepetitions) {
  expect_near(costs(dry(), {1, 20, 2, 3, 4, 9, 1, 20, 2, 3}), {{4, 0.8}});  // b, line feed, c, d: two tokens behind it
  expect_near(costs(dry({""}), {1, 20, 2, 3, 4, 9, 1, 20, 2, 3}), {{4, 0.8 * 1.75 * 1.75}});
  expect_near(costs(dry(), {1, 2, 3, 20, 4, 9, 1, 2, 3, 20}), {});          // nothing behind it
  expect_near(costs(dry(), {1, 2, 3, 21, 9, 1, 2, 3}), {});  // one that has a breaker inside costs nothing
  expect_near(costs(dry({}), {1, 2, 3, 21, 9, 1, 2, 3}), {{21, 0.8 * 1.75}});
  expect_near(costs(dry(), {1, 20, 2, 3, 4, 9, 1, 20, 2, 3}, {}), {{4, 0.8 * 1.75 * 1.75}},
              "without texts nothing breaks");
}

TEST(Dry, BreakersSpreadOverTokens) {
  const std::vector<int32_t> history = {1, 22, 23, 24, 2, 3, 4, 9, 1, 22, 23, 24, 2, 3};  // b x< br >y c d
  expect_near(costs(dry({"<br>"}), history), {{4, 0.8}});
  expect_near(costs(dry({"<br>yc"}), history), {}, "the c is part of it: one token stands behind");
  expect_near(costs(dry({"<br>z"}), history), {{4, 0.8 * std::pow(1.75, 4)}});
  expect_near(costs(dry({"z", "br", "<br>"}), history), {{4, 0.8 * 1.75}}, "the last to begin: >y stands behind br");
}

TEST(Dry, AddsToTheBias) {
  SamplerParams params = dry();
  params.bias = {{3, -1.0f}, {5, 2.0f}, {4, -kInf}};
  expect_near(costs(params, {1, 2, 3, 9, 1, 2, 4, 9, 1, 2}), {{3, 1.8}, {5, -2.0}, {4, kInf}});
  DryBias bias;
  EXPECT_TRUE(bias.merge(params, std::vector<int32_t>{1, 2, 3}, text).empty()) << "nothing to add";
  params.dry_base = 3e38f;
  for (const LogitBias& entry : bias.merge(params, std::vector<int32_t>{1, 2, 3, 4, 9, 1, 2, 3}, text)) {
    EXPECT_TRUE(entry.token == 4 ? entry.bias == -kInf : std::isfinite(entry.bias));
  }
}

// The definition at its word, quadratic: for every place how far it and the end are alike.
Costs naive(const SamplerParams& p, std::vector<int32_t> h) {
  if (p.dry_window >= 0 && h.size() > static_cast<size_t>(p.dry_window)) h.erase(h.begin(), h.end() - p.dry_window);
  std::string all;
  std::vector<size_t> begins;
  for (const int32_t token : h) {
    begins.push_back(all.size());
    all += text_of(token);
  }
  size_t end = 0;
  for (size_t at = 0; at < all.size(); ++at) {
    size_t longest = 0;
    for (const std::string& breaker : p.dry_breakers) {
      if (!breaker.empty() && all.compare(at, breaker.size(), breaker) == 0)
        longest = std::max(longest, breaker.size());
    }
    if (longest > 0) end = at + longest;
  }
  size_t limit = 0;
  while (limit < h.size() && begins[h.size() - 1 - limit] >= end) ++limit;
  std::map<int32_t, size_t> lengths;
  for (size_t i = 1; i < h.size(); ++i) {
    size_t n = 0;
    while (n < limit && n < i && h[i - 1 - n] == h[h.size() - 1 - n]) ++n;
    if (n >= static_cast<size_t>(p.dry_allowed_length)) lengths[h[i]] = std::max(lengths[h[i]], n);
  }
  Costs out;
  for (const auto& [token, n] : lengths) {
    const bool breaks = std::ranges::any_of(p.dry_breakers, [&, t = text_of(token)](const std::string& b) {
      return !b.empty() && t.find(b) != std::string::npos;
    });
    if (!breaks) out[token] = p.dry_multiplier * std::pow(p.dry_base, static_cast<double>(n) - p.dry_allowed_length);
  }
  return out;
}

TEST(Dry, AgreesWithItsDefinition) {
  std::mt19937 random(2);
  const std::vector<std::string> breakers[] = {
      {"\n", ":", "\"", "*"}, {"<br>", "c"}, {"ab", "b"}, {""}, {"xbr", "<b", "r>yc"}};
  int n_costs = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    SamplerParams params = dry(breakers[random() % 5]);
    params.dry_allowed_length = 1 + static_cast<int32_t>(random() % 3);
    params.dry_window = random() % 2 == 0 ? -1 : static_cast<int32_t>(random() % 40);
    std::vector<int32_t> history(random() % 60);
    const uint32_t n_letters = 1 + random() % 4;
    for (int32_t& token : history) {
      token = random() % 12 == 0 ? 20 + static_cast<int32_t>(random() % 6) : static_cast<int32_t>(random() % n_letters);
    }
    for (size_t i = 0; random() % 3 != 0 && i + 20 < history.size(); ++i) history[i] = history[i + 20];
    const Costs wanted = naive(params, history);
    n_costs += static_cast<int>(wanted.size());
    SCOPED_TRACE("trial " + std::to_string(trial));
    expect_near(costs(params, history), wanted);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(n_costs, 2000) << "negative control: there is something to compare";
}

TEST(Dry, LongRepetitionsTakeLinearTime) {
  const std::vector<int32_t> history(200000, 1);
  SamplerParams params = dry({""});
  DryBias bias;
  const auto merged = bias.merge(params, history, text);  // quadratic would be 2e10 comparisons
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_TRUE(std::isfinite(merged[0].bias));
}

TEST(Dry, AllocatesNothingOnceItHasRoom) {
  std::vector<int32_t> history;
  for (int32_t i = 0; i < 1000; ++i) history.push_back(i * i % 23);
  const SamplerParams params = dry();
  const TokenText texts = text;
  DryBias bias;
  bias.reserve(history.size());
  for (int32_t token = 0; token < 26; ++token) text(token);
  const int64_t before = test::allocation_count();
  const size_t n = bias.merge(params, history, texts).size();
  EXPECT_EQ(test::allocation_count() - before, 0);
  EXPECT_GT(n, 0u);
}

}  // namespace
}  // namespace inlay
