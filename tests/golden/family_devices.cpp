// Models of families that do more than the plainest decoder: every device gives the logits of the reference
// interpreter, for prompts and for single tokens, and whatever is special about a family shows in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/random_family.h"

namespace inlay {
namespace {

using test::GgufType;

constexpr int32_t kPrompt = 100, kDecoded = 4;

// How a model is run.
struct Way {
  DeviceKind device;
  bool cublas = true;
  KvDType kv = KvDType::f16;
  size_t chunk = kPrompt;  // of the prompt
};

// Mean squared error over mean square. On the CPU what is multiplied with Q8_0 or BF16 is rounded to 8 bits.
double limit_of(GgufType type, const Way& way) {
  if (way.kv == KvDType::fp8) return 2e-2;
  if (way.kv == KvDType::int8) return 2e-3;
  if (type == GgufType::bf16 && way.device == DeviceKind::cpu) return 1e-4;
  return type == GgufType::q8_0 && way.device == DeviceKind::cpu ? 1e-3 : 1e-5;
}

using Logits =
    std::vector<float>;  // (1 + kDecoded, n_vocab): after the prompt and after each of the tokens that follow

std::vector<int32_t> tokens() {
  std::vector<int32_t> out;
  for (int32_t i = 0; i < kPrompt + kDecoded; ++i) out.push_back((7 + 37 * i + i * i) % test::kFamilyVocab);
  return out;
}

Result<Logits> logits_of(std::span<const std::byte> model, const Way& way) {
  EngineOptions options{.device = way.device,
                        .n_context = kPrompt + kDecoded + 1,
                        .max_sessions = 1,
                        .n_threads = 2,
                        .allow_cublas = way.cublas};
  if (way.device != DeviceKind::reference) options.kv_dtype = way.kv;
  INLAY_ASSIGN(const std::shared_ptr<Engine> engine, Engine::load(borrow_memory(model, "random model"), options));
  INLAY_ASSIGN(const std::shared_ptr<Session> session, engine->create_session({}));
  const std::vector<int32_t> all = tokens();
  Logits out;
  const auto run = [&](size_t from, size_t n) -> Status {
    size_t n_done = 0;
    return session->prefill(std::span(all).subspan(from, n), n_done);
  };
  const auto note = [&]() -> Status {
    out.resize(out.size() + test::kFamilyVocab);
    return session->copy_logits(std::span(out).last(test::kFamilyVocab));
  };
  for (size_t at = 0; at < kPrompt; at += way.chunk) INLAY_TRY(run(at, std::min(way.chunk, kPrompt - at)));
  INLAY_TRY(note());
  for (size_t i = 0; i < kDecoded; ++i) {
    INLAY_TRY(run(kPrompt + i, 1));
    INLAY_TRY(note());
  }
  return out;
}

// By the reference interpreter, once for each model.
const Logits& exact(const char* arch, GgufType type, const char* altered = "") {
  static std::map<std::tuple<std::string, GgufType, std::string>, Logits> known;
  Logits& logits = known[{arch, type, altered}];
  if (logits.empty()) {
    const auto computed = logits_of(test::random_family(arch, type, altered), {.device = DeviceKind::reference});
    EXPECT_TRUE(computed.ok()) << computed.status().message;
    if (computed.ok()) logits = *computed;
  }
  return logits;
}

// Row by row, so that none hides another.
double largest_nmse(std::span<const float> got, std::span<const float> expected) {
  double worst = 0;
  for (size_t at = 0; at < expected.size(); at += test::kFamilyVocab) {
    const double of_row = test::nmse(got.subspan(at, test::kFamilyVocab), expected.subspan(at, test::kFamilyVocab));
    if (!(of_row <= worst)) worst = of_row;  // also if it is no number
  }
  return worst;
}

struct Case {
  test::FamilyTraits family;
  DeviceKind device;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.family.arch << " " << test::device_name(c.device); }

class FamilyDevices : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam().device); }

  void compare(GgufType type, const Way& way, const char* name) {
    const char* arch = GetParam().family.arch;
    const Logits& expected = exact(arch, type);
    const auto got = logits_of(test::random_family(arch, type), way);
    ASSERT_TRUE(got.ok()) << got.status().message;
    ASSERT_EQ(got->size(), expected.size());
    const double worst = largest_nmse(*got, expected), limit = limit_of(type, way);
    std::printf("%-8s %s, %s: NMSE %.2e (limit %.0e)\n", arch, test::device_name(way.device).c_str(), name, worst,
                limit);
    EXPECT_LE(worst, limit) << name;
    if (way.kv != KvDType::f16) {
      EXPECT_GT(worst, 1e-6) << "the cache is rounded";
      return;
    }
    for (const char* trait : GetParam().family.traits) {
      EXPECT_GT(largest_nmse(*got, exact(arch, type, trait)), 5 * limit) << "negative control: another " << trait;
    }
  }
};

TEST_P(FamilyDevices, LogitsAreThoseOfTheReference) {
  const DeviceKind device = GetParam().device;
  compare(GgufType::f16, {.device = device}, "F16");
  compare(GgufType::bf16, {.device = device}, "BF16");
  compare(GgufType::q8_0, {.device = device}, "Q8_0");
  compare(GgufType::f16, {.device = device, .chunk = 29}, "F16, in chunks");
  if (device != DeviceKind::cuda) return;
  compare(GgufType::f16, {.device = device, .cublas = false}, "F16 without cuBLASLt");
  compare(GgufType::bf16, {.device = device, .cublas = false}, "BF16 without cuBLASLt");
  compare(GgufType::q8_0, {.device = device, .cublas = false}, "Q8_0 without cuBLASLt");
  compare(GgufType::q8_0, {.device = device, .chunk = 1}, "Q8_0, token by token");
  compare(GgufType::f16, {.device = device, .kv = KvDType::int8}, "F16, cache INT8");
  compare(GgufType::f16, {.device = device, .kv = KvDType::fp8}, "F16, cache FP8");
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const test::FamilyTraits& family : test::family_traits()) {
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) out.push_back({family, device});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, FamilyDevices, testing::ValuesIn(cases()), [](const auto& p) {
  return std::string(p.param.family.arch) + "_" + test::device_name(p.param.device);
});

}  // namespace
}  // namespace inlay
