// How a step of single tokens and prompts is cut. Needs no GPU.
#include "src/backend/cuda/step_parts.h"

#include <gtest/gtest.h>

#include <map>

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

// By position, which no two tokens share: the token, its slice's block, and the slot of its logits (-1: none).
using Rows = std::map<int32_t, std::tuple<int32_t, int32_t, int32_t>>;
void add_rows(const StepBatch& batch, Rows& rows) {
  for (const SequenceSlice& s : batch.sequences) {
    for (int32_t i = s.first_token; i < s.first_token + s.n_tokens; ++i) {
      const auto at = static_cast<size_t>(i);
      int32_t slot = -1;
      for (const LogitRow& row : batch.logit_rows) slot = row.token == i ? row.slot : slot;
      EXPECT_EQ(batch.positions[at], s.first_position + i - s.first_token);
      EXPECT_TRUE(rows.try_emplace(batch.positions[at], batch.tokens[at], s.first_block, slot).second);
    }
  }
}

TEST(StepParts, NeededForMixturesAndForTooManySingles) {
  EXPECT_FALSE(has_parts(Step({1, 1, 1}).batch(), 3));
  EXPECT_TRUE(has_parts(Step({1, 1, 1}).batch(), 2));
  EXPECT_FALSE(has_parts(Step({5, 2}).batch(), 1));
  EXPECT_TRUE(has_parts(Step({5, 1, 2}).batch(), 64));
  EXPECT_FALSE(has_parts(Step({}).batch(), 64));
}

TEST(StepParts, EveryTokenIsInOnePartOfItsKind) {
  const Step step({1, 7, 1, 1, 2, 1, 1});
  const std::vector<StepPart> parts = parts_of(step.batch(), 2);
  std::vector<size_t> n_sequences;
  Rows whole, rows;
  add_rows(step.batch(), whole);
  for (const StepPart& part : parts) {
    const StepBatch batch = part.batch(step.batch());
    n_sequences.push_back(batch.sequences.size());
    EXPECT_FALSE(has_parts(batch, 2));
    EXPECT_EQ(batch.block_tables.data(), step.block_tables.data());
    EXPECT_TRUE(batch.sample_rows.empty());
    add_rows(batch, rows);
  }
  EXPECT_EQ(n_sequences, (std::vector<size_t>{2, 2, 1, 2}));
  EXPECT_EQ(rows, whole);
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
