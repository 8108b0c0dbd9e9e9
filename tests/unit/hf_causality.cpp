// Whether tokens see those behind them, as config.json says it, and what becomes of windows then.
#include <gtest/gtest.h>

#include "src/model/hf_folder.h"
#include "src/model/model.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;

const json kOwnCode = {{"AutoModel", "modeling.Model"}};

Result<Model> open_with(const char* model_type, const json& keys) {
  const test::TemporaryFolder folder;
  json config = test::small_config(model_type);
  config.update(keys);
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors(model_type)));
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(folder.path()));
  return Model::from_checkpoint(checkpoint);
}

TEST(HfCausality, TokensSeeLaterOnesWhereAKeySaysSo) {
  struct Row {
    const char* model_type;
    json keys;
    bool causal;
    std::vector<int32_t> windows;
    const char* refusal = nullptr;
  };
  const Row rows[] = {
      {"llama", {{"is_causal", false}}, false, {0, 0}},
      {"llama", {{"is_causal", true}}, true, {0, 0}},
      {"llama", {{"is_causal", nullptr}, {"use_bidirectional_attention", nullptr}}, true, {0, 0}},
      {"llama", {{"use_bidirectional_attention", true}, {"is_causal", true}, {"auto_map", kOwnCode}}, false, {0, 0}},
      {"llama", {{"use_bidirectional_attention", true}, {"is_causal", false}}, false, {0, 0}},
      {"llama", {{"use_bidirectional_attention", true}, {"is_causal", true}}, false, {}, "use_bidirectional_attention is true, which transformers does not read of llama models"},
      {"llama", {{"use_bidirectional_attention", false}}, true, {0, 0}},
      {"qwen2", {{"is_causal", false}, {"sliding_window", 5}}, false, {0, 0}},  // which is not used
      {"qwen3", {{"use_bidirectional_attention", true}, {"auto_map", kOwnCode}}, false, {0, 0}},
      {"qwen3", {{"use_bidirectional_attention", true}, {"auto_map", nullptr}}, false, {}, "transformers does not read of qwen3 models"},
      {"qwen3", {{"auto_map", kOwnCode}}, true, {0, 0}},
      {"gemma2", {{"use_bidirectional_attention", true}, {"layer_types", {"full_attention", "full_attention"}}}, false, {}, "transformers does not read of gemma2 models"},
      {"gemma3_text", {{"use_bidirectional_attention", false}, {"sliding_window", 12}}, true, {12, 12}},
      {"gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", 12}}, false, {7, 7}},  // the token's own, six before, six behind
      {"gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", 13}}, false, {7, 7}},
      {"gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", 12}, {"sliding_window_pattern", 2}}, false, {7, 0}},
      {"gemma3_text", {{"is_causal", false}, {"sliding_window", 12}, {"layer_types", {"full_attention", "full_attention"}}}, false, {0, 0}},
      {"gemma3_text", {{"is_causal", false}, {"sliding_window", 12}}, false, {}, "is_causal lets tokens see later ones, and layers have a window of 12"},
      {"mistral", {{"is_causal", false}, {"sliding_window", 5}}, false, {}, "is_causal lets tokens see later ones, and layers have a window of 5"},
      {"mistral", {{"use_bidirectional_attention", true}, {"sliding_window", 5}, {"auto_map", kOwnCode}}, false, {}, "use_bidirectional_attention lets tokens see later ones"},
      {"llama", {{"is_causal", "no"}}, false, {}, "is_causal is 'no', expected true or false"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.model_type) + " " + row.keys.dump());
    const auto model = open_with(row.model_type, row.keys);
    ASSERT_EQ(model.ok(), row.refusal == nullptr) << model.status().message;
    if (row.refusal) {
      EXPECT_NE(model.status().message.find(row.refusal), std::string::npos) << model.status().message;
      continue;
    }
    EXPECT_EQ(model->spec().causal, row.causal);
    std::vector<int32_t> windows;
    for (const LayerAttention& layer : model->spec().layers) windows.push_back(layer.window);
    EXPECT_EQ(windows, row.windows);
  }
}

}  // namespace
}  // namespace inlay
