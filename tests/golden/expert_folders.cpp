// Hugging Face folders with experts: however the files hold them, the numbers are the same, and those of the GGUF file
// that is made of the folder.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "src/engine/convert.h"
#include "src/formats/gguf.h"
#include "src/model/hf_family.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/hf_folder.h"

namespace inlay::golden {
namespace {

using nlohmann::json;
using test::HfTensor;
using test::TemporaryFolder;

constexpr int32_t kTokens = 24;
constexpr int64_t kExperts = 4, kWidth = 32, kInner = 32;  // small_config's width; the experts' own
constexpr Target kCpu{"cpu", Runs::cpu, cpu::Isa::generic};

// Of one step of all tokens; empty, with a failure, if the model cannot be loaded.
std::vector<float> logits(const std::string& path, const Target& target = kReference) {
  const BackendConfig config{.n_kv_blocks = 2, .max_step_tokens = kTokens, .max_sequences = 1, .n_logit_slots = kTokens, .n_context = 32, .n_threads = 2};
  const auto backend = load_backend(path, target, config);
  EXPECT_TRUE(backend.ok()) << backend.status().message;
  if (!backend.ok()) return {};
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < kTokens; ++i) tokens.push_back((i * i * 7 + i * 3 + 1) % (*backend)->plan().spec.n_vocab);
  const auto out = logits_of(**backend, tokens);
  EXPECT_TRUE(out.ok()) << out.status().message;
  return out.ok() ? *out : std::vector<float>();
}

std::string refusal(const TemporaryFolder& folder) {
  const auto model = load_backend(folder.path(), kReference, {.n_context = 32});
  EXPECT_FALSE(model.ok());
  return model.ok() ? "" : model.status().message;
}

// The attention of a small dense model, and the experts of the family in place of its feed-forward network.
struct Small {
  json config;
  std::vector<HfTensor> tensors;

