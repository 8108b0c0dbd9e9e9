// Scores of texts against the logits that a session has behind each token, between cuts, company and none, and between engines.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <numeric>

#include "src/engine/engine.h"
#include "src/engine/score.h"
#include "tests/support/devices.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

using Text = std::vector<int32_t>;

Text text_of(int32_t n, uint32_t seed) {
  Text out;
  for (int32_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    out.push_back(static_cast<int32_t>((seed >> 8) % 2000));
  }
  return out;
}

std::shared_ptr<Engine> load(DeviceKind device, EngineOptions options = {}) {
  options.device = device;
  options.n_context = 512;
  if (options.max_sessions == 0) options.max_sessions = 4;
  options.n_threads = 3;
  const auto engine = Engine::load(kModel, options);
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  return engine.ok() ? *engine : nullptr;
}

struct Scored {
  Status status;
  std::vector<ScoredToken> tokens;
  std::vector<TokenLogprob> top;
};

Scored scored(Engine& engine, const std::vector<Text>& texts, const ScoreOptions& options = {}) {
  Scored out;
  const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
  const size_t n = std::accumulate(texts.begin(), texts.end(), size_t{0}, [](size_t sum, const Text& t) { return sum + t.size(); });
  out.tokens.resize(n);
  out.top.resize(n * static_cast<size_t>(options.n_top));
  out.status = score(engine, spans, options, out.tokens, out.top);
  EXPECT_TRUE(out.status.ok() || out.status.code != Code::internal) << out.status.message;
  return out;
}

bool has_score(const ScoredToken& t) { return t.own.rank >= 0; }

class Scoring : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam()); }
  bool is_exact() const { return GetParam() != DeviceKind::cuda; }  // cuts and company change no bit
  // Of a log-probability. On a GPU prompts have products of their own, in BF16 for this model's weights.
  double tolerance() const { return is_exact() ? 0 : 0.15; }
  double rounding() const { return is_exact() ? 1e-5 : tolerance(); }
  void expect_same(std::span<const ScoredToken> a, std::span<const ScoredToken> b) const {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(has_score(a[i]), has_score(b[i])) << i;
      if (!has_score(a[i])) continue;
      EXPECT_NEAR(a[i].own.logprob, b[i].own.logprob, tolerance()) << i;
      if (is_exact()) {
        EXPECT_EQ(a[i].own.rank, b[i].own.rank) << i;
      }
    }
  }
};

// By hand: the session's logits behind each token of the text, in float64.
TEST_P(Scoring, AreThoseOfTheLogitsBehindEachToken) {
  const Text text = text_of(40, 1);
  const auto engine = load(GetParam());
  constexpr int32_t kTop = 5;
  const Scored got = scored(*engine, {text}, {.n_top = kTop});
  ASSERT_TRUE(got.status.ok()) << got.status.message;
  EXPECT_FALSE(has_score(got.tokens[0]));
  EXPECT_TRUE(std::isnan(got.tokens[0].own.logprob));
  EXPECT_EQ(got.top[0].token, -1);
  const auto session = *engine->create_session({});
  std::vector<float> logits(static_cast<size_t>(engine->spec().n_vocab));
  for (size_t i = 1; i < text.size(); ++i) {
    SCOPED_TRACE(i);
    size_t n_done = 0;
    ASSERT_TRUE(session->prefill(std::span(text).subspan(i - 1, 1), n_done).ok());
    ASSERT_TRUE(session->copy_logits(logits).ok());
    double sum = 0;
    for (const float l : logits) sum += std::exp(static_cast<double>(l));
    const float own = logits[static_cast<size_t>(text[i])];
    EXPECT_NEAR(got.tokens[i].own.logprob, own - std::log(sum), rounding());
    const auto rank = std::ranges::count_if(logits, [&](float l) { return l > own; });
    if (is_exact()) {
      EXPECT_EQ(got.tokens[i].own.rank, rank);
    }
    const std::span<const TokenLogprob> top = std::span(got.top).subspan(i * kTop, kTop);
    const auto best = std::ranges::max_element(logits) - logits.begin();
    if (is_exact()) {
      EXPECT_EQ(top[0].token, best);
    }
    for (size_t k = 0; k < kTop; ++k) {
      EXPECT_NEAR(top[k].logprob, logits[static_cast<size_t>(top[k].token)] - std::log(sum), rounding());
      if (k > 0) {
        EXPECT_GE(top[k - 1].logprob, top[k].logprob);
      }
    }
    EXPECT_TRUE(std::isnan(got.tokens[i].divergence));
    EXPECT_EQ(got.tokens[i].same_best, -1);
  }
}

