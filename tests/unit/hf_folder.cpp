// Hugging Face folders: config.json of each family, shards and their index, and what is said about wrong ones.
#include "src/model/hf_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/base/pulse.h"
#include "src/model/hf_pooling.h"
#include "src/model/model.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::HfTensor;
using test::TemporaryFolder;

Result<Model> open(const std::string& path) {
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path));
  return Model::from_checkpoint(checkpoint);
}

void write(const TemporaryFolder& folder, const json& config, const std::vector<HfTensor>& tensors) {
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(tensors));
}

Result<Model> open_with(const std::string& model_type, const std::function<void(json&)>& change) {
  TemporaryFolder folder;
  json config = test::small_config(model_type);
  change(config);
  write(folder, config, test::small_tensors(model_type));
  return open(folder.path());
}

class HfFamilies : public ::testing::TestWithParam<const char*> {};

TEST_P(HfFamilies, OpenByEveryPathThatStandsForTheFolder) {
  TemporaryFolder folder;
  write(folder, test::small_config(GetParam()), test::small_tensors(GetParam()));
  for (const char* name : {"", "config.json", "model.safetensors"}) {
    const auto model = open(folder.path(name));
    ASSERT_TRUE(model.ok()) << model.status().message;
    const ModelSpec& spec = model->spec();
    EXPECT_EQ(spec.arch, std::string(GetParam()) == "mistral" ? "llama" : GetParam());
    EXPECT_EQ(spec.name, std::filesystem::path(folder.path()).filename().string());
    EXPECT_EQ(spec.n_layers, 2);
    EXPECT_EQ(spec.d_model, 32);
    EXPECT_EQ(spec.d_ff, 48);
    EXPECT_EQ(spec.n_heads, 2);
    EXPECT_EQ(spec.n_kv_heads, 1);
    EXPECT_EQ(spec.d_head, 16);
    EXPECT_EQ(spec.n_vocab, 20);
    EXPECT_EQ(spec.n_context_train, 64);
    EXPECT_FLOAT_EQ(spec.norm_epsilon, 1e-5f);
    EXPECT_EQ(spec.n_rot(), 16);
    EXPECT_DOUBLE_EQ(spec.ropes[0].base, 10000.0);
    EXPECT_TRUE(spec.tied_embeddings);
    EXPECT_EQ(spec.qkv_bias, std::string(GetParam()) == "qwen2");
    EXPECT_EQ(spec.qk_norm, std::string(GetParam()) == "qwen3" ? QkNorm::head : QkNorm::none);
    EXPECT_EQ(model->find(WeightRole::ffn_up, 1)->name, "model.layers.1.mlp.up_proj.weight");
    EXPECT_FALSE(model->find(WeightRole::attn_q, 0)->unpermute);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HfFamilies, ::testing::Values("llama", "mistral", "qwen2", "qwen3"));

TEST(HfFolder, NamesWithoutPrefixAndDerivedBuffersAreTaken) {
  TemporaryFolder folder;
  std::vector<HfTensor> tensors = test::small_tensors("llama");
  for (HfTensor& t : tensors) t.name = t.name.substr(6);
  tensors.push_back({"layers.0.self_attn.rotary_emb.inv_freq", {8}});
  write(folder, test::small_config("llama"), tensors);
  const auto model = open(folder.path());
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_EQ(model->find(WeightRole::token_embd)->name, "embed_tokens.weight");
}

TEST(HfFolder, HeadsFollowFromTheWidthWhereTheFamilySaysSo) {
  const auto model =
      open_with("qwen2", [](json& c) { c.erase("head_dim"), c.erase("rope_theta"), c.erase("rms_norm_eps"); });
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_EQ(model->spec().d_head, 16);
  EXPECT_FLOAT_EQ(model->spec().norm_epsilon, 1e-6f);
  const auto wide = open_with("qwen3", [](json& c) { c["head_dim"] = nullptr; });
  ASSERT_FALSE(wide.ok()) << "Qwen 3's heads have 128 elements by default, which these tensors have not";
  EXPECT_NE(wide.status().message.find("self_attn.q_proj.weight is 32 x 32 (rank 2), expected 256 x 32"),
            std::string::npos)
      << wide.status().message;
}

// transformers ties embedding and head where config.json says so and one is missing or both are equal; else each is its own.
TEST(HfFolder, AHeadOfItsOwnCountsWhereItDiffersFromTheEmbedding) {
  const std::string embedding = test::random_floats("model.embed_tokens.weight", {20, 32});
  std::string last_differs = embedding;
  last_differs.back() = static_cast<char>(last_differs.back() ^ 1);
  const struct {
    const char* what;
    json tie;
    std::vector<HfTensor> heads;
    bool tied, told;
  } rows[] = {{"no head", true, {}, true, false},
              {"equal", true, {{"lm_head.weight", {20, 32}, "F32", embedding}}, true, false},
              {"equal, not tied", false, {{"lm_head.weight", {20, 32}, "F32", embedding}}, false, false},
              {"other values", true, {{"lm_head.weight", {20, 32}}}, false, true},
              {"other last value", true, {{"lm_head.weight", {20, 32}, "F32", last_differs}}, false, true},
              {"other type", true, {{"lm_head.weight", {20, 32}, "BF16", std::string(20 * 32 * 2, '\1')}}, false, true},
              {"other values, not tied", false, {{"lm_head.weight", {20, 32}}}, false, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    TemporaryFolder folder;
    json config = test::small_config("llama");
    config["tie_word_embeddings"] = row.tie;
    auto tensors = test::small_tensors("llama");
    tensors.insert(tensors.begin(), row.heads.begin(), row.heads.end());
    write(folder, config, tensors);
    const auto checkpoint = open_checkpoint(folder.path());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
    const auto model = Model::from_checkpoint(*checkpoint);
    ASSERT_TRUE(model.ok()) << model.status().message;
    EXPECT_EQ(model->spec().tied_embeddings, row.tied);
    EXPECT_EQ(model->find(WeightRole::output) != nullptr, !row.tied);
    const auto& warnings = checkpoint->conventions().warnings;
    EXPECT_EQ(warnings.size(), row.told ? 1u : 0u);
    if (row.told && !warnings.empty()) {
      EXPECT_NE(warnings[0].find("lm_head.weight differs from the embedding"), std::string::npos) << warnings[0];
    }
  }
}

// The comparison reads both matrices whole: whoever loads hears of it on the way, and ends it.
TEST(HfFolder, ComparingAHeadWithTheEmbeddingHasAPulse) {
  constexpr int64_t kRows = 1 << 17;
  constexpr uint64_t kBytes = kRows * 32 * sizeof(float);
  const std::string zeros(kBytes, '\0');
  for (const bool has_head : {true, false}) {
    json config = test::small_config("llama");
    config["vocab_size"] = kRows;
    auto tensors = test::small_tensors("llama");
    tensors[0] = {"model.embed_tokens.weight", {kRows, 32}, "F32", zeros};
    if (has_head) tensors.push_back({"lm_head.weight", {kRows, 32}, "F32", zeros});
    TemporaryFolder folder;
    write(folder, config, tensors);
    uint64_t n_read = 0, most = 0;
    int n_beats = 0, ends_at = 0;
    const Pulse pulse([&](uint64_t n) {
      n_read += n, most = std::max(most, n);
      return ++n_beats == ends_at ? error(Code::cancelled, "stopped") : Status{};
    });
    ASSERT_TRUE(open_checkpoint(folder.path()).ok());
    EXPECT_EQ(n_read >= 2 * kBytes, has_head) << n_read;
    EXPECT_LE(most, uint64_t{1} << 20);
    if (!has_head) continue;
    ends_at = n_beats / 2, n_beats = 0;
    EXPECT_EQ(open_checkpoint(folder.path()).status().code, Code::cancelled);
    EXPECT_EQ(n_beats, ends_at);
  }
}

// What no reference reads is passed over, of any shape and type; everything else is refused by its name.
TEST(HfFolder, TensorsThatNothingReads) {
  const struct {
    const char* name;
    std::vector<int64_t> shape;
    const char* dtype;
    bool taken;
  } rows[] = {{"model.layers.0.self_attn.rotary_emb.inv_freq", {8}, "F32", true},
              {"model.layers.0.self_attn.rotary_emb.cos_cached", {1, 1, 64, 16}, "F16", true},
              {"model.embeddings.position_ids", {1, 64}, "I64", true},
              {"position_ids", {1, 64}, "I64", true},
              {"logit_scale", {}, "F32", true},
              {"logit_bias", {}, "F32", true},
              {"model.layers.0.self_attn.k_scale", {}, "F32", true},
              {"model.layers.1.self_attn.v_scale", {1}, "F32", true},
              {"model.layers.0.mlp.up_proj.input_scale", {}, "F32", true},
              {"model.layers.0.mlp.up_proj.weight_scale", {}, "F32", false},
              {"model.scale", {}, "F32", false},
              {"visual.proj", {8}, "F32", false},
              {"vision_tower.blocks.0.weight", {8}, "F32", false},
              {"score.weight", {2, 32}, "F32", false}};
  for (const auto& row : rows) {
    TemporaryFolder folder;
    auto tensors = test::small_tensors("llama");
    int64_t n = std::string(row.dtype) == "I64" ? 8 : std::string(row.dtype) == "F16" ? 2 : 4;
    for (const int64_t d : row.shape) n *= d;
    tensors.push_back({row.name, row.shape, row.dtype, std::string(static_cast<size_t>(n), '\0')});
    write(folder, test::small_config("llama"), tensors);
    const auto model = open(folder.path());
    EXPECT_EQ(model.ok(), row.taken) << row.name << ": " << model.status().message;
    if (!row.taken) {
      EXPECT_NE(model.status().message.find(row.name), std::string::npos) << model.status().message;
    }
  }
}

// Modules that would change a vector: the folder's own pooling is refused, by the module's name.
TEST(HfFolder, ModulesBehindThePoolingThatAreNotComputedAreNamed) {
  const struct {
    std::vector<std::string> kinds;
    uint64_t stored;
    const char* named;
  } cases[] = {{{"Transformer", "Pooling"}, 1, ""},          {{"Transformer", "Pooling", "Normalize"}, 1, ""},
               {{"Transformer", "Pooling", "Dropout"}, 1, ""}, {{"Transformer", "Dropout", "Pooling"}, 1, ""},
               {{"Transformer", "Dense", "Pooling"}, 0, "Dense"}, {{"Transformer", "Pooling", "Pooling"}, 0, "Pooling"},
               {{"Transformer", "Pooling", "LayerNorm"}, 0, "LayerNorm"}, {{"CLIPModel", "Pooling"}, 0, "CLIPModel"}};
  for (const auto& c : cases) {
    TemporaryFolder folder;
    write(folder, test::small_config("qwen2"), test::small_tensors("qwen2"));
    json modules = json::array();
    for (const std::string& kind : c.kinds)
      modules.push_back({{"idx", modules.size()}, {"path", kind == "Transformer" ? "" : "1_" + kind}, {"type", "sentence_transformers.models." + kind}});
    folder.write("modules.json", modules.dump());
    std::filesystem::create_directories(folder.path("1_Pooling"));
    folder.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
    const auto checkpoint = open_checkpoint(folder.path());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
    const Metadata& metadata = checkpoint->metadata();
    EXPECT_EQ(*metadata.get_u64("qwen2.pooling_type"), c.stored) << c.kinds.back();
    EXPECT_NE(std::string(metadata.key_in_file("qwen2.pooling_type")).find(c.named), std::string::npos) << metadata.key_in_file("qwen2.pooling_type");
  }
}

TEST(HfFolder, PoolingOfSentenceTransformersBecomesGgufsKey) {
  const auto stored = [](const std::string& text) -> std::string {
    TemporaryFolder folder;
    write(folder, test::small_config("qwen2"), test::small_tensors("qwen2"));
    std::filesystem::create_directories(folder.path("1_Pooling"));
    if (!text.empty()) folder.write("1_Pooling/config.json", text);
    const auto checkpoint = open_checkpoint(folder.path());
    if (!checkpoint.ok()) return checkpoint.status().message;
    if (!checkpoint->metadata().find("qwen2.pooling_type")) return "none";
    std::string out = std::to_string(*checkpoint->metadata().get_u64("qwen2.pooling_type"));
    const auto names = checkpoint->metadata().string_array("inlay.embedding.pooling");
    for (const std::string_view name : *names) out += " " + std::string(name);
    return out;
  };
  EXPECT_EQ(stored(""), "none");
  EXPECT_EQ(stored(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})"), "1");
  EXPECT_EQ(stored(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true})"), "0 cls mean");
  EXPECT_EQ(stored("{}"), "1");
  EXPECT_EQ(stored(R"({"pooling_mode_mean_tokens": false})"), "1");
  EXPECT_NE(stored(R"({"pooling_mode_cls_token": 1})").find("1_Pooling/config.json"), std::string::npos);
  for (const HfPoolingMode& mode : hf_pooling_modes()) {
    const std::string name = mode.name, number = mode.stored > 0 ? std::to_string(mode.stored) : "0 " + name;
    EXPECT_EQ(stored(json{{mode.flag, true}}.dump()), number) << name;
    EXPECT_EQ(stored(json{{"pooling_mode", name}}.dump()), number) << name;
    EXPECT_EQ(stored(json{{"pooling_mode", json::array({name})}}.dump()), number) << name;
    EXPECT_EQ(stored(json{{"pooling_mode", nullptr}, {mode.flag, true}}.dump()), number) << name;
    EXPECT_EQ(stored(json{{"pooling_mode", name}, {"pooling_mode_cls_token", true}}.dump()), number) << name;
  }
  EXPECT_EQ(stored(R"({"pooling_mode": "Mean"})"), "1");
  EXPECT_EQ(stored(R"({"pooling_mode": ["mean", "cls"]})"), "0 mean cls");
  std::string names;
  for (const HfPoolingMode& mode : hf_pooling_modes()) names += " " + std::string(mode.name);
  json all = json::object();
  for (const HfPoolingMode& mode : hf_pooling_modes()) all[mode.flag] = true;
  EXPECT_EQ(stored(all.dump()), "0" + names);
  EXPECT_EQ(names, " cls max mean mean_sqrt_len_tokens weightedmean lasttoken") << "the order of sentence-transformers";
  EXPECT_NE(stored(R"({"pooling_mode": []})").find("1 to 16 names"), std::string::npos);
  EXPECT_NE(stored(json{{"pooling_mode", std::vector<std::string>(17, "max")}}.dump()).find("1 to 16 names"), std::string::npos);
  EXPECT_NE(stored(R"({"pooling_mode": ["mean", "median"]})").find("pooling_mode[1] is 'median', expected cls, "), std::string::npos);
  EXPECT_NE(stored(R"({"pooling_mode": "median"})").find("pooling_mode is 'median', expected cls, "), std::string::npos);
  EXPECT_NE(stored(R"({"pooling_mode": 1})").find("pooling_mode"), std::string::npos);
}

TEST(HfFolder, PoolingStandsWhereModulesJsonSays) {
  TemporaryFolder folder;
  write(folder, test::small_config("qwen2"), test::small_tensors("qwen2"));
  std::filesystem::create_directories(folder.path("2_pool"));
  folder.write("2_pool/config.json", R"({"pooling_mode": "lasttoken"})");
  for (const char* type : {"sentence_transformers.models.Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling"}) {
    folder.write("modules.json", json::array({{{"type", "sentence_transformers.models.Transformer"}, {"path", ""}},
                                              {{"type", type}, {"path", "2_pool"}}})
                                     .dump());
    const auto checkpoint = open_checkpoint(folder.path());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
    EXPECT_EQ(*checkpoint->metadata().get_u64("qwen2.pooling_type"), 3u);
  }
  folder.write("modules.json", R"([{"type": "sentence_transformers.models.Pooling", "path": "../other"}])");
  const auto outside = open_checkpoint(folder.path());
  ASSERT_FALSE(outside.ok());
  EXPECT_NE(outside.status().message.find("'../other'"), std::string::npos) << outside.status().message;
}

TEST(HfFolder, LinearAndYarnScalingsAreThoseOfGguf) {
  const auto linear = open_with("llama", [](json& c) { c["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}}; });
  ASSERT_TRUE(linear.ok()) << linear.status().message;
  EXPECT_EQ(linear->spec().ropes[0].scaling, RopeScalingKind::linear);
  EXPECT_DOUBLE_EQ(linear->spec().ropes[0].factor, 4.0);
  for (const bool in_parameters : {true, false}) {
    const auto yarn = open_with("qwen3", [&](json& c) {
      json scaling = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}};
      if (in_parameters) scaling["rope_theta"] = 5000.0;
      c[in_parameters ? "rope_parameters" : "rope_scaling"] = scaling;
    });
    ASSERT_TRUE(yarn.ok()) << yarn.status().message;
    const RopeSpec& rope = yarn->spec().ropes[0];
    EXPECT_EQ(rope.scaling, RopeScalingKind::yarn);
    EXPECT_EQ(rope.original_context, 16);
    EXPECT_DOUBLE_EQ(rope.base, in_parameters ? 5000.0 : 10000.0);
    EXPECT_NEAR(make_rope_table(rope, 16).magnitude, 1.0 + 0.1 * std::log(4.0), 1e-6);
  }
  const auto own = open_with("qwen3", [](json& c) {
    c["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 4.0}, {"attention_factor", 0.75}};
  });
  ASSERT_TRUE(own.ok()) << own.status().message;
  EXPECT_NEAR(make_rope_table(own->spec().ropes[0], 16).magnitude, 0.75, 1e-6);
}

// Expected values: the definition of "llama3" in transformers, by hand.
// Each row: a config.json that says the same as another in other places or words.
TEST(HfFolder, SpellingsOfRopeMeanTheSame) {
  const json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}};
  const json old_yarn = {{"type", "yarn"}, {"factor", "4"}, {"original_max_position_embeddings", 16.0}};
  const json usual = {{"rope_type", "default"}};
  const auto with_theta = [](json object, const json& theta) {
    object["rope_theta"] = theta;
    return object;
  };
  const json with_yarn = {{"rope_theta", 5000.0}, {"rope_scaling", yarn}};
  const json with_base = {{"rope_theta", 5000.0}};
  const struct {
    const char* model_type;
    json said, meant;
  } kRows[] = {
      {"qwen3", {{"rope_theta", 5000.0}, {"rope_parameters", usual}}, with_base},
      {"qwen3", {{"rope_theta", nullptr}, {"rope_parameters", with_theta(usual, 5000)}}, with_base},
      {"qwen3", {{"rope_theta", "5000.0"}, {"rope_scaling", nullptr}, {"rope_parameters", nullptr}}, with_base},
      {"qwen3", {{"rope_theta", 5000}, {"rope_scaling", json::object()}, {"rope_parameters", usual}}, with_base},
      {"qwen3", {{"rope_theta", 5000.0}, {"rope_scaling", yarn}, {"rope_parameters", with_theta(usual, 7000)}}, with_yarn},
      {"qwen3", {{"rope_theta", 5000.0}, {"rope_scaling", json::object()}, {"rope_parameters", yarn}}, with_yarn},
      {"qwen3", {{"rope_theta", nullptr}, {"rope_scaling", with_theta(yarn, 5000)}}, with_yarn},
      {"qwen3", {{"rope_theta", 9.0}, {"rope_scaling", with_theta(old_yarn, 5000)}}, with_yarn},
      {"llama",
       {{"rope_theta", 5000.0}, {"original_max_position_embeddings", 16}, {"rope_parameters", {{"type", "yarn"}, {"factor", 4}}}},
       with_yarn},
      {"gemma3_text",
       {{"rope_theta", nullptr},
        {"rope_parameters", {{"full_attention", with_theta(usual, 5000)}, {"sliding_attention", with_theta(usual, 300)}}}},
       {{"rope_theta", 5000.0}, {"rope_local_base_freq", 300}}},
      {"gemma3_text",
       {{"rope_theta", 5000.0},
        {"rope_local_base_freq", 300},
        {"rope_parameters", {{"full_attention", usual}, {"sliding_attention", usual}}}},
       {{"rope_theta", 5000.0}, {"rope_local_base_freq", 300}}},
      {"gemma3_text",
       {{"rope_theta", nullptr},
        {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8}}},
        {"rope_parameters", {{"full_attention", with_theta(usual, 5000)}, {"sliding_attention", with_theta(usual, 300)}}}},
       {{"rope_theta", 5000.0}, {"rope_local_base_freq", 300}, {"rope_scaling", {{"type", "linear"}, {"factor", 8}}}}},
  };
  const auto ropes = [](const char* model_type, const json& keys) {
    const auto model = open_with(model_type, [&](json& c) { c.update(keys); });
    EXPECT_TRUE(model.ok()) << model.status().message << "\n" << keys;
    std::string out;
    for (const RopeSpec& rope : model.ok() ? model->spec().ropes : std::vector<RopeSpec>()) {
      for (const double v : {rope.base, rope.factor, rope.attention_factor, static_cast<double>(rope.scaling),
                             static_cast<double>(rope.n_rot), static_cast<double>(rope.original_context)})
        out += std::to_string(v) + " ";
    }
    return out;
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(ropes(row.model_type, row.said), ropes(row.model_type, row.meant)) << row.said;
    EXPECT_NE(ropes(row.model_type, row.said), ropes(row.model_type, json::object())) << row.said;
  }
}

