// Contexts around the bounds of blocks and splits, and long ones: the logits after the prompt and of the tokens that
// follow, between devices and between ways to cut the prompt.
#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>

#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/forced_draws.h"
#include "tests/support/random_model.h"

namespace inlay {
namespace {

constexpr int32_t kDecoded = 4;
// That of models in F16; a cosine above 0.99999. The interpreter keeps its cache in F32.
constexpr double kMaxNmseOfDevices = 1e-5;
// The GPU has other kernels for prompts than for single tokens; elsewhere cuts change no bit.
constexpr double kMaxNmseOfCutsOnCuda = 1e-5;  // the model is F16

std::vector<int32_t> prompt(int32_t n) {
  std::vector<int32_t> out;
  uint32_t x = 12345;
  for (int32_t i = 0; i < n; ++i) {
    x = x * 1664525u + 1013904223u;
    out.push_back(static_cast<int32_t>((x >> 8) % test::kRandomModelVocab));
  }
  return out;
}

std::shared_ptr<Engine> load(DeviceKind device, const test::HeadShape& heads, int32_t n_tokens) {
  const std::vector<std::byte> model = test::random_model(heads);
  const auto engine = Engine::load(borrow_memory(model, "random model"), {.device = device,
                                                                          .n_context = n_tokens + kDecoded + 1,
                                                                          .max_sessions = 1,
                                                                          .n_threads = 4,
                                                                          .prefill_chunk = kMaxPrefillChunk});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  return engine.ok() ? *engine : nullptr;
}

// Logits after the prompt, run in pieces of `chunk` tokens, and after each of the tokens that follow, (1 + kDecoded,
// n_vocab).
Result<std::vector<float>> logits_of(Engine& engine, std::span<const int32_t> tokens, size_t chunk) {
  INLAY_ASSIGN(const std::shared_ptr<Session> session, engine.create_session({.ignore_end_of_generation = true}));
  const auto n_vocab = static_cast<size_t>(engine.spec().n_vocab);
  for (size_t at = 0; at < tokens.size(); at += chunk) {
    size_t n_done = 0;
    INLAY_TRY(session->prefill(tokens.subspan(at, std::min(chunk, tokens.size() - at)), n_done));
  }
  std::vector<float> out((1 + kDecoded) * n_vocab);
  INLAY_TRY(session->copy_logits(std::span(out).first(n_vocab)));
  // The first draw is from the prompt's logits; each further one runs the token drawn before it.
  INLAY_TRY(test::force(*session, 7));
  for (size_t i = 1; i <= kDecoded; ++i) {
    INLAY_TRY(test::force(*session, 7 + 31 * static_cast<int32_t>(i)));
    INLAY_TRY(session->copy_logits(std::span(out).subspan(i * n_vocab, n_vocab)));
  }
  return out;
}

struct Case {
  DeviceKind device;
  int32_t n_tokens;
  test::HeadShape heads;
};

// "8x96_by_1_1025": 8 heads of 96 that share one of keys and values, 1025 tokens.
std::string name_of(const Case& c) {
  return std::to_string(c.heads.n_heads) + "x" + std::to_string(c.heads.d_head) + "_by_" +
         std::to_string(c.heads.n_kv_heads) + "_" + std::to_string(c.n_tokens);
}

// Shown by a failed test.
void PrintTo(const Case& c, std::ostream* out) { *out << test::device_name(c.device) << " " << name_of(c); }

class Contexts : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam().device); }
};
class ContextLogits : public Contexts {};
class ContextCuts : public Contexts {};

// Row by row, so that the sharp ones do not hide the others.
double largest_nmse(std::span<const float> got, std::span<const float> expected) {
  const size_t n_vocab = test::kRandomModelVocab;
  double worst = 0;
  for (size_t at = 0; at < expected.size(); at += n_vocab) {
    const double of_row = test::nmse(got.subspan(at, n_vocab), expected.subspan(at, n_vocab));
    if (!(of_row <= worst)) worst = of_row;  // also if it is no number
  }
  return worst;
}