TEST_P(Scoring, AnotherTextHasOthers) {
  const auto engine = load(GetParam());
  Text text = text_of(20, 2);
  const Scored before = scored(*engine, {text});
  text[3] += 1;
  const Scored after = scored(*engine, {text});
  for (size_t i = 1; i < 3; ++i) EXPECT_NEAR(before.tokens[i].own.logprob, after.tokens[i].own.logprob, tolerance());
  EXPECT_GT(std::fabs(before.tokens[4].own.logprob - after.tokens[4].own.logprob), 0.5);
}

TEST_P(Scoring, ChunksAgree) {
  const Text text = text_of(100, 3);
  const auto whole = load(GetParam()), cut = load(GetParam(), {.prefill_chunk = 7});
  ASSERT_EQ(cut->prefill_chunk(), 7);
  expect_same(scored(*cut, {text}).tokens, scored(*whole, {text}).tokens);
}

TEST_P(Scoring, CompanyChangesNothing) {
  std::vector<Text> texts;
  for (int32_t i = 0; i < 9; ++i) texts.push_back(text_of(1 + 37 * i % 40, static_cast<uint32_t>(i)));
  texts[4] = text_of(70, 50);
  const auto engine = load(GetParam(), {.max_sessions = 3, .prefill_chunk = 48});
  for (const int32_t n_given : {1, 9}) {
    const Scored together = scored(*engine, texts, {.n_given = n_given, .n_top = 2});
    ASSERT_TRUE(together.status.ok()) << together.status.message;
    size_t first = 0;
    for (const Text& text : texts) {
      SCOPED_TRACE(first);
      const Scored alone = scored(*engine, {text}, {.n_given = n_given, .n_top = 2});
      expect_same(std::span(together.tokens).subspan(first, text.size()), alone.tokens);
      for (size_t i = 0; i < alone.top.size(); ++i)
        EXPECT_NEAR(together.top[first * 2 + i].logprob, alone.top[i].logprob, tolerance());
      first += text.size();
    }
  }
}

TEST_P(Scoring, GivenTokensHaveNone) {
  const Text text = text_of(30, 4);
  const auto engine = load(GetParam(), {.prefill_chunk = 8});
  const Scored all = scored(*engine, {text});
  for (const int32_t n_given : {2, 8, 9, 10, 29, 30, 31}) {
    const Scored some = scored(*engine, {text}, {.n_given = n_given});
    for (size_t i = 0; i < text.size(); ++i) {
      const bool is_scored = i >= static_cast<size_t>(n_given);
      ASSERT_EQ(has_score(some.tokens[i]), is_scored) << n_given << " " << i;
      if (is_scored) {
        EXPECT_NEAR(some.tokens[i].own.logprob, all.tokens[i].own.logprob, tolerance());
      }
    }
  }
}

TEST_P(Scoring, LeavesTheEngineAsItWas) {
  const auto engine = load(GetParam(), {.max_sessions = 2});
  const auto session = engine->create_session({});
  size_t n_done = 0;
  ASSERT_TRUE((*session)->prefill(text_of(40, 5), n_done).ok());
  std::vector<float> before(static_cast<size_t>(engine->spec().n_vocab)), after(before.size());
  ASSERT_TRUE((*session)->copy_logits(before).ok());
  const EngineStats stats = engine->stats();
  ASSERT_TRUE(scored(*engine, {text_of(50, 6), text_of(20, 7)}).status.ok());
  EXPECT_EQ(engine->stats().n_kv_blocks_used, stats.n_kv_blocks_used);
  EXPECT_EQ(engine->stats().n_sessions, 1);
  EXPECT_EQ(engine->stats().n_prefill_tokens, stats.n_prefill_tokens + 49 + 19);
  ASSERT_TRUE((*session)->copy_logits(after).ok());
  EXPECT_EQ(before, after);
}

TEST_P(Scoring, AgainstItselfIsNoDistance) {
  const Text text = text_of(60, 8);
  const auto engine = load(GetParam());
  const Scored got = scored(*engine, {text, text_of(9, 9)}, {.n_top = 1, .against = engine.get()});
  ASSERT_TRUE(got.status.ok()) << got.status.message;
  const Scored plain = scored(*engine, {text, text_of(9, 9)});
  for (size_t i = 0; i < got.tokens.size(); ++i) {
    ASSERT_EQ(has_score(got.tokens[i]), has_score(plain.tokens[i]));
    if (!has_score(got.tokens[i])) continue;
    EXPECT_EQ(got.tokens[i].divergence, 0) << i;
    EXPECT_EQ(got.tokens[i].same_best, 1);
    EXPECT_EQ(got.tokens[i].own.logprob, got.tokens[i].against.logprob);
    EXPECT_NEAR(got.tokens[i].own.logprob, plain.tokens[i].own.logprob, rounding());
  }
}

