// Several rows of one sequence that decode: each has the bits that it has alone, and of a draft those are accepted that would have been drawn.
// docs/design/step-contract.md
#include <gtest/gtest.h>

#include <algorithm>

#include "src/engine/step_queue.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kSequences = 4, kContext = 384, kRows = kMostDecodeRows, kLongest = 40;  // kLongest: tokens behind a prompt

std::vector<int32_t> text(int32_t n, int32_t salt) {
  std::vector<int32_t> out;
  for (int32_t i = 0; i < n; ++i) out.push_back(3 + (i * 37 + salt * 211) % 150);
  return out;
}

class DecodeRows : public testing::TestWithParam<std::tuple<const char*, Target>> {
 protected:
  void SetUp() override {
    const auto& [model, target] = GetParam();
    if (!can_run(target.on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
    auto backend = load_backend(test::model_file(model), target,
                                {.n_kv_blocks = 2 * kSequences * kContext / kKvBlockTokens,
                                 .max_step_tokens = 256,
                                 .max_sequences = kSequences,
                                 .n_logit_slots = kSequences * kRows,
                                 .n_context = kContext,
                                 .n_threads = 3});
    ASSERT_TRUE(backend.ok()) << backend.status().message;
    backend_ = *std::move(backend);
    n_vocab_ = static_cast<size_t>(backend_->plan().spec.n_vocab);
    whole_ = whole_step(backend_->plan());
  }

  // Tokens [first, end) of a text of sequence `number`; with logits of each row in slots from number * kRows on. In blocks of its own.
  struct Part {
    int32_t number = 0, first = 0, end = 0;
    const std::vector<int32_t>* tokens = nullptr;
    RowClass rows = RowClass::decode;
  };
  // Logits of all rows that decode, part after part.
  std::vector<float> run(std::initializer_list<Part> parts, std::span<const StepUnit> units = {}) {
    std::vector<int32_t> tokens, positions, blocks;
    std::vector<SequenceSlice> slices;
    std::vector<LogitRow> logits;
    for (const Part& part : parts) {
      const auto first_row = static_cast<int32_t>(tokens.size());
      slices.push_back({first_row, part.end - part.first, part.first, static_cast<int32_t>(blocks.size()), part.rows});
      for (int32_t i = part.first; i < part.end; ++i) {
        tokens.push_back((*part.tokens)[static_cast<size_t>(i)]);
        positions.push_back(i);
        if (slices.back().decodes()) logits.push_back({first_row + i - part.first, part.number * kRows + i - part.first});
      }
      for (size_t group = 0; group < backend_->plan().kv.groups.size(); ++group) {
        for (int32_t b = 0; b < slices.back().n_blocks(); ++b) blocks.push_back(b * kSequences + part.number);
      }
    }
    const StepBatch batch{tokens, positions, slices, blocks, logits, {}};
    const Status status = run_step(*backend_, batch, units.empty() ? std::span(&whole_, 1) : units, {});
    EXPECT_TRUE(status.ok()) << status.message;
    std::vector<float> out(logits.size() * n_vocab_);
    for (size_t i = 0; i < logits.size(); ++i) {
      EXPECT_TRUE(backend_->copy_logits(logits[i].slot, std::span(out).subspan(i * n_vocab_, n_vocab_)).ok());
    }
    return out;
  }

  void run_prompt(int32_t number, int32_t n, const std::vector<int32_t>& tokens) { run({{number, 0, n, &tokens, RowClass::prompt}}); }

  // Logits of the tokens behind a prompt of n, one at a time.
  std::vector<float> one_by_one(int32_t number, int32_t n, const std::vector<int32_t>& tokens) {
    run_prompt(number, n, tokens);
    std::vector<float> out;
    for (int32_t i = n; i < static_cast<int32_t>(tokens.size()); ++i) {
      const std::vector<float> row = run({{number, i, i + 1, &tokens}});
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }

  std::span<const float> rows(const std::vector<float>& all, int32_t first, int32_t n) const {
    return std::span(all).subspan(static_cast<size_t>(first) * n_vocab_, static_cast<size_t>(n) * n_vocab_);
  }

  std::unique_ptr<Backend> backend_;
  size_t n_vocab_ = 0;
  StepUnit whole_;
};

TEST_P(DecodeRows, HaveTheBitsThatTheyHaveAlone) {
  // Prompts that end within a block, at its end, and far behind a window.
  const int32_t prompts[] = {5, 30, 64, 201};
  std::vector<std::vector<int32_t>> texts;
  std::vector<std::vector<float>> alone;
  for (int32_t s = 0; s < kSequences; ++s) {
    texts.push_back(text(prompts[s] + kLongest, s));
    alone.push_back(one_by_one(s, prompts[s], texts.back()));
  }
  const auto part = [&](int32_t s, int32_t first, int32_t n) {
    return Part{s, prompts[s] + first, prompts[s] + first + n, &texts[static_cast<size_t>(s)]};
  };
  const auto expect_alone = [&](const std::vector<float>& got, int32_t at, int32_t s, int32_t first, int32_t n) {
    const std::vector<float>& own = alone[static_cast<size_t>(s)];
    EXPECT_TRUE(test::same_bits(rows(got, at, n), rows(own, first, n))) << "sequence " << s << ", rows from " << first << " on";
    EXPECT_FALSE(test::same_bits(rows(got, at, n), rows(own, first == 0 ? kLongest - n : 0, n))) << "negative control";
  };
  for (int32_t s = 0; s < kSequences; ++s) run_prompt(s, prompts[s], texts[static_cast<size_t>(s)]);
  // Alone; with others, in more rows than run together; beside a prompt; a unit at a time.
  expect_alone(run({part(0, 0, 5)}), 0, 0, 0, 5);
  const std::vector<float> several = run({part(1, 0, kRows), part(2, 0, 7), part(0, 5, 1), part(3, 0, 20)});
  expect_alone(several, 0, 1, 0, kRows);
  expect_alone(several, kRows, 2, 0, 7);
  expect_alone(several, kRows + 7, 0, 5, 1);
  expect_alone(several, kRows + 8, 3, 0, 20);
  const std::vector<int32_t> other = text(50, 9);
  const std::vector<float> beside = run({part(3, 20, 3), part(0, 6, 8), {1, 0, 50, &other, RowClass::prompt}});
  expect_alone(beside, 0, 3, 20, 3);
  expect_alone(beside, 3, 0, 6, 8);
  const std::vector<StepUnit> units = step_units(backend_->plan());
  const std::vector<float> in_units = run({part(0, 14, 4), part(2, 7, 9)}, units);
  expect_alone(in_units, 0, 0, 14, 4);
  expect_alone(in_units, 4, 2, 7, 9);
  // What they have left in the cache is what single tokens would have.
  expect_alone(run({part(3, 23, 1)}), 0, 3, 23, 1);
}

// Each round proposes four tokens behind the last one, of which some are what the model would draw.
TEST_P(DecodeRows, OfADraftThoseAreAcceptedThatWouldHaveBeenDrawn) {
  constexpr int32_t kPrompt = 21, kDraft = 4, kTokens = 30;
  LostDevice lost;
  Mutex mutex;
  Lock lock(mutex);
  Sequences sequences(*backend_, lost, mutex, kSequences, false);
  StepQueue queue(*backend_, sequences, lost, mutex);
  const SamplerParams params{.temperature = 0.9f, .top_k = 40, .seed = 5};
  const auto begun = [&] {
    Sequence s = sequences.empty();
    EXPECT_TRUE(sequences.take_slot(s));
    s.tokens = text(kPrompt, 3);
    EXPECT_TRUE(sequences.reserve(s, kContext / 2, kPrompt).ok());
    OpenStep step;
    step.works = {work_of(s, 0, kPrompt - 1)};
    EXPECT_TRUE(queue.run_whole(step, StepQueue::Extent::layers).ok());
    queue.commit(step);
    return s;
  };
  // Runs `tokens` behind what is computed and draws behind each.
  const auto run = [&](Sequence& s, std::span<const int32_t> tokens, std::span<const int32_t> slots, OpenStep& step, std::vector<Draw>& draws) {
    const int32_t first = s.n_computed, n = static_cast<int32_t>(slots.size());
    step.clear();
    step.works = {{.sequence = &s, .tokens = tokens, .first = first, .end = first + n, .rows = RowClass::decode, .slots = slots}};
    for (int32_t i = 0; i < n; ++i) {
      step.samples.push_back({.slot = slots[static_cast<size_t>(i)], .params = &params, .history = tokens.first(static_cast<size_t>(first + i + 1)), .stream = 1, .position = static_cast<uint64_t>(first + i + 1)});
    }
    draws.assign(slots.size(), {});
    const Status status = queue.run_whole(step, StepQueue::Extent::all, {.draws = draws});
    EXPECT_TRUE(status.ok()) << status.message;
  };

  OpenStep step;
  std::vector<Draw> draws;
  std::vector<float> row(n_vocab_), last_alone;
  Sequence alone = begun();
  while (alone.n_tokens() < kPrompt + kTokens) {
    const int32_t slot[] = {alone.slot};
    run(alone, alone.tokens, slot, step, draws);
    queue.commit(step);
    alone.tokens.push_back(draws[0].result.token);
  }
  ASSERT_TRUE(backend_->copy_logits(alone.slot, row).ok());
  last_alone = row;

  Sequence s = begun();
  const int32_t slots[] = {100, 101, 102, 103, 104};
  int32_t n_rounds = 0, n_taken = 0, last_slot = 0;
  while (s.n_tokens() < kPrompt + kTokens) {
    // The first 0 to 4 of the draft are right.
    const auto n_right = static_cast<size_t>(n_rounds % (kDraft + 1));
    std::vector<int32_t> tokens = s.tokens;
    for (size_t i = 0; i < kDraft; ++i) {
      const size_t at = tokens.size();
      const int32_t right = at < alone.tokens.size() ? alone.tokens[at] : 3;
      tokens.push_back(i < n_right ? right : right == 4 ? 5 : 4);
    }
    run(s, tokens, slots, step, draws);
    int32_t n = 1;  // row 0 is what was drawn before
    while (n <= kDraft && draws[static_cast<size_t>(n - 1)].result.token == tokens[s.tokens.size() + static_cast<size_t>(n - 1)]) ++n;
    n = std::min(n, kPrompt + kTokens - s.n_tokens());
    const int32_t accepted[] = {n};
    queue.commit(step, accepted);
    for (int32_t i = 0; i < n; ++i) s.tokens.push_back(draws[static_cast<size_t>(i)].result.token);
    EXPECT_EQ(s.n_computed, s.n_tokens() - 1);
    last_slot = slots[n - 1];
    n_taken += n - 1;
    ++n_rounds;
  }
  EXPECT_EQ(s.tokens, alone.tokens);
  ASSERT_TRUE(backend_->copy_logits(last_slot, row).ok());
  EXPECT_TRUE(test::same_bits(row, last_alone));
  EXPECT_GT(n_taken, 10);
  EXPECT_LT(n_rounds, kTokens - 10);
}

TEST_P(DecodeRows, TooManyOfOneSequenceAreRefused) {
  const std::vector<int32_t> tokens = text(kRows + 1, 0);
  std::vector<int32_t> positions, blocks;
  for (int32_t i = 0; i <= kRows; ++i) positions.push_back(i);
  for (size_t group = 0; group < backend_->plan().kv.groups.size(); ++group) {
    for (int32_t b = 0; b < kv_blocks_for(kRows + 1); ++b) blocks.push_back(b);
  }
  SequenceSlice slice{0, kRows + 1, 0, 0, RowClass::decode};
  const StepBatch batch{tokens, positions, {&slice, 1}, blocks, {}, {}};
  const Result<Ticket> ticket = backend_->begin(batch, {&whole_, 1});
  ASSERT_FALSE(ticket.ok());
  EXPECT_NE(ticket.status().message.find("33 rows of one sequence decode"), std::string::npos) << ticket.status().message;
  slice.rows = RowClass::prompt;
  EXPECT_TRUE(run_step(*backend_, batch, {&whole_, 1}, {}).ok()) << "negative control";
}

const auto kModels = testing::Values("tales", "llama-f32", "llama-bf16", "llama-q4_k_m", "llama-q4_0", "qwen2-q4_k_m", "qwen3-q8_0", "llama-iq4_xs",
                                     "gemma2-f32", "gemma3-f32", "llama-moe-q4_k_m", "qwen3moe-f32");

INSTANTIATE_TEST_SUITE_P(All, DecodeRows, testing::Combine(kModels, testing::ValuesIn(all_targets())), model_on_target);

}  // namespace
}  // namespace inlay::golden