  Small(const char* model_type, const char* dense, json more) : config(test::small_config(model_type)) {
    config.update(more);
    for (HfTensor& t : test::small_tensors(dense)) {
      if (t.name.find(".mlp.") == std::string::npos) tensors.push_back(std::move(t));
    }
  }
  void add(const std::string& name, std::vector<int64_t> shape) {
    for (const char* layer : {"0.", "1."}) tensors.push_back({std::string("model.layers.") + layer + name, shape});
  }
  void add_separate(const std::string& before, const char* gate, const char* up, const char* down) {
    for (int64_t e = 0; e < kExperts; ++e) {
      const std::string expert = before + std::to_string(e) + ".";
      add(expert + gate, {kInner, kWidth}), add(expert + up, {kInner, kWidth}), add(expert + down, {kWidth, kInner});
    }
  }
  void fill() {
    for (HfTensor& t : tensors) {
      if (t.data.empty()) t.data = test::random_floats(t.name, t.shape);
    }
  }
  HfTensor* find(const std::string& name) {
    for (HfTensor& t : tensors) {
      if (t.name == name) return &t;
    }
    return nullptr;
  }
  void erase(const std::string& part) {
    std::erase_if(tensors, [&](const HfTensor& t) { return t.name.find(part) != std::string::npos; });
  }
  void write(const TemporaryFolder& folder) const {
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", test::safetensors_of(tensors));
  }
};

const json kChoice = {{"num_experts", kExperts}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", kInner}};

Small qwen3_moe() {
  Small m("qwen3_moe", "qwen3", kChoice);
  m.config["norm_topk_prob"] = true;
  m.add("mlp.gate.weight", {kExperts, kWidth});
  m.add_separate("mlp.experts.", "gate_proj.weight", "up_proj.weight", "down_proj.weight");
  m.fill();
  return m;
}

Small qwen2_moe() {
  Small m("qwen2_moe", "qwen2", kChoice);
  m.config["shared_expert_intermediate_size"] = 48;
  m.add("mlp.gate.weight", {kExperts, kWidth});
  m.add("mlp.shared_expert_gate.weight", {1, kWidth});
  m.add("mlp.shared_expert.gate_proj.weight", {48, kWidth}), m.add("mlp.shared_expert.up_proj.weight", {48, kWidth});
  m.add("mlp.shared_expert.down_proj.weight", {kWidth, 48});
  m.add_separate("mlp.experts.", "gate_proj.weight", "up_proj.weight", "down_proj.weight");
  m.fill();
  return m;
}

Small mixtral() {
  Small m("mixtral", "llama", {{"num_local_experts", kExperts}, {"num_experts_per_tok", 2}, {"intermediate_size", kInner}});
  m.add("block_sparse_moe.gate.weight", {kExperts, kWidth});
  m.add_separate("block_sparse_moe.experts.", "w1.weight", "w3.weight", "w2.weight");
  m.fill();
  return m;
}

Small gpt_oss() {
  Small m("gpt_oss", "qwen2", {{"num_local_experts", kExperts}, {"num_experts_per_tok", 2}, {"intermediate_size", kInner}, {"sliding_window", 5}});
  m.config["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}, {"truncate", false}};
  m.add("self_attn.o_proj.bias", {kWidth});
  m.add("self_attn.sinks", {2});
  m.add("mlp.router.weight", {kExperts, kWidth}), m.add("mlp.router.bias", {kExperts});
  m.add("mlp.experts.gate_up_proj", {kExperts, kWidth, 2 * kInner}), m.add("mlp.experts.gate_up_proj_bias", {kExperts, 2 * kInner});
  m.add("mlp.experts.down_proj", {kExperts, kInner, kWidth}), m.add("mlp.experts.down_proj_bias", {kExperts, kWidth});
  m.fill();
  return m;
}

Small dense(const char* model_type) {
  Small m(model_type, model_type, json::object());
  m.tensors = test::small_tensors(model_type);
  m.fill();
  return m;
}

// Every family: folder, file, other device; and a part of the experts that must matter.
TEST(ExpertFolders, FileAndFolderAgree) {
  const struct {
    Small model;
    const char* part;  // whose bytes are replaced by another's
  } cases[] = {{qwen3_moe(), "experts.3.up_proj"}, {qwen2_moe(), "shared_expert_gate"}, {mixtral(), "experts.2.w2"},
               {gpt_oss(), "gate_up_proj_bias"},   {gpt_oss(), "self_attn.sinks"},      {gpt_oss(), "mlp.router.bias"}};
  for (const auto& [model, part] : cases) {
    SCOPED_TRACE(model.config["model_type"].get<std::string>() + " " + part);
    TemporaryFolder folder;
    model.write(folder);
    const std::vector<float> expected = logits(folder.path());
    const std::string made = folder.path("made.gguf");
    const Status status = convert_to_gguf(folder.path(), made, {.type = ConvertType::f32});
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_TRUE(test::same_bits(logits(made), expected));
    EXPECT_LT(test::nmse(logits(folder.path(), kCpu), expected), 1e-5);

    Small other = model;
    for (HfTensor& t : other.tensors) {
      if (t.name.find(part) != std::string::npos) t.data = test::random_floats("another " + t.name, t.shape);
    }
    other.write(folder);
    EXPECT_GT(test::nmse(logits(folder.path()), expected), 1e-6) << "it makes no difference";
  }
}

// Of every family that has a key for biases, dense ones too: with the key and the tensors, and with neither.
TEST(FolderBiases, CountWhereTheKeySaysSo) {
  const struct {
    const char* name;
    int64_t n_rows;
    const HfBias HfFamily::* rule;
  } matrices[] = {{"self_attn.q_proj.bias", 32, &HfFamily::qkv_bias},    {"self_attn.k_proj.bias", 16, &HfFamily::qkv_bias},
                  {"self_attn.v_proj.bias", 16, &HfFamily::qkv_bias},    {"self_attn.o_proj.bias", 32, &HfFamily::output_bias},
                  {"mlp.gate_proj.bias", 48, &HfFamily::mlp_bias},       {"mlp.up_proj.bias", 48, &HfFamily::mlp_bias},
                  {"mlp.down_proj.bias", 32, &HfFamily::mlp_bias}};
  int n_cases = 0;
  for (const HfFamily& family : hf_families()) {
    for (const char* key : {"attention_bias", "mlp_bias", "qkv_bias"}) {
      const std::string type = family.model_type;
      SCOPED_TRACE(type + " " + key);
      Small without = type == "gpt_oss" ? gpt_oss() : type == "qwen2_moe" ? qwen2_moe() : type == "qwen3_moe" ? qwen3_moe() : dense(family.model_type);
      std::vector<HfTensor> biases;
      for (const auto& [name, n_rows, rule] : matrices) {
        if (!(family.*rule).key || std::string((family.*rule).key) != key) continue;
        without.erase(name);
        for (const char* layer : {"0.", "1."}) biases.push_back({std::string("model.layers.") + layer + name, {n_rows}});
      }
      if (biases.empty()) continue;
      ++n_cases;
      without.config[key] = false;
      Small with = without;
      with.config[key] = true;
      with.tensors.insert(with.tensors.end(), biases.begin(), biases.end());
      with.fill();
      std::vector<float> results[2];
      for (const Small* model : {&without, &with}) {
        std::vector<float>& expected = results[model == &with];
        TemporaryFolder folder;
        model->write(folder);
        expected = logits(folder.path());
        const std::string made = folder.path("made.gguf");
        const Status status = convert_to_gguf(folder.path(), made, {.type = ConvertType::f32});
        ASSERT_TRUE(status.ok()) << status.message;
        EXPECT_TRUE(test::same_bits(logits(made), expected));
        EXPECT_LT(test::nmse(logits(folder.path(), kCpu), expected), 1e-5);
      }
      EXPECT_GT(test::nmse(results[1], results[0]), 1e-6) << "they make no difference";
    }
  }
  EXPECT_EQ(n_cases, 14);
}

TEST(ExpertFolders, StackedExpertsAreThoseThatStandAlone) {
  Small alone = qwen3_moe(), stacked = qwen3_moe();
  TemporaryFolder a, b;
  alone.write(a);
  stacked.erase("experts.");
  for (const char* layer : {"0.", "1."}) {
    const std::string before = std::string("model.layers.") + layer + "mlp.experts.";
    std::string both, down;
    for (int64_t e = 0; e < kExperts; ++e) {
      const std::string expert = before + std::to_string(e) + ".";
      both += alone.find(expert + "gate_proj.weight")->data + alone.find(expert + "up_proj.weight")->data;
      down += alone.find(expert + "down_proj.weight")->data;
    }
    stacked.tensors.push_back({before + "gate_up_proj", {kExperts, 2 * kInner, kWidth}, "F32", both});
    stacked.tensors.push_back({before + "down_proj", {kExperts, kWidth, kInner}, "F32", down});
  }
  stacked.write(b);
  EXPECT_TRUE(test::same_bits(logits(a.path()), logits(b.path())));
  EXPECT_TRUE(test::same_bits(logits(a.path(), kCpu), logits(b.path(), kCpu)));
}

// ---- MXFP4: the same values as blocks, and as floats in transposed matrices

constexpr float kCodes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

struct Blocks {
  std::string codes, scales;
  std::vector<float> values;  // (n_rows, n_cols)
};

Blocks random_blocks(const std::string& seed, int64_t n_rows, int64_t n_cols) {
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>()(seed)));
  Blocks out;
  for (int64_t block = 0; block < n_rows * n_cols / 32; ++block) {
    const int exponent = static_cast<int>(random() % 3) - 4;
    out.scales += static_cast<char>(127 + exponent);
    for (int i = 0; i < 16; ++i) {
      const unsigned low = random() % 16, high = random() % 16;
      out.codes += static_cast<char>(low | high << 4);
      out.values.push_back(std::ldexp(kCodes[low], exponent)), out.values.push_back(std::ldexp(kCodes[high], exponent));
    }
  }
  return out;
}

// (experts, rows, cols) to (experts, cols, rows).
std::string transposed(const std::vector<float>& values, int64_t n_rows, int64_t n_cols) {
  std::vector<float> out(values.size());
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
    const int64_t expert = i / (n_rows * n_cols), row = i / n_cols % n_rows, col = i % n_cols;
    out[static_cast<size_t>((expert * n_cols + col) * n_rows + row)] = values[static_cast<size_t>(i)];
  }
  return {reinterpret_cast<const char*>(out.data()), out.size() * sizeof(float)};
}