TEST(HfFolder, Llama3ScalingBecomesFrequencyFactors) {
  const auto model = open_with("llama", [](json& c) {
    c["rope_theta"] = 10000.0;
    c["rope_scaling"] = {{"rope_type", "llama3"},
                         {"factor", 8.0},
                         {"low_freq_factor", 1.0},
                         {"high_freq_factor", 4.0},
                         {"original_max_position_embeddings", 32}};
  });
  ASSERT_TRUE(model.ok()) << model.status().message;
  const std::vector<float>& factors = model->spec().ropes[0].frequency_factors;
  ASSERT_EQ(factors.size(), 8u);
  // Wavelengths 2 pi 10000^(i/8): 6.3 is below 32 / 4; 19.9 lies between 8 and 32, at (32 / 19.869 - 1) / 3 = 0.20352;
  // the others are above 32.
  EXPECT_FLOAT_EQ(factors[0], 1.0f);
  EXPECT_NEAR(factors[1], 1.0 / ((1 - 0.203520) / 8 + 0.203520), 1e-4);
  for (size_t i = 2; i < 8; ++i) EXPECT_FLOAT_EQ(factors[i], 8.0f);
}

struct WrongConfig {
  const char* key;
  json value;
  Code code;
  const char* expected;
};

TEST(HfFolder, WrongConfigurationsAreRefusedByKey) {
  const WrongConfig cases[] = {
      {"model_type", "mamba", Code::unsupported,
       "model_type is 'mamba', an architecture that is not supported; supported are gemma2, "},
      {"model_type", nullptr, Code::format, "model_type is null, expected a string"},
      {"num_hidden_layers", 0, Code::format, "num_hidden_layers is 0, expected 1 to 1024"},
      {"num_hidden_layers", 5000, Code::format, "num_hidden_layers is 5000, expected 1 to 1024"},
      {"num_hidden_layers", "two", Code::format, "num_hidden_layers"},
      {"hidden_size", nullptr, Code::format, "hidden_size"},
      {"num_key_value_heads", 3, Code::format,
       "num_attention_heads is 2, which is not a multiple of num_key_value_heads 3"},
      {"vocab_size", 21, Code::format, "vocab_size is 21 but model.embed_tokens.weight has 20 rows"},
      {"rms_norm_eps", -1.0, Code::format, "rms_norm_eps is -1, expected a number above 0"},
      {"hidden_act", "gelu", Code::unsupported, "hidden_act is 'gelu', expected 'silu'"},
      {"quantization_config",
       {{"quant_method", "bitsandbytes"}},
       Code::unsupported,
       "quantization_config.quant_method is 'bitsandbytes', expected awq, "},
      {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}, Code::unsupported, "rope_scaling.type is 'dynamic'"},
      {"rope_scaling", {{"rope_type", "linear"}}, Code::format, "factor"},
      {"tie_word_embeddings", false, Code::format, "lm_head.weight is missing"},
  };
  for (const WrongConfig& c : cases) {
    SCOPED_TRACE(c.expected);
    const auto model = open_with("llama", [&](json& config) { config[c.key] = c.value; });
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code, c.code);
    EXPECT_NE(model.status().message.find(c.expected), std::string::npos) << model.status().message;
    EXPECT_NE(model.status().message.find("inlay-"), std::string::npos) << "no file: " << model.status().message;
  }
}

