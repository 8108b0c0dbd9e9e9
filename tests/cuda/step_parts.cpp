// How a step of single tokens and prompts is cut. Needs no GPU.
#include "src/backend/cuda/step_parts.h"

#include <gtest/gtest.h>

namespace inlay {
namespace {

// Slices of the given lengths; the tokens count from 100, each slice's positions from 1000 times its number.
struct Step {
  std::vector<int32_t> tokens, positions, block_tables = {1, 2, 3};
  std::vector<SequenceSlice> sequences;
  std::vector<LogitRow> logit_rows;  // of every slice's last token, into the slot of the slice's number

  explicit Step(const std::vector<int32_t>& lengths) {
    for (size_t s = 0; s < lengths.size(); ++s) {
      const auto first = static_cast<int32_t>(tokens.size()), number = static_cast<int32_t>(s);
      sequences.push_back(
          {.first_token = first, .n_tokens = lengths[s], .first_position = 1000 * number, .first_block = number});
      for (int32_t i = 0; i < lengths[s]; ++i) {
        tokens.push_back(100 + first + i);
        positions.push_back(1000 * number + i);
      }
      logit_rows.push_back({.token = first + lengths[s] - 1, .slot = number});
    }
  }
  StepBatch batch() const { return {tokens, positions, sequences, block_tables, logit_rows, {}}; }
};

std::vector<StepSegment> segments(const StepBatch& batch, int32_t most) {
  std::vector<StepSegment> out;
  cut_segments(batch, most, out);
  return out;
}

TEST(StepParts, SingleTokensAndPromptsHaveSegmentsOfTheirOwn) {
  EXPECT_TRUE(segments({}, 64).empty());
  EXPECT_EQ(segments(Step({1, 1, 1}).batch(), 3).size(), 1u);
  EXPECT_EQ(segments(Step({1, 1, 1}).batch(), 2).size(), 2u);
  EXPECT_EQ(segments(Step({5, 2}).batch(), 1).size(), 1u) << "all prompts run together";
  EXPECT_EQ(segments(Step({1, 5, 2}).batch(), 64).size(), 2u);
}

TEST(StepParts, EveryRowAndEveryLogitIsInOneSegmentOfItsKind) {
  for (const int32_t most : {1, 2, 3, 64}) {
    for (int32_t n_singles = 0; n_singles <= 7; ++n_singles) {
      for (int32_t n_prompts = 0; n_prompts <= 2; ++n_prompts) {
        std::vector<int32_t> lengths(static_cast<size_t>(n_singles), 1);
        for (int32_t i = 0; i < n_prompts; ++i) lengths.push_back(2 + 3 * i);
        Step step(lengths);
        if (n_singles > 2) step.logit_rows.erase(step.logit_rows.begin() + 1);  // a row whose logits nobody wants
        const std::vector<StepSegment> found = segments(step.batch(), most);
        EXPECT_EQ(found.size(), static_cast<size_t>((n_singles + most - 1) / most + (n_prompts > 0 ? 1 : 0)));
        EXPECT_LE(found.size(), max_segments(n_singles + n_prompts, static_cast<int32_t>(step.tokens.size()), most));
        int32_t sequence = 0, row = 0, logit = 0;
        for (const StepSegment& segment : found) {
          EXPECT_EQ(segment.first_sequence, sequence);
          EXPECT_EQ(segment.first_row, row);
          EXPECT_EQ(segment.first_logit, logit);
          EXPECT_NE(segment.decodes, segment.prefills);
          if (segment.decodes) {
            EXPECT_LE(segment.n_rows, most);
          }
          for (int32_t i = 0; i < segment.n_sequences; ++i, ++sequence)
            EXPECT_EQ(lengths[static_cast<size_t>(sequence)] == 1, segment.decodes);
          row += segment.n_rows;
          for (int32_t i = 0; i < segment.n_logits; ++i, ++logit) EXPECT_LT(step.logit_rows[static_cast<size_t>(logit)].token, row);
        }
        EXPECT_EQ(sequence, static_cast<int32_t>(lengths.size()));
        EXPECT_EQ(row, static_cast<int32_t>(step.tokens.size()));
        EXPECT_EQ(logit, static_cast<int32_t>(step.logit_rows.size()));
      }
    }
  }
}

// Rows of one sequence stay together.
TEST(StepParts, SeveralRowsOfASequenceDecode) {
  const auto step_of = [](const std::vector<int32_t>& lengths, size_t n_decode) {
    Step step(lengths);
    for (size_t i = 0; i < n_decode; ++i) step.sequences[i].rows = RowClass::decode;
    return step;
  };
  const Step all = step_of({5, 1, 3, 5, 9}, 4);
  const std::vector<StepSegment> found = segments(all.batch(), 8);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].n_rows, 6);
  EXPECT_EQ(found[1].n_rows, 8);
  EXPECT_EQ(found[2].n_rows, 9);
  EXPECT_TRUE(found[0].decodes && found[0].has_runs && found[1].decodes && found[2].prefills);
  const Step single = step_of({1, 1}, 2), prompt = step_of({5, 1}, 0);
  EXPECT_FALSE(segments(single.batch(), 8)[0].has_runs);
  EXPECT_TRUE(segments(prompt.batch(), 8)[0].prefills) << "negative control";
  // The most segments that so many rows can come to.
  for (const int32_t most : {32, 40}) {
    const Step worst = step_of({1, 32, 1, 32, 1, 32, 1, 32, 1, 32}, 10);
    EXPECT_LE(segments(worst.batch(), most).size(), max_segments(10, 165, most));
  }
}

