// What is wrong with a model is said with the file, the tensor or key, what was expected and what was found.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <variant>

#include "src/formats/gguf.h"
#include "src/model/model.h"
#include "tests/unit/gguf_image.h"

namespace inlay::testing {
namespace {

struct Tensor {
  std::string name;
  std::vector<uint64_t> dims;  // innermost first
  uint32_t type = 0;           // F32
};

// A model before it is written. Keys without the family before them, but "general." ones.
struct Parts {
  std::string arch;
  std::map<std::string, std::variant<uint32_t, float, std::string, std::vector<uint8_t>>> keys;
  std::vector<Tensor> tensors;

  Tensor& tensor(const std::string& name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  }
  void remove(const std::string& name) {
    std::erase_if(tensors, [&](const Tensor& t) { return t.name == name; });
  }
};

// Two layers, two heads of 16 and one of keys.
Parts parts_of(const std::string& arch) {
  Parts p{.arch = arch, .keys = {}, .tensors = {}};
  p.keys = {{"block_count", 2u},           {"context_length", 64u},
            {"embedding_length", 32u},     {"feed_forward_length", 48u},
            {"attention.head_count", 2u},  {"attention.head_count_kv", 1u},
            {"attention.key_length", 16u}, {"attention.layer_norm_rms_epsilon", 1e-5f}};
  const bool phi = arch == "phi3", gemma = arch == "gemma2";
  p.tensors = {{"token_embd.weight", {32, 20}}, {"output_norm.weight", {32}}};
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    const auto add = [&](bool wanted, const char* name, std::vector<uint64_t> dims) {
      if (wanted) p.tensors.push_back({layer + name, std::move(dims)});
    };
    add(true, "attn_norm.weight", {32});
    add(phi, "attn_qkv.weight", {32, 64});
    add(!phi, "attn_q.weight", {32, 32});
    add(!phi, "attn_k.weight", {32, 16});
    add(!phi, "attn_v.weight", {32, 16});
    add(true, "attn_output.weight", {32, 32});
    add(gemma, "post_attention_norm.weight", {32});
    add(true, "ffn_norm.weight", {32});
    add(!phi, "ffn_gate.weight", {32, 48});
    add(true, "ffn_up.weight", {32, phi ? 96u : 48u});
    add(true, "ffn_down.weight", {48, 32});
    add(gemma, "post_ffw_norm.weight", {32});
  }
  return p;
}

Result<Model> load(const Parts& p) {
  GgufImage image;
  image.text("general.architecture", p.arch);
  for (const auto& [name, value] : p.keys) {
    const std::string key = p.arch + "." + name;
    if (const auto* n = std::get_if<uint32_t>(&value)) image.u32(key, *n);
    if (const auto* x = std::get_if<float>(&value)) image.f32(key, *x);
    if (const auto* text = std::get_if<std::string>(&value)) image.text(key, *text);
    if (const auto* flags = std::get_if<std::vector<uint8_t>>(&value)) image.array(key, MetaType::boolean, *flags);
  }
  for (const Tensor& t : p.tensors) {
    uint64_t n = 1;
    for (const uint64_t d : t.dims) n *= d;
    const uint64_t bytes = t.type == 8 ? n / 32 * 34 : n * 4;  // Q8_0 or F32
    GgufImage::Bytes data(bytes);
    const bool positive = t.name.starts_with("rope_f");
    for (uint64_t i = 0; positive && i < n; ++i) {
      const float one = 1;
      std::memcpy(data.data() + 4 * i, &one, 4);
    }
    image.tensor(t.name, t.dims, t.type, data);
  }
  const GgufImage::Bytes bytes = image.build();
  INLAY_ASSIGN(const Checkpoint checkpoint, read_gguf(borrow_memory(bytes, "some/model.gguf")));
  return Model::from_checkpoint(checkpoint);
}

TEST(ModelErrors, WholeModelsAreTaken) {
  for (const char* arch : {"llama", "phi3", "gemma2", "granite", "smollm3"}) {
    const auto model = load(parts_of(arch));
    EXPECT_TRUE(model.ok()) << arch << ": " << model.status().message;
  }
}

struct Case {
  const char* arch;
  std::function<void(Parts&)> change;
  Code code;
  const char* expected;
};

const Case kCases[] = {
    {"mamba", [](Parts&) {}, Code::unsupported,
     "general.architecture 'mamba' is not supported; supported are gemma2, gemma3, "},
    {"llama", [](Parts& p) { p.tensor("token_embd.weight").dims = {32, 1}; }, Code::unsupported,
     "the tensor token_embd.weight has 1 row, expected 2 or more"},
    {"llama", [](Parts& p) { p.remove("blk.1.attn_k.weight"); }, Code::format,
     "the tensor blk.1.attn_k.weight is missing, expected 16 x 32"},
    {"llama", [](Parts& p) { p.remove("output_norm.weight"); }, Code::format,
     "the tensor output_norm.weight is missing, expected 1 x 32"},
    {"llama", [](Parts& p) { p.remove("token_embd.weight"); }, Code::format,
     "the tensor token_embd.weight is missing, expected rows of 32"},
    {"llama",
     [](Parts& p) {
       p.tensor("blk.0.ffn_down.weight").dims = {32, 48};
     },
     Code::format, "the tensor blk.0.ffn_down.weight is 48 x 32 (rank 2), expected 32 x 48"},
    {"llama", [](Parts& p) { p.tensor("blk.1.ffn_norm.weight").dims = {31}; }, Code::format,
     "the tensor blk.1.ffn_norm.weight is 1 x 31 (rank 1), expected 1 x 32"},
    {"llama", [](Parts& p) { p.tensor("blk.0.attn_norm.weight").type = 8; }, Code::unsupported,
     "the tensor blk.0.attn_norm.weight is Q8_0"},
    {"llama",
     [](Parts& p) {
       p.tensors.push_back({"blk.0.attn_rot_embd.weight", {32}});
     },
     Code::unsupported, "the tensor blk.0.attn_rot_embd.weight is not part of a llama model"},
    {"llama",
     [](Parts& p) {
       p.tensors.push_back({"blk.0.attn_q.bias", {32}});
     },
     Code::format, "the tensor blk.0.attn_k.bias is missing, expected 1 x 16"},
    {"phi3", [](Parts& p) { p.remove("blk.0.attn_qkv.weight"); }, Code::format,
     "the tensor blk.0.attn_q.weight is missing, expected 32 x 32"},
    {"phi3",
     [](Parts& p) {
       p.tensor("blk.1.attn_qkv.weight").dims = {32, 48};
     },
     Code::format, "the tensor blk.1.attn_qkv.weight is 48 x 32 (rank 2), expected 64 x 32"},
    {"phi3",
     [](Parts& p) {
       p.tensor("blk.0.ffn_up.weight").dims = {32, 48};
     },
     Code::format, "the tensor blk.0.ffn_up.weight is 48 x 32 (rank 2), expected 96 x 32"},
    {"phi3",
     [](Parts& p) {
       p.tensors.push_back({"rope_factors_long.weight", {8}});
     },
     Code::format, "the tensor rope_factors_short.weight is missing, which LongRoPE needs"},
    {"phi3", [](Parts& p) { p.keys["rope.scaling.type"] = "longrope"; }, Code::format,
     "the tensor rope_factors_short.weight is missing, which LongRoPE needs"},
    {"phi3",
     [](Parts& p) {
       p.tensors.push_back({"rope_factors_long.weight", {8}});
       p.tensors.push_back({"rope_factors_short.weight", {6}});
     },
     Code::format, "the tensor rope_factors_short.weight is F32 of 6 elements, expected F32 of 8"},
    {"gemma2", [](Parts& p) { p.remove("blk.1.post_ffw_norm.weight"); }, Code::format,
     "the tensor blk.1.post_ffw_norm.weight is missing, expected 1 x 32"},
    {"llama", [](Parts& p) { p.keys["rope.scaling.type"] = "dynamic"; }, Code::unsupported,
     "llama.rope.scaling.type is 'dynamic', a RoPE scaling that is not supported; supported are none, linear, longrope and yarn"},
    {"llama", [](Parts& p) { p.keys["rope.scaling.factor"] = -2.0f; }, Code::format,
     "llama.rope.scaling.factor is -2, expected 0 to 1e+06"},
    {"llama", [](Parts& p) { p.keys["rope.dimension_count"] = 18u; }, Code::format,
     "llama.rope.dimension_count is 18, expected an even number of at most the head size 16"},
    {"llama", [](Parts& p) { p.keys["rope.freq_base"] = 1.0f; }, Code::format,
     "llama.rope.freq_base is 1, expected above 1"},
    {"llama", [](Parts& p) { p.keys.erase("block_count"); }, Code::format,
     "metadata key 'llama.block_count' is missing"},
    {"llama", [](Parts& p) { p.keys["attention.sliding_window"] = "wide"; }, Code::format,
     "metadata key 'llama.attention.sliding_window' has type string, expected an integer"},
    {"gemma2",
     [](Parts& p) {
       p.keys["attention.sliding_window_pattern"] = std::vector<uint8_t>{1, 0, 1};
     },
     Code::format, "gemma2.attention.sliding_window_pattern has 3 elements, expected one for each of 2 layers"},
    {"gemma2", [](Parts& p) { p.keys["attn_logit_softcapping"] = -1.0f; }, Code::format,
     "gemma2.attn_logit_softcapping is -1, expected 0 to 1e+06"},
    {"granite", [](Parts& p) { p.keys["logit_scale"] = 0.0f; }, Code::format,
     "granite.logit_scale is 0, expected above 0"},
    {"smollm3", [](Parts& p) { p.keys["rope.layers"] = std::vector<uint8_t>{1}; }, Code::format,
     "smollm3.rope.layers has 1 element, expected one for each of 2 layers"},
};

TEST(ModelErrors, NameFileAndPlaceWithWhatWasExpected) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.expected);
    Parts p = parts_of(c.arch);
    c.change(p);
    const auto model = load(p);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code, c.code);
    EXPECT_NE(model.status().message.find(c.expected), std::string::npos) << model.status().message;
    EXPECT_TRUE(model.status().message.starts_with("some/model.gguf: ")) << model.status().message;
  }
}

