// Keys that are not read: those that may change results are named, those that change nothing are not. And docs/families.md has
// the families and the spellings that the code has.
#include "src/model/known_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "src/formats/gguf.h"
#include "src/model/arch_spec.h"
#include "src/model/hf_config.h"
#include "src/model/hf_family.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_pooling.h"
#include "src/model/hyper_parameters.h"
#include "src/model/model.h"
#include "tests/support/hf_folder.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

using nlohmann::json;
using Change = std::function<void(testing::GgufImage&)>;

constexpr testing::LlamaSizes kSizes = {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50};

struct Opened {
  std::vector<std::string> warnings;
  double factor;
};

std::string refusal_with(const Change& change) {
  const auto bytes = testing::llama_image(kSizes, change);
  const auto file = read_gguf(borrow_memory(bytes, "model"));
  return file.ok() ? Model::from_checkpoint(*file).status().message : file.status().message;
}

Opened open_gguf_with(const Change& change) {
  const auto bytes = testing::llama_image(kSizes, change);
  const auto file = read_gguf(borrow_memory(bytes, "model"));
  EXPECT_TRUE(file.ok());
  const auto model = Model::from_checkpoint(*file);
  EXPECT_TRUE(model.ok()) << model.status().message;
  return {gguf_key_warnings(file->metadata(), "llama"), model.ok() ? model->spec().ropes[0].factor : 0};
}

TEST(KnownKeys, UnknownKeysOfAGgufFileAreNamed) {
  EXPECT_TRUE(open_gguf_with({}).warnings.empty());
  for (const char* key : {"llama.attention.new_thing", "tokenizer.ggml.new_thing"}) {
    const auto warnings = open_gguf_with([&](auto& image) { image.f32(key, 2); }).warnings;
    ASSERT_EQ(warnings.size(), 1u) << key;
    EXPECT_NE(warnings[0].find(key), std::string::npos) << warnings[0];
    EXPECT_EQ(open_gguf_with([&](auto& image) { image.f32(key, 0); }).warnings.size(), 1u) << key;
    EXPECT_EQ(open_gguf_with([&](auto& image) { image.boolean(key, false); }).warnings.size(), 1u) << key;
  }
  EXPECT_TRUE(open_gguf_with([](auto& image) { image.f32("other.new_thing", 2).f32("general.new_thing", 2); }).warnings.empty());
  for (const UnreadKey& row : unread_gguf_keys()) {
    const std::string name = row.key, key = name.starts_with("tokenizer.") ? name : "llama." + name;
    const std::string neutral = row.neutral ? row.neutral : "";
    const auto change = [&](float value) {
      return [&, value](testing::GgufImage& image) {
        if (neutral == "true" || neutral == "false") image.boolean(key, (value == 1) == (neutral == "true"));
        else if (neutral == "none") image.texts(key, value == 1 ? std::vector<std::string>() : std::vector<std::string>{"x"});
        else image.f32(key, neutral == "0" ? value - 1 : value);
      };
    };
    EXPECT_EQ(open_gguf_with(change(1)).warnings.size(), 0u) << key;
    if (row.is_refused) {
      EXPECT_NE(refusal_with(change(3)).find(key + " is "), std::string::npos) << refusal_with(change(3));
    } else {
      EXPECT_EQ(open_gguf_with(change(3)).warnings.size(), row.neutral ? 1u : 0u) << key;
    }
  }
}

// A value a layer, all equal, is the one that all layers have.
TEST(KnownKeys, AnArrayOfEqualValuesIsTheValue) {
  const auto read = [](const std::string& name, const std::vector<float>& values) {
    MetadataBuilder keys;
    const std::pair<const char*, uint32_t> sizes[] = {{"block_count", 2}, {"context_length", 64}, {"embedding_length", 32}, {"feed_forward_length", 64},
                                                      {"attention.head_count", 2}, {"attention.head_count_kv", 2}, {"attention.key_length", 16}};
    for (const auto& [size, value] : sizes) keys.u32(std::string("llama.") + size, value);
    keys.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    if (name == "rope.freq_base") keys.f32s("llama." + name, values);
    else keys.i32s("llama." + name, std::vector<int32_t>(values.begin(), values.end()));
    return read_hyper_parameters(keys.build("model"), *find_arch("llama"));
  };
  const std::pair<const char*, std::function<double(const ModelSpec&)>> rows[] = {
      {"embedding_length", [](const ModelSpec& s) { return s.d_model; }},
      {"feed_forward_length", [](const ModelSpec& s) { return s.d_ff; }},
      {"attention.head_count", [](const ModelSpec& s) { return s.n_heads; }},
      {"attention.head_count_kv", [](const ModelSpec& s) { return s.n_kv_heads; }},
      {"attention.key_length", [](const ModelSpec& s) { return s.d_head; }},
      {"rope.freq_base", [](const ModelSpec& s) { return s.ropes[0].base; }}};
  for (const auto& [name, value] : rows) {
    const float good = std::string(name) == "attention.head_count" ? 2 : std::string(name).starts_with("attention.head") ? 1 : 16;
    const auto taken = read(name, {good, good});
    ASSERT_TRUE(taken.ok()) << name << ": " << taken.status().message;
    EXPECT_EQ(value(*taken), good) << name;
    const auto differs = read(name, {good, good + 2}), none = read(name, {});
    EXPECT_NE(differs.status().message.find(std::string("llama.") + name + " is "), std::string::npos) << differs.status().message;
    EXPECT_NE(differs.status().message.find(" in layer 1"), std::string::npos) << differs.status().message;
    EXPECT_NE(none.status().message.find("is an empty array"), std::string::npos) << none.status().message;
  }
  EXPECT_NE(read("feed_forward_length", {-1, -1}).status().message.find("not negative"), std::string::npos);
}

