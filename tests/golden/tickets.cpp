// What a backend promises of its tickets: docs/design/step-contract.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kContext = 96, kSequences = 3;

// One sequence's part of a step; block b of sequence s is b * kSequences + s.
struct Part {
  int32_t sequence = 0, first = 0;
  std::vector<int32_t> tokens;
};

struct Step {
  std::vector<int32_t> tokens, positions, blocks;
  std::vector<SequenceSlice> slices;
  std::vector<LogitRow> logit_rows;
  std::vector<SampleRow> sample_rows;
  std::vector<AskedRows> asked_rows;
  RowValues asked = RowValues::hidden;
  bool takes_drawn = false;

  void add(const Plan& plan, const Part& part) {
    slices.push_back({static_cast<int32_t>(tokens.size()), static_cast<int32_t>(part.tokens.size()), part.first, static_cast<int32_t>(blocks.size())});
    for (size_t i = 0; i < part.tokens.size(); ++i) positions.push_back(part.first + static_cast<int32_t>(i));
    tokens.insert(tokens.end(), part.tokens.begin(), part.tokens.end());
    for (size_t group = 0; group < plan.kv.groups.size(); ++group) {
      for (int32_t b = 0; b < slices.back().n_blocks(); ++b) blocks.push_back(b * kSequences + part.sequence);
    }
  }
  StepBatch batch() const { return {tokens, positions, slices, blocks, logit_rows, sample_rows, asked_rows, asked, takes_drawn}; }
};

std::vector<int32_t> prompt(int32_t n, int32_t salt) {
  std::vector<int32_t> out;
  for (int32_t i = 0; i < n; ++i) out.push_back(3 + (i * 37 + salt * 11) % 150);
  return out;
}