// The window of each layer; 0: none.
std::vector<int32_t> windows_of(const char* model_type, const std::function<void(json&)>& change) {
  const auto model = open_with(model_type, change);
  EXPECT_TRUE(model.ok()) << model.status().message;
  std::vector<int32_t> out;
  for (const LayerAttention& layer : model.ok() ? model->spec().layers : std::vector<LayerAttention>()) out.push_back(layer.window);
  return out;
}

TEST(HfFolder, SlidingWindowsAreThoseThatTheFamilyUses) {
  using Windows = std::vector<int32_t>;
  const auto window = [](json& c) { c["sliding_window"] = 16; };
  const auto nothing = [](json&) {};
  EXPECT_EQ(windows_of("mistral", window), (Windows{16, 16}));
  EXPECT_EQ(windows_of("mistral", nothing), (Windows{0, 0}));
  EXPECT_EQ(windows_of("mistral", [](json& c) { c["sliding_window"] = nullptr; }), (Windows{0, 0}));
  EXPECT_EQ(windows_of("mistral", [](json& c) { c["sliding_window"] = 64; }), (Windows{0, 0})) << "as wide as the context";
  EXPECT_EQ(windows_of("llama", window), (Windows{0, 0})) << "the family has none";
  EXPECT_EQ(windows_of("phi3", window), (Windows{16, 16}));
  EXPECT_EQ(windows_of("gemma2", window), (Windows{16, 0}));
  EXPECT_EQ(windows_of("gemma3_text", window), (Windows{16, 16})) << "the sixth layer sees all";
  EXPECT_EQ(windows_of("gemma3_text", [&](json& c) { window(c), c["sliding_window_pattern"] = 2; }), (Windows{16, 0}));
  EXPECT_EQ(windows_of("olmo2", window), (Windows{0, 0}));
  EXPECT_EQ(windows_of("olmo3", window), (Windows{16, 16}));
  EXPECT_EQ(windows_of("qwen2", window), (Windows{0, 0})) << "use_sliding_window is false by default";
  const auto used = [&](json& c) { window(c), c["use_sliding_window"] = true; };
  EXPECT_EQ(windows_of("qwen2", used), (Windows{0, 0})) << "from layer 28 on";
  EXPECT_EQ(windows_of("qwen2", [&](json& c) { used(c), c["max_window_layers"] = 1; }), (Windows{0, 16}));
  EXPECT_EQ(windows_of("gemma2", [&](json& c) { window(c), c["layer_types"] = {"full_attention", "sliding_attention"}; }),
            (Windows{0, 16}));
  // Not a list of so many layers first.
  const auto huge = open_with("gemma2", [](json& c) { c["num_hidden_layers"] = 2147483647; });
  EXPECT_NE(huge.status().message.find("num_hidden_layers is 2147483647, expected 1 to 1024"), std::string::npos) << huge.status().message;
  const auto odd = open_with("gemma2", [](json& c) { c["layer_types"] = {"full_attention", "chunked_attention"}; });
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.status().message.find("layer_types[1] is 'chunked_attention'"), std::string::npos) << odd.status().message;
  const auto few = open_with("gemma2", [](json& c) { c["layer_types"] = {"full_attention"}; });
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.status().message.find("layer_types has 1 element, expected one for each of num_hidden_layers 2"), std::string::npos)
      << few.status().message;
}