TEST(KnownKeys, OlderSpellingsOfAGgufFileAreRead) {
  for (const KeySpelling& row : gguf_spellings()) {
    const std::string key = std::string("llama.") + row.key, older = std::string("llama.") + row.older;
    EXPECT_EQ(open_gguf_with([&](auto& image) { image.f32(older, 4); }).factor, 4) << older;
    EXPECT_EQ(open_gguf_with([&](auto& image) { image.f32(older, 4).f32(key, 2); }).factor, 2) << older;
  }
  EXPECT_EQ(open_gguf_with([](auto& image) { image.f32("llama.rope.scaling.factor", 0); }).factor, 1) << "0: none";
}

std::vector<std::string> folder_warnings(const json& keys, const char* file = nullptr, const json& of_file = {}, const char* family = "llama") {
  test::TemporaryFolder folder;
  json config = test::small_config(family);
  config.update(keys);
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors(family)));
  if (file) {
    std::filesystem::create_directories(std::filesystem::path(folder.path(file)).parent_path());
    folder.write(file, of_file.dump());
  }
  const auto checkpoint = open_checkpoint(folder.path());
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message << keys;
  return checkpoint.ok() ? checkpoint->conventions().warnings : std::vector<std::string>();
}

TEST(KnownKeys, UnknownKeysOfConfigJsonAreNamed) {
  EXPECT_TRUE(folder_warnings(json::object()).empty());
  for (const json& value : {json(2), json("x"), json(true), json::array({1}), json(), json(0), json(false), json::array()}) {
    const auto warnings = folder_warnings({{"new_thing", value}});
    ASSERT_EQ(warnings.size(), 1u) << value;
    EXPECT_NE(warnings[0].find("config.json: new_thing is not known here"), std::string::npos) << warnings[0];
  }
  const auto nothing = [](const char* key, const std::string& value) {
    return changes_nothing(unread_config_keys(), key, JsonDocument::parse(value, "x")->root());
  };
  for (const UnreadKey& row : unread_config_keys()) {
    EXPECT_TRUE(nothing(row.key, "null")) << row.key;
    EXPECT_TRUE(nothing(row.key, row.neutral && std::string(row.neutral) != "none" ? row.neutral : "[]")) << row.key;
    EXPECT_EQ(nothing(row.key, "3"), row.neutral == nullptr) << row.key;
    EXPECT_EQ(nothing(row.key, "0"), row.neutral == nullptr) << row.key;
    EXPECT_EQ(nothing(row.key, "[3]"), row.neutral == nullptr) << row.key;
    if (!row.is_refused) continue;
    json config = test::small_config("llama");
    config[row.key] = 3;
    test::TemporaryFolder folder;
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", test::safetensors_of(test::small_tensors("llama")));
    const auto refused = open_checkpoint(folder.path());
    ASSERT_FALSE(refused.ok()) << row.key;
    EXPECT_NE(refused.status().message.find(std::string(row.key) + " is 3, which is not supported"), std::string::npos) << refused.status().message;
  }
}

TEST(KnownKeys, UnknownKeysOfAFileAreOneLine) {
  for (const KnownKeys& file : known_files()) {
    SCOPED_TRACE(file.where);
    const auto with = [&](const json& keys) { return folder_warnings(json::object(), file.where, keys); };
    const auto warnings = with({{"new_thing", 2}, {"newer_thing", "x"}, {"no_thing", false}, {"nothing", nullptr}});
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(std::string(file.where) + ": new_thing, newer_thing, no_thing, nothing are each not known here"), std::string::npos) << warnings[0];
    EXPECT_TRUE(with(json::object()).empty());
    EXPECT_TRUE(with(json::array()).empty()) << "no object";
    json all = json::object();
    for (const UnreadKey& row : file.unread) {
      const std::string neutral = row.neutral ? row.neutral : "";
      all[row.key] = !row.neutral ? json("x") : neutral == "none" ? json() : json::accept(neutral) ? json::parse(neutral) : json(neutral);
      const json other = row.neutral ? json::array({3}) : json(0);
      EXPECT_EQ(with({{row.key, other}}).size(), row.neutral ? 1u : 0u) << row.key;
    }
    EXPECT_TRUE(with(all).empty());
  }
}

