// Families through their Hugging Face folders: the same weights give the same numbers as through GGUF, and what a
// family has of its own is what it says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "src/engine/convert.h"
#include "src/formats/gguf.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/hf_folder.h"
#include "tests/support/small_decoder.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

using nlohmann::json;
using test::HfTensor;
using test::TemporaryFolder;

constexpr int32_t kTokens = 24;

std::vector<int32_t> tokens_below(int32_t n_vocab) {
  std::vector<int32_t> out;
  for (int32_t i = 0; i < kTokens; ++i) out.push_back((i * i * 7 + i * 3 + 1) % n_vocab);
  return out;
}

// Of one step of all tokens; empty, with a failure, if the model cannot be loaded.
std::vector<float> logits(const std::string& path, const Target& target = kReference) {
  const auto backend = load_backend(path, target,
                                    {.n_kv_blocks = 2,
                                     .max_step_tokens = kTokens,
                                     .max_sequences = 1,
                                     .n_logit_slots = kTokens,
                                     .n_context = 32,
                                     .n_threads = 2});
  EXPECT_TRUE(backend.ok()) << backend.status().message;
  if (!backend.ok()) return {};
  const auto out = logits_of(**backend, tokens_below((*backend)->plan().spec.n_vocab));
  EXPECT_TRUE(out.ok()) << out.status().message;
  return out.ok() ? *out : std::vector<float>();
}

// ---- the fixtures' GGUF files written as folders, by the rules of transformers

// Where a tensor of the GGUF file goes: its name in the folder, and what is taken from each element.
struct Place {
  std::string name;
  float taken = 0;
};

using Names = std::map<std::string, const char*>;

const Names kGemmaNames = {{"attn_norm", "input_layernorm"},
                           {"attn_q", "self_attn.q_proj"},
                           {"attn_k", "self_attn.k_proj"},
                           {"attn_v", "self_attn.v_proj"},
                           {"attn_q_norm", "self_attn.q_norm"},
                           {"attn_k_norm", "self_attn.k_norm"},
                           {"attn_output", "self_attn.o_proj"},
                           {"post_attention_norm", "post_attention_layernorm"},
                           {"ffn_norm", "pre_feedforward_layernorm"},
                           {"ffn_gate", "mlp.gate_proj"},
                           {"ffn_up", "mlp.up_proj"},
                           {"ffn_down", "mlp.down_proj"},
                           {"post_ffw_norm", "post_feedforward_layernorm"}};