TEST_P(ContextLogits, AgreeBetweenDevices) {
  const auto& [device, n_tokens, heads] = GetParam();
  const DeviceKind oracle = device == DeviceKind::cuda ? DeviceKind::cpu : DeviceKind::reference;
  const auto engine = load(device, heads, n_tokens), other = load(oracle, heads, n_tokens);
  ASSERT_TRUE(engine && other);
  const std::vector<int32_t> tokens = prompt(n_tokens);
  const auto got = logits_of(*engine, tokens, tokens.size()), expected = logits_of(*other, tokens, tokens.size());
  ASSERT_TRUE(got.ok()) << got.status().message;
  ASSERT_TRUE(expected.ok()) << expected.status().message;
  const double worst = largest_nmse(*got, *expected);
  std::printf("%-18s %s against %s: NMSE %.2e (limit %.0e)\n", name_of(GetParam()).c_str(),
              test::device_name(device).c_str(), test::device_name(oracle).c_str(), worst, kMaxNmseOfDevices);
  EXPECT_LE(worst, kMaxNmseOfDevices);
}

TEST_P(ContextCuts, Agree) {
  const auto& [device, n_tokens, heads] = GetParam();
  const auto engine = load(device, heads, n_tokens);
  ASSERT_TRUE(engine);
  const std::vector<int32_t> tokens = prompt(n_tokens);
  const auto whole = logits_of(*engine, tokens, tokens.size());
  ASSERT_TRUE(whole.ok()) << whole.status().message;
  for (const size_t chunk : {size_t{1}, size_t{500}}) {
    const auto cut = logits_of(*engine, tokens, chunk);
    ASSERT_TRUE(cut.ok()) << cut.status().message;
    const double worst = largest_nmse(*cut, *whole);
    std::printf("%-18s %s, chunks of %zu: NMSE %.2e\n", name_of(GetParam()).c_str(), test::device_name(device).c_str(),
                chunk, worst);
    EXPECT_LE(worst, device == DeviceKind::cuda ? kMaxNmseOfCutsOnCuda : 0.0);
  }

  // Negative control: 32 other tokens in the middle, one block of the cache, are noticed.
  std::vector<int32_t> altered = tokens;
  for (size_t i = tokens.size() / 2; i < std::min(tokens.size(), tokens.size() / 2 + 32); ++i)
    altered[i] = (altered[i] + 1) % test::kRandomModelVocab;
  const auto control = logits_of(*engine, altered, altered.size());
  ASSERT_TRUE(control.ok()) << control.status().message;
  const double noticed = largest_nmse(*control, *whole);
  std::printf("%-18s %s, 32 other tokens: NMSE %.2e\n", name_of(GetParam()).c_str(), test::device_name(device).c_str(),
              noticed);
  EXPECT_GT(noticed, 5 * kMaxNmseOfDevices);
}

// Every length with one shape of heads, every shape at two lengths.
std::vector<Case> cases(DeviceKind device, std::initializer_list<int32_t> lengths) {
  std::vector<Case> out;
  for (const int32_t n : lengths) out.push_back({device, n, {}});
  for (const test::HeadShape& heads :
       {test::HeadShape{32, 4, 4}, {80, 2, 1}, {96, 8, 1}, {128, 4, 2}, {128, 5, 1}, {256, 2, 1}}) {
    for (const int32_t n : {65, 1025}) out.push_back({device, n, heads});
  }
  return out;
}

constexpr auto kLengths = {1, 63, 64, 65, 1023, 1024, 1025, 8192, 16384};
constexpr auto kLengthsOfTheReference = {1, 63, 64, 65, 1023, 1024, 1025};  // the interpreter is slow
std::string case_name(const testing::TestParamInfo<Case>& p) { return name_of(p.param); }

INSTANTIATE_TEST_SUITE_P(cpu, ContextLogits, testing::ValuesIn(cases(DeviceKind::cpu, kLengthsOfTheReference)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(cuda, ContextLogits, testing::ValuesIn(cases(DeviceKind::cuda, kLengths)), case_name);
INSTANTIATE_TEST_SUITE_P(cpu, ContextCuts, testing::ValuesIn(cases(DeviceKind::cpu, kLengths)), case_name);
INSTANTIATE_TEST_SUITE_P(cuda, ContextCuts, testing::ValuesIn(cases(DeviceKind::cuda, kLengths)), case_name);

}  // namespace
}  // namespace inlay
