// The trained model of examples/model against PyTorch: token ids, logits, greedy continuations, held-out perplexity.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/engine/engine.h"
#include "tests/golden/held_out.h"
#include "tests/support/devices.h"

namespace inlay::golden {
namespace {

using nlohmann::json;

json read_json(const char* name) { return json::parse(std::ifstream(kTalesData + name)); }

std::unique_ptr<Backend> backend_on(const Target& target, int32_t n_tokens) {
  auto backend = load_backend(kTalesModel, target,
                              {.n_kv_blocks = n_tokens / kKvBlockTokens + 1,
                               .max_step_tokens = n_tokens,
                               .max_sequences = 1,
                               .n_logit_slots = n_tokens,
                               .n_context = n_tokens,
                               .n_threads = 4});
  EXPECT_TRUE(backend.ok()) << backend.status().message;
  return *std::move(backend);
}

std::shared_ptr<Engine> engine_on(DeviceKind device) {
  const auto engine = Engine::load(kTalesModel, {.device = device, .n_context = 512, .max_sessions = 2, .n_threads = 4});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  return *engine;
}

TEST(Tales, TokenIdsAreThoseOfTheTokenizersLibrary) {
  const auto engine = engine_on(DeviceKind::cpu);
  const json cases = read_json("tokenization.json");
  ASSERT_GE(cases.size(), 40u);
  for (const json& c : cases) {
    const auto text = c["text"].get<std::string>();
    std::vector<int32_t> ids;
    (void)engine->tokenizer()->encode(text, {.add_special = false, .parse_special = true}, ids);
    EXPECT_EQ(ids, c["ids"].get<std::vector<int32_t>>()) << text;
    std::string back;
    ASSERT_TRUE(engine->tokenizer()->decode(ids, {.show_special = true}, back).ok());
    EXPECT_EQ(back, text);
  }
}

class TalesOn : public testing::TestWithParam<Target> {};

// Relative to the largest logit of the row.
double largest_relative_error(std::span<const float> got, std::span<const float> expected) {
  double error = 0, scale = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, std::abs(double{got[i]} - expected[i]));
    scale = std::max(scale, std::abs(double{expected[i]}));
  }
  return error / scale;
}

TEST_P(TalesOn, LogitsAreThoseOfPyTorch) {
  if (!can_run(GetParam().on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  const json golden = read_json("golden.json");
  const auto n_vocab = golden["vocab_size"].get<size_t>();
  const std::string raw = read_tales_text(golden["logits"]["file"]);
  std::vector<float> expected(raw.size() / sizeof(float));
  std::memcpy(expected.data(), raw.data(), raw.size());
  const double limit = (GetParam().on == Runs::reference) ? 1e-4 : 5e-3;  // the CPU keeps keys and values in F16
  for (const json& prompt : golden["logits"]["prompts"]) {
    const auto ids = prompt["ids"].get<std::vector<int32_t>>();
    const auto backend = backend_on(GetParam(), static_cast<int32_t>(ids.size()));
    const auto logits = logits_of(*backend, ids);
    ASSERT_TRUE(logits.ok()) << logits.status().message;
    double worst = 0;
    for (size_t row = 0; row < ids.size(); ++row) {
      const auto want = std::span(expected).subspan((prompt["first_row"].get<size_t>() + row) * n_vocab, n_vocab);
      const auto got = std::span(*logits).subspan(row * n_vocab, n_vocab);
      worst = std::max(worst, largest_relative_error(got, want));
    }
    std::printf("%-12s largest relative error %.2e (limit %.0e)\n", GetParam().name, worst, limit);
    EXPECT_LT(worst, limit);
    // Negative control: the row of another position is far outside of the limit.
    const auto other = std::span(expected).subspan(prompt["first_row"].get<size_t>() * n_vocab, n_vocab);
    EXPECT_GT(largest_relative_error(std::span(*logits).last(n_vocab), other), 10 * limit);
  }
}

TEST_P(TalesOn, HeldOutPerplexityIsThatOfPyTorch) {
  if (!can_run(GetParam().on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  const json golden = read_json("golden.json")["heldout"];
  const auto engine = engine_on(DeviceKind::cpu);
  const Documents documents = tales_documents(golden["file"], *engine->tokenizer());
  ASSERT_EQ(documents.size(), golden["documents"].get<size_t>());
  const auto backend = backend_on(GetParam(), 512);
  // The oracle is slow: it runs the first documents only, each of which has its own expected sum.
  const size_t n_documents = (GetParam().on == Runs::reference) ? 6 : documents.size();
  double nats = 0, expected = 0;
  size_t positions = 0;
  for (size_t d = 0; d < n_documents; ++d) {
    nats += surprise_of_document(*backend, documents[d]);
    positions += documents[d].size() - 1;
    expected += golden["document_nats"][d].get<double>();
  }
  if (n_documents == documents.size()) {
    EXPECT_EQ(positions, golden["positions"].get<size_t>());
  }
  const double perplexity = std::exp(nats / static_cast<double>(positions));
  std::printf("%-12s perplexity %.6f over %zu positions, PyTorch %.6f\n", GetParam().name, perplexity, positions,
              std::exp(expected / static_cast<double>(positions)));
  EXPECT_NEAR(nats, expected, expected * ((GetParam().on == Runs::reference) ? 1e-5 : 1e-3));
}

INSTANTIATE_TEST_SUITE_P(Backends, TalesOn, testing::ValuesIn(all_targets()), [](const auto& p) {
  std::string name = p.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class TalesGreedy : public testing::TestWithParam<DeviceKind> {};

TEST_P(TalesGreedy, ContinuationsAreThoseOfPyTorch) {
  INLAY_SKIP_WITHOUT(GetParam());
  const auto engine = engine_on(GetParam());
  const json golden = read_json("golden.json")["greedy"];
  ASSERT_GE(golden.size(), 8u);
  for (const json& g : golden) {
    SCOPED_TRACE(g["prompt"].get<std::string>());
    std::vector<int32_t> prompt;
    (void)engine->tokenizer()->encode(g["prompt"].get<std::string>(), {.add_special = true, .parse_special = true}, prompt);
    EXPECT_EQ(prompt, g["ids"].get<std::vector<int32_t>>());
    const auto session = engine->create_session({});
    ASSERT_TRUE(session.ok());
    size_t n_done = 0;
    ASSERT_TRUE((*session)->prefill(prompt, n_done).ok());
    const auto expected = g["new_ids"].get<std::vector<int32_t>>();
    std::vector<int32_t> drawn;
    std::string text;
    Session* one[] = {session->get()};
    StepEvent event;
    while (drawn.size() < expected.size() && event.finish_reason == FinishReason::none) {
      ASSERT_TRUE(engine->decode_step(one, {&event, 1}).ok()) << event.status.message;
      drawn.push_back(event.sample.token);
      char piece[256];
      text.append(piece, (*session)->take_text(piece, sizeof piece));
    }
    EXPECT_EQ(drawn, expected);
    EXPECT_EQ(text, g["text"].get<std::string>());
    EXPECT_EQ(event.finish_reason == FinishReason::end_of_generation, g["ends"].get<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TalesGreedy, testing::Values(DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda), test::device_of);

}  // namespace
}  // namespace inlay::golden