const Names kPhiNames = {{"attn_norm", "input_layernorm"},    {"attn_qkv", "self_attn.qkv_proj"},
                         {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
                         {"ffn_up", "mlp.gate_up_proj"},      {"ffn_down", "mlp.down_proj"}};

Place place_of(const std::string& gguf, bool gemma) {
  if (gguf == "token_embd.weight") return {"model.embed_tokens.weight"};
  if (gguf == "output.weight") return {"lm_head.weight"};
  const bool is_norm = gguf.find("norm") != std::string::npos;
  const float taken = gemma && is_norm ? 1.0f : 0.0f;
  if (gguf == "output_norm.weight") return {"model.norm.weight", taken};
  const size_t dot = gguf.find('.', 4), end = gguf.rfind('.');
  const char* name = (gemma ? kGemmaNames : kPhiNames).at(gguf.substr(dot + 1, end - dot - 1));
  return {"model.layers." + gguf.substr(4, dot - 4) + "." + name + gguf.substr(end), taken};
}

std::vector<float> floats_of(const Checkpoint& checkpoint, const TensorEntry& tensor) {
  std::vector<std::byte> scratch;
  const auto bytes = checkpoint.bytes(tensor, scratch);
  std::vector<float> out(tensor.n_bytes / sizeof(float));
  std::memcpy(out.data(), *bytes, tensor.n_bytes);
  return out;
}

struct Fixture {
  const char* name;
  const char* arch;
  const char* model_type;
};
constexpr Fixture kFixtures[] = {{"gemma2-f32", "gemma2", "gemma2"},
                                 {"gemma3-f32", "gemma3", "gemma3_text"},
                                 {"phi3-f32", "phi3", "phi3"},
                                 {"phi3-longrope-f32", "phi3", "phi3"}};

json config_of(const Fixture& fixture, const Checkpoint& checkpoint) {
  const Metadata& metadata = checkpoint.metadata();
  json out = {{"model_type", fixture.model_type}};
  const auto copy = [&](const char* hf, const char* gguf) {
    const std::string key = std::string(fixture.arch) + "." + gguf;
    const MetaValue* value = metadata.find(key);
    if (value == nullptr) return;
    if (value->type == MetaType::u32) {
      out[hf] = *metadata.get_u64(key);
    } else {
      out[hf] = *metadata.get_f64(key);
    }
  };
  copy("num_hidden_layers", "block_count");
  copy("max_position_embeddings", "context_length");
  copy("hidden_size", "embedding_length");
  copy("intermediate_size", "feed_forward_length");
  copy("num_attention_heads", "attention.head_count");
  copy("num_key_value_heads", "attention.head_count_kv");
  copy("head_dim", "attention.key_length");
  copy("query_pre_attn_scalar", "attention.key_length");
  copy("rms_norm_eps", "attention.layer_norm_rms_epsilon");
  copy("vocab_size", "vocab_size");
  copy("rope_theta", "rope.freq_base");
  copy("sliding_window", "attention.sliding_window");
  copy("attn_logit_softcapping", "attn_logit_softcapping");
  copy("final_logit_softcapping", "final_logit_softcapping");
  copy("original_max_position_embeddings", "rope.scaling.original_context_length");
  if (const TensorEntry* factors = checkpoint.find("rope_factors_short.weight")) {
    out["rope_scaling"] = {{"type", "longrope"},
                           {"short_factor", floats_of(checkpoint, *factors)},
                           {"long_factor", floats_of(checkpoint, *checkpoint.find("rope_factors_long.weight"))}};
  }
  return out;
}

void write_folder(const Fixture& fixture, const Checkpoint& checkpoint, const TemporaryFolder& folder) {
  std::vector<HfTensor> tensors;
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    if (tensor.name.starts_with("rope_factors")) continue;
    const Place place = place_of(std::string(tensor.name), std::string_view(fixture.arch).starts_with("gemma"));
    std::vector<float> values = floats_of(checkpoint, tensor);
    for (float& v : values) v -= place.taken;
    tensors.push_back({place.name,
                       {tensor.shape.begin(), tensor.shape.begin() + tensor.rank},
                       "F32",
                       {reinterpret_cast<const char*>(values.data()), tensor.n_bytes}});
  }
  folder.write("config.json", config_of(fixture, checkpoint).dump());
  folder.write("model.safetensors", test::safetensors_of(tensors));
}

class FamilyFixture : public ::testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    path_ = test::model_file(GetParam().name);
    auto opened = open_gguf(path_);
    ASSERT_TRUE(opened.ok()) << opened.status().message;
    checkpoint_ = std::move(*opened);
    write_folder(GetParam(), checkpoint_, folder_);
  }
  std::string path_;
  Checkpoint checkpoint_;
  TemporaryFolder folder_;
};

TEST_P(FamilyFixture, TheFolderGivesTheSameNumbers) {
  const Target targets[] = {kReference, {"cpu", Runs::cpu, cpu::best_isa()}};
  for (const Target& target : targets) {
    const std::vector<float> expected = logits(path_, target), got = logits(folder_.path(), target);
    EXPECT_TRUE(test::same_bits(got, expected)) << target.name << ": NMSE " << test::nmse(got, expected);
  }
}

