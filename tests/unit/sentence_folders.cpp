// Folders of sentence-transformers, and the GGUF files that are made of them: what stands behind the pooling, and what becomes of texts before
// they are tokens.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "src/engine/convert.h"
#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "src/formats/metadata_builder.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/compare.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::HfTensor;
using test::TemporaryFolder;

constexpr size_t kWidth = 32;  // of small_config

json tokenizer() {
  json vocabulary = json::object();
  const char* words[] = {"[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "A", "query:", "B"};
  for (const char* word : words) vocabulary[word] = vocabulary.size();
  const auto token = [](const char* name) { return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; };
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json special = {{"[CLS]", {{"id", "[CLS]"}, {"ids", {1}}, {"tokens", {"[CLS]"}}}}, {"[SEP]", {{"id", "[SEP]"}, {"ids", {2}}, {"tokens", {"[SEP]"}}}}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"}, {"single", {token("[CLS]"), text, token("[SEP]")}}, {"pair", {token("[CLS]"), text, token("[SEP]")}}, {"special_tokens", special}}},
          {"decoder", nullptr},
          {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "[UNK]"}}}};
}

// A small model that is embedded by the mean, with the modules behind that in order: "Dense", "Normalize", ...
class SentenceFolder : public TemporaryFolder {
 public:
  explicit SentenceFolder(const std::vector<std::string>& modules = {}) {
    write("config.json", test::small_config("qwen2").dump());
    write("model.safetensors", test::safetensors_of(test::small_tensors("qwen2")));
    write("tokenizer.json", tokenizer().dump());
    json list = json::array({{{"idx", 0}, {"name", "0"}, {"path", ""}, {"type", "sentence_transformers.models.Transformer"}}});
    list.push_back({{"idx", 1}, {"name", "1"}, {"path", "1_Pooling"}, {"type", "sentence_transformers.models.Pooling"}});
    for (const std::string& kind : modules) {
      const std::string number = std::to_string(list.size());
      list.push_back({{"idx", list.size()}, {"name", number}, {"path", number + "_" + kind}, {"type", "sentence_transformers.models." + kind}});
    }
    write("modules.json", list.dump());
    std::filesystem::create_directories(path("1_Pooling"));
    write("1_Pooling/config.json", json{{"word_embedding_dimension", kWidth}, {"pooling_mode_mean_tokens", true}}.dump());
  }

  void dense(const std::string& name, const json& config, const std::vector<HfTensor>& tensors) const {
    std::filesystem::create_directories(path(name));
    write(name + "/config.json", config.dump());
    write(name + "/model.safetensors", test::safetensors_of(tensors));
  }
};

json dense_config(int64_t n_in, int64_t n_out, bool bias, const char* activation) {
  return {{"in_features", n_in}, {"out_features", n_out}, {"bias", bias}, {"activation_function", activation}};
}

constexpr const char *kIdentity = "torch.nn.modules.linear.Identity", *kTanh = "torch.nn.modules.activation.Tanh";

std::vector<HfTensor> dense_tensors(const std::string& seed, int64_t n_in, int64_t n_out, bool bias) {
  std::vector<HfTensor> out = {{"linear.weight", {n_out, n_in}, "F32", test::random_floats(seed + "w", {n_out, n_in})}};
  if (bias) out.push_back({"linear.bias", {n_out}, "F32", test::random_floats(seed + "b", {n_out})});
  return out;
}

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::vector<float> through_dense(const std::vector<float>& in, const std::vector<HfTensor>& tensors, bool is_tanh) {
  const std::vector<float> weight = floats_of(tensors[0].data), bias = tensors.size() > 1 ? floats_of(tensors[1].data) : std::vector<float>();
  std::vector<float> out;
  for (size_t row = 0; row < weight.size() / in.size(); ++row) {
    double sum = bias.empty() ? 0 : bias[row];
    for (size_t k = 0; k < in.size(); ++k) sum += double{weight[row * in.size() + k]} * in[k];
    out.push_back(static_cast<float>(is_tanh ? std::tanh(sum) : sum));
  }
  return out;
}