TEST(ExpertFolders, Mxfp4BlocksAreTheValuesThatTheyStandFor) {
  Small floats = gpt_oss(), blocks = gpt_oss();
  blocks.erase("experts.gate_up_proj"), blocks.erase("experts.down_proj");
  blocks.config["quantization_config"] = {{"quant_method", "mxfp4"}};
  for (const char* layer : {"0.", "1."}) {
    const std::string before = std::string("model.layers.") + layer + "mlp.experts.";
    const struct {
      const char* name;
      int64_t n_rows, n_cols;
    } matrices[] = {{"gate_up_proj", 2 * kInner, kWidth}, {"down_proj", kWidth, kInner}};
    for (const auto& m : matrices) {
      const Blocks made = random_blocks(before + m.name, kExperts * m.n_rows, m.n_cols);
      floats.find(before + m.name)->data = transposed(made.values, m.n_rows, m.n_cols);
      blocks.tensors.push_back({before + m.name + "_blocks", {kExperts, m.n_rows, m.n_cols / 32, 16}, "U8", made.codes});
      blocks.tensors.push_back({before + m.name + "_scales", {kExperts, m.n_rows, m.n_cols / 32}, "U8", made.scales});
      blocks.tensors.push_back(*floats.find(before + m.name + "_bias"));
    }
  }
  TemporaryFolder a, b;
  floats.write(a), blocks.write(b);
  const std::vector<float> expected = logits(a.path());
  EXPECT_TRUE(test::same_bits(logits(b.path()), expected));
  EXPECT_LT(test::nmse(logits(b.path(), kCpu), expected), 1e-3);
  // Negative control: one code.
  HfTensor& codes = *blocks.find("model.layers.0.mlp.experts.down_proj_blocks");
  for (size_t i = 0; i < codes.data.size(); ++i) codes.data[i] = static_cast<char>(codes.data[i] ^ 0x10);
  blocks.write(b);
  EXPECT_GT(test::nmse(logits(b.path()), expected), 1e-6);
}