// The rows of all sequences are there together, whatever their kinds.
TEST(StepParts, AStepWhoseRowsAreAskedForIsOneSegment) {
  const AskedRows asked{.first_row = 0, .n_rows = 1};
  const Step mixed({1, 1, 5}), singles({1, 1, 1}), prompts({2, 3});
  const auto only = [&](const Step& step, int32_t most) {
    StepBatch batch = step.batch();
    batch.asked_rows = {&asked, 1};
    const std::vector<StepSegment> found = segments(batch, most);
    EXPECT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].n_rows, static_cast<int32_t>(step.tokens.size()));
    return found[0];
  };
  EXPECT_FALSE(only(mixed, 64).decodes || only(mixed, 64).prefills);
  EXPECT_TRUE(only(singles, 64).decodes);
  EXPECT_FALSE(only(singles, 2).decodes) << "too many for the kernels of decode steps";
  EXPECT_TRUE(only(prompts, 64).prefills);
}

TEST(StepParts, DrawsFitUntilTheirListsAreFull) {
  const std::vector<int32_t> history(100);
  SamplerParams plain, whole{.repetition_penalty = 1.1f, .penalty_window = -1},
      last_ten{.presence_penalty = 0.5f, .penalty_window = 10};
  SamplerParams biased;
  for (int32_t token = 0; token < 60; ++token) biased.bias.push_back({token, 1.0f});
  const auto row = [&](const SamplerParams& params) { return SampleRow{.params = &params, .history = history}; };
  EXPECT_EQ(penalised_tokens(row(plain)), 0u);
  EXPECT_EQ(penalised_tokens(row(whole)), 100u);
  EXPECT_EQ(penalised_tokens(row(last_ten)), 10u);
  const SampleRow rows[] = {row(last_ten), row(whole), row(plain), row(biased), row(whole), row(biased)};
  EXPECT_EQ(fitting_draws(rows, 109), 1u);
  EXPECT_EQ(fitting_draws(rows, 110), 4u);
  EXPECT_EQ(fitting_draws(rows, 210), 6u);
  EXPECT_EQ(fitting_draws(std::span(rows).subspan(2), 100), 3u) << "and 120 biases are too many";
  EXPECT_EQ(fitting_draws(std::span(rows).subspan(1), 5), 1u) << "one row is always tried";
  const std::vector<LogitBias> merged(70, {0, -1.0f});  // of DRY: it stands for the sampler's own
  SampleRow repeating = row(biased);
  repeating.context.bias_and_dry = merged;
  const SampleRow dry[] = {repeating, row(plain), repeating};
  EXPECT_EQ(fitting_draws(dry, 139), 2u);
  EXPECT_EQ(fitting_draws(dry, 140), 3u);
  EXPECT_EQ(fitting_draws({}, 5), 0u);
}

}  // namespace
}  // namespace inlay