TEST_P(FamilyFixture, TheFileMadeOfTheFolderIsTheOneThatItCameFrom) {
  const std::string made = folder_.path("made.gguf");
  const Status status = convert_to_gguf(folder_.path(), made, {.type = ConvertType::f32});
  ASSERT_TRUE(status.ok()) << status.message;
  const auto again = open_gguf(made);
  ASSERT_TRUE(again.ok()) << again.status().message;
  ASSERT_EQ(again->tensors().size(), checkpoint_.tensors().size());
  for (const TensorEntry& tensor : checkpoint_.tensors()) {
    const TensorEntry* twin = again->find(tensor.name);
    ASSERT_NE(twin, nullptr) << tensor.name;
    ASSERT_EQ(twin->shape, tensor.shape) << tensor.name;
    const std::vector<float> a = floats_of(checkpoint_, tensor), b = floats_of(*again, *twin);
    EXPECT_TRUE(test::same_bits(a, b)) << tensor.name;
  }
  for (const MetaEntry& entry : checkpoint_.metadata().entries()) {
    if (!entry.key.starts_with(GetParam().arch)) continue;
    const MetaValue* twin = again->metadata().find(entry.key);
    ASSERT_NE(twin, nullptr) << entry.key;
    EXPECT_EQ(twin->type, entry.value.type) << entry.key;
    if (entry.value.type == MetaType::f32) {
      EXPECT_NEAR(*again->metadata().get_f64(entry.key) / *checkpoint_.metadata().get_f64(entry.key), 1.0, 1e-6)
          << entry.key;
    } else {
      EXPECT_EQ(*again->metadata().get_u64(entry.key), *checkpoint_.metadata().get_u64(entry.key)) << entry.key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FamilyFixture, ::testing::ValuesIn(kFixtures), [](const auto& test_case) {
  std::string name = test_case.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// ---- small random models of the other families

void write_small(const TemporaryFolder& folder, const json& config, std::vector<HfTensor> tensors) {
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(tensors));
}

void fill(std::vector<HfTensor>& tensors) {
  for (HfTensor& t : tensors) t.data = test::random_floats(t.name, t.shape);
}

struct Speciality {
  const char* model_type;
  json with;                      // what the configuration has of the family's own
  std::vector<const char*> keys;  // that stand in the GGUF file for it
};

std::vector<Speciality> specialities() {
  const json longrope = {
      {"type", "longrope"}, {"short_factor", {1, 2, 3, 4, 5, 6}}, {"long_factor", {2, 3, 4, 5, 6, 7}}};
  const json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}};
  return {
      {"mistral", {{"sliding_window", 5}}, {"llama.attention.sliding_window"}},
      {"qwen2",
       {{"sliding_window", 5}, {"use_sliding_window", true}, {"max_window_layers", 1}},
       {"qwen2.attention.sliding_window", "qwen2.attention.sliding_window_pattern"}},
      {"gemma2", {{"sliding_window", 5}}, {"gemma2.attention.sliding_window"}},
      {"gemma2", {{"query_pre_attn_scalar", 3}}, {"gemma2.attention.scale"}},
      {"gemma2", {{"attn_logit_softcapping", 0.1}}, {"gemma2.attn_logit_softcapping"}},
      {"gemma2", {{"final_logit_softcapping", 0.5}}, {"gemma2.final_logit_softcapping"}},
      {"gemma3_text", {{"rope_local_base_freq", 50.0}}, {"gemma3.rope.freq_base_swa"}},
      {"gemma3_text", {{"sliding_window", 5}}, {"gemma3.attention.sliding_window"}},
      {"granite", {{"embedding_multiplier", 6.0}}, {"granite.embedding_scale"}},
      {"granite", {{"residual_multiplier", 0.4}}, {"granite.residual_scale"}},
      {"granite", {{"attention_multiplier", 0.05}}, {"granite.attention.scale"}},
      {"granite", {{"logits_scaling", 4.0}}, {"granite.logit_scale"}},
      {"olmo3", {{"sliding_window", 5}}, {"olmo2.attention.sliding_window"}},
      {"phi3", {{"sliding_window", 5}}, {"phi3.attention.sliding_window"}},
      {"phi3", {{"partial_rotary_factor", 0.5}}, {"phi3.rope.dimension_count"}},
      {"phi3",
       {{"partial_rotary_factor", 0.75}, {"original_max_position_embeddings", 16}, {"rope_scaling", longrope}},
       {"phi3.rope.scaling.original_context_length", "phi3.rope.scaling.attn_factor"}},
      {"smollm3", {{"no_rope_layers", {1, 0}}}, {"smollm3.rope.layers"}},
      {"olmo2", {{"rope_scaling", yarn}}, {"olmo2.rope.scaling.type", "olmo2.rope.scaling.factor"}},
  };
}

TEST(Families, FolderAndFileAgreeOnWhatIsSpecial) {
  for (const Speciality& s : specialities()) {
    SCOPED_TRACE(std::string(s.model_type) + " " + s.with.dump());
    TemporaryFolder folder;
    json config = test::small_config(s.model_type);
    write_small(folder, config, test::small_tensors(s.model_type));
    const std::vector<float> without = logits(folder.path());
    config.update(s.with);
    write_small(folder, config, test::small_tensors(s.model_type));
    const std::vector<float> expected = logits(folder.path());
    ASSERT_EQ(expected.size(), without.size());
    EXPECT_GT(test::nmse(without, expected), 1e-6) << "it makes no difference";

    const std::string made = folder.path("made.gguf");
    const Status status = convert_to_gguf(folder.path(), made, {.type = ConvertType::f32});
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_TRUE(test::same_bits(logits(made), expected));
    EXPECT_LT(test::nmse(logits(made, {"cpu", Runs::cpu, cpu::best_isa()}), expected), 1e-5);
    const auto file = open_gguf(made);
    ASSERT_TRUE(file.ok());
    for (const char* key : s.keys) EXPECT_NE(file->metadata().find(key), nullptr) << key;
  }
}

// Gemma 3's larger models see pictures as well: their folders have the text's part under other names, with what belongs
// to pictures beside it, and a configuration that leaves out much.
TEST(Families, TheTextOfAModelOfPicturesIsAModel) {
  TemporaryFolder text, pictures;
  json config = test::small_config("gemma3_text");
  config.update({{"num_attention_heads", 8}, {"num_key_value_heads", 4}, {"head_dim", 16}, {"sliding_window", 5}});
  std::vector<HfTensor> tensors = test::small_tensors("gemma3_text");
  for (HfTensor& t : tensors) {
    if (t.name.find("q_proj") != std::string::npos) t.shape = {128, 32};
    if (t.name.find("k_proj") != std::string::npos || t.name.find("v_proj") != std::string::npos) t.shape = {64, 32};
    if (t.name.find("o_proj") != std::string::npos) t.shape = {32, 128};
  }
  fill(tensors);
  write_small(text, config, tensors);
  const std::vector<float> expected = logits(text.path());
  for (const char* key : {"num_attention_heads", "num_key_value_heads", "tie_word_embeddings"}) config.erase(key);
  for (const std::string prefix : {"language_model.model.", "model.language_model."}) {
    std::vector<HfTensor> renamed = tensors;
    for (HfTensor& t : renamed) t.name = prefix + t.name.substr(6);
    renamed.push_back({"vision_tower.vision_model.embeddings.patch_embedding.weight", {4, 3, 2, 2}});
    renamed.push_back({"multi_modal_projector.mm_input_projection_weight", {4, 32}});
    write_small(pictures, {{"model_type", "gemma3"}, {"text_config", config}, {"vision_config", json::object()}},
                renamed);
    EXPECT_TRUE(test::same_bits(logits(pictures.path()), expected)) << prefix;
  }
  // Negative control: in a folder of text alone such tensors are no part of the model.
  tensors.push_back({"vision_tower.vision_model.embeddings.patch_embedding.weight", {4, 3, 2, 2}});
  json whole = config;
  whole.update({{"num_attention_heads", 8}, {"num_key_value_heads", 4}});
  write_small(text, whole, tensors);
  const auto opened = open_checkpoint(text.path());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  EXPECT_FALSE(Model::from_checkpoint(*opened).ok());
}

// ---- what a family computes, said with the weights of another

void multiply(std::vector<HfTensor>& tensors, const std::string& part, float factor) {
  for (HfTensor& t : tensors) {
    if (t.name.find(part) == std::string::npos) continue;
    for (size_t at = 0; at < t.data.size(); at += sizeof(float)) {
      float v;
      std::memcpy(&v, t.data.data() + at, sizeof v);
      v *= factor;
      std::memcpy(t.data.data() + at, &v, sizeof v);
    }
  }
}

// Granite's multipliers are factors of Llama's weights.
TEST(Families, GranitesMultipliersAreFactorsOfWeights) {
  TemporaryFolder granite, llama;
  json config = test::small_config("granite");
  config["tie_word_embeddings"] = false;
  std::vector<HfTensor> tensors = test::small_tensors("llama");
  tensors.push_back({"lm_head.weight", {20, 32}});
  fill(tensors);
  json plain = config;
  plain["model_type"] = "llama";
  config.update({{"embedding_multiplier", 6.0},
                 {"residual_multiplier", 0.4},
                 {"attention_multiplier", 2.0},
                 {"logits_scaling", 4.0}});
  write_small(granite, config, tensors);
  multiply(tensors, "embed_tokens", 6.0f);
  multiply(tensors, "o_proj", 0.4f);
  multiply(tensors, "down_proj", 0.4f);
  multiply(tensors, "lm_head", 0.25f);
  write_small(llama, plain, tensors);
  EXPECT_GT(test::nmse(logits(llama.path()), logits(granite.path())), 1e-6) << "scores are not scaled yet";
  multiply(tensors, "q_proj", 2.0f * 4);  // 1 / sqrt(16) is taken already
  write_small(llama, plain, tensors);
  EXPECT_LT(test::nmse(logits(llama.path()), logits(granite.path())), 1e-11);
}

// A layer without RoPE is one whose rotations stand still: frequency factors without bound.
TEST(Families, SmolLmsLayersWithoutRopeDoNotRotate) {
  TemporaryFolder smol, llama;
  json config = test::small_config("smollm3");
  std::vector<HfTensor> tensors = test::small_tensors("llama");
  const auto with_rope = [&](const json& layers) {
    config["no_rope_layers"] = layers;
    write_small(smol, config, tensors);
    return logits(smol.path());
  };
  json plain = test::small_config("llama");
  write_small(llama, plain, tensors);
  const std::vector<float> rotating = logits(llama.path());
  plain["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 1e6}};
  write_small(llama, plain, tensors);
  const std::vector<float> still = logits(llama.path());
  EXPECT_TRUE(test::same_bits(with_rope({1, 1}), rotating));
  EXPECT_LT(test::nmse(with_rope({0, 0}), still), 1e-8);
  EXPECT_GT(test::nmse(with_rope({1, 0}), still), 1e-6);
  EXPECT_GT(test::nmse(with_rope({1, 0}), rotating), 1e-6);
  EXPECT_GT(test::nmse(with_rope({1, 0}), with_rope({0, 1})), 1e-6);
}

// OLMo 2 of small_config() in doubles, after its definition: a layer normalizes q and k over their whole width, and
// what attention and feed-forward add, but not what they read.
class SmallOlmo : test::SmallDecoder {
 public:
  explicit SmallOlmo(const std::vector<HfTensor>& tensors) : SmallDecoder(tensors) {}

  // Of the last of the tokens.
  std::vector<double> logits(std::span<const int32_t> tokens) {
    std::vector<Row> x = embedded(tokens);
    for (int layer = 0; layer < 2; ++layer) {
      enter("model.layers." + std::to_string(layer) + ".");
      attend(x);
      for (Row& row : x) add(row, normed_by(gated(row), "post_feedforward_layernorm"));
    }
    enter("model.");
    return times("embed_tokens", normed(x.back(), "model.norm"));
  }

 private:
  void attend(std::vector<Row>& x) const {
    std::vector<Row> q, k, v;
    for (size_t t = 0; t < x.size(); ++t) {
      rotate(q.emplace_back(normed_by(times("self_attn.q_proj", x[t]), "self_attn.q_norm")), t);
      rotate(k.emplace_back(normed_by(times("self_attn.k_proj", x[t]), "self_attn.k_norm")), t);
      v.push_back(times("self_attn.v_proj", x[t]));
    }
    for (size_t t = 0; t < x.size(); ++t) {
      const Row heads = attended(q[t], k, v, [&](size_t key) { return key <= t; });
      add(x[t], normed_by(times("self_attn.o_proj", heads), "post_attention_layernorm"));
    }
  }
};

TEST(Families, OlmoIsItsDefinition) {
  TemporaryFolder folder;
  std::vector<HfTensor> tensors = test::small_tensors("olmo2");
  fill(tensors);
  write_small(folder, test::small_config("olmo2"), tensors);
  const std::vector<double> exact = SmallOlmo(tensors).logits(tokens_below(20));
  const std::vector<float> expected(exact.begin(), exact.end()), all = logits(folder.path());
  ASSERT_EQ(all.size(), 20u * kTokens);
  const std::span<const float> last = std::span(all).last(20);
  EXPECT_LT(test::nmse(last, expected), 1e-10);
  // Negative control: each norm matters.
  for (const char* norm : {"q_norm", "k_norm", "post_attention", "post_feedforward"}) {
    std::vector<HfTensor> changed = tensors;
    multiply(changed, norm, 1.1f);
    const std::vector<double> other = SmallOlmo(changed).logits(tokens_below(20));
    EXPECT_GT(test::nmse(last, std::vector<float>(other.begin(), other.end())), 1e-8) << norm;
  }
}

}  // namespace
}  // namespace inlay::golden
