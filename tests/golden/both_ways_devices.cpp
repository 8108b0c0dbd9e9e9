// Texts whose tokens see later ones: every device gives the vectors of the reference interpreter, for texts of all lengths, alone and together, for
// heads of all sizes, and for every family that can be so. Causal attention gives others.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <ostream>

#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/hf_folder.h"
#include "tests/support/random_family.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::GgufType;
using Text = std::vector<int32_t>;

constexpr int32_t kLengths[] = {1, 2, 7, 63, 64, 65, 200};
constexpr Pooling kPoolings[] = {Pooling::mean, Pooling::first};

std::vector<Text> texts(int32_t n_vocab) {
  std::vector<Text> out;
  uint32_t state = 5;
  for (const int32_t n : kLengths) {
    Text& text = out.emplace_back();
    for (int32_t i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      text.push_back(static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(n_vocab)));
    }
  }
  return out;
}

// How a model is run.
struct Way {
  DeviceKind device;
  bool cublas = true;
  KvDType kv = KvDType::f16;
};

using Load = std::function<Result<std::shared_ptr<Engine>>(const EngineOptions&)>;

Load from_memory(std::vector<std::byte> model) {
  return [model = std::move(model)](const EngineOptions& options) { return Engine::load(borrow_memory(model, "random model"), options); };
}

Result<std::shared_ptr<Engine>> open(const Load& load, const Way& way) {
  EngineOptions options{.device = way.device, .n_context = 256, .max_sessions = static_cast<int32_t>(std::size(kLengths)), .n_threads = 2, .allow_cublas = way.cublas};
  if (way.device == DeviceKind::reference) options.n_threads = 0;
  if (way.device != DeviceKind::reference) options.kv_dtype = way.kv;
  return load(options);
}

using Vectors = std::vector<std::vector<float>>;  // for each pooling one of each text

// Texts [first, end) as they are together.
Status embed_range(Engine& engine, size_t first, size_t end, Vectors& out) {
  const std::vector<Text> all = texts(engine.spec().n_vocab);
  const std::vector<std::span<const int32_t>> spans(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(end));
  const auto width = static_cast<size_t>(engine.spec().d_model);
  std::vector<float> values(spans.size() * width);
  for (const Pooling pooling : kPoolings) {
    INLAY_TRY(embed(engine, spans, {.pooling = pooling}, values));
    for (size_t i = 0; i < spans.size(); ++i) out.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i * width), values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  }
  return {};
}

Vectors by_reference(const Load& load, bool causal) {
  const auto engine = open(load, {.device = DeviceKind::reference});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  Vectors out;
  if (!engine.ok()) return out;
  EXPECT_EQ((*engine)->spec().causal, causal);
  const Status status = embed_range(**engine, 0, std::size(kLengths), out);
  EXPECT_TRUE(status.ok()) << status.message;
  return out;
}

// What the vectors have to be, and those of models that are a little different.
struct Expected {
  Vectors right, causal, others;
};

// The vectors of texts first, first + 1, ... (all poolings) against those of all texts.
void compare(const Vectors& got, size_t first, size_t end, const Expected& expected, double limit, double& worst) {
  const size_t n = end - first;
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t at = i / n * std::size(kLengths) + first + i % n;
    const double distance = test::nmse(got[i], expected.right[at]);
    if (!(distance <= worst)) worst = distance;  // also if it is no number
    SCOPED_TRACE(std::to_string(kLengths[first + i % n]) + " tokens beside " + std::to_string(n - 1) + " other texts, pooling " + std::to_string(i / n));
    EXPECT_LE(distance, limit);
    if (kLengths[first + i % n] == 1) continue;
    EXPECT_GT(test::nmse(got[i], expected.causal[at]), 3 * limit) << "negative control: causal attention";
  }
}

void check(const std::string& name, const Load& load, const Expected& expected, const Way& way, double limit) {
  SCOPED_TRACE(name);
  const auto engine = open(load, way);
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  ASSERT_EQ((*engine)->info().device, way.device);
  double worst = 0;
  constexpr size_t kAll = std::size(kLengths);
  std::vector<std::pair<size_t, size_t>> ranges = {{0, kAll}, {1, kAll}};  // with a single token, and prompts alone
  for (size_t i = 0; i < kAll; ++i) ranges.push_back({i, i + 1});
  for (const auto& [first, end] : ranges) {
    Vectors got;
    const Status status = embed_range(**engine, first, end, got);
    ASSERT_TRUE(status.ok()) << status.message;
    compare(got, first, end, expected, limit, worst);
    for (size_t at = 0; first == 0 && end == kAll && at < expected.others.size(); at += expected.right.size()) {
      double distance = 0;
      for (size_t i = 0; i < got.size(); ++i) distance = std::max(distance, test::nmse(got[i], expected.others[at + i]));
      EXPECT_GT(distance, 3 * limit) << "negative control: a model of other traits";
    }
  }
  std::printf("%-28s %s: NMSE %.2e (limit %.0e)\n", name.c_str(), test::device_name(way.device).c_str(), worst, limit);
}

// As in family_devices.cpp; beside BF16 on the CPU three times as much, since a vector may be one row's, whose rounding no sum evens out.
double limit_of(GgufType type, const Way& way) {
  if (way.kv == KvDType::fp8) return 2e-2;
  if (way.kv == KvDType::int8) return 2e-3;
  if (type == GgufType::bf16 && way.device == DeviceKind::cpu) return 3e-4;
  return type == GgufType::q8_0 && way.device == DeviceKind::cpu ? 1e-3 : 1e-5;
}