TEST(KnownKeys, UnknownKeysOfRopeAreNamed) {
  const json scaling = {{"rope_type", "linear"}, {"factor", 2.0}};
  for (const char* object : {"rope_scaling", "rope_parameters"}) {
    json more = scaling;
    EXPECT_TRUE(folder_warnings({{object, more}}).empty());
    more["new_thing"] = 2;
    const auto warnings = folder_warnings({{object, more}, {"other_thing", 3}});
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("config.json: other_thing, " + std::string(object) + ".new_thing are each"), std::string::npos) << warnings[0];
    more.erase("new_thing");
    for (const UnreadKey& row : known_rope_keys().unread) more[row.key] = row.neutral ? 1 : 3;
    EXPECT_TRUE(folder_warnings({{object, more}}).empty());
  }
  const auto with = [](const json& sliding) {
    return folder_warnings({{"rope_parameters", {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 1e6}}}, {"sliding_attention", sliding}}}},
                           nullptr, {}, "gemma3_text");
  };
  EXPECT_TRUE(with({{"rope_type", "default"}, {"rope_theta", 1e4}}).empty());
  const auto warnings = with({{"rope_type", "default"}, {"rope_theta", 1e4}, {"new_thing", 2}});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("config.json: rope_parameters.sliding_attention.new_thing is not"), std::string::npos) << warnings[0];
}

// What transformers reads of config.json for these families: each key is read here, or known to change nothing with some values.
TEST(KnownKeys, EveryKeyThatTheReferenceReadsIsInTheTable) {
  const char* reference[] = {
      "_attn_implementation", "_sliding_window_pattern", "architectures", "attention_bias", "attention_dropout", "attention_multiplier",
      "attn_implementation", "attn_logit_softcapping", "bos_token_id", "chunk_size_feed_forward", "decoder_sparse_step", "dtype", "embd_pdrop",
      "embedding_multiplier", "eos_token_id", "experts_implementation", "final_logit_softcapping", "head_dim", "hidden_act", "hidden_activation",
      "hidden_size", "id2label", "initializer_range", "intermediate_size", "is_causal", "is_encoder_decoder", "label2id", "layer_types",
      "logits_scaling", "max_position_embeddings", "max_window_layers", "mlp_bias", "mlp_only_layers", "model_type", "moe_intermediate_size",
      "name_or_path", "no_rope_layer_interval", "no_rope_layers", "norm_topk_prob", "num_attention_heads", "num_experts", "num_experts_per_tok",
      "num_hidden_layers", "num_key_value_heads", "num_local_experts", "original_max_position_embeddings", "output_attentions",
      "output_hidden_states", "output_router_logits", "pad_token_id", "per_layer_config", "pretraining_tp", "problem_type", "qkv_bias",
      "quantization_config", "query_pre_attn_scalar", "resid_pdrop", "residual_multiplier", "return_dict", "rms_norm_eps", "rope_parameters",
      "rope_scaling", "rope_theta", "router_aux_loss_coef", "router_jitter_noise", "shared_expert_intermediate_size", "sliding_window",
      "swiglu_alpha", "swiglu_limit", "tie_word_embeddings", "torch_dtype", "transformers_version", "use_bidirectional_attention", "use_cache",
      "use_sliding_window", "vocab_size"};
  std::set<std::string_view> known;
  for (const std::string_view key : hf_config_keys()) known.insert(key);
  for (const UnreadKey& row : unread_config_keys()) known.insert(row.key);
  for (const HfFamily& family : hf_families()) {
    for (const std::span<const HfKey> keys : {family.keys, family.more_keys}) {
      for (const HfKey& key : keys) known.insert(key.hf);
    }
  }
  for (const char* key : reference) EXPECT_TRUE(known.contains(key)) << key;
}