std::vector<float> of_length_one(std::vector<float> v) {
  double squares = 0;
  for (const float x : v) squares += double{x} * x;
  for (float& x : v) x = static_cast<float>(x / std::sqrt(squares));
  return v;
}

Result<std::shared_ptr<Engine>> load(const std::string& path) { return Engine::load(path, {.device = DeviceKind::reference, .n_context = 48, .n_threads = 1}); }

// The folder, and a GGUF file of it.
std::vector<std::shared_ptr<Engine>> both(const TemporaryFolder& folder) {
  std::vector<std::shared_ptr<Engine>> out;
  const std::string file = folder.path() + ".gguf";
  const Status converted = convert_to_gguf(folder.path(), file, {.type = ConvertType::f32});
  EXPECT_TRUE(converted.ok()) << converted.message;
  for (const std::string& path : {folder.path(), file}) {
    auto engine = load(path);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    if (engine.ok()) out.push_back(*engine);
  }
  std::filesystem::remove(file);
  return out;
}

std::vector<float> vector_of(Engine& engine, const std::vector<int32_t>& tokens, const EmbedOptions& options) {
  const std::span<const int32_t> text(tokens);
  std::vector<float> out(embedding_width(engine, options));
  const Status status = embed(engine, {&text, 1}, options, out);
  EXPECT_TRUE(status.ok()) << status.message;
  return out;
}

const std::vector<int32_t> kTokens = {3, 4, 5, 6};

TEST(SentenceFolders, WhatStandsBehindThePoolingIsComputed) {
  for (const char* activation : {kIdentity, kTanh}) {
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(std::string(activation) + (bias ? " with bias" : ""));
      SentenceFolder folder({"Dense"});
      const auto tensors = dense_tensors("one", kWidth, 12, bias);
      folder.dense("2_Dense", dense_config(kWidth, 12, bias, activation), tensors);
      const auto engines = both(folder);
      ASSERT_EQ(engines.size(), 2u);
      for (const auto& engine : engines) {
        const std::vector<float> mean = vector_of(*engine, kTokens, {.pooling = Pooling::mean});
        ASSERT_EQ(mean.size(), kWidth);
        const std::vector<float> want = through_dense(mean, tensors, activation == kTanh);
        EXPECT_LT(test::nmse(vector_of(*engine, kTokens, {}), want), 1e-10);
        EXPECT_LT(test::nmse(vector_of(*engine, kTokens, {.normalize = true}), of_length_one(want)), 1e-10);
        EXPECT_GT(test::nmse(vector_of(*engine, kTokens, {}), through_dense(mean, dense_tensors("two", kWidth, 12, bias), activation == kTanh)), 1e-3) << "other weights";
        EXPECT_GT(test::nmse(vector_of(*engine, kTokens, {}), through_dense(mean, tensors, activation != kTanh)), 1e-6) << "another activation";
      }
    }
  }
}