// The distance of quantized weights, by hand from both sessions' logits.
TEST_P(Scoring, AgainstAnotherIsTheDivergenceOfBoth) {
  const Text text = text_of(24, 10);
  const auto exact = load(GetParam()), coarse = load(GetParam(), {.weight_dtype = WeightDType::q4_0});
  const Scored got = scored(*coarse, {text}, {.against = exact.get()});
  ASSERT_TRUE(got.status.ok()) << got.status.message;
  const auto in_exact = *exact->create_session({}), in_coarse = *coarse->create_session({});
  const auto n_vocab = static_cast<size_t>(exact->spec().n_vocab);
  std::vector<float> p(n_vocab), q(n_vocab);
  double mean = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    size_t n_done = 0;
    ASSERT_TRUE(in_exact->prefill(std::span(text).subspan(i - 1, 1), n_done).ok());
    ASSERT_TRUE(in_coarse->prefill(std::span(text).subspan(i - 1, 1), n_done).ok());
    ASSERT_TRUE(in_exact->copy_logits(p).ok());
    ASSERT_TRUE(in_coarse->copy_logits(q).ok());
    double sum_p = 0, sum_q = 0, want = 0;
    for (size_t t = 0; t < n_vocab; ++t) sum_p += std::exp(static_cast<double>(p[t])), sum_q += std::exp(static_cast<double>(q[t]));
    for (size_t t = 0; t < n_vocab; ++t) {
      const double log_p = p[t] - std::log(sum_p);
      want += std::exp(log_p) * (log_p - (q[t] - std::log(sum_q)));
    }
    EXPECT_NEAR(got.tokens[i].divergence, want, (is_exact() ? 1e-5 : 5e-2) * (1 + want)) << i;
    mean += want / static_cast<double>(text.size() - 1);
  }
  EXPECT_GT(mean, 1e-4);
}

TEST_P(Scoring, ProgressCountsTokensAndStops) {
  const auto engine = load(GetParam(), {.max_sessions = 1, .prefill_chunk = 16});
  std::vector<uint64_t> done;
  ScoreOptions options;
  options.progress = [&](uint64_t n_done, uint64_t n_total) {
    done.push_back(n_done);
    EXPECT_EQ(n_total, 39u + 9u);
    return true;
  };
  ASSERT_TRUE(scored(*engine, {text_of(40, 1), text_of(1, 2), text_of(10, 3)}, options).status.ok());
  EXPECT_EQ(done, (std::vector<uint64_t>{16, 32, 39, 48}));
  options.progress = [&](uint64_t n_done, uint64_t) { return n_done < 32; };
  EXPECT_EQ(scored(*engine, {text_of(40, 1), text_of(10, 3)}, options).status.code, Code::cancelled);
  EXPECT_EQ(engine->stats().n_sessions, 0);
}

TEST_P(Scoring, WrongTextsAreRefused) {
  const auto engine = load(GetParam(), {.max_sessions = 1});
  const auto code = [&](const std::vector<Text>& texts) { return scored(*engine, texts).status.code; };
  EXPECT_EQ(code({text_of(3, 1), {}}), Code::invalid_argument);
  EXPECT_EQ(code({text_of(513, 1)}), Code::context_full);
  EXPECT_EQ(code({{1, 2, engine->spec().n_vocab}}), Code::invalid_argument);
  EXPECT_EQ(code({text_of(65, 1), {0}}), Code::ok);
  EXPECT_EQ(code({{0}}), Code::ok);
  const auto session = engine->create_session({});
  EXPECT_EQ(code({{1, 2}}), Code::session_limit);
  const auto other = load(GetParam(), {.max_sessions = 1});
  EXPECT_EQ(scored(*other, {{1, 2}}, {.against = engine.get()}).status.code, Code::session_limit);
  EXPECT_EQ(scored(*other, {{1, 2}}).status.code, Code::ok);
  EXPECT_EQ(engine->stats().n_kv_blocks_used, 0);
}

TEST_P(Scoring, AnotherVocabularyIsRefused) {
  const std::vector<std::byte> bytes = testing::llama_image(
      {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50},
      [](testing::GgufImage& image) { image.text("tokenizer.ggml.model", "no_vocab"); });
  const auto small = Engine::load(borrow_memory(bytes, "model"), {.device = GetParam(), .n_context = 64});
  ASSERT_TRUE(small.ok());
  const auto engine = load(GetParam());
  const Scored got = scored(*engine, {{1, 2, 3}}, {.against = small->get()});
  EXPECT_EQ(got.status.code, Code::invalid_argument);
  EXPECT_NE(got.status.message.find("50"), std::string::npos) << got.status.message;
}

