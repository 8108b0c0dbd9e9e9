// Pooled hidden states against the interpreter's taps, between cuts of a text, and between company and none.
#include <gtest/gtest.h>

#include <cmath>

#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
constexpr Pooling kAll[] = {Pooling::mean, Pooling::last, Pooling::first};
// Activations beside quantized or 16-bit weights are rounded otherwise on each device.
constexpr double kMaxNmseOfDevices = 1e-3;

using Text = std::vector<int32_t>;

Text text_of(int32_t n, uint32_t seed) {
  Text out;
  for (int32_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    out.push_back(static_cast<int32_t>((seed >> 8) % 2000));
  }
  return out;
}

std::shared_ptr<Engine> load(DeviceKind device, int32_t max_sessions = 4, int32_t prefill_chunk = 0) {
  const auto engine = Engine::load(kModel, {.device = device,
                                            .n_context = 512,
                                            .max_sessions = max_sessions,
                                            .n_threads = 3,
                                            .prefill_chunk = prefill_chunk});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  return engine.ok() ? *engine : nullptr;
}

Result<std::vector<float>> embed_all(Engine& engine, const std::vector<Text>& texts, const EmbedOptions& options) {
  const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
  std::vector<float> out(texts.size() * static_cast<size_t>(engine.spec().d_model));
  INLAY_TRY(embed(engine, spans, options, out));
  return out;
}

std::vector<float> vector_of(Engine& engine, const Text& text, const EmbedOptions& options) {
  const auto out = embed_all(engine, {text}, options);
  EXPECT_TRUE(out.ok()) << out.status().message;
  return out.ok() ? *out : std::vector<float>();
}

// By hand: the interpreter's residual stream behind the last layer, its norm and the mean.
std::vector<double> expected(const Text& text, Pooling pooling) {
  const auto engine = load(DeviceKind::reference);
  const auto session = engine->create_session({});
  const auto last_layer = static_cast<int32_t>(engine->plan().ops.size()) - 3;
  std::vector<double> sum(static_cast<size_t>(engine->spec().d_model));
  const auto n_tokens = static_cast<int64_t>(text.size());
  Inspection inspection;
  inspection.tap = [&](const Tap& tap) {
    if (tap.op_index != last_layer) return;
    EXPECT_EQ(tap.n_rows, n_tokens);
    for (int64_t i = 0; i < n_tokens; ++i) {
      if ((pooling == Pooling::last && i + 1 < n_tokens) || (pooling == Pooling::first && i > 0)) continue;
      const float* row = tap.values + i * tap.n_cols;
      double squares = 0;
      for (int64_t k = 0; k < tap.n_cols; ++k) squares += double{row[k]} * row[k];
      const double scale = 1 / std::sqrt(squares / static_cast<double>(tap.n_cols) + engine->spec().norm_epsilon);
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += row[k] * scale * engine->output_norm()[k];
    }
  };
  EXPECT_TRUE(engine->run_inspected(**session, text, 0, std::move(inspection)).ok());
  if (pooling == Pooling::mean) {
    for (double& v : sum) v /= static_cast<double>(n_tokens);
  }
  return sum;
}

std::vector<float> as_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

class Embedding : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam()); }
  bool is_exact() const { return GetParam() != DeviceKind::cuda; }  // cuts and company change no bit
  void expect_same(std::span<const float> a, std::span<const float> b) const {
    if (is_exact()) {
      EXPECT_TRUE(test::same_bits(a, b));
    } else {
      EXPECT_LT(test::nmse(a, b), 1e-4);
    }
  }
};

TEST_P(Embedding, IsThePooledHiddenState) {
  const Text text = text_of(45, 1);
  const auto engine = load(GetParam());
  for (const Pooling pooling : kAll) {
    const std::vector<float> want = as_floats(expected(text, pooling));
    const double limit = GetParam() == DeviceKind::reference ? 1e-10 : kMaxNmseOfDevices;
    EXPECT_LT(test::nmse(vector_of(*engine, text, {.pooling = pooling}), want), limit);
    Text other = text;
    other.front() += 1;
    EXPECT_GT(test::nmse(vector_of(*engine, other, {.pooling = pooling}), want), 10 * limit) << "another text";
  }
}

TEST_P(Embedding, PoolingsDiffer) {
  const Text text = text_of(20, 2);
  const auto engine = load(GetParam());
  const std::vector<float> mean = vector_of(*engine, text, {.pooling = Pooling::mean});
  EXPECT_GT(test::nmse(vector_of(*engine, text, {.pooling = Pooling::last}), mean), 0.01);
  EXPECT_GT(test::nmse(vector_of(*engine, text, {.pooling = Pooling::first}), mean), 0.01);
  // A decoder's first token has not seen the others.
  expect_same(vector_of(*engine, {text.front()}, {.pooling = Pooling::last}),
              vector_of(*engine, text, {.pooling = Pooling::first}));
}