TEST(HfFolder, ScalesAndCapsAreThoseOfTheFamily) {
  const auto gemma = open_with("gemma2", [](json& c) { c["query_pre_attn_scalar"] = 64, c["final_logit_softcapping"] = nullptr; });
  ASSERT_TRUE(gemma.ok()) << gemma.status().message;
  EXPECT_FLOAT_EQ(gemma->spec().attention_scale, 0.125f);
  EXPECT_FLOAT_EQ(gemma->spec().embedding_scale, std::sqrt(32.0f));
  EXPECT_FLOAT_EQ(gemma->spec().attn_softcap, 50.0f) << "where it is not given";
  EXPECT_FLOAT_EQ(gemma->spec().logit_softcap, 0.0f) << "null is none";
  EXPECT_EQ(gemma->spec().activation, Activation::gelu_tanh);
  const auto granite = open_with("granite", [](json& c) {
    c["embedding_multiplier"] = 12, c["residual_multiplier"] = 0.22, c["attention_multiplier"] = 0.015625, c["logits_scaling"] = 16;
  });
  ASSERT_TRUE(granite.ok()) << granite.status().message;
  EXPECT_FLOAT_EQ(granite->spec().embedding_scale, 12.0f);
  EXPECT_FLOAT_EQ(granite->spec().residual_scale, 0.22f);
  EXPECT_FLOAT_EQ(granite->spec().attention_scale, 0.015625f);
  EXPECT_FLOAT_EQ(granite->spec().logit_scale, 1.0f / 16);
}

