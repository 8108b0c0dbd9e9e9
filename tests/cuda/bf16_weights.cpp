// BF16 weights on a GPU: as F16 where that holds them, so that what they are multiplied with keeps 11 bits, else as they are.
#include <gtest/gtest.h>

#include <cmath>

#include "src/engine/convert.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/hf_folder.h"

namespace inlay::golden {
namespace {

using test::TemporaryFolder;

const std::vector<int32_t> kTokens = {1, 2, 3, 19, 7, 7, 12, 4, 0, 18, 5, 6, 11, 2, 9, 16, 13, 1};

struct Case {
  const char* name;
  const char* tensor;  // whose values are of this magnitude
  float magnitude;
  bool holds;          // F16 does
};
constexpr const char *kDown = "model.layers.1.mlp.down_proj.weight", *kGate = "model.layers.0.mlp.gate_proj.weight", *kEmbedding = "model.embed_tokens.weight",
                     *kKeys = "model.layers.1.self_attn.k_proj.weight";
constexpr Case kCases[] = {
    {"ordinary", kDown, 0.02f, true},     {"large", kDown, 6e4f, true},        {"too_large", kDown, 1e5f, false},       {"huge", kDown, 1e9f, false},
    {"small", kDown, 1e-2f, true},        {"too_small", kDown, 1e-5f, false},  {"tiny", kGate, 1e-10f, false},          {"gate", kGate, 0.5f, true},
    {"embedding", kEmbedding, 0.1f, true}, {"large_embedding", kEmbedding, 1e6f, false}, {"too_small_keys", kKeys, 1e-6f, false},
};

class Bf16Weights : public ::testing::TestWithParam<Case> {
 protected:
  // A folder in F32, as a file of BF16.
  void SetUp() override {
    if (!INLAY_HAS_CUDA || !can_run(Runs::cuda)) GTEST_SKIP() << INLAY_NEEDS_GPU;
    folder_.write("config.json", test::small_config("llama").dump());
    std::vector<test::HfTensor> tensors = test::small_tensors("llama");
    for (test::HfTensor& t : tensors) {
      if (t.name != GetParam().tensor) continue;
      t.data.clear();
      for (int64_t i = 0; i < t.shape[0] * t.shape[1]; ++i) {
        const float value = GetParam().magnitude * std::sin(static_cast<float>(i * i % 1009));
        t.data.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    }
    folder_.write("model.safetensors", test::safetensors_of(tensors));
    const Status made = convert_to_gguf(folder_.path(), folder_.path("made.gguf"), {.type = ConvertType::bf16});
    ASSERT_TRUE(made.ok()) << made.message;
  }
  TemporaryFolder folder_;
};

TEST_P(Bf16Weights, cuda_AreF16WhereThatHoldsThem) {
  const auto n = static_cast<int32_t>(kTokens.size());
  BackendConfig config{.n_kv_blocks = 1, .max_step_tokens = n, .max_sequences = 1, .n_logit_slots = n, .n_context = n, .n_threads = 2};
  const Target *on_cuda = nullptr, *on_reference = nullptr;
  const std::vector<Target> targets = all_targets();
  for (const Target& t : targets) {
    if (t.on == Runs::cuda) on_cuda = &t;
    if (t.on == Runs::reference) on_reference = &t;
  }
  ASSERT_TRUE(on_cuda && on_reference);
  const auto backend = load_backend(folder_.path("made.gguf"), *on_cuda, config);
  ASSERT_TRUE(backend.ok()) << backend.status().message;
  const bool says_not = (*backend)->remark().find("F16 could not hold them") != std::string::npos;
  EXPECT_EQ(says_not, !GetParam().holds) << (*backend)->remark();
  for (const Weight& w : (*backend)->plan().weights) {
    if (w.n_rows > 1) {
      EXPECT_EQ(w.dtype, DType::bf16) << w.name << ": the host knows the file's type";
    }
  }
  const auto found = logits_of(**backend, kTokens);
  ASSERT_TRUE(found.ok()) << found.status().message;
  const double error = test::nmse(*found, file_logits(folder_.path("made.gguf"), *on_reference, kTokens));
  EXPECT_LT(error, GetParam().holds ? 1e-6 : 1e-3);
  std::printf("%s: NMSE %.2e\n", GetParam().name, error);
}

INSTANTIATE_TEST_SUITE_P(Magnitudes, Bf16Weights, ::testing::ValuesIn(kCases), [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace inlay::golden