TEST_P(Embedding, ChunksAgree) {
  const Text text = text_of(100, 3);
  const auto whole = load(GetParam()), cut = load(GetParam(), 4, 7);
  ASSERT_EQ(cut->prefill_chunk(), 7);
  for (const Pooling pooling : kAll)
    expect_same(vector_of(*cut, text, {.pooling = pooling}), vector_of(*whole, text, {.pooling = pooling}));
}

TEST_P(Embedding, CompanyChangesNothing) {
  std::vector<Text> texts;
  for (int32_t i = 0; i < 8; ++i) texts.push_back(text_of(1 + 37 * i % 40, static_cast<uint32_t>(i)));
  texts[4] = text_of(70, 50);
  const auto engine = load(GetParam(), 3, 48);
  const size_t d_model = static_cast<size_t>(engine->spec().d_model);
  for (const Pooling pooling : {Pooling::mean, Pooling::last}) {
    const auto together = embed_all(*engine, texts, {.pooling = pooling});
    ASSERT_TRUE(together.ok()) << together.status().message;
    for (size_t i = 0; i < texts.size(); ++i) {
      SCOPED_TRACE(i);
      expect_same(std::span(*together).subspan(i * d_model, d_model),
                  vector_of(*engine, texts[i], {.pooling = pooling}));
    }
  }
}

TEST_P(Embedding, NormalizedHasLengthOne) {
  const Text text = text_of(20, 4);
  const auto engine = load(GetParam());
  const std::vector<float> raw = vector_of(*engine, text, {.pooling = Pooling::mean});
  const std::vector<float> unit = vector_of(*engine, text, {.pooling = Pooling::mean, .normalize = true});
  double squares = 0, raw_squares = 0;
  for (size_t k = 0; k < unit.size(); ++k) squares += double{unit[k]} * unit[k], raw_squares += double{raw[k]} * raw[k];
  EXPECT_NEAR(squares, 1, 1e-5);
  EXPECT_GT(std::fabs(raw_squares - 1), 0.01);
  for (size_t k = 0; k < unit.size(); ++k) EXPECT_NEAR(unit[k] * std::sqrt(raw_squares), raw[k], 1e-4);
}

TEST_P(Embedding, LeavesTheEngineAsItWas) {
  const auto engine = load(GetParam(), 2);
  const auto session = engine->create_session({});
  size_t n_done = 0;
  ASSERT_TRUE((*session)->prefill(text_of(40, 5), n_done).ok());
  std::vector<float> before(static_cast<size_t>(engine->spec().n_vocab)), after(before.size());
  ASSERT_TRUE((*session)->copy_logits(before).ok());
  const EngineStats stats = engine->stats();
  ASSERT_TRUE(embed_all(*engine, {text_of(50, 6), text_of(20, 7)}, {.pooling = Pooling::mean}).ok());
  EXPECT_EQ(engine->stats().n_kv_blocks_used, stats.n_kv_blocks_used);
  EXPECT_EQ(engine->stats().n_sessions, 1);
  EXPECT_EQ(engine->stats().n_prefill_tokens, stats.n_prefill_tokens + 70);
  ASSERT_TRUE((*session)->copy_logits(after).ok());
  EXPECT_TRUE(test::same_bits(before, after));
}

TEST_P(Embedding, WrongTextsAreRefused) {
  const auto engine = load(GetParam(), 1);
  const EmbedOptions mean = {.pooling = Pooling::mean};
  const auto code = [&](const std::vector<Text>& texts) { return embed_all(*engine, texts, mean).status().code; };
  EXPECT_EQ(code({text_of(3, 1), {}}), Code::invalid_argument);
  EXPECT_EQ(code({text_of(513, 1)}), Code::context_full);
  EXPECT_EQ(code({{1, 2, engine->spec().n_vocab}}), Code::invalid_argument);
  EXPECT_EQ(code({{-1}}), Code::invalid_argument);
  EXPECT_EQ(code({text_of(65, 1), {0}}), Code::ok);
  const auto session = engine->create_session({});
  EXPECT_EQ(code({{1}}), Code::session_limit);
  EXPECT_EQ(engine->stats().n_kv_blocks_used, 0);
}