TEST(HfFolder, LayersHaveTheRopeThatTheFamilyGivesThem) {
  const auto ropes = [](const Model& model) {
    std::vector<int> out;
    for (const LayerAttention& layer : model.spec().layers) out.push_back(layer.rope);
    return out;
  };
  const auto smol = open_with("smollm3", [](json& c) { c["no_rope_layer_interval"] = 2; });
  ASSERT_TRUE(smol.ok()) << smol.status().message;
  EXPECT_EQ(ropes(*smol), (std::vector<int>{0, -1}));
  const auto listed = open_with("smollm3", [](json& c) { c["no_rope_layers"] = {0, 1}; });
  ASSERT_TRUE(listed.ok()) << listed.status().message;
  EXPECT_EQ(ropes(*listed), (std::vector<int>{-1, 0}));
  for (const bool nested : {false, true}) {  // as transformers 4 and 5 write it
    const auto gemma = open_with("gemma3_text", [&](json& c) {
      c["sliding_window"] = 16, c["sliding_window_pattern"] = 2;
      if (nested) {
        c["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
                                {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 20000.0}}}};
      } else {
        c["rope_theta"] = 1e6, c["rope_local_base_freq"] = 20000.0, c["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8.0}};
      }
    });
    ASSERT_TRUE(gemma.ok()) << gemma.status().message;
    EXPECT_EQ(ropes(*gemma), (std::vector<int>{1, 0}));
    ASSERT_EQ(gemma->spec().ropes.size(), 2u);
    EXPECT_DOUBLE_EQ(gemma->spec().ropes[0].base, 1e6);
    EXPECT_DOUBLE_EQ(gemma->spec().ropes[0].factor, 8.0);
    EXPECT_DOUBLE_EQ(gemma->spec().ropes[1].base, 20000.0);
    EXPECT_EQ(gemma->spec().ropes[1].scaling, RopeScalingKind::none);
  }
}