// ---- families

struct Family {
  const char* arch;
  const char* trait;  // of attention, that must show; null: none
  DeviceKind device;
};
void PrintTo(const Family& f, std::ostream* out) { *out << f.arch << " " << test::device_name(f.device); }

class BothWaysFamilies : public ::testing::TestWithParam<Family> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam().device); }
};

TEST_P(BothWaysFamilies, AgreeWithTheReference) {
  const auto& [arch, trait, device] = GetParam();
  const auto model = [&](GgufType type, const char* altered) { return from_memory(test::random_family(arch, type, altered, true)); };
  for (const auto& [type, name] : {std::pair{GgufType::f16, "F16"}, {GgufType::bf16, "BF16"}, {GgufType::q8_0, "Q8_0"}}) {
    const Load load = model(type, "");
    Expected expected{.right = by_reference(load, false), .causal = by_reference(model(type, "attention.causal"), true), .others = {}};
    if (trait) expected.others = by_reference(model(type, trait), false);
    std::vector<Way> ways = {{.device = device}};
    if (device == DeviceKind::cuda) ways.push_back({.device = device, .cublas = false});
    for (const Way& way : ways) check(std::string(arch) + " " + name + (way.cublas ? "" : " without cuBLASLt"), load, expected, way, limit_of(type, way));
    if (type != GgufType::f16 || device != DeviceKind::cuda) continue;
    expected.others.clear();  // a rounded cache hides what is small
    for (const auto& [kv, cache] : {std::pair{KvDType::int8, ", cache INT8"}, {KvDType::fp8, ", cache FP8"}}) {
      const Way way{.device = device, .kv = kv};
      check(std::string(arch) + " " + name + cache, load, expected, way, limit_of(type, way));
    }
  }
}

std::vector<Family> families() {
  std::vector<Family> out;
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const auto& [arch, trait] : {std::pair<const char*, const char*>{"gemma2", "attn_logit_softcapping"},
                                      {"gemma3", "attention.sliding_window"},
                                      {"granite", "attention.scale"},
                                      {"olmo2", nullptr},
                                      {"smollm3", "rope.layers"}}) {
      out.push_back({arch, trait, device});
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, BothWaysFamilies, ::testing::ValuesIn(families()),
                         [](const auto& p) { return std::string(p.param.arch) + "_" + test::device_name(p.param.device); });

// ---- sizes of heads, and folders

class BothWaysDevices : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam()); }
};

TEST_P(BothWaysDevices, HeadsOfAllSizesAgreeWithTheReference) {
  const std::pair<uint32_t, uint32_t> groups[] = {{2, 2}, {4, 2}, {7, 1}};
  for (const uint32_t d_head : {16u, 64u, 80u, 96u, 128u, 256u}) {
    for (const auto& [n_heads, n_kv_heads] : groups) {
      const testing::LlamaSizes sizes{.d_model = 64, .d_ff = 96, .n_heads = n_heads, .n_kv_heads = n_kv_heads, .d_head = d_head, .n_rot = d_head, .n_vocab = 50, .n_context = 256};
      const auto model = [&](bool causal) {
        return from_memory(testing::llama_image(sizes, [&](testing::GgufImage& image) { image.text("tokenizer.ggml.model", "no_vocab").boolean("llama.attention.causal", causal); }));
      };
      const Expected expected{.right = by_reference(model(false), false), .causal = by_reference(model(true), true), .others = {}};
      const std::string name = std::to_string(n_heads) + "/" + std::to_string(n_kv_heads) + "/" + std::to_string(d_head);
      check(name, model(false), expected, {.device = GetParam()}, 1e-6);
    }
  }
}

TEST_P(BothWaysDevices, FoldersAgreeWithTheReference) {
  const struct {
    const char* model_type;
    json keys;
  } rows[] = {{"llama", {{"is_causal", false}}},
              {"qwen2", {{"is_causal", false}}},
              {"qwen3", {{"is_causal", false}}},
              {"phi3", {{"is_causal", false}}},
              {"gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", 9}, {"sliding_window_pattern", 2}}},
              {"gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", 130}}}};
  for (const auto& row : rows) {
    const auto folder = [&](bool causal) {
      auto made = std::make_shared<test::TemporaryFolder>();
      json config = test::small_config(row.model_type);
      config["max_position_embeddings"] = 256;
      config.update(row.keys);
      if (causal) config.update({{"is_causal", true}, {"use_bidirectional_attention", false}});
      std::vector<test::HfTensor> tensors = test::small_tensors(row.model_type);
      for (test::HfTensor& t : tensors) t.data = test::random_floats(t.name, t.shape);
      made->write("config.json", config.dump());
      made->write("model.safetensors", test::safetensors_of(tensors));
      return Load([made](const EngineOptions& options) { return Engine::load(made->path(), options); });
    };
    const Expected expected{.right = by_reference(folder(false), false), .causal = by_reference(folder(true), true), .others = {}};
    check(row.model_type + row.keys.dump(), folder(false), expected, {.device = GetParam()}, 1e-6);
  }
}

INLAY_ON_CPU_AND_CUDA(BothWaysDevices);

}  // namespace
}  // namespace inlay
