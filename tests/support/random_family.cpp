#include "tests/support/random_family.h"

#include "tests/unit/gguf_image.h"

namespace inlay::test {
namespace {

using inlay::testing::GgufImage;

constexpr uint64_t kModel = 128, kFeedForward = 256, kHead = 64, kHeads = 4, kKvHeads = 2, kLayers = 4;

class FamilyBuilder {
 public:
  FamilyBuilder(std::string_view arch, GgufType type, std::string_view altered, bool both_ways)
      : arch_(arch), type_(type), altered_(altered), both_ways_(both_ways) {}

  std::vector<std::byte> build() {
    image_.text("general.architecture", arch_);
    u32("block_count", kLayers), u32("context_length", 4096), u32("embedding_length", kModel);
    u32("feed_forward_length", kFeedForward), u32("attention.head_count", kHeads);
    u32("attention.head_count_kv", kKvHeads), u32("attention.key_length", kHead);
    u32("attention.value_length", kHead), u32("rope.dimension_count", kHead);
    f32("attention.layer_norm_rms_epsilon", 1e-5f);
    image_.text("tokenizer.ggml.model", "no_vocab");
    metadata_of_family();
    matrix("token_embd", kFamilyVocab, kModel, -1);
    for (uint64_t layer = 0; layer < kLayers; ++layer) add_layer("blk." + std::to_string(layer) + ".");
    vector("output_norm.weight", kModel, 0.8f, 1.2f);
    matrix("output", kFamilyVocab, kModel, -4);
    return image_.build();
  }

 private:
  bool is(std::string_view arch) const { return arch_ == arch; }
  bool is_gemma() const { return is("gemma2") || is("gemma3"); }
  bool is_altered(std::string_view trait) const { return altered_ == trait; }
  std::string key(std::string_view name) const { return arch_ + "." + std::string(name); }
  void u32(std::string_view name, uint64_t value) { image_.u32(key(name), static_cast<uint32_t>(value)); }
  void f32(std::string_view name, float value) { image_.f32(key(name), value); }
  void trait(std::string_view name, float value) { f32(name, is_altered(name) ? 1.5f * value : value); }
  void window(uint64_t length) {
    constexpr const char* kName = "attention.sliding_window";
    if (both_ways_ && !is("gemma3")) length = 0;
    u32(kName, is_altered(kName) ? length + 7 : length);
  }

  void metadata_of_family() {
    if (both_ways_) image_.boolean(key("attention.causal"), is_altered("attention.causal"));
    f32("rope.freq_base", is("gemma3") ? 1e6f : 1e4f);
    if (is("gemma2")) window(33), trait("attn_logit_softcapping", 2.0f), trait("final_logit_softcapping", 2.0f);
    if (is("gemma3")) window(40), u32("attention.sliding_window_pattern", 2), trait("rope.freq_base_swa", 1e4f);
    if (is("olmo2")) window(32);
    if (is("granite")) {
      for (const auto& [name, value] :
           {std::pair{"embedding_scale", 2.0f}, {"residual_scale", 0.4f}, {"logit_scale", 3.0f}}) {
        trait(name, value);
      }
      trait("attention.scale", 0.1f);
    }
    if (is("smollm3")) {
      const uint8_t none = is_altered("rope.layers") ? 1 : 0;
      image_.array<uint8_t>(key("rope.layers"), MetaType::boolean, {1, none, 1, none});
    }
  }

  void matrix(const std::string& name, uint64_t n_rows, uint64_t n_cols, int exponent) {
    image_.tensor(name + ".weight", {n_cols, n_rows}, static_cast<uint32_t>(type_),
                  test::matrix(type_, n_rows * n_cols, exponent, random_));
  }
  void vector(const std::string& name, uint64_t n, float low, float high) {
    image_.tensor(name, {n}, static_cast<uint32_t>(GgufType::f32), floats(n, low, high, random_));
  }
  // Of models that have them; an altered one is zeros.
  void bias(const std::string& name, uint64_t n) {
    const float size = is_altered("biases") ? 0.0f : 1.0f;
    vector(name + ".bias", n, -size, size);
  }

  void add_layer(const std::string& prefix) {
    const uint64_t n_queries = kHeads * kHead, n_keys = kKvHeads * kHead;
    const bool input_norms = !is("olmo2"), post_norms = is_gemma() || is("olmo2"), biases = is("granite");
    if (input_norms) vector(prefix + "attn_norm.weight", kModel, 1.0f, 1.4f);
    matrix(prefix + "attn_q", n_queries, kModel, -4);
    matrix(prefix + "attn_k", n_keys, kModel, -4);
    matrix(prefix + "attn_v", n_keys, kModel, -4);
    if (biases) bias(prefix + "attn_q", n_queries), bias(prefix + "attn_k", n_keys), bias(prefix + "attn_v", n_keys);
    if (is("gemma3") || is("olmo2")) {
      const bool of_head = is("gemma3");
      vector(prefix + "attn_q_norm.weight", of_head ? kHead : n_queries, 1.0f, 1.6f);
      vector(prefix + "attn_k_norm.weight", of_head ? kHead : n_keys, 1.0f, 1.6f);
    }
    matrix(prefix + "attn_output", kModel, n_queries, -1);
    if (biases) bias(prefix + "attn_output", kModel);
    const float post = is_gemma() ? 6.0f : 1.0f;  // beside embeddings that are scaled
    if (post_norms) vector(prefix + "post_attention_norm.weight", kModel, 0.5f * post, post);
    if (input_norms) vector(prefix + "ffn_norm.weight", kModel, 0.8f, 1.2f);
    matrix(prefix + "ffn_gate", kFeedForward, kModel, -3);
    matrix(prefix + "ffn_up", kFeedForward, kModel, -3);
    if (biases) bias(prefix + "ffn_gate", kFeedForward), bias(prefix + "ffn_up", kFeedForward);
    matrix(prefix + "ffn_down", kModel, kFeedForward, -4);
    if (biases) bias(prefix + "ffn_down", kModel);
    if (post_norms) vector(prefix + "post_ffw_norm.weight", kModel, 0.5f * post, post);
  }

  const std::string arch_;
  const GgufType type_;
  const std::string_view altered_;
  const bool both_ways_;
  std::mt19937 random_{20240229};
  GgufImage image_;
};

}  // namespace

const std::vector<FamilyTraits>& family_traits() {
  static const std::vector<FamilyTraits> all = {
      {"gemma2", {"attention.sliding_window", "attn_logit_softcapping", "final_logit_softcapping"}},
      {"gemma3", {"attention.sliding_window", "rope.freq_base_swa"}},
      {"granite", {"embedding_scale", "residual_scale", "attention.scale", "logit_scale", "biases"}},
      {"olmo2", {"attention.sliding_window"}},
      {"smollm3", {"rope.layers"}}};
  return all;
}

std::vector<std::byte> random_family(std::string_view arch, GgufType type, std::string_view altered, bool both_ways) {
  return FamilyBuilder(arch, type, altered, both_ways).build();
}

}  // namespace inlay::test