TEST_P(Embedding, FullPoolIsAnError) {
  const auto roomy = load(GetParam(), 2);
  const EngineStats all = roomy->stats();
  const uint64_t one_context =
      roomy->info().memory.kv / static_cast<uint64_t>(all.n_kv_blocks) * (512 / kKvBlockTokens);
  const auto engine = Engine::load(
      kModel,
      {.device = GetParam(), .n_context = 512, .max_sessions = 2, .kv_budget_bytes = one_context, .n_threads = 3});
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  const auto session = (*engine)->create_session({});
  size_t n_done = 0;
  ASSERT_TRUE((*session)->prefill(text_of(130, 1), n_done).ok());
  EXPECT_EQ(embed_all(**engine, {text_of(400, 2)}, {.pooling = Pooling::mean}).status().code, Code::kv_full);
  EXPECT_TRUE(embed_all(**engine, {text_of(20, 2), text_of(20, 3)}, {.pooling = Pooling::mean}).ok());
}

// Every way out of a model whose numbers overflow says so. With weights of the usual size each gives numbers.
TEST_P(Embedding, NumbersThatOverflowedAreAnError) {
  for (const bool overflows : {true, false}) {
    const std::vector<std::byte> bytes = testing::llama_image(
        {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50},
        [](testing::GgufImage& image) { image.text("tokenizer.ggml.model", "no_vocab"); }, overflows ? 1e30f : 1.0f);
    const auto loaded = Engine::load(borrow_memory(bytes, "model"), {.device = GetParam(), .n_context = 64});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message;
    Engine& engine = **loaded;
    const Code want = overflows ? Code::format : Code::ok;
    for (const Pooling pooling : kAll) {
      for (const bool normalize : {false, true}) {
        const Status status = embed_all(engine, {{3, 1, 4}}, {.pooling = pooling, .normalize = normalize}).status();
        EXPECT_EQ(status.code, want) << status.message;
      }
    }
    const auto prefilled = [&](const SessionOptions& options) {
      auto session = *engine.create_session(options);
      size_t n_done = 0;
      EXPECT_TRUE(session->prefill(std::vector<int32_t>{3, 1, 4}, n_done).ok());
      return session;
    };
    for (const float temperature : {0.0f, 0.8f}) {
      SessionOptions options;
      options.sampler.temperature = temperature;
      options.sampler.n_logprobs = 3;
      const auto session = prefilled(options), sliced = prefilled(options);
      std::vector<float> logits(50);
      EXPECT_EQ(session->view_logits().status().code, want);
      EXPECT_EQ(session->copy_logits(logits).code, want);
      Session* one[] = {session.get()};
      StepEvent event;
      EXPECT_EQ(engine.decode_step(one, std::span(&event, 1)).code, want);
      one[0] = sliced.get();
      int32_t units_left = 0;
      EXPECT_EQ(engine.decode_slice(one, 1000, std::span(&event, 1), units_left).code, want);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Embedding,
                         ::testing::Values(DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda), test::device_of);

// ---- the model's own pooling

std::vector<float> by_stored_pooling(uint32_t stored, const Text& text, Status& status) {
  const std::vector<std::byte> bytes = testing::llama_image(
      {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50},
      [&](testing::GgufImage& image) {
        image.text("tokenizer.ggml.model", "no_vocab").u32("llama.pooling_type", stored);
      });
  const auto engine = Engine::load(borrow_memory(bytes, "model"), {.device = DeviceKind::reference, .n_context = 64});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  auto out = embed_all(**engine, {text}, {});
  status = out.status();
  if (!out.ok()) return {};
  for (const Pooling pooling : kAll) {
    const auto chosen = embed_all(**engine, {text}, {.pooling = pooling});
    if (test::same_bits(*chosen, *out)) return {static_cast<float>(pooling)};
  }
  return {};
}

TEST(StoredPooling, IsTheDefault) {
  const Text text = {3, 1, 4, 1, 5};
  Status status;
  EXPECT_EQ(by_stored_pooling(1, text, status), std::vector{static_cast<float>(Pooling::mean)});
  EXPECT_EQ(by_stored_pooling(2, text, status), std::vector{static_cast<float>(Pooling::first)});
  EXPECT_EQ(by_stored_pooling(3, text, status), std::vector{static_cast<float>(Pooling::last)});
  for (const uint32_t other : {0u, 4u}) {
    EXPECT_TRUE(by_stored_pooling(other, text, status).empty());
    EXPECT_EQ(status.code, Code::unsupported);
    EXPECT_NE(status.message.find("llama.pooling_type is " + std::to_string(other)), std::string::npos)
        << status.message;
  }
}

TEST(StoredPooling, ThatIsMissingMustBeSaid) {
  const auto engine = load(DeviceKind::cpu);
  const auto out = embed_all(*engine, {{1, 2}}, {});
  ASSERT_EQ(out.status().code, Code::unsupported);
  EXPECT_NE(out.status().message.find("llama.pooling_type"), std::string::npos) << out.status().message;
}

}  // namespace
}  // namespace inlay