TEST(SentenceFolders, StepsAreTakenInTheOrderOfTheModules) {
  const auto first = dense_tensors("one", kWidth, 12, true), second = dense_tensors("two", 12, 5, false);
  const struct {
    std::vector<std::string> modules;
    std::function<std::vector<float>(const std::vector<float>&)> want;
  } rows[] = {
      {{"Normalize"}, [](const auto& mean) { return of_length_one(mean); }},
      {{"Dropout"}, [](const auto& mean) { return mean; }},
      {{"Dense", "Normalize"}, [&](const auto& mean) { return of_length_one(through_dense(mean, first, true)); }},
      {{"Normalize", "Dense"}, [&](const auto& mean) { return through_dense(of_length_one(mean), first, true); }},
      {{"Dense", "Dense"}, [&](const auto& mean) { return through_dense(through_dense(mean, first, true), second, false); }},
  };
  std::vector<std::vector<float>> all;
  for (const auto& row : rows) {
    SentenceFolder folder(row.modules);
    for (size_t i = 0; i < row.modules.size(); ++i) {
      const bool is_second = i > 0 && row.modules[0] == "Dense";
      if (row.modules[i] != "Dense") continue;
      folder.dense(std::to_string(i + 2) + "_Dense", is_second ? dense_config(12, 5, false, kIdentity) : dense_config(kWidth, 12, true, kTanh),
                   is_second ? second : first);
    }
    const auto engines = both(folder);
    ASSERT_EQ(engines.size(), 2u);
    for (const auto& engine : engines) {
      const auto found = vector_of(*engine, kTokens, {}), want = row.want(vector_of(*engine, kTokens, {.pooling = Pooling::mean}));
      ASSERT_EQ(found.size(), want.size());
      EXPECT_LT(test::nmse(found, want), 1e-10) << row.modules[0];
      all.push_back(found);
    }
  }
  EXPECT_GT(test::nmse(all[6], all[4]), 1e-3) << "the order counts";
}

using Vector = std::vector<double>;

// Of the states of a text's tokens, by the definitions of sentence-transformers.
Vector pooled(const std::string& mode, const std::vector<std::vector<float>>& states) {
  Vector out(kWidth, mode == "max" ? -1e30 : 0.0);
  double weights = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const double weight = mode == "cls" ? i == 0 : mode == "lasttoken" ? i + 1 == states.size() : mode == "weightedmean" ? static_cast<double>(i + 1) : 1;
    weights += weight;
    for (size_t k = 0; k < kWidth; ++k) out[k] = mode == "max" ? std::max(out[k], double{states[i][k]}) : out[k] + weight * states[i][k];
  }
  for (double& v : out) v /= mode == "max" ? 1 : mode == "mean_sqrt_len_tokens" ? std::sqrt(static_cast<double>(states.size())) : weights;
  return out;
}

TEST(SentenceFolders, EveryPoolingIsComputedAloneAndBesideOthers) {
  const std::vector<std::vector<std::string>> rows = {{"cls"}, {"max"}, {"mean"}, {"mean_sqrt_len_tokens"}, {"weightedmean"}, {"lasttoken"}, {"mean", "max"},
                                                      {"lasttoken", "cls"}, {"max", "max"}, {"weightedmean", "lasttoken", "mean_sqrt_len_tokens", "cls", "mean", "max"}};
  std::vector<std::vector<float>> all;
  for (const auto& modes : rows) {
    SCOPED_TRACE(json(modes).dump());
    SentenceFolder folder;
    folder.write("1_Pooling/config.json", json{{"pooling_mode", modes}}.dump());
    for (const auto& engine : both(folder)) {
      for (const size_t n : {size_t{1}, size_t{2}, kTokens.size(), size_t{40}}) {  // the last one in several chunks
        std::vector<int32_t> tokens;
        for (size_t i = 0; i < n; ++i) tokens.push_back(kTokens[i * i % kTokens.size()]);
        std::vector<std::vector<float>> states;  // a token's state is the last one of the text up to it
        for (size_t i = 1; i <= n; ++i) states.push_back(vector_of(*engine, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i)}, {.pooling = Pooling::last}));
        std::vector<float> want;
        for (const std::string& mode : modes)
          for (const double v : pooled(mode, states)) want.push_back(static_cast<float>(v));
        const auto found = vector_of(*engine, tokens, {});
        ASSERT_EQ(found.size(), modes.size() * kWidth);
        EXPECT_LT(test::nmse(found, want), 1e-10) << n;
        EXPECT_LT(test::nmse(vector_of(*engine, tokens, {.normalize = true}), of_length_one(want)), 1e-10) << n;
        if (n == kTokens.size() && modes.size() == 1) all.push_back(found);
      }
    }
  }
  ASSERT_EQ(all.size(), 12u);
  for (size_t i = 0; i < all.size(); i += 2)  // the control: they are different
    for (size_t j = 0; j < i; j += 2) EXPECT_GT(test::nmse(all[i], all[j]), 1e-3) << i << " " << j;
}