TEST_P(Scoring, NumbersThatOverflowedAreAnError) {
  for (const bool overflows : {true, false}) {
    const std::vector<std::byte> bytes = testing::llama_image(
        {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50},
        [](testing::GgufImage& image) { image.text("tokenizer.ggml.model", "no_vocab"); }, overflows ? 1e30f : 1.0f);
    const auto engine = Engine::load(borrow_memory(bytes, "model"), {.device = GetParam(), .n_context = 64});
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    const Code want = overflows ? Code::format : Code::ok;
    EXPECT_EQ(scored(**engine, {{3, 1, 4}}).status.code, want);
    EXPECT_EQ(scored(**engine, {{3, 1, 4}}, {.against = engine->get()}).status.code, want);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Scoring, ::testing::Values(DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda),
                         test::device_of);

// ---- rows of logits

TEST(ScoreRow, TiesGoToTheLowerId) {
  const std::vector<float> logits = {1, 3, 3, -std::numeric_limits<float>::infinity(), 2};
  std::vector<TokenLogprob> top(5);
  const int32_t ranks[] = {3, 0, 1, 4, 2};
  for (int32_t t = 0; t < 5; ++t) EXPECT_EQ(score_row(logits, t, top)->rank, ranks[t]) << t;
  EXPECT_EQ(score_row(logits, 3, top)->logprob, -std::numeric_limits<float>::infinity());
  const int32_t order[] = {1, 2, 4, 0, -1};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(top[i].token, order[i]);
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) sum += std::exp(static_cast<double>(top[i].logprob));
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(ScoreRow, DivergenceOfDistributionsThatAreKnown) {
  const auto logs = [](std::vector<double> p) {
    std::vector<float> out;
    for (const double v : p) out.push_back(static_cast<float>(std::log(v) + 7));
    return out;
  };
  const std::vector<float> p = logs({0.5, 0.25, 0.25}), q = logs({0.25, 0.25, 0.5});
  EXPECT_NEAR(divergence(q, p), 0.5 * std::log(2.0) - 0.25 * std::log(2.0), 1e-6);
  EXPECT_EQ(divergence(p, p), 0);
  std::vector<float> without = p;
  without[1] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(divergence(without, p), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(divergence(p, without), std::log(4.0 / 3), 1e-6);
}

// What is read in fewer passes is what each function says by itself, and the divergence that of its definition.
TEST(ScoreRow, BothRowsAtOnceAreEachByItself) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const size_t n : {1, 7, 8, 100, 4099}) {
    for (const float apart : {0.0f, 1e-3f, 0.5f, 8.0f}) {
      std::vector<float> own(n), exact(n);
      for (size_t i = 0; i < n; ++i) exact[i] = 4 * normal(random), own[i] = exact[i] + apart * normal(random) + 3;
      if (n > 8) exact[5] = -std::numeric_limits<float>::infinity();
      const auto token = static_cast<int32_t>(random() % n);
      std::vector<TokenLogprob> top(5), expected_top(5);
      const auto both = compare_rows(own, exact, token, top);
      ASSERT_TRUE(both.ok());
      const auto one = score_row(own, token, expected_top), other = score_row(exact, token, {});
      EXPECT_EQ(both->own.logprob, one->logprob);
      EXPECT_EQ(both->own.rank, one->rank);
      EXPECT_EQ(both->exact.logprob, other->logprob);
      EXPECT_EQ(both->exact.rank, other->rank);
      for (size_t i = 0; i < top.size(); ++i) {
        EXPECT_EQ(top[i].token, expected_top[i].token);
        EXPECT_EQ(top[i].logprob, expected_top[i].logprob);
      }
      EXPECT_EQ(both->same_best, std::ranges::max_element(own) - own.begin() == std::ranges::max_element(exact) - exact.begin());
      EXPECT_EQ(both->divergence, divergence(own, exact));
      const auto log_sum = [](const std::vector<float>& row) {
        long double sum = 0;
        for (const float l : row) sum += std::exp(static_cast<long double>(l));
        return std::log(sum);
      };
      const long double of_own = log_sum(own), of_exact = log_sum(exact);
      long double sum = 0;
      for (size_t i = 0; i < n; ++i) {
        const long double p = std::exp(exact[i] - of_exact);
        if (p > 0) sum += p * (exact[i] - of_exact - (own[i] - of_own));
      }
      EXPECT_NEAR(both->divergence, static_cast<double>(sum), 1e-11 + 1e-9 * static_cast<double>(sum)) << n << " " << apart;
      if (n > 8 && apart > 1e-2f) {
        EXPECT_GT(std::abs(divergence(exact, own) - static_cast<double>(sum)), 1e-3 * static_cast<double>(sum));  // the other way round is another number
      }
    }
  }
  const std::vector<float> good = {1, 2}, bad = {1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(compare_rows(good, bad, 0, {}).ok());
  EXPECT_FALSE(compare_rows(bad, good, 0, {}).ok());
}

}  // namespace
}  // namespace inlay
