// Steps that hold chunks of prompts and single tokens at once: a single token's logits and draw have the bits that they
// have when it is alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kSequences = 8, kContext = 384, kChunk = 40, kSteps = 6;

struct Sequence {
  int32_t index = 0;  // also its logit slot
  std::vector<int32_t> tokens;
  int32_t n_run = 0;
  std::vector<float> logits;  // after each of its steps
};

Sequence sequence(int32_t index, int32_t n_tokens) {
  Sequence s{.index = index};
  for (int32_t i = 0; i < n_tokens; ++i) s.tokens.push_back(3 + (i * 37 + index * 211) % 150);
  return s;
}

// One execution for several sequences.
class Step {
 public:
  explicit Step(Backend& backend) : backend_(backend) { params_ = {.temperature = 0.9f, .top_k = 40, .seed = 5}; }

  // The next n_tokens of the sequence, which then draws or not.
  void add(Sequence& s, int32_t n_tokens, bool draws) {
    sequences_.push_back(&s);
    slices_.push_back({static_cast<int32_t>(tokens_.size()), n_tokens, s.n_run, static_cast<int32_t>(blocks_.size())});
    for (int32_t i = 0; i < n_tokens; ++i, ++s.n_run) {
      tokens_.push_back(s.tokens[static_cast<size_t>(s.n_run)]);
      positions_.push_back(s.n_run);
    }
    // The sequences' blocks lie among each other's.
    for (size_t group = 0; group < backend_.plan().kv.groups.size(); ++group) {
      for (int32_t b = 0; b < kv_blocks_for(s.n_run); ++b) blocks_.push_back(b * kSequences + s.index);
    }
    logit_rows_.push_back({static_cast<int32_t>(tokens_.size()) - 1, s.index});
    if (draws) drawing_.push_back(&s);
  }

  Status run() {
    std::vector<SampleRow> rows;
    for (const Sequence* s : drawing_) {
      rows.push_back({s->index, &params_, s->tokens, static_cast<uint64_t>(s->index), s->tokens.size()});
    }
    std::vector<Draw> draws(rows.size());
    INLAY_TRY(run_step(backend_, {tokens_, positions_, slices_, blocks_, logit_rows_, rows}, draws));
    for (size_t i = 0; i < draws.size(); ++i) {
      INLAY_TRY(std::move(draws[i].status));
      drawing_[i]->tokens.push_back(draws[i].result.token);
    }
    std::vector<float> row(static_cast<size_t>(backend_.plan().spec.n_vocab));
    for (Sequence* s : sequences_) {
      INLAY_TRY(backend_.copy_logits(s->index, row));
      s->logits.insert(s->logits.end(), row.begin(), row.end());
    }
    return {};
  }

 private:
  Backend& backend_;
  SamplerParams params_;
  std::vector<Sequence*> sequences_, drawing_;
  std::vector<int32_t> tokens_, positions_, blocks_;
  std::vector<SequenceSlice> slices_;
  std::vector<LogitRow> logit_rows_;
};

class MixedSteps : public testing::TestWithParam<std::tuple<const char*, Target>> {
 protected:
  void SetUp() override {
    const auto& [model, target] = GetParam();
    if (!can_run(target.on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
    auto backend = load_backend(test::model_file(model), target,
                                {.n_kv_blocks = kSequences * kContext / kKvBlockTokens,
                                 .max_step_tokens = 256,
                                 .max_sequences = kSequences,
                                 .n_logit_slots = kSequences,
                                 .n_context = kContext,
                                 .n_threads = 3});
    ASSERT_TRUE(backend.ok()) << backend.status().message;
    backend_ = *std::move(backend);
  }

  void run(std::initializer_list<std::pair<Sequence*, int32_t>> parts) {
    Step step(*backend_);
    for (const bool single : {true, false}) {  // the order of a batch
      for (const auto& [s, n_tokens] : parts) {
        if ((n_tokens == 1) == single) step.add(*s, n_tokens, single);
      }
    }
    const Status status = step.run();
    ASSERT_TRUE(status.ok()) << status.message;
  }

  // Three sequences that draw, after prompts of ragged lengths.
  std::vector<Sequence> drawing() {
    std::vector<Sequence> out = {sequence(0, 3), sequence(1, 33), sequence(2, 100)};
    for (Sequence& s : out) {
      run({{&s, static_cast<int32_t>(s.tokens.size()) - 1}});
      s.logits.clear();
    }
    return out;
  }

  std::unique_ptr<Backend> backend_;
};

TEST_P(MixedSteps, SingleTokensHaveTheBitsThatTheyHaveAlone) {
  std::vector<Sequence> alone = drawing();
  for (Sequence& s : alone) {
    for (int32_t i = 0; i < kSteps; ++i) run({{&s, 1}});
  }
  Sequence first_alone = sequence(3, kSteps * kChunk), second_alone = sequence(4, kSteps * (kChunk + 1));
  for (int32_t i = 0; i < kSteps; ++i) {
    run({{&first_alone, kChunk}});
    run({{&second_alone, kChunk + 1}});
  }

  // The same with two prompts in each step, and the single tokens in another order each time.
  std::vector<Sequence> mixed = drawing();
  Sequence first = sequence(3, kSteps * kChunk), second = sequence(4, kSteps * (kChunk + 1));
  for (int32_t i = 0; i < kSteps; ++i) {
    switch (i % 3) {
      case 0:
        run({{&first, kChunk}, {&mixed[0], 1}, {&mixed[1], 1}, {&mixed[2], 1}, {&second, kChunk + 1}});
        break;
      case 1:
        run({{&mixed[2], 1}, {&first, kChunk}, {&mixed[0], 1}, {&second, kChunk + 1}, {&mixed[1], 1}});
        break;
      default:
        run({{&first, kChunk}, {&second, kChunk + 1}, {&mixed[1], 1}, {&mixed[0], 1}, {&mixed[2], 1}});
        break;
    }
  }
  for (size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(mixed[i].tokens, alone[i].tokens) << "sequence " << i;
    EXPECT_TRUE(test::same_bits(mixed[i].logits, alone[i].logits)) << "sequence " << i;
    EXPECT_FALSE(test::same_bits(mixed[i].logits, alone[(i + 1) % alone.size()].logits)) << "negative control";
  }
  const auto& [model, target] = GetParam();
  const double limit = target.on == Runs::cuda ? test::max_nmse_of_cuts_on_cuda(model) : 0.0;
  EXPECT_LE(test::nmse(first.logits, first_alone.logits), limit);
  EXPECT_LE(test::nmse(second.logits, second_alone.logits), limit);
  EXPECT_GT(test::nmse(std::span(second.logits).first(first.logits.size()), first.logits), 1e-3) << "negative control";
}

const auto kModels = testing::Values("tales", "llama-f32", "llama-f16", "llama-bf16", "llama-q4_k_m", "llama-q6_k",
                                     "llama-q4_0", "qwen2-q4_k_m", "qwen3-q8_0", "llama-q2_k_m", "llama-q3_k_m",
                                     "llama-iq4_xs", "llama-zoo", "llama-moe-q4_k_m", "qwen3moe-f32");

INSTANTIATE_TEST_SUITE_P(All, MixedSteps, testing::Combine(kModels, testing::ValuesIn(all_targets())), model_on_target);

}  // namespace
}  // namespace inlay::golden