// The magnitude: sqrt(1 + ln(64 / 16) / ln(16)).
TEST(HfFolder, LongRopeHasTwoSetsOfFactors) {
  const std::vector<float> short_factors = {1, 1, 1, 1.5f, 1.5f, 2}, long_factors = {1, 2, 3, 4, 5, 6};
  const auto phi = [&](json& c) {
    c["partial_rotary_factor"] = 0.75, c["original_max_position_embeddings"] = 16;
    c["rope_scaling"] = {{"type", "longrope"}, {"short_factor", short_factors}, {"long_factor", long_factors}};
  };
  const auto model = open_with("phi3", phi);
  ASSERT_TRUE(model.ok()) << model.status().message;
  const RopeSpec& rope = model->spec().ropes[0];
  EXPECT_EQ(rope.n_rot, 12);
  EXPECT_EQ(rope.scaling, RopeScalingKind::longrope);
  EXPECT_EQ(rope.original_context, 16);
  for (const int32_t n_context : {16, 17}) {
    const RopeTable table = make_rope_table(rope, n_context);
    const std::vector<float>& factors = n_context <= 16 ? short_factors : long_factors;
    EXPECT_FLOAT_EQ(table.magnitude, std::sqrt(1.5f));
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_FLOAT_EQ(table.inv_freq[i], std::pow(10000.0f, -static_cast<float>(i) / 6) / factors[i]) << n_context << ", " << i;
    }
  }
  const auto few = open_with("phi3", [&](json& c) { phi(c), c["rope_scaling"]["long_factor"] = {1, 2}; });
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.status().message.find("long_factor has 2 elements, expected 6"), std::string::npos) << few.status().message;
  const auto none = open_with("phi3", [&](json& c) { phi(c), c["rope_scaling"].erase("short_factor"); });
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message.find("short_factor"), std::string::npos) << none.status().message;
}