TEST(SentenceFolders, ADenseModuleTakesAllPooledVectors) {
  SentenceFolder folder({"Dense"});
  folder.write("1_Pooling/config.json", json{{"pooling_mode", {"max", "weightedmean"}}}.dump());
  const auto tensors = dense_tensors("one", 2 * kWidth, 12, true);
  folder.dense("2_Dense", dense_config(2 * kWidth, 12, true, kTanh), tensors);
  SentenceFolder plain;
  plain.write("1_Pooling/config.json", json{{"pooling_mode", {"max", "weightedmean"}}}.dump());
  const auto with = both(folder), without = both(plain);
  ASSERT_EQ(with.size() + without.size(), 4u);
  const auto in = vector_of(*without[0], kTokens, {});
  EXPECT_LT(test::nmse(vector_of(*with[0], kTokens, {}), through_dense(in, tensors, true)), 1e-10);
  EXPECT_EQ(vector_of(*with[0], kTokens, {}), vector_of(*with[1], kTokens, {}));
  folder.dense("2_Dense", dense_config(kWidth, 12, true, kTanh), dense_tensors("one", kWidth, 12, true));
  EXPECT_NE(load(folder.path()).status().message.find("expected 64 for each"), std::string::npos);
}

TEST(SentenceFolders, APoolingThatNobodyHasIsRefused) {
  MetadataBuilder metadata;
  const std::string_view names[] = {"mean", "median"};
  metadata.texts("inlay.embedding.pooling", names);
  const auto rules = EmbeddingRules::read(metadata.build("file"), kWidth);
  ASSERT_FALSE(rules.ok());
  EXPECT_NE(rules.status().message.find("inlay.embedding.pooling[1] is 'median', expected cls, "), std::string::npos) << rules.status().message;
}

// A large Dense module is in memory once: where the metadata have it.
TEST(SentenceFolders, WeightsAreNotCopied) {
  constexpr size_t kRows = 8192;
  MetadataBuilder builder;
  const std::string_view steps[] = {"dense"};
  builder.texts("inlay.embedding.steps", steps);
  builder.f32s("inlay.embedding.step.0.weight", std::vector<float>(kRows * kWidth, 0.5f));
  builder.u32("inlay.embedding.step.0.width", kRows);
  builder.text("inlay.embedding.step.0.activation", "identity");
  const Metadata metadata = builder.build("file");
  const int64_t before = test::allocated_bytes();
  const auto rules = EmbeddingRules::read(metadata, kWidth);
  const int64_t taken = test::allocated_bytes() - before;
  ASSERT_TRUE(rules.ok()) << rules.status().message;
  EXPECT_LT(taken, 10000);
  EXPECT_EQ(metadata.f32_array("inlay.embedding.step.0.weight")->size(), kRows * kWidth);  // the control: a copy
  EXPECT_GE(test::allocated_bytes() - before - taken, static_cast<int64_t>(kRows * kWidth * sizeof(float)));
  builder.i32s("inlay.embedding.step.0.bias", std::vector<int32_t>(kRows, 1));
  EXPECT_NE(EmbeddingRules::read(builder.build("file"), kWidth).status().message.find("step.0.bias is expected to be an array of f32"), std::string::npos);
  Vector vector(kWidth, 1.0);
  rules->apply(vector);
  EXPECT_EQ(vector, Vector(kRows, 0.5 * kWidth));
}

TEST(SentenceFolders, OnlyTheFirstValuesAreKept) {
  SentenceFolder folder;
  folder.write("config_sentence_transformers.json", R"({"truncate_dim": 8})");
  for (const auto& engine : both(folder)) {
    const auto mean = vector_of(*engine, kTokens, {.pooling = Pooling::mean});
    EXPECT_TRUE(test::same_bits(vector_of(*engine, kTokens, {}), std::span(mean).first(8)));
  }
}