TEST(ExpertFolders, WhatIsMissingOrWrongIsNamed) {
  TemporaryFolder folder;
  Small m = qwen3_moe();
  m.erase("layers.1.mlp.experts.2.up_proj");
  m.write(folder);
  EXPECT_NE(refusal(folder).find("model.layers.1.mlp.experts.2.up_proj.weight is missing"), std::string::npos) << refusal(folder);
  EXPECT_TRUE(refusal(folder).starts_with(folder.path())) << refusal(folder);
  m = qwen3_moe();
  m.find("model.layers.0.mlp.experts.1.gate_proj.weight")->shape = {kWidth / 2, 2 * kInner};
  m.write(folder);
  EXPECT_NE(refusal(folder).find("16 x 64, expected 32 x 32"), std::string::npos) << refusal(folder);
  m = qwen3_moe();
  m.config["num_experts"] = 8;
  m.write(folder);
  EXPECT_NE(refusal(folder).find("is 4 x 32"), std::string::npos) << refusal(folder);
  m = gpt_oss();
  m.erase("gate_up_proj_bias");
  m.write(folder);
  EXPECT_NE(refusal(folder).find("mlp.experts.gate_up_proj_bias is missing"), std::string::npos) << refusal(folder);
  m = gpt_oss();
  m.add("mlp.experts.odd", {3});
  m.write(folder);
  EXPECT_NE(refusal(folder).find("mlp.experts.odd"), std::string::npos) << refusal(folder);
}

}  // namespace
}  // namespace inlay::golden
