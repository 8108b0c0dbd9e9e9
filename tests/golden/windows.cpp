// Models with sliding windows, whose sessions keep a ring of blocks, beside the same models with all blocks kept.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "src/backend/host_buffers.h"
#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "src/engine/inspect.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/forced_draws.h"
#include "tests/support/random_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kContext = 400, kChunk = 48, kPrompt = 250;
// A GPU has other kernels for prompts than for single tokens, and keeps keys and values in F16. Of single rows, some of
// which are sharp.
constexpr double kMaxNmseOfARowOnCuda = 1e-5;

// "some": a window of 40 tokens in the first of two layers; "all": of 70 in both.
std::string model_path(const std::string& name) {
  if (name != "some" && name != "all") return test::model_file(name);
  static const test::TemporaryFolder folder;
  const std::string path = folder.path(name + ".gguf");
  if (std::filesystem::exists(path)) return path;
  const bool some = name == "some";
  const std::vector<std::byte> bytes =
      test::random_model({}, some ? test::Windows::first_layer : test::Windows::all_layers, some ? 40 : 70);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

Target target_of(DeviceKind device) {
  const std::vector<Target> all = all_targets();
  const Runs runs = device == DeviceKind::reference ? Runs::reference
                    : device == DeviceKind::cpu     ? Runs::cpu
                                                    : Runs::cuda;
  return *std::find_if(all.rbegin(), all.rend(), [&](const Target& t) { return t.on == runs; });
}

class Windows : public testing::TestWithParam<std::tuple<std::string, DeviceKind>> {
 protected:
  void SetUp() override {
    INLAY_SKIP_WITHOUT(device());
    open({.device = device(), .n_context = kContext, .max_sessions = 5, .n_threads = 2, .prefill_chunk = kChunk});
  }

  std::string path() const { return model_path(std::get<0>(GetParam())); }
  DeviceKind device() const { return std::get<1>(GetParam()); }

  void open(const EngineOptions& options) {
    const auto engine = Engine::load(path(), options);
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    engine_ = *engine;
  }

  std::shared_ptr<Session> session() {
    auto s = engine_->create_session({.ignore_end_of_generation = true});
    EXPECT_TRUE(s.ok()) << s.status().message;
    return *s;
  }

  std::vector<int32_t> tokens(int32_t n, uint32_t x = 12345) const {
    std::vector<int32_t> out;
    for (int32_t i = 0; i < n; ++i) {
      x = x * 1664525u + 1013904223u;
      out.push_back(static_cast<int32_t>((x >> 8) % static_cast<uint32_t>(engine_->spec().n_vocab)));
    }
    return out;
  }

  static Status prefill(Session& s, std::span<const int32_t> tokens) {
    size_t n_done = 0;
    return s.prefill(tokens, n_done);
  }

  BackendConfig full_config() const {
    return {.n_kv_blocks = kv_blocks_for(kContext),
            .max_step_tokens = kContext,
            .max_sequences = 1,
            .n_logit_slots = kContext,
            .n_context = kContext,
            .n_threads = 2};
  }

  // At every position, by a backend that has all blocks.
  std::vector<float> full_logits(std::span<const int32_t> sequence) const {
    const auto backend = load_backend(path(), target_of(device()), full_config());
    EXPECT_TRUE(backend.ok()) << backend.status().message;
    const auto logits = logits_of(**backend, sequence);
    EXPECT_TRUE(logits.ok()) << logits.status().message;
    return *logits;
  }

  // The session's logits are those after token n - 1 of the sequence that `full` belongs to.
  void expect_logits(Session& s, std::span<const float> full, int32_t n, const char* what) const {
    const auto n_vocab = static_cast<size_t>(engine_->spec().n_vocab);
    std::vector<float> got(n_vocab);
    const Status copied = s.copy_logits(got);
    ASSERT_TRUE(copied.ok()) << copied.message;
    const double limit = device() == DeviceKind::cuda ? kMaxNmseOfARowOnCuda : 0.0;
    ASSERT_LE(test::nmse(got, full.subspan(static_cast<size_t>(n - 1) * n_vocab, n_vocab)), limit)
        << what << ", after " << n << " tokens";
  }

  // Prefills and then draws the sequence, with its logits on the way.
  void run_through(Session& s, std::span<const int32_t> sequence, std::span<const float> full, int32_t n_prompt,
                   const char* what) const {
    const auto n_begin = static_cast<int32_t>(s.tokens().size());
    const Status status =
        prefill(s, sequence.subspan(static_cast<size_t>(n_begin), static_cast<size_t>(n_prompt - n_begin)));
    ASSERT_TRUE(status.ok()) << status.message;
    ASSERT_NO_FATAL_FAILURE(expect_logits(s, full, n_prompt, what));
    draw_through(s, sequence, full, what);
  }

  void draw_through(Session& s, std::span<const int32_t> sequence, std::span<const float> full,
                    const char* what) const {
    for (auto n = static_cast<int32_t>(s.tokens().size()); n < static_cast<int32_t>(sequence.size()); ++n) {
      const Status drawn = test::force(s, sequence[static_cast<size_t>(n)]);
      ASSERT_TRUE(drawn.ok()) << drawn.message;
      ASSERT_NO_FATAL_FAILURE(expect_logits(s, full, n, what));  // a draw first runs the token before it
    }
  }

  int32_t most_blocks(int32_t n_tokens, int32_t n_at_once) const {
    int32_t n = 0;
    for (const KvGroup& group : engine_->plan().kv.groups) {
      const int32_t all = kv_blocks_for(n_tokens);
      n += group.window == 0 ? all : std::min(all, kv_blocks_of_window(group.window, n_at_once));
    }
    return n;
  }

  std::shared_ptr<Engine> engine_;
};

TEST_P(Windows, LogitsAreThoseOfAllBlocks) {
  const std::vector<int32_t> sequence = tokens(kContext);
  const std::vector<float> full = full_logits(sequence);
  const auto s = session();
  ASSERT_NO_FATAL_FAILURE(run_through(*s, sequence, full, kPrompt, "one session"));
  EXPECT_LE(s->info().n_kv_blocks, most_blocks(kContext, 1));
  EXPECT_LT(s->info().n_kv_blocks, kv_blocks_for(kContext) * static_cast<int32_t>(engine_->plan().kv.groups.size()));
  EXPECT_LE(engine_->stats().n_kv_blocks_peak, most_blocks(kContext, kChunk));

  // Negative control: one other token inside the window is noticed.
  std::vector<int32_t> altered = sequence;
  altered[kContext - 3] = (altered[kContext - 3] + 1) % engine_->spec().n_vocab;
  const std::vector<float> other = full_logits(altered);
  const auto n_vocab = static_cast<size_t>(engine_->spec().n_vocab);
  EXPECT_GT(test::nmse(std::span(other).last(n_vocab), std::span(full).last(n_vocab)), 1e-4);
}

// What a kernel reads: blocks before the window may be gone, the others must not be any other.
TEST_P(Windows, BlocksBeforeTheWindowAreNotRead) {
  const std::vector<int32_t> sequence = tokens(kPrompt + 1);
  const auto backend = load_backend(path(), target_of(device()), full_config());
  ASSERT_TRUE(backend.ok()) << backend.status().message;
  const KvGroups& kv = (*backend)->plan().kv;
  const int32_t n_blocks = kv_blocks_for(kPrompt + 1);
  const auto last_logits = [&](std::span<const int32_t> tables) {
    const int32_t position = kPrompt;
    const SequenceSlice slice{.n_tokens = 1, .first_position = kPrompt};
    const LogitRow row{};
    const Status run =
        run_step(**backend, {std::span(sequence).last(1), {&position, 1}, {&slice, 1}, tables, {&row, 1}, {}}, {});
    EXPECT_TRUE(run.ok()) << run.message;
    std::vector<float> out(static_cast<size_t>(engine_->spec().n_vocab));
    EXPECT_TRUE((*backend)->copy_logits(0, out).ok());
    return out;
  };
  ASSERT_TRUE(logits_of(**backend, std::span(sequence).first(kPrompt)).ok());
  std::vector<int32_t> tables;
  for (size_t g = 0; g < kv.groups.size(); ++g) {
    for (int32_t b = 0; b < n_blocks; ++b) tables.push_back(b);
  }
  const std::vector<float> expected = last_logits(tables);
  for (size_t g = 0; g < kv.groups.size(); ++g) {
    const int32_t first = first_key(kv.groups[g].window, kPrompt) / kKvBlockTokens;
    std::vector<int32_t> changed = tables;
    int32_t* const table = changed.data() + g * static_cast<size_t>(n_blocks);
    std::fill_n(table, first, kNoKvBlock);
    EXPECT_TRUE(test::same_bits(last_logits(changed), expected)) << "group " << g;
    table[first] = first == 0 ? 1 : 0;
    EXPECT_GT(test::nmse(last_logits(changed), expected), 1e-6) << "negative control, group " << g;
  }
}

TEST_P(Windows, TruncationRunsAgainWhatHasLeftTheWindow) {
  const std::vector<int32_t> sequence = tokens(kContext);
  const std::vector<float> full = full_logits(sequence);
  const auto s = session();
  ASSERT_TRUE(prefill(*s, std::span(sequence).first(300)).ok());
  const uint64_t n_run = engine_->stats().n_prefill_tokens;
  ASSERT_TRUE(s->truncate(298).ok());
  ASSERT_NO_FATAL_FAILURE(draw_through(*s, std::span(sequence).first(310), full, "cut by two tokens"));
  EXPECT_EQ(engine_->stats().n_prefill_tokens, n_run) << "the window was still there";

  ASSERT_TRUE(s->truncate(110).ok());
  EXPECT_EQ(s->info().n_kv_blocks, 0);
  ASSERT_NO_FATAL_FAILURE(draw_through(*s, std::span(sequence).first(330), full, "cut far back"));
  EXPECT_EQ(engine_->stats().n_prefill_tokens, n_run + 109) << "all but the last token, which the decode step runs";

  ASSERT_TRUE(s->truncate(40).ok());
  ASSERT_NO_FATAL_FAILURE(run_through(*s, sequence, full, 200, "cut far back, then prefilled"));
  EXPECT_EQ(engine_->stats().n_prefill_tokens, n_run + 109 + 200);
}

// In units as the step itself, so that no slice takes longer than its units do.
TEST_P(Windows, WhatHasLeftTheWindowIsRunAgainInSlices) {
  const std::vector<int32_t> sequence = tokens(298);
  const auto begun = [&] {
    auto s = session();
    EXPECT_TRUE(prefill(*s, sequence).ok());
    EXPECT_TRUE(s->truncate(110).ok());
    return s;
  };
  const auto sliced = begun(), whole = begun(), other = session();
  ASSERT_TRUE(prefill(*other, tokens(30, 99)).ok());
  StepEvent wanted, events[2];
  Session* one[] = {whole.get()};
  ASSERT_TRUE(engine_->decode_step(one, {&wanted, 1}).ok());

  const auto step = step_units(engine_->plan());
  const auto n_step = static_cast<int32_t>(step.size());
  const auto n_layers = static_cast<int32_t>(std::ranges::count_if(step, [&](const StepUnit& unit) { return unit.end_op <= engine_->plan().last_layer_op() + 1; }));
  const int32_t n_again = (109 + kChunk - 1) / kChunk * n_layers;
  Session* both[] = {sliced.get(), other.get()};
  int32_t left = -1;
  ASSERT_TRUE(engine_->decode_slice(both, 0, events, left).ok());
  ASSERT_EQ(left, n_again + n_step);
  // Given up in the middle it begins anew behind the chunks that have ended.
  ASSERT_TRUE(engine_->decode_slice(both, n_layers + 1, events, left).ok());
  ASSERT_EQ(left, n_again + n_step - n_layers - 1);
  ASSERT_TRUE(engine_->decode_abandon(both).ok());
  ASSERT_TRUE(engine_->decode_slice(both, 0, events, left).ok());
  ASSERT_EQ(left, n_again + n_step - n_layers);
  while (left > 0) {
    const int32_t before = left;
    ASSERT_TRUE(engine_->decode_slice(both, 1, events, left).ok());
    EXPECT_EQ(left, before - 1);
  }
  EXPECT_EQ(events[0].sample.token, wanted.sample.token);
  EXPECT_GE(events[1].sample.token, 0);
  std::vector<float> got(static_cast<size_t>(engine_->spec().n_vocab)), right = got, others = got;
  ASSERT_TRUE(sliced->copy_logits(got).ok() && whole->copy_logits(right).ok() && other->copy_logits(others).ok());
  EXPECT_TRUE(test::same_bits(got, right));
  EXPECT_FALSE(test::same_bits(got, others)) << "negative control";
}

TEST_P(Windows, ForksGoOnByThemselves) {
  const std::vector<int32_t> sequence = tokens(kPrompt + 60);
  std::vector<int32_t> of_child = tokens(kPrompt + 60, 777);
  std::copy_n(sequence.begin(), kPrompt, of_child.begin());
  const std::vector<float> full = full_logits(sequence), full_child = full_logits(of_child);
  {
    const auto parent = session();
    ASSERT_TRUE(prefill(*parent, std::span(sequence).first(kPrompt)).ok());
    const int32_t used = engine_->stats().n_kv_blocks_used;
    const auto forked = parent->fork();
    ASSERT_TRUE(forked.ok()) << forked.status().message;
    const auto child = *forked;
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, used);
    ASSERT_NO_FATAL_FAILURE(run_through(*child, of_child, full_child, kPrompt + 50, "child"));
    ASSERT_NO_FATAL_FAILURE(draw_through(*parent, sequence, full, "parent"));
  }
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

TEST_P(Windows, SessionsOfAllLengthsShareSteps) {
  const std::vector<int32_t> sequence = tokens(kContext);
  const std::vector<float> full = full_logits(sequence);
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<Session*> all;
  for (const size_t n : {3, 64, 150, 300}) {
    sessions.push_back(session());
    all.push_back(sessions.back().get());
    ASSERT_TRUE(prefill(*all.back(), std::span(sequence).first(n)).ok());
  }
  ASSERT_TRUE(all.back()->truncate(120).ok()) << "runs from the beginning again, in the others' step";
  for (int i = 0; i < 70; ++i) {
    std::vector<int32_t> next;
    for (const Session* s : all) next.push_back(sequence[s->tokens().size()]);
    const Status status = test::force(all, next);
    ASSERT_TRUE(status.ok()) << status.message;
    for (Session* s : all) {
      ASSERT_NO_FATAL_FAILURE(expect_logits(*s, full, static_cast<int32_t>(s->tokens().size()) - 1, "shared step"));
    }
  }
}

TEST_P(Windows, AFullPoolStopsOneSessionAndNotTheOthers) {
  const std::vector<int32_t> sequence = tokens(kContext);
  const std::vector<float> full = full_logits(sequence);
  const KvDType dtype = engine_->backend().config().kv_dtype;
  const uint64_t budget = 14 * kv_block_bytes(engine_->spec(), dtype) * static_cast<uint64_t>(engine_->spec().n_layers);
  open({.device = device(),
        .n_context = kContext,
        .max_sessions = 5,
        .kv_budget_bytes = budget,
        .n_threads = 2,
        .prefill_chunk = kChunk});
  EXPECT_LE(engine_->info().memory.kv, budget);
  std::vector<std::shared_ptr<Session>> sessions;
  Status status;
  while (status.ok() && sessions.size() < 5) {
    sessions.push_back(session());
    status = prefill(*sessions.back(), std::span(sequence).first(kPrompt));
  }
  ASSERT_EQ(status.code, Code::kv_full);
  const bool has_plain_layers = engine_->plan().kv.groups[0].window == 0;
  EXPECT_NE(status.message.find(has_plain_layers ? "of the layers without a window"
                                                 : "of the layers with a window of 70 tokens"),
            std::string::npos)
      << status.message;
  EXPECT_EQ(sessions.back()->info().n_tokens, 0);
  EXPECT_EQ(sessions.back()->info().n_kv_blocks, 0);
  ASSERT_NO_FATAL_FAILURE(
      draw_through(*sessions.front(), std::span(sequence).first(kPrompt + 5), full, "beside a full pool"));
  sessions.erase(sessions.begin());
  ASSERT_NO_FATAL_FAILURE(
      run_through(*sessions.back(), std::span(sequence).first(kPrompt + 40), full, kPrompt, "with room"));
}

TEST_P(Windows, LongTextsAreEmbeddedInChunks) {
  const std::vector<int32_t> text = tokens(kContext);
  const std::span<const int32_t> texts[] = {text};
  const auto d_model = static_cast<size_t>(engine_->spec().d_model);
  std::vector<float> in_chunks(d_model), at_once(d_model), other(d_model);
  const EmbedOptions options{.pooling = Pooling::mean};
  ASSERT_TRUE(embed(*engine_, texts, options, in_chunks).ok());
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  open({.device = device(), .n_context = kContext, .max_sessions = 1, .n_threads = 2, .prefill_chunk = kContext});
  ASSERT_TRUE(embed(*engine_, texts, options, at_once).ok());
  const std::span<const int32_t> beginning[] = {std::span(text).first(kContext - 40)};
  ASSERT_TRUE(embed(*engine_, beginning, options, other).ok());
  EXPECT_LE(test::nmse(in_chunks, at_once), device() == DeviceKind::cuda ? 1e-5 : 1e-12);
  EXPECT_GT(test::nmse(other, at_once), 1e-6) << "negative control";
}

class WindowProfiles : public Windows {};

TEST_P(WindowProfiles, OfStepsAfterALongPast) {
  for (const int32_t n : {1, kChunk}) {
    const auto profile = profile_step(*engine_, {.n_tokens = n, .n_past = 300, .n_repetitions = 1});
    ASSERT_TRUE(profile.ok()) << profile.status().message;
  }
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, DeviceKind>>& p) {
  std::string name = std::get<0>(p.param) + "_" + test::device_name(std::get<1>(p.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
const auto kDevices = testing::Values(DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda);
INSTANTIATE_TEST_SUITE_P(Fixtures, Windows, testing::Combine(testing::Values("gemma2-f32", "gemma3-f32"), kDevices),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Random, Windows, testing::Combine(testing::Values("some", "all"), kDevices), name_of);

INSTANTIATE_TEST_SUITE_P(Fixtures, WindowProfiles,
                         testing::Combine(testing::Values("gemma2-f32"),
                                          testing::Values(DeviceKind::cpu, DeviceKind::cuda)),
                         name_of);

// Memory is planned, taken and shown for what sessions can have.
TEST(WindowMemory, IsThatOfTheWindow) {
  constexpr int32_t kLong = test::kRandomModelContext, kSessions = 4, kPrefillChunk = 512;
  const EngineOptions options{.device = DeviceKind::cpu, .n_context = kLong, .max_sessions = kSessions, .n_threads = 1};
  const uint64_t block_bytes = 2 * 2 * 64 * kKvBlockTokens;  // keys and values in F16 of one layer
  const auto blocks_of = [&](const std::string& name) {
    const auto planned = Engine::plan_memory(model_path(name), options);
    EXPECT_TRUE(planned.ok()) << planned.status().message;
    return planned->memory.kv / block_bytes;
  };
  constexpr uint64_t kAll = kSessions * (kLong / kKvBlockTokens);
  EXPECT_EQ(blocks_of("some"), kAll + kSessions * static_cast<uint64_t>(kv_blocks_of_window(40, kPrefillChunk)));
  EXPECT_EQ(blocks_of("all"), 2 * kSessions * static_cast<uint64_t>(kv_blocks_of_window(70, kPrefillChunk)));

  const auto engine = Engine::load(model_path("all"), options);
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  EXPECT_EQ((*engine)->info().memory.kv, block_bytes * blocks_of("all"));
  EXPECT_EQ((*engine)->stats().n_kv_blocks, kSessions * kv_blocks_of_window(70, kPrefillChunk));
}

// A budget goes to all groups: the pool of a window is never smaller than what the blocks of the others can use.
TEST(WindowMemory, ABudgetIsSharedOut) {
  const uint64_t block_bytes = 2 * 2 * 64 * kKvBlockTokens;
  EngineOptions options{.device = DeviceKind::cpu,
                        .n_context = 32768,
                        .max_sessions = 2,
                        .kv_budget_bytes = 50 * block_bytes,
                        .n_threads = 1};
  const auto blocks = [&] {
    const auto engine = Engine::load(model_path("some"), options);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    return engine.ok() ? (*engine)->stats().n_kv_blocks : 0;
  };
  EXPECT_EQ(blocks(), 50) << "25 of each";
  options.kv_budget_bytes = 151 * block_bytes;
  EXPECT_EQ(blocks(), 151);
  const int32_t most = 2 * kv_blocks_of_window(40, 512);
  EXPECT_LT(most, 75) << "so the rest goes to the other layers";
  options.kv_budget_bytes = 2 * block_bytes - 1;
  const auto refused = Engine::plan_memory(model_path("some"), options);
  EXPECT_EQ(refused.status().code, Code::invalid_argument);
  EXPECT_EQ(refused.status().required, 2 * block_bytes);
}

}  // namespace
}  // namespace inlay::golden