TEST(SentenceFolders, ADenseModuleThatIsNotComputedIsRefusedByName) {
  const json usual = dense_config(kWidth, 12, true, kTanh);
  const struct {
    json change;
    const char* named;  // empty: computed
  } rows[] = {{json::object(), ""},
              {{{"activation_function", "torch.nn.modules.activation.ReLU"}}, "ReLU"},
              {{{"activation_function", "mine.Tanh"}}, "mine.Tanh"},
              {{{"use_residual", true}}, "use_residual"},
              {{{"use_residual", false}}, ""},
              {{{"module_input_name", "token_embeddings"}}, "module_input_name"},
              {{{"module_output_name", nullptr}}, ""},
              {{{"module_output_name", "sentence_embedding"}}, ""},
              {{{"new_thing", 0}}, "new_thing"}};
  for (const auto& row : rows) {
    SentenceFolder folder({"Dense"});
    json config = usual;
    config.update(row.change);
    folder.dense("2_Dense", config, dense_tensors("one", kWidth, 12, true));
    const auto engine = load(folder.path());
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    const auto pooling = pooling_of(**engine);
    EXPECT_EQ(pooling.ok(), row.named[0] == '\0') << config;
    if (!pooling.ok()) {
      EXPECT_NE(pooling.status().message.find(row.named), std::string::npos) << pooling.status().message;
    }
  }
  const struct {
    std::vector<HfTensor> tensors;
    const char* named;
  } files[] = {{{{"linear.weight", {12, 31}}, {"linear.bias", {12}}}, "another shape"},
               {{{"linear.weight", {12, kWidth}}}, "expected the tensor linear.weight and linear.bias"},
               {{{"linear.weight", {12, kWidth}}, {"linear.bias", {12}}, {"residual.weight", {12, kWidth}}}, "residual.weight"}};
  for (const auto& row : files) {
    SentenceFolder folder({"Dense"});
    folder.dense("2_Dense", usual, row.tensors);
    const auto engine = load(folder.path());
    ASSERT_FALSE(engine.ok()) << row.named;
    EXPECT_NE(engine.status().message.find(row.named), std::string::npos) << engine.status().message;
  }
  SentenceFolder wide({"Dense"});
  wide.dense("2_Dense", dense_config(16, 12, false, kTanh), dense_tensors("one", 16, 12, false));
  const auto engine = load(wide.path());
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.status().message.find("expected 32 for each of"), std::string::npos) << engine.status().message;
}

