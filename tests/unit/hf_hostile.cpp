// Hugging Face folders whose small files would take time or memory without end.
#include <gtest/gtest.h>

#include "src/model/hf_experts.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_packed.h"
#include "src/model/model.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::TemporaryFolder;

std::string refusal(const json& config, const json& modules = nullptr) {
  TemporaryFolder folder;
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors("llama")));
  if (!modules.is_null()) folder.write("modules.json", modules.dump());
  const auto checkpoint = open_checkpoint(folder.path());
  return checkpoint.ok() ? "" : checkpoint.status().message;
}

TEST(HostileFolder, SizesOfHeads) {
  json config = test::small_config("llama");
  config["rope_scaling"] = {{"rope_type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 32}};
  EXPECT_EQ(refusal(config), "");
  config["head_dim"] = 2147483647;
  EXPECT_NE(refusal(config).find("head_dim is 2147483647, expected 1 to 256"), std::string::npos) << refusal(config);
  config.erase("head_dim");
  config["hidden_size"] = 2147483646;
  EXPECT_NE(refusal(config).find("hidden_size is 2147483646, which gives each of num_attention_heads 2 a size of 1073741823"), std::string::npos)
      << refusal(config);
}

TEST(HostileFolder, ModulesBehindThePooling) {
  json modules = {{{"path", "1_Pooling"}, {"type", "Pooling"}}};
  for (int i = 0; i < 16; ++i) modules.push_back({{"path", ""}, {"type", "Normalize"}});
  EXPECT_EQ(refusal(test::small_config("llama"), modules), "");
  modules.push_back({{"path", ""}, {"type", "Normalize"}});
  EXPECT_NE(refusal(test::small_config("llama"), modules).find("[17] is one module more than the 16"), std::string::npos)
      << refusal(test::small_config("llama"), modules);
}

TEST(HostileFolder, ManyUnknownKeys) {
  TemporaryFolder folder;
  json config = test::small_config("llama");
  for (int i = 0; i < 200'000; ++i) config["unknown" + std::to_string(i)] = 1;
  config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 2.0}, {"odd", 1}};
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors("llama")));
  const auto checkpoint = open_checkpoint(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
  const std::vector<std::string>& warnings = checkpoint->conventions().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(", unknown199999, "), std::string::npos);
  EXPECT_NE(warnings[0].find(", rope_scaling.odd are each not known"), std::string::npos);
}

// What the stacker says of these tensors of a layer's experts.
std::string refusal_of_experts(const char* family, std::vector<SafetensorsEntry> entries) {
  const std::unique_ptr<ByteSource> source = own_memory(std::vector<std::byte>(64), "model.safetensors");
  ExpertStacker stacker(*find_hf_family(family));
  for (SafetensorsEntry& entry : entries) {
    entry.name = "model.layers.0.mlp.experts." + entry.name;
    stacker.add(entry, *source);
  }
  const auto built = stacker.build("folder");
  return built.ok() ? "" : built.status().message;
}

TEST(HostileFolder, ExpertsWithoutBytesAndTooMany) {
  const SafetensorsEntry down = {"down_proj", "BF16", {1, 2, 4}, 0, 16};
  EXPECT_EQ(refusal_of_experts("qwen3_moe", {{"gate_up_proj", "BF16", {0, 2, 4}, 0, 0}, down}),
            "model.safetensors: tensor 'model.layers.0.mlp.experts.gate_up_proj' is 0 x 2 x 4, expected none of them 0");
  EXPECT_EQ(refusal_of_experts("gpt_oss", {{"gate_up_proj", "BF16", {int64_t{1} << 61, 0, 2}, 0, 0}, down}),
            "model.safetensors: tensor 'model.layers.0.mlp.experts.gate_up_proj' is 2305843009213693952 x 0 x 2, expected none of them 0");
  EXPECT_EQ(refusal_of_experts("gpt_oss", {{"gate_up_proj", "BF16", {1 << 30, 1, 2}, 0, uint64_t{1} << 32}, down}),
            "model.safetensors: tensor 'model.layers.0.mlp.experts.gate_up_proj' is 1073741824 x 1 x 2, expected at most 512 experts");
}

TEST(HostileFolder, CodesWithoutBytes) {
  const std::unique_ptr<ByteSource> source = own_memory(std::vector<std::byte>(64), "model.safetensors");
  const SafetensorsEntry codes = {"a.qweight", "I32", {0, int64_t{1} << 61}, 0, 0};
  const HfStoredTensor stored[] = {{&codes, source.get()}};
  const auto matrices = unpack_matrices({.packing = HfPacking::awq, .bits = 4}, stored);
  EXPECT_EQ(matrices.status().message, "model.safetensors: tensor 'a.qweight' has no bytes");
}

}  // namespace
}  // namespace inlay