// Metadata change what a family says by itself.
TEST(ModelFamilies, LayersAreThoseOfMetadataOrFamily) {
  const auto layers_of = [](const char* arch, const std::function<void(Parts&)>& change) {
    Parts p = parts_of(arch);
    change(p);
    const auto model = load(p);
    EXPECT_TRUE(model.ok()) << model.status().message;
    std::vector<std::pair<int, int>> out;  // window, RoPE
    for (const LayerAttention& layer : model.ok() ? model->spec().layers : std::vector<LayerAttention>()) {
      out.emplace_back(layer.window, layer.rope);
    }
    return out;
  };
  using Layers = std::vector<std::pair<int, int>>;
  const auto window = [](Parts& p) { p.keys["attention.sliding_window"] = 7u; };
  EXPECT_EQ(layers_of("llama", [](Parts&) {}), (Layers{{0, 0}, {0, 0}}));
  EXPECT_EQ(layers_of("llama", window), (Layers{{7, 0}, {7, 0}}));
  EXPECT_EQ(layers_of("gemma2", window), (Layers{{7, 0}, {0, 0}}));
  EXPECT_EQ(layers_of("gemma2", [](Parts&) {}), (Layers{{0, 0}, {0, 0}})) << "4096 is more than the context";
  EXPECT_EQ(layers_of("gemma2", [](Parts& p) { p.keys["attention.sliding_window"] = 0u; }), (Layers{{0, 0}, {0, 0}}));
  EXPECT_EQ(layers_of("gemma2",
                      [&](Parts& p) {
                        window(p);
                        p.keys["attention.sliding_window_pattern"] = std::vector<uint8_t>{0, 1};
                      }),
            (Layers{{0, 0}, {7, 0}}));
  EXPECT_EQ(layers_of("gemma2",
                      [&](Parts& p) {
                        window(p);
                        p.keys["attention.sliding_window_pattern"] = 1u;
                      }),
            (Layers{{7, 0}, {7, 0}}));
  EXPECT_EQ(layers_of("gemma2",
                      [&](Parts& p) {
                        window(p);
                        p.keys["rope.freq_base_swa"] = 500.0f;
                      }),
            (Layers{{7, 1}, {0, 0}}));
  EXPECT_EQ(layers_of("smollm3", [](Parts&) {}), (Layers{{0, 0}, {0, 0}})) << "the fourth layer would be the first";
  EXPECT_EQ(layers_of("smollm3",
                      [](Parts& p) {
                        p.keys["rope.layers"] = std::vector<uint8_t>{0, 1};
                      }),
            (Layers{{0, -1}, {0, 0}}));
}

// A factor without a kind of scaling is linear, as in files from before there were several.
TEST(ModelFamilies, AFactorAloneIsLinear) {
  Parts p = parts_of("llama");
  p.keys["rope.scaling.factor"] = 4.0f;
  const auto model = load(p);
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_EQ(model->spec().ropes[0].scaling, RopeScalingKind::linear);
  p.keys["rope.scaling.type"] = "none";
  const auto none = load(p);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->spec().ropes[0].scaling, RopeScalingKind::none);
}

}  // namespace
}  // namespace inlay::testing
