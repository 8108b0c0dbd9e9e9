// Decode steps a part at a time, on a backend alone: logits and draws have the bits of the whole step, however the head
// is cut and wherever the host stops, and no unit can be left out.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kContext = 96, kPositions = 40;

// The plan's units with its head cut into so many pieces.
std::vector<StepUnit> units_with(const Plan& plan, int32_t n_pieces) {
  std::vector<StepUnit> units = step_units(plan);
  const auto is_head = [&](const StepUnit& unit) {
    return plan.ops[static_cast<size_t>(unit.first_op)].kind == OpKind::head;
  };
  const StepUnit last = units.back();
  units.erase(std::ranges::find_if(units, is_head), units.end());
  for (int32_t i = 0; i < n_pieces; ++i) {
    units.push_back({last.first_op, i + 1 == n_pieces ? last.end_op : last.first_op + 1, {i, n_pieces}});
  }
  return units;
}

struct Outcome {
  std::vector<float> logits;  // of all sequences
  std::vector<int32_t> tokens;
  bool operator==(const Outcome& o) const { return tokens == o.tokens && test::same_bits(logits, o.logits); }
};

class UnitSteps : public testing::TestWithParam<std::tuple<const char*, Target>> {
 protected:
  void SetUp() override {
    const auto& [model, target] = GetParam();
    if (!can_run(target.on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
    const int32_t n = kMostSequences;
    auto backend = load_backend(test::model_file(model), target,
                                {.n_kv_blocks = n * kv_blocks_for(kContext),
                                 .max_step_tokens = 64,
                                 .max_sequences = n,
                                 .n_logit_slots = n,
                                 .n_context = kContext,
                                 .n_threads = 3});
    ASSERT_TRUE(backend.ok()) << backend.status().message;
    backend_ = *std::move(backend);
  }

  // Token `salt` + i at position kPositions + i of sequence i, after a prompt that is there once begin() has run.
  struct Step {
    std::vector<int32_t> tokens, positions, blocks, history;
    std::vector<SequenceSlice> slices;
    std::vector<LogitRow> logit_rows;
    std::vector<SampleRow> sample_rows;
    SamplerParams params{.temperature = 0.9f, .top_k = 40, .repetition_penalty = 1.2f, .seed = 5};
    StepBatch batch() const { return {tokens, positions, slices, blocks, logit_rows, sample_rows}; }
  };

  void add(Step& step, int32_t sequence, int32_t first, std::span<const int32_t> tokens, bool draws) {
    step.slices.push_back({static_cast<int32_t>(step.tokens.size()), static_cast<int32_t>(tokens.size()), first,
                           static_cast<int32_t>(step.blocks.size())});
    for (const int32_t token : tokens) {
      step.positions.push_back(first + static_cast<int32_t>(step.positions.size()) - step.slices.back().first_token);
      step.tokens.push_back(token);
    }
    const int32_t end = first + static_cast<int32_t>(tokens.size());
    for (size_t group = 0; group < backend_->plan().kv.groups.size(); ++group) {
      for (int32_t b = 0; b < kv_blocks_for(end); ++b) step.blocks.push_back(b * kMostSequences + sequence);
    }
    step.logit_rows.push_back({static_cast<int32_t>(step.tokens.size()) - 1, sequence});
    if (!draws) return;
    step.sample_rows.push_back(
        {sequence, &step.params, step.history, static_cast<uint64_t>(sequence), static_cast<uint64_t>(end)});
  }

  void begin(int32_t n_sequences) {
    for (int32_t s = 0; s < n_sequences; ++s) {
      std::vector<int32_t> prompt;
      for (int32_t i = 0; i < kPositions + s; ++i) prompt.push_back(3 + (i * 37 + s * 211) % 150);
      Step step;
      add(step, s, 0, prompt, false);
      const Status status = run_step(*backend_, step.batch(), {});
      ASSERT_TRUE(status.ok()) << status.message;
    }
  }

  void fill(Step& step, int32_t n_sequences, int32_t salt) {
    step.history = {3, 40, 5, 40};
    for (int32_t s = 0; s < n_sequences; ++s) {
      const int32_t token = (salt + s) % 150;
      add(step, s, kPositions + s, {&token, 1}, true);
    }
  }

  // Two steps of two sequences, which leave other values behind.
  void begin_two(Step& step, Step& other) {
    begin(2);
    fill(step, 2, 20);
    fill(other, 2, 90);
  }

  // Without units the whole step; else at most so many at once.
  Outcome run(const Step& step, std::span<const StepUnit> units, size_t most = 1) {
    std::vector<Draw> draws(step.sample_rows.size());
    Outcome out;
    if (units.empty()) {
      const Status status = run_step(*backend_, step.batch(), draws);
      EXPECT_TRUE(status.ok()) << status.message;
    } else {
      const Result<Ticket> ticket = backend_->begin(step.batch(), units);
      EXPECT_TRUE(ticket.ok()) << ticket.status().message;
      for (size_t i = 0; i < units.size() && ticket.ok(); i += most) {
        EXPECT_TRUE(backend_->advance(*ticket, most).ok());
        const Status status = backend_->wait(*ticket, {.draws = draws});
        EXPECT_TRUE(status.ok()) << status.message;
      }
    }
    for (const Draw& draw : draws) {
      EXPECT_TRUE(draw.status.ok()) << draw.status.message;
      out.tokens.push_back(draw.result.token);
    }
    const auto n_vocab = static_cast<size_t>(backend_->plan().spec.n_vocab);
    out.logits.resize(draws.size() * n_vocab);
    for (size_t s = 0; s < draws.size(); ++s) {
      EXPECT_TRUE(
          backend_->copy_logits(static_cast<int32_t>(s), std::span(out.logits).subspan(s * n_vocab, n_vocab)).ok());
    }
    return out;
  }

  static constexpr int32_t kMostSequences = 5;
  std::unique_ptr<Backend> backend_;
};

TEST_P(UnitSteps, HaveTheBitsOfWholeSteps) {
  for (const int32_t n_sequences : {1, 2, kMostSequences}) {
    begin(n_sequences);
    Step step, other;
    fill(step, n_sequences, 20);
    fill(other, n_sequences, 90);
    const Outcome wanted = run(step, {});
    for (const int32_t n_pieces : {1, 3, 7, 64}) {
      const std::vector<StepUnit> units = units_with(backend_->plan(), n_pieces);
      for (const size_t most : {size_t{1}, size_t{2}, units.size()}) {
        // Leaves other values wherever a unit could find some.
        EXPECT_FALSE(run(other, units, most) == wanted) << "negative control";
        EXPECT_TRUE(run(step, units, most) == wanted)
            << n_sequences << " sequences, the head in " << n_pieces << " pieces, " << most << " units at once";
      }
    }
  }
}

TEST_P(UnitSteps, CannotDoWithoutAUnit) {
  Step step, other;
  begin_two(step, other);
  const std::vector<StepUnit> units = units_with(backend_->plan(), 3);
  const Outcome wanted = run(step, {});
  for (size_t left_out = 0; left_out + 1 < units.size(); ++left_out) {  // the last one draws
    run(other, units, units.size());
    std::vector<StepUnit> some = units;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(left_out));
    const bool is_interpreted_head = std::get<1>(GetParam()).on == Runs::reference && units[left_out].head.count > 1;
    EXPECT_EQ(run(step, some) == wanted, is_interpreted_head) << "without unit " << left_out;
  }
}

TEST_P(UnitSteps, KeepTheLogitsUntilTheyEnd) {
  Step step, other;
  begin_two(step, other);
  const std::vector<StepUnit> units = units_with(backend_->plan(), 3);
  const Outcome before = run(other, {}), wanted = run(step, {});
  run(other, {});
  std::vector<Draw> draws(2);
  std::vector<float> row(static_cast<size_t>(backend_->plan().spec.n_vocab));
  const Result<Ticket> ticket = backend_->begin(step.batch(), units);
  ASSERT_TRUE(ticket.ok()) << ticket.status().message;
  for (size_t i = 0; i < units.size(); ++i) {
    ASSERT_TRUE(backend_->advance(*ticket, 1).ok());
    ASSERT_TRUE(backend_->wait(*ticket, {.draws = draws}).ok());
    ASSERT_TRUE(backend_->copy_logits(1, row).ok());
    const Outcome& seen = i + 1 < units.size() ? before : wanted;
    EXPECT_TRUE(test::same_bits(row, std::span(seen.logits).last(row.size()))) << "after unit " << i;
  }
}

const auto kModels =
    testing::Values("tales", "llama-f32", "llama-f16", "llama-bf16", "llama-q4_k_m", "llama-q6_k", "llama-q4_0",
                    "llama-q8_0", "qwen2-q4_k_m", "qwen3-q8_0", "llama-q2_k_m", "llama-q3_k_m", "llama-iq4_xs",
                    "llama-zoo", "llama-moe-q4_k_m", "qwen3moe-f32", "gemma2-f32", "phi3-f32");

INSTANTIATE_TEST_SUITE_P(All, UnitSteps, testing::Combine(kModels, testing::ValuesIn(all_targets())), model_on_target);

}  // namespace
}  // namespace inlay::golden