std::string expected_text(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(KnownKeys, TheDocumentationHasTheTable) {
  std::ifstream file(INLAY_SOURCE_DIR "/docs/families.md");
  std::vector<std::string> found, expected;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    inside = inside || line == "## Keys with several spellings";
    if (inside && line.starts_with("| ") && !line.starts_with("| in ")) found.push_back(line);
  }
  for (const ConfigSpellings& row : config_spellings()) {
    std::string keys;
    for (const char* key : row.keys)
      if (key) keys += (keys.empty() ? "`" : ", `") + std::string(key) + "`";
    expected.push_back("| config.json | " + keys + " |");
  }
  for (const KeySpelling& row : gguf_spellings()) expected.push_back(std::string("| GGUF | `") + row.key + "`, `" + row.older + "` |");
  for (const HfPoolingMode& mode : hf_pooling_modes())
    expected.push_back(std::string("| pooling file | `\"pooling_mode\": \"") + mode.name + "\"`, `" + mode.flag + "` |");
  const auto add = [&](const KnownKeys& known) {
    std::string read, unread, neutral, refused;
    const auto append = [](std::string& keys, const std::string& key) { keys += (keys.empty() ? "" : ", ") + key; };
    for (const char* key : known.read) append(read, "`" + std::string(key) + "`");
    for (const UnreadKey& row : known.unread) {
      append(row.is_refused ? refused : row.neutral ? neutral : unread, "`" + std::string(row.key) + "`" + (row.neutral ? std::string(" ") + row.neutral : ""));
    }
    if (!read.empty()) expected.push_back("| " + std::string(known.where) + " | read | " + read + " |");
    if (!unread.empty()) expected.push_back("| " + std::string(known.where) + " | not applied | " + unread + " |");
    if (!neutral.empty()) expected.push_back("| " + std::string(known.where) + " | warned of, but for | " + neutral + " |");
    if (!refused.empty()) expected.push_back("| " + std::string(known.where) + " | refused, but for | " + refused + " |");
  };
  std::set<std::string_view> of_config;
  for (const std::string_view key : hf_config_keys()) of_config.insert(key);
  for (const HfFamily& family : hf_families()) {
    for (const std::span<const HfKey> keys : {family.keys, family.more_keys}) {
      for (const HfKey& key : keys) of_config.insert(key.hf);
    }
  }
  const std::vector<std::string> names(of_config.begin(), of_config.end());
  std::vector<const char*> read_of_config;
  for (const std::string& name : names) read_of_config.push_back(name.c_str());
  add({"config.json", read_of_config, unread_config_keys()});
  for (const KnownKeys& known : known_files()) add(known);
  add(known_rope_keys());
  KnownKeys dense = known_dense_keys();
  for (const UnreadKey& row : dense.unread) EXPECT_NE(row.neutral, nullptr) << row.key;
  add(dense);
  EXPECT_EQ(found, expected) << expected_text(expected);
}

// `arch | model types`, in the order of the names.
std::vector<std::string> families_of_the_code() {
  std::map<std::string, std::set<std::string>> families;
  for (const ArchSpec* arch : all_archs()) families[arch->name];
  std::istringstream names(known_hf_families());
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    const HfFamily* family = find_hf_family(name);
    if (!family) family = find_hf_family_inside(name);
    EXPECT_TRUE(family) << name;
    if (family) families[family->arch].insert(name);
  }
  std::vector<std::string> rows;
  for (const auto& [arch, types] : families) {
    std::string list;
    for (const std::string& type : types) list += (list.empty() ? "`" : ", `") + type + "`";
    rows.push_back("`" + arch + "` | " + list);
  }
  return rows;
}

// The first two columns of the first table, likewise.
std::vector<std::string> families_of_the_documentation(std::istream& file) {
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line) && !line.starts_with("Every family");) {
    if (!line.starts_with("| `")) continue;
    std::istringstream columns(line.substr(2));
    std::string arch, types;
    std::getline(std::getline(columns, arch, '|'), types, '|');
    std::set<std::string> sorted;
    std::istringstream parts(types);
    for (std::string type; parts >> type;) sorted.insert(type.substr(1, type.rfind('`') - 1));
    std::string list;
    for (const std::string& type : sorted) list += (list.empty() ? "`" : ", `") + type + "`";
    rows.push_back(arch + "| " + list);
  }
  std::ranges::sort(rows);
  return rows;
}

TEST(Families, TheDocumentationHasThoseOfTheCode) {
  std::ifstream file(INLAY_SOURCE_DIR "/docs/families.md");
  const std::vector<std::string> expected = families_of_the_code();
  EXPECT_GT(expected.size(), 10u);
  EXPECT_EQ(families_of_the_documentation(file), expected) << expected_text(expected);
  std::istringstream other("| `llama` | `mistral`, `llama` | Llama | |\n| `lost` | | nothing | |\nEvery family\n| `behind` | | | |\n");
  EXPECT_EQ(families_of_the_documentation(other), (std::vector<std::string>{"`llama` | `llama`, `mistral`", "`lost` | "}));
}

}  // namespace
}  // namespace inlay