TEST(SentenceFolders, TextsBecomeTokensByTheLibrarysRules) {
  const json prompts = {{"prompts", {{"query", "query: "}, {"none", ""}}}};
  const auto with_default = [&](const char* name) {
    json out = prompts;
    out["default_prompt_name"] = name;
    return out;
  };
  const struct {
    const char* file;
    json content;
    const char* text;
    std::vector<int32_t> tokens;
    bool without_prompt = false;
  } rows[] = {
      {"", {}, "a b c d e", {1, 3, 4, 5, 6, 7, 2}},
      {"sentence_bert_config.json", {{"max_seq_length", 5}}, "a b c d e", {1, 3, 4, 5, 2}},
      {"sentence_bert_config.json", {{"max_seq_length", 7}}, "a b c d e", {1, 3, 4, 5, 6, 7, 2}},
      {"sentence_bert_config.json", {{"max_seq_length", nullptr}}, "a b c d e", {1, 3, 4, 5, 6, 7, 2}},
      {"tokenizer_config.json", {{"model_max_length", 4}}, "a b c d e", {1, 3, 4, 2}},
      {"tokenizer_config.json", {{"model_max_length", 1e30}}, "a b c d e", {1, 3, 4, 5, 6, 7, 2}},
      {"tokenizer_config.json", {{"model_max_length", 4}, {"truncation_side", "left"}}, "a b c d e", {1, 6, 7, 2}},
      {"sentence_bert_config.json", {{"do_lower_case", true}}, "A B", {1, 3, 4, 2}},
      {"sentence_bert_config.json", {{"do_lower_case", false}}, "A B", {1, 8, 10, 2}},
      {"config_sentence_transformers.json", prompts, "a", {1, 3, 2}},
      {"config_sentence_transformers.json", with_default("query"), "a", {1, 9, 3, 2}},
      {"config_sentence_transformers.json", with_default("query"), "a", {1, 3, 2}, true},
      {"config_sentence_transformers.json", with_default("none"), "a", {1, 3, 2}},
  };
  for (const auto& row : rows) {
    SentenceFolder folder;
    if (row.file[0]) folder.write(row.file, row.content.dump());
    const auto engines = both(folder);
    ASSERT_EQ(engines.size(), 2u);
    for (const auto& engine : engines) {
      std::vector<int32_t> tokens;
      const Status status = engine->embedding_rules().encode(*engine->tokenizer(), row.text, row.without_prompt, tokens);
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_EQ(tokens, row.tokens) << row.file << row.content;
    }
    if (row.content.contains("prompts")) {
      EXPECT_EQ(*engines[1]->metadata().get_string("inlay.embedding.prompt.query"), "query: ");
    }
  }
  SentenceFolder narrow;
  narrow.write("sentence_bert_config.json", R"({"max_seq_length": 2})");
  const auto engine = load(narrow.path());
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  std::vector<int32_t> tokens;
  const Status none = (*engine)->embedding_rules().encode(*(*engine)->tokenizer(), "a b", false, tokens);
  EXPECT_NE(none.message.find("the model takes 2 tokens"), std::string::npos) << none.message;
}

TEST(SentenceFolders, WhatChangesVectorsOtherwiseIsRefusedByName) {
  const struct {
    const char* file;
    json content;
    const char* named;  // empty: embedded
  } rows[] = {{"sentence_bert_config.json", {{"transformer_task", "feature-extraction"}, {"module_output_name", "token_embeddings"}}, ""},
              {"sentence_bert_config.json", {{"transformer_task", "fill-mask"}}, "transformer_task"},
              {"sentence_bert_config.json", {{"module_output_name", "all_layers"}}, "module_output_name"},
              {"sentence_bert_config.json", {{"modality_config", {{"text", {{"method", "forward"}, {"method_output_name", "last_hidden_state"}}}}}}, ""},
              {"sentence_bert_config.json", {{"modality_config", {{"text", {{"method", "get_text_features"}}}}}}, "modality_config"},
              {"sentence_bert_config.json", {{"query_length", 32}}, "query_length"},
              {"1_Pooling/config.json", {{"pooling_mode", "mean"}, {"include_prompt", false}}, ""}};
  for (const auto& row : rows) {
    SentenceFolder folder;
    folder.write(row.file, row.content.dump());
    const auto engine = load(folder.path());
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    const auto pooling = pooling_of(**engine);
    EXPECT_EQ(pooling.ok(), row.named[0] == '\0') << row.content;
    if (!pooling.ok()) {
      EXPECT_NE(pooling.status().message.find(row.named), std::string::npos) << pooling.status().message;
    }
  }
  SentenceFolder folder;
  folder.write("1_Pooling/config.json", R"({"pooling_mode": "mean", "include_prompt": false})");
  folder.write("config_sentence_transformers.json", R"({"prompts": {"query": "query: "}, "default_prompt_name": "query"})");
  const auto engine = load(folder.path());
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  EXPECT_NE(pooling_of(**engine).status().message.find("include_prompt"), std::string::npos);
  folder.write("config_sentence_transformers.json", R"({"prompts": {}, "default_prompt_name": "query"})");
  EXPECT_NE(load(folder.path()).status().message.find("default_prompt_name is 'query'"), std::string::npos);
}

}  // namespace
}  // namespace inlay
