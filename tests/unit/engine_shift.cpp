// Tokens that are taken out of the middle of a sequence. In a model of one layer a token's key and value depend on the token
// and its position alone, so that what a shift leaves must be what running the shorter sequence gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>

#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/forced_draws.h"
#include "tests/support/random_model.h"

namespace inlay {
namespace {

constexpr int32_t kContext = 512, kChunk = 96;

using Tokens = std::vector<int32_t>;

Tokens text_of(int32_t n, uint32_t seed = 1) {
  Tokens out;
  for (int32_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    out.push_back(static_cast<int32_t>((seed >> 8) % static_cast<uint32_t>(test::kRandomModelVocab)));
  }
  return out;
}

Tokens without(Tokens tokens, int32_t first, int32_t n) {
  tokens.erase(tokens.begin() + first, tokens.begin() + first + n);
  return tokens;
}

struct Cache {
  const char* name;
  DeviceKind device;
  std::optional<KvDType> type;
  double max_nmse;  // of rows that were rounded once more
};
const Cache kCaches[] = {{"reference", DeviceKind::reference, {}, 1e-10},
                         {"cpu", DeviceKind::cpu, {}, 3e-5},
                         {"cuda", DeviceKind::cuda, KvDType::f16, 3e-5},
                         {"cuda_fp8", DeviceKind::cuda, KvDType::fp8, 2e-2},
                         {"cuda_int8", DeviceKind::cuda, KvDType::int8, 2e-3}};

class Shift : public ::testing::TestWithParam<Cache> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam().device); }

  void open(uint32_t n_layers, test::Windows windows = test::Windows::none, uint32_t window = 0, test::HeadShape heads = {}) {
    bytes_ = test::random_model(heads, windows, window, n_layers);
    const auto engine = Engine::load(borrow_memory(bytes_, "model"), options());
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    engine_ = *engine;
  }
  static EngineOptions options() {
    return {.device = GetParam().device,
            .n_context = kContext,
            .max_sessions = 4,
            .kv_dtype = GetParam().type,
            .n_threads = 2,
            .prefill_chunk = kChunk};
  }
  std::shared_ptr<Session> session(const Tokens& tokens = {}, const SessionOptions& options = {}) {
    auto made = *engine_->create_session(options);
    if (!tokens.empty()) run(*made, tokens);
    return made;
  }
  static void run(Session& s, const Tokens& tokens) {
    size_t n_done = 0;
    const Status status = s.prefill(tokens, n_done);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  static Tokens tokens_of(const Session& s) { return {s.tokens().begin(), s.tokens().end()}; }
  static std::vector<float> logits_of(Session& s) {
    std::vector<float> out(static_cast<size_t>(test::kRandomModelVocab));
    const Status status = s.copy_logits(out);
    EXPECT_TRUE(status.ok()) << status.message;
    return out;
  }
  // How far what comes after `next` is from a session that ran all of the sequence.
  double distance(Session& s, const Tokens& next) {
    Tokens all = tokens_of(s);
    all.insert(all.end(), next.begin(), next.end());
    run(s, next);
    const auto fresh = session(all);
    EXPECT_EQ(s.info().n_tokens, fresh->info().n_tokens);
    return test::nmse(logits_of(s), logits_of(*fresh));
  }
  uint64_t n_run() const { return engine_->stats().n_prefill_tokens; }

  std::vector<std::byte> bytes_;
  std::shared_ptr<Engine> engine_;
};
INSTANTIATE_TEST_SUITE_P(Caches, Shift, ::testing::ValuesIn(kCaches),
                         [](const ::testing::TestParamInfo<Cache>& p) { return p.param.name; });

struct Range {
  int32_t n_tokens, first, n;
};
const Range kRanges[] = {{200, 0, 1},   {200, 5, 32},   {300, 40, 64},  {300, 40, 77},   {300, 100, 150},
                         {300, 3, 290}, {100, 31, 33},  {299, 250, 48}, {320, 32, 32},   {480, 1, 400},
                         {64, 0, 63},   {33, 0, 32},    {70, 64, 5},    {500, 17, 449},  {300, 0, 31}};

TEST_P(Shift, LeavesWhatTheShorterSequenceGives) {
  const test::HeadShape shapes[] = {{}, {.d_head = 96, .n_heads = 4, .n_kv_heads = 2, .n_rot = 32}};
  for (const test::HeadShape& heads : shapes) {
    open(1, test::Windows::none, 0, heads);
    for (const Range& r : kRanges) {
      const Tokens text = text_of(r.n_tokens), next = text_of(3, 9);
      const auto s = session(text);
      const uint64_t n_before = n_run();
      ASSERT_TRUE(s->shift(static_cast<size_t>(r.first), static_cast<size_t>(r.n)).ok());
      EXPECT_EQ(tokens_of(*s), without(text, r.first, r.n));
      EXPECT_EQ(s->info().n_kv_blocks, kv_blocks_for(r.n_tokens - r.n));
      EXPECT_LT(distance(*s, next), GetParam().max_nmse) << r.n << " of " << r.n_tokens << " from " << r.first;
      EXPECT_EQ(n_run() - n_before, static_cast<uint64_t>(r.n_tokens - r.n + 6)) << "3 here, the rest in the other session";

      const auto whole = session(text), cut = session(without(text, r.first, r.n));
      run(*whole, next);
      run(*cut, next);
      if (r.n > 1) {
        EXPECT_GT(test::nmse(logits_of(*whole), logits_of(*cut)), 1e-3) << "negative control";
      }
    }
  }
}