class Tickets : public testing::TestWithParam<std::tuple<const char*, Target>> {
 protected:
  void SetUp() override {
    const auto& [model, target] = GetParam();
    if (!can_run(target.on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
    auto backend = load_backend(test::model_file(model), target,
                                {.n_kv_blocks = kSequences * kv_blocks_for(kContext),
                                 .max_step_tokens = 64,
                                 .max_sequences = kSequences,
                                 .n_logit_slots = 2 * kSequences,
                                 .n_context = kContext,
                                 .n_threads = 3,
                                 .run_ahead = true});
    ASSERT_TRUE(backend.ok()) << backend.status().message;
    backend_ = *std::move(backend);
    plan_ = &backend_->plan();
    n_vocab_ = static_cast<size_t>(plan_->spec.n_vocab);
    whole_ = whole_step(*plan_);
    layers_ = {0, plan_->last_layer_op() + 1, {}};
  }

  std::vector<float> row_of_slot(int32_t slot) {
    std::vector<float> out(n_vocab_);
    EXPECT_TRUE(backend_->copy_logits(slot, out).ok());
    return out;
  }

  // A prompt of each sequence, whose last row's logits are in slot 0, 1, 2.
  void run_prompts() {
    for (int32_t s = 0; s < kSequences; ++s) {
      Step step;
      step.add(*plan_, {s, 0, prompt(20 + s, s)});
      step.logit_rows = {{19 + s, s}};
      ASSERT_TRUE(run_step(*backend_, step.batch(), {}).ok());
    }
  }

  // One token of each sequence behind its prompt, and a draw: into slots from `slot` on.
  Step decode_step(int32_t position, int32_t slot, std::span<const int32_t> tokens) {
    Step step;
    for (int32_t s = 0; s < kSequences; ++s) {
      step.add(*plan_, {s, position + s, {tokens[static_cast<size_t>(s)]}});
      step.logit_rows.push_back({s, slot + s});
      step.sample_rows.push_back({.slot = slot + s, .params = &params_, .stream = static_cast<uint64_t>(s), .position = static_cast<uint64_t>(position + s + 1)});
    }
    return step;
  }

  static std::vector<int32_t> tokens_of(std::span<const Draw> draws) {
    std::vector<int32_t> out;
    for (const Draw& draw : draws) out.push_back(draw.result.token);
    return out;
  }

  std::unique_ptr<Backend> backend_;
  const Plan* plan_ = nullptr;
  size_t n_vocab_ = 0;
  StepUnit whole_, layers_;
  SamplerParams params_{.temperature = 0.8f, .seed = 11};
};

TEST_P(Tickets, ASecondOneTakesWhatTheFirstDraws) {
  run_prompts();
  std::vector<Draw> first(kSequences), second(kSequences), alone(kSequences);
  const std::vector<int32_t> tokens = {7, 8, 9}, other = {17, 18, 19};
  const Step step = decode_step(20, 0, tokens);
  Step next = decode_step(21, kSequences, std::vector<int32_t>(kSequences, 0));
  next.takes_drawn = true;
  const Result<Ticket> a = backend_->begin(step.batch(), {&whole_, 1});
  ASSERT_TRUE(a.ok()) << a.status().message;
  const Result<Ticket> b = backend_->begin(next.batch(), {&whole_, 1});
  ASSERT_TRUE(b.ok()) << b.status().message;
  EXPECT_FALSE(backend_->begin(next.batch(), {&whole_, 1}).ok()) << "a third one";
  EXPECT_TRUE(backend_->advance(*a, 1).ok());
  EXPECT_TRUE(backend_->advance(*b, 1).ok());
  ASSERT_TRUE(backend_->wait(*a, {.draws = first}).ok());
  ASSERT_TRUE(backend_->wait(*b, {.draws = second}).ok());
  std::vector<std::vector<float>> ahead;
  for (int32_t s = 0; s < kSequences; ++s) ahead.push_back(row_of_slot(kSequences + s));

  // The same step behind, begun by itself with the tokens that were drawn; and with others.
  ASSERT_TRUE(run_step(*backend_, decode_step(21, 0, tokens_of(first)).batch(), alone).ok());
  EXPECT_EQ(tokens_of(second), tokens_of(alone));
  for (int32_t s = 0; s < kSequences; ++s) EXPECT_TRUE(test::same_bits(ahead[static_cast<size_t>(s)], row_of_slot(s)));
  ASSERT_TRUE(run_step(*backend_, decode_step(21, 0, other).batch(), alone).ok());
  for (int32_t s = 0; s < kSequences; ++s) EXPECT_FALSE(test::same_bits(ahead[static_cast<size_t>(s)], row_of_slot(s))) << "negative control";
}

TEST_P(Tickets, OneThatIsCancelledLeavesTheOthersAlone) {
  run_prompts();
  std::vector<Draw> wanted(kSequences), draws(kSequences);
  const std::vector<int32_t> tokens = {7, 8, 9};
  ASSERT_TRUE(run_step(*backend_, decode_step(20, 0, tokens).batch(), wanted).ok());
  const std::vector<StepUnit> units = step_units(*plan_);
  for (size_t n_queued = 0; n_queued <= units.size(); n_queued += std::max<size_t>(1, units.size() / 3)) {
    const Step other = decode_step(20, kSequences, std::vector<int32_t>{30, 31, 32});
    const Result<Ticket> ticket = backend_->begin(other.batch(), units);
    ASSERT_TRUE(ticket.ok()) << ticket.status().message;
    EXPECT_TRUE(backend_->advance(*ticket, n_queued).ok());
    if (n_queued < units.size()) {
      EXPECT_TRUE(backend_->wait(*ticket, {.draws = draws}).ok());
    }
    EXPECT_TRUE(backend_->cancel(*ticket).ok());
    EXPECT_EQ(backend_->advance(*ticket, 1).code, Code::internal) << "it has ended";
    EXPECT_EQ(backend_->wait(*ticket, {.draws = draws}).code, Code::internal);
    ASSERT_TRUE(run_step(*backend_, decode_step(20, 0, tokens).batch(), draws).ok());
    EXPECT_EQ(tokens_of(draws), tokens_of(wanted)) << n_queued << " units";
  }
}

// Hidden states through the norm and the head are the logits; scores are those of the logits; both are the rows that were asked for.
TEST_P(Tickets, RowsAreWhatTheHostAsksFor) {
  const std::vector<int32_t> a = prompt(30, 1), b = prompt(17, 2);
  std::vector<std::vector<float>> wanted;  // logits of the rows 5, 6, 29 of the first text, 0 and 16 of the second
  for (const auto& [tokens, row] : {std::pair(&a, 5), std::pair(&a, 6), std::pair(&a, 29), std::pair(&b, 0), std::pair(&b, 16)}) {
    Step step;
    step.add(*plan_, {0, 0, *tokens});
    step.logit_rows = {{row, 0}};
    ASSERT_TRUE(run_step(*backend_, step.batch(), {}).ok());
    wanted.push_back(row_of_slot(0));
  }
  Step step;
  step.add(*plan_, {0, 0, a});
  step.add(*plan_, {1, 0, b});
  const std::vector<int32_t> next = {40, 41, 42, 43, 44};
  const auto next_of = [&](size_t first, size_t n) { return std::span(next).subspan(first, n); };
  step.asked_rows = {{.first_row = 5, .n_rows = 2, .next = next_of(0, 2)},
                     {.first_row = 29, .n_rows = 1, .next = next_of(2, 1)},  // its neighbour is the other text's
                     {.first_row = 30, .n_rows = 1, .next = next_of(3, 1)},
                     {.first_row = 46, .n_rows = 1, .next = next_of(4, 1)}};
  constexpr size_t kRows = 5;
  const auto run = [&](RowValues asked, const StepResults& results) {
    step.asked = asked;
    const Status status = run_step(*backend_, step.batch(), {&layers_, 1}, results);
    EXPECT_TRUE(status.ok()) << status.message;
  };
  const auto& [model, target] = GetParam();
  const double limit = target.on == Runs::cuda ? test::max_nmse_of_cuts_on_cuda(model) : 0.0;
  std::vector<float> logits(kRows * n_vocab_);
  run(RowValues::logits, {.rows = logits});
  for (size_t i = 0; i < kRows; ++i) {
    const auto row = std::span(logits).subspan(i * n_vocab_, n_vocab_);
    EXPECT_LE(test::nmse(row, wanted[i]), limit) << "row " << i;
    EXPECT_GT(test::nmse(row, wanted[(i + 1) % kRows]), 1e-4) << "negative control";
  }
  constexpr int32_t kTop = 3;
  std::vector<TokenScore> scores(kRows);
  std::vector<TokenLogprob> top(kRows * kTop);
  run(RowValues::scores, {.scores = scores, .top = top, .n_top = kTop});
  for (size_t i = 0; i < kRows; ++i) {
    std::vector<TokenLogprob> best(kTop);
    const Result<TokenScore> score = score_row(std::span(logits).subspan(i * n_vocab_, n_vocab_), next[i], best);
    ASSERT_TRUE(score.ok());
    EXPECT_NEAR(scores[i].logprob, score->logprob, 1e-4);
    EXPECT_EQ(top[i * kTop].token, best[0].token);
  }
  const auto d_model = static_cast<size_t>(plan_->spec.d_model);
  std::vector<float> hidden(kRows * d_model), again(d_model);
  run(RowValues::hidden, {.rows = hidden});
  EXPECT_TRUE(std::ranges::all_of(hidden, [](float v) { return std::isfinite(v); }));
  step.asked_rows = {{.first_row = 46, .n_rows = 1}};
  run(RowValues::hidden, {.rows = again});
  EXPECT_TRUE(test::same_bits(std::span(hidden).last(d_model), again));
  EXPECT_FALSE(test::same_bits(std::span(hidden).first(d_model), again)) << "negative control";
}

TEST_P(Tickets, BatchesThatAreNoneAreRefused) {
  const std::vector<int32_t> a = prompt(5, 1);
  Step step;
  step.add(*plan_, {0, 0, a});
  step.add(*plan_, {1, 0, {3}});
  EXPECT_EQ(backend_->begin(step.batch(), {&whole_, 1}).status().code, Code::internal) << "a single token behind a prompt";
  Step rows;
  rows.add(*plan_, {0, 0, a});
  rows.logit_rows = {{4, 0}, {2, 1}};
  EXPECT_EQ(backend_->begin(rows.batch(), {&whole_, 1}).status().code, Code::internal) << "rows out of order";
  rows.logit_rows.clear();
  for (const AskedRows& asked : {AskedRows{.first_row = 3, .n_rows = 3}, AskedRows{.first_row = -1, .n_rows = 1}, AskedRows{.first_row = 0, .n_rows = 0}}) {
    rows.asked_rows = {asked};
    EXPECT_EQ(backend_->begin(rows.batch(), {&layers_, 1}).status().code, Code::internal) << asked.first_row;
  }
  rows.asked_rows = {{.first_row = 0, .n_rows = 2}};
  rows.asked = RowValues::scores;
  EXPECT_EQ(backend_->begin(rows.batch(), {&layers_, 1}).status().code, Code::internal) << "no tokens to score";
  rows.asked = RowValues::hidden;
  std::vector<float> hidden(2 * static_cast<size_t>(plan_->spec.d_model));
  EXPECT_TRUE(run_step(*backend_, rows.batch(), {&layers_, 1}, {.rows = hidden}).ok()) << "the backend goes on";
}

const auto kModels = testing::Values("tales", "llama-q4_k_m", "qwen3-q8_0", "gemma2-f32", "llama-moe-q4_k_m");

INSTANTIATE_TEST_SUITE_P(All, Tickets, testing::Combine(kModels, testing::ValuesIn(all_targets())), model_on_target);

}  // namespace
}  // namespace inlay::golden