struct WrongTensors {
  std::function<void(std::vector<HfTensor>&)> change;
  Code code;
  const char* expected;
};

TEST(HfFolder, WrongTensorsAreRefusedByName) {
  const auto find = [](std::vector<HfTensor>& tensors, const char* name) {
    return std::find_if(tensors.begin(), tensors.end(), [&](const HfTensor& t) { return t.name == name; });
  };
  const char* up = "model.layers.1.mlp.up_proj.weight";
  const WrongTensors cases[] = {
      {[&](auto& t) { t.erase(find(t, up)); }, Code::format, "model.layers.1.mlp.up_proj.weight is missing"},
      {[&](auto& t) {
         find(t, up)->shape = {48, 31};
       },
       Code::format, "model.layers.1.mlp.up_proj.weight is 48 x 31 (rank 2), expected 48 x 32"},
      {[&](auto& t) {
         *find(t, up) = {up, {48, 32}, "F8_E4M3", std::string(48 * 32, '\0')};
       },
       Code::unsupported, "'model.layers.1.mlp.up_proj.weight' has the dtype F8_E4M3, expected F32, F16 or BF16"},
      {[&](auto& t) {
         t.push_back({"model.layers.1.mlp.gate_proj.bias", {48}});
       },
       Code::unsupported, "mlp_bias of config.json is not given, which means false, and transformers would leave out the tensor 'model.layers.1.mlp.gate_proj.bias'"},
      {[&](auto& t) {
         t.push_back({"model.layers.2.mlp.up_proj.weight", {48, 32}});
       },
       Code::unsupported, "model.layers.2.mlp.up_proj.weight is not part"},
  };
  for (const WrongTensors& c : cases) {
    SCOPED_TRACE(c.expected);
    TemporaryFolder folder;
    std::vector<HfTensor> tensors = test::small_tensors("llama");
    c.change(tensors);
    write(folder, test::small_config("llama"), tensors);
    const auto model = open(folder.path());
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code, c.code);
    EXPECT_NE(model.status().message.find(c.expected), std::string::npos) << model.status().message;
    EXPECT_TRUE(model.status().message.starts_with(folder.path())) << model.status().message;
  }
}

