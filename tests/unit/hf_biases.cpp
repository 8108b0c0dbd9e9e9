// Biases in folders: the key that says which matrices have one, and tensors that are there against it.
#include <gtest/gtest.h>

#include "src/model/hf_family.h"
#include "src/model/hf_folder.h"
#include "src/model/model.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::HfTensor;

struct Matrix {
  const char *gguf, *hf;
  int64_t n_rows;
  const HfBias HfFamily::* rule;
};
constexpr Matrix kMatrices[] = {{"attn_q", "self_attn.q_proj", 32, &HfFamily::qkv_bias},         {"attn_k", "self_attn.k_proj", 16, &HfFamily::qkv_bias},
                                {"attn_v", "self_attn.v_proj", 16, &HfFamily::qkv_bias},         {"attn_qkv", "self_attn.qkv_proj", 64, &HfFamily::qkv_bias},
                                {"attn_output", "self_attn.o_proj", 32, &HfFamily::output_bias}, {"ffn_gate", "mlp.gate_proj", 48, &HfFamily::mlp_bias},
                                {"ffn_up", "mlp.up_proj", 48, &HfFamily::mlp_bias},              {"ffn_down", "mlp.down_proj", 32, &HfFamily::mlp_bias}};

bool has(const HfFamily& family, const Matrix& matrix) {
  const std::string name = std::string("blk.0.") + matrix.gguf + ".bias";
  return hf_tensor_name(family, "model.", name) == std::string("model.layers.0.") + matrix.hf + ".bias";
}

// `with`: the matrices that have a bias in both layers.
Result<Checkpoint> open_with(const HfFamily& family, const json& keys, const std::vector<Matrix>& with) {
  test::TemporaryFolder folder;
  json config = test::small_config(family.model_type);
  config.update({{"num_experts", 4}, {"num_local_experts", 4}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 8}, {"shared_expert_intermediate_size", 8}});
  config.update(keys);
  std::vector<HfTensor> tensors;
  for (HfTensor& tensor : test::small_tensors(family.model_type)) {
    if (!tensor.name.ends_with(".bias")) tensors.push_back(std::move(tensor));
  }
  for (const char* layer : {"0", "1"}) {
    for (const Matrix& matrix : with) tensors.push_back({"model.layers." + std::string(layer) + "." + matrix.hf + ".bias", {matrix.n_rows}});
  }
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(tensors));
  return open_checkpoint(folder.path());
}

// What is said of biases, of those of a key alone.
std::vector<std::string> told(const Checkpoint& checkpoint, const std::string& key = "") {
  std::vector<std::string> out;
  for (const std::string& line : checkpoint.conventions().warnings) {
    if (line.find(key + " of config.json is") != line.npos && line.find("such biases count as 0") != line.npos) out.push_back(line);
  }
  return out;
}

TEST(HfBiases, ATensorThatConfigJsonDeniesIsRefused) {
  size_t n_refused = 0, n_taken = 0;
  for (const HfFamily& family : hf_families()) {
    for (const Matrix& matrix : kMatrices) {
      if (!has(family, matrix)) continue;
      const HfBias& rule = family.*matrix.rule;
      const std::string key = rule.key ? rule.key : "attention_bias";
      const json choices[] = {json::object(), {{key, nullptr}}, {{key, true}}, {{key, false}}};
      for (const json& keys : choices) {
        SCOPED_TRACE(std::string(family.model_type) + ": " + matrix.hf + " " + keys.dump());
        const bool given = keys.contains(key) && !keys[key].is_null();
        const bool wanted = rule.key && given ? keys[key].get<bool>() : rule.value;
        const auto checkpoint = open_with(family, keys, {matrix});
        EXPECT_EQ(checkpoint.ok(), wanted);
        ++(wanted ? n_taken : n_refused);
        if (wanted) continue;
        const std::string& message = checkpoint.status().message;
        EXPECT_EQ(checkpoint.status().code, Code::unsupported);
        EXPECT_NE(message.find("model.layers.0." + std::string(matrix.hf) + ".bias"), std::string::npos) << message;
        EXPECT_NE(message.find(!rule.key ? "models of model_type " + std::string(family.model_type) : key + " of config.json is " + (given ? "false" : "not given")), std::string::npos)
            << message;
      }
    }
  }
  EXPECT_GT(n_refused, 200u);
  EXPECT_GT(n_taken, 50u);
}

TEST(HfBiases, MissingOnesAreToldWhereConfigJsonSaysThatTheyAreThere) {
  for (const HfFamily& family : hf_families()) {
    for (const char* key : {"attention_bias", "mlp_bias", "qkv_bias"}) {
      SCOPED_TRACE(std::string(family.model_type) + ": " + key);
      std::vector<Matrix> all;
      for (const Matrix& matrix : kMatrices) {
        const HfBias& rule = family.*matrix.rule;
        if (has(family, matrix) && rule.key && std::string(rule.key) == key) all.push_back(matrix);
      }
      for (const auto& with : {all, std::vector<Matrix>()}) {
        const auto checkpoint = open_with(family, {{key, true}}, with);
        ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
        const auto lines = told(*checkpoint, key);
        ASSERT_EQ(lines.size(), with.size() < all.size() ? 1u : 0u);
        for (const Matrix& matrix : all) {
          if (lines.empty()) break;
          EXPECT_NE(lines[0].find("model.layers.0." + std::string(matrix.hf) + ".bias"), std::string::npos) << lines[0];
          EXPECT_NE(lines[0].find(std::string(key) + " of config.json is true"), std::string::npos) << lines[0];
        }
      }
      const auto checkpoint = open_with(family, {{key, false}}, {});
      ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
      EXPECT_TRUE(told(*checkpoint, key).empty());
    }
  }
}

TEST(HfBiases, MissingOnesAreToldWhereAKeyThatIsNotGivenMeansTrue) {
  int n_told = 0;
  for (const HfFamily& family : hf_families()) {
    SCOPED_TRACE(family.model_type);
    const bool by_default = (family.qkv_bias.key && family.qkv_bias.value) || (family.output_bias.key && family.output_bias.value);
    const auto checkpoint = open_with(family, json::object(), {});
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
    const auto lines = told(*checkpoint);
    ASSERT_EQ(lines.size(), by_default ? 1u : 0u);
    n_told += by_default;
    if (!by_default) continue;
    EXPECT_NE(lines[0].find("is not given, which means true, and the folder does not have model.layers.0.self_attn.q_proj.bias"), std::string::npos) << lines[0];
  }
  EXPECT_EQ(n_told, 2);  // gpt_oss, qwen2_moe
}

TEST(HfBiases, TheKeyIsTrueOrFalse) {
  for (const char* key : {"attention_bias", "mlp_bias"}) {
    const auto wrong = open_with(*find_hf_family("llama"), {{key, "yes"}}, {});
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.status().message.find(key), std::string::npos) << wrong.status().message;
  }
}

TEST(HfBiases, ThoseThatCountAreOfTheModel) {
  const auto checkpoint = open_with(*find_hf_family("llama"), {{"attention_bias", true}}, {std::begin(kMatrices), std::begin(kMatrices) + 3});
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
  const auto model = Model::from_checkpoint(*checkpoint);
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_TRUE(model->spec().qkv_bias);
  EXPECT_FALSE(model->spec().output_bias);
  EXPECT_EQ(told(*checkpoint).size(), 1u);  // of the output's
}

}  // namespace
}  // namespace inlay