TEST_P(Shift, GoesOnAndOn) {
  open(1);
  const auto s = session(text_of(400));
  for (uint32_t i = 0; i < 12; ++i) {
    const int32_t first = static_cast<int32_t>(i * 7 % 50), n = static_cast<int32_t>(20 + i * 13 % 60);
    ASSERT_TRUE(s->shift(static_cast<size_t>(first), static_cast<size_t>(n)).ok());
    EXPECT_LT(distance(*s, text_of(n, i + 2)), 12 * GetParam().max_nmse) << i;
  }
}

// The window's layers keep no more than the window, and tables that begin late.
TEST_P(Shift, WindowsSlideAlong) {
  constexpr uint32_t kWindow = 70;
  open(1, test::Windows::all_layers, kWindow);
  for (const Range& r : {Range{300, 0, 1}, {300, 5, 31}, {300, 5, 32}, {300, 5, 33}, {400, 100, 190}, {480, 1, 370}, {321, 2, 100}}) {
    const auto s = session(text_of(r.n_tokens));
    const uint64_t n_before = n_run();
    ASSERT_TRUE(s->shift(static_cast<size_t>(r.first), static_cast<size_t>(r.n)).ok());
    EXPECT_LT(distance(*s, text_of(3, 9)), GetParam().max_nmse) << r.n << " of " << r.n_tokens << " from " << r.first;
    EXPECT_EQ(n_run() - n_before, static_cast<uint64_t>(r.n_tokens - r.n + 6));
    for (int i = 0; i < 40; ++i) {
      const int32_t one[] = {static_cast<int32_t>(i)};
      ASSERT_TRUE(test::force(*s, one[0]).ok());
    }
    EXPECT_LT(distance(*s, text_of(3, 10)), GetParam().max_nmse);
    EXPECT_LE(s->info().n_kv_blocks, kv_blocks_of_window(kWindow, kChunk));
  }
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

// Tokens from inside of the window: older ones come into it again, whose keys are gone.
TEST_P(Shift, AWindowThatLacksKeysIsRunAgain) {
  open(2, test::Windows::first_layer, 70);
  const auto s = session(text_of(300));
  const uint64_t n_before = n_run();
  ASSERT_TRUE(s->shift(250, 30).ok());
  EXPECT_LT(distance(*s, text_of(3, 9)), GetParam().type == KvDType::fp8 ? 2e-2 : 1e-4) << "of two layers: all was run";
  EXPECT_EQ(n_run() - n_before, 2u * 273);
}

// Deeper keys have seen what went: close, and not the same.
TEST_P(Shift, OfSeveralLayersComesClose) {
  open(2);
  const Tokens text = text_of(300), next = text_of(3, 9);
  const auto s = session(text), fresh = session(without(text, 20, 100)), whole = session(text);
  ASSERT_TRUE(s->shift(20, 100).ok());
  for (Session* each : {s.get(), fresh.get(), whole.get()}) run(*each, next);
  const double of_shift = test::nmse(logits_of(*s), logits_of(*fresh)), of_whole = test::nmse(logits_of(*whole), logits_of(*fresh));
  EXPECT_LT(of_shift, of_whole);
  EXPECT_GT(of_shift, GetParam().max_nmse);
}

TEST_P(Shift, ForksKeepTheirOwn) {
  open(1);
  const Tokens text = text_of(200), next = text_of(3, 9);
  {
    const auto parent = session(text);
    const auto child = *parent->fork();
    ASSERT_TRUE(child->shift(10, 100).ok());
    EXPECT_LT(distance(*child, next), GetParam().max_nmse);
    const auto fresh = session(text);
    run(*fresh, next);
    run(*parent, next);
    EXPECT_TRUE(test::same_bits(logits_of(*parent), logits_of(*fresh))) << "the parent's blocks were not written to";
  }
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

TEST_P(Shift, AFullPoolChangesNothing) {
  bytes_ = test::random_model({}, test::Windows::none, 0, 1);
  EngineOptions small = options();
  const bool of_bytes = small.kv_dtype == KvDType::fp8 || small.kv_dtype == KvDType::int8;
  const uint64_t head_bytes = of_bytes ? 64 + sizeof(float) : small.device == DeviceKind::reference ? 256 : 128;
  small.kv_budget_bytes = 2 * kContext * head_bytes;  // one context
  const auto engine = Engine::load(borrow_memory(bytes_, "model"), small);
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  engine_ = *engine;
  const Tokens text = text_of(kContext - 40);
  const auto parent = session(text);
  const auto child = *parent->fork();
  const Status full = child->shift(10, 100);
  EXPECT_EQ(full.code, Code::kv_full) << full.message;
  EXPECT_EQ(tokens_of(*child), text);
  EXPECT_TRUE(test::same_bits(logits_of(*child), logits_of(*parent)));
  ASSERT_TRUE(test::force(*child, 3).ok()) << "its last block has room for one to be copied";
}

TEST_P(Shift, AGenerationGoesOn) {
  open(1);
  const auto s = session(text_of(kContext - 10), {.max_tokens = 100, .ignore_end_of_generation = true});
  Session* const one[] = {s.get()};
  StepEvent event;
  const auto decode_to_the_end = [&] {
    while (engine_->decode_step(one, {&event, 1}).ok() && event.finish_reason == FinishReason::none) {
    }
    return event.finish_reason;
  };
  EXPECT_EQ(decode_to_the_end(), FinishReason::context_full);
  EXPECT_EQ(s->info().n_tokens, kContext);
  ASSERT_TRUE(s->shift(4, 300).ok());
  EXPECT_EQ(s->info().finish_reason, FinishReason::none);
  EXPECT_EQ(s->info().n_drawn, 10);
  EXPECT_EQ(decode_to_the_end(), FinishReason::max_tokens) << "what was drawn before counts";
  EXPECT_EQ(s->info().n_drawn, 100);
  EXPECT_LT(distance(*s, text_of(3, 9)), 4 * GetParam().max_nmse);
}

// The token that was drawn last has not run yet.
TEST_P(Shift, WithATokenThatIsStillToBeRun) {
  open(1);
  for (const auto& [first, size] : {std::pair{0, 100}, {50, 100}, {100, 50}, {149, 1}, {140, 10}, {0, 150}, {20, 131}, {150, 1}}) {
    const auto s = session(text_of(150));
    ASSERT_TRUE(test::force(*s, 7).ok());
    ASSERT_TRUE(test::force(*s, 11).ok());
    const Tokens expected = without(tokens_of(*s), first, size);
    ASSERT_TRUE(s->shift(static_cast<size_t>(first), static_cast<size_t>(size)).ok());
    EXPECT_EQ(tokens_of(*s), expected);
    ASSERT_TRUE(test::force(*s, 13).ok());
    EXPECT_LT(distance(*s, text_of(3, 9)), GetParam().max_nmse) << first << " " << size;
  }
}

TEST_P(Shift, TheEndIsCutAndLogitsStay) {
  open(1);
  const auto s = session(text_of(150));
  const std::vector<float> before = logits_of(*s);
  ASSERT_TRUE(s->shift(10, 50).ok());
  EXPECT_TRUE(test::same_bits(logits_of(*s), before)) << "the next token is drawn from what was there";
  ASSERT_TRUE(s->shift(90, 10).ok());
  EXPECT_EQ(s->view_logits().status().code, Code::invalid_state);
  EXPECT_EQ(s->info().n_tokens, 90);
  ASSERT_TRUE(s->shift(0, 90).ok());
  EXPECT_EQ(s->info().n_tokens, 0);
  EXPECT_EQ(s->shift(0, 1).code, Code::invalid_argument);
  EXPECT_EQ(s->shift(SIZE_MAX, 2).code, Code::invalid_argument);
  EXPECT_TRUE(s->shift(0, 0).ok());
}

// RoPE scaled in every way, on a part of the head or in some layers only, windows, experts: the kernels agree with the reference.
TEST(ShiftOfFamilies, IsThatOfTheReference) {
  int n_models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(INLAY_TEST_DATA_DIR "/models")) {
    const std::string path = entry.path().string();
    if (!path.ends_with("-f32.gguf")) continue;
    SCOPED_TRACE(path);
    std::vector<float> logits[3];  // of the kernels, of the reference, and without a shift
    for (size_t i = 0; i < 3; ++i) {
      const auto engine = Engine::load(path, {.device = i == 0 ? DeviceKind::cpu : DeviceKind::reference, .n_context = 64, .n_threads = 2});
      ASSERT_TRUE(engine.ok()) << engine.status().message;
      const int32_t n_vocab = (*engine)->spec().n_vocab;
      Tokens text;
      for (int32_t t = 0; t < 48; ++t) text.push_back((7 * t + 3) % std::min(n_vocab, 250));
      const auto session = *(*engine)->create_session({});
      size_t n_done = 0;
      ASSERT_TRUE(session->prefill(std::span(text).first(45), n_done).ok());
      if (i < 2) {
        ASSERT_TRUE(session->shift(5, 17).ok());
      }
      ASSERT_TRUE(session->prefill(std::span(text).last(3), n_done).ok());
      logits[i].resize(static_cast<size_t>(n_vocab));
      ASSERT_TRUE(session->copy_logits(logits[i]).ok());
    }
    EXPECT_LT(test::nmse(logits[0], logits[1]), 5e-6);
    const bool is_windowed = path.find("window") != std::string::npos;  // in all layers, and the range lies before the windows
    EXPECT_EQ(test::nmse(logits[1], logits[2]) > 5e-4, !is_windowed) << "what the range is to the model";
    ++n_models;
  }
  EXPECT_GT(n_models, 20);
}

}  // namespace
}  // namespace inlay