// The tensors in two files, and the index that names them.
struct Sharded {
  TemporaryFolder folder;
  json index;

  Sharded() {
    const std::vector<HfTensor> all = test::small_tensors("llama");
    const auto middle = all.begin() + 7;
    folder.write("config.json", test::small_config("llama").dump());
    folder.write("a.safetensors", test::safetensors_of({all.begin(), middle}));
    folder.write("b.safetensors", test::safetensors_of({middle, all.end()}));
    for (auto t = all.begin(); t != all.end(); ++t)
      index["weight_map"][t->name] = t < middle ? "a.safetensors" : "b.safetensors";
    write_index();
  }
  void write_index() const { folder.write("model.safetensors.index.json", index.dump()); }
};

TEST(HfFolder, ShardsGiveTheSameBytesAsOneFile) {
  TemporaryFolder whole;
  write(whole, test::small_config("llama"), test::small_tensors("llama"));
  const Sharded sharded;
  const auto one = open_checkpoint(whole.path()),
             many = open_checkpoint(sharded.folder.path("model.safetensors.index.json"));
  ASSERT_TRUE(one.ok() && many.ok()) << many.status().message;
  ASSERT_EQ(one->tensors().size(), many->tensors().size());
  std::vector<std::byte> scratch_a, scratch_b;
  for (const TensorEntry& tensor : one->tensors()) {
    const TensorEntry* twin = many->find(tensor.name);
    ASSERT_NE(twin, nullptr);
    const auto a = one->bytes(tensor, scratch_a), b = many->bytes(*twin, scratch_b);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(std::memcmp(*a, *b, tensor.n_bytes), 0) << tensor.name;
  }
}

TEST(HfFolder, BadIndicesAndShardsAreRefusedByName) {
  struct Case {
    std::function<void(Sharded&)> change;
    const char* expected;
  };
  const char* norm = "model.norm.weight";
  const Case cases[] = {
      {[&](Sharded& s) { s.index["weight_map"][norm] = "c.safetensors"; }, "c.safetensors"},
      {[&](Sharded& s) { s.index["weight_map"][norm] = "../a.safetensors"; },
       "is '../a.safetensors', expected the name of a .safetensors file"},
      {[&](Sharded& s) { s.index["weight_map"][norm] = 3; }, "weight_map.model.norm.weight"},
      {[&](Sharded& s) { s.index["weight_map"][norm] = "b.safetensors"; },
       "'model.norm.weight' is said to be in b.safetensors, which has no such tensor"},
      {[&](Sharded& s) { s.index.erase("weight_map"); }, "weight_map"},
      {[&](Sharded& s) { s.index["weight_map"] = json::object(); }, "weight_map"},
      {[&](Sharded& s) { std::filesystem::resize_file(s.folder.path("b.safetensors"), 20000); },
       "b.safetensors: the file has 20000 bytes, but its header asks for 50845: the download is likely not complete"},
      {[&](Sharded& s) { s.folder.write("b.safetensors", test::safetensors_of(test::small_tensors("llama"))); },
       "stands in more than one file"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.expected);
    Sharded sharded;
    ASSERT_TRUE(open(sharded.folder.path()).ok());
    sharded.index = json::parse(std::ifstream(sharded.folder.path("model.safetensors.index.json")));
    c.change(sharded);
    sharded.write_index();
    const auto model = open(sharded.folder.path());
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message.find(c.expected), std::string::npos) << model.status().message;
    EXPECT_TRUE(model.status().message.starts_with(sharded.folder.path())) << model.status().message;
  }
}

TEST(HfFolder, WhatLacksIsNamed) {
  TemporaryFolder folder;
  const auto empty = open(folder.path());
  EXPECT_EQ(empty.status().code, Code::not_found);
  EXPECT_NE(empty.status().message.find("config.json"), std::string::npos) << empty.status().message;
  folder.write("config.json", test::small_config("llama").dump());
  const auto no_weights = open(folder.path());
  EXPECT_EQ(no_weights.status().code, Code::not_found);
  EXPECT_NE(no_weights.status().message.find("neither model.safetensors nor"), std::string::npos)
      << no_weights.status().message;
  folder.write("pytorch_model.bin", "x");
  EXPECT_EQ(open(folder.path()).status().code, Code::unsupported);
}

}  // namespace
}  // namespace inlay
