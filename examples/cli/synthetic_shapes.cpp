#include "examples/cli/synthetic_shapes.h"

#include <algorithm>
#include <cmath>

namespace inlay::cli {
namespace {

constexpr Family kLlama = Family::llama, kQwen2 = Family::qwen2, kQwen3 = Family::qwen3, kQwen3Moe = Family::qwen3moe,
                 kGptOss = Family::gpt_oss;

// From the models' published configurations. The tiny ones are for tests.
constexpr Shape kShapes[] = {
    // name, family, layers, width, feed-forward, heads, kv heads, head width, vocabulary, rope base, factor, tied,
    // epsilon, context, experts, used, feed-forward of an expert, window
    {"qwen2.5-1.5b", kQwen2, 28, 1536, 8960, 12, 2, 128, 151936, 1e6f, 0, true, 1e-6f, 32768},
    {"qwen2.5-7b", kQwen2, 28, 3584, 18944, 28, 4, 128, 152064, 1e6f, 0, false, 1e-6f, 32768},
    {"llama3.2-1b", kLlama, 16, 2048, 8192, 32, 8, 64, 128256, 5e5f, 32, true, 1e-5f, 131072},
    {"llama3.2-3b", kLlama, 28, 3072, 8192, 24, 8, 128, 128256, 5e5f, 32, true, 1e-5f, 131072},
    {"llama3.1-8b", kLlama, 32, 4096, 14336, 32, 8, 128, 128256, 5e5f, 8, false, 1e-5f, 131072},
    {"qwen3-0.6b", kQwen3, 28, 1024, 3072, 16, 8, 128, 151936, 1e6f, 0, true, 1e-6f, 40960},
    {"qwen3-1.7b", kQwen3, 28, 2048, 6144, 16, 8, 128, 151936, 1e6f, 0, true, 1e-6f, 40960},
    {"qwen3-4b", kQwen3, 36, 2560, 9728, 32, 8, 128, 151936, 1e6f, 0, true, 1e-6f, 40960},
    {"qwen3-8b", kQwen3, 36, 4096, 12288, 32, 8, 128, 151936, 1e6f, 0, false, 1e-6f, 40960},
    {"qwen3-30b-a3b", kQwen3Moe, 48, 2048, 6144, 32, 4, 128, 151936, 1e6f, 0, false, 1e-6f, 40960, 128, 8, 768},
    {"gpt-oss-20b", kGptOss, 24, 2880, 2880, 64, 8, 64, 201088, 1.5e5f, 0, false, 1e-5f, 131072, 32, 4, 2880, 128},
    {"tiny-llama", kLlama, 4, 256, 768, 8, 4, 64, 1024, 1e4f, 0, false, 1e-5f, 8192},
    {"tiny-qwen2", kQwen2, 4, 256, 768, 4, 2, 64, 1024, 1e6f, 0, true, 1e-6f, 8192},
    {"tiny-qwen3", kQwen3, 4, 256, 768, 4, 2, 128, 1024, 1e6f, 0, true, 1e-6f, 8192},
    {"tiny-qwen3moe", kQwen3Moe, 4, 256, 768, 4, 2, 128, 1024, 1e6f, 0, false, 1e-6f, 8192, 16, 4, 256},
    {"tiny-gpt-oss", kGptOss, 4, 288, 288, 8, 2, 64, 1024, 1.5e5f, 0, false, 1e-5f, 8192, 8, 2, 288, 64},
};

// What llama.cpp's quantizer chooses for models of these families without an importance matrix.
constexpr Recipe kRecipes[] = {
    {"f32", 0, BlockType::f32, BlockType::f32, BlockType::f32},
    {"f16", 1, BlockType::f16, BlockType::f16, BlockType::f16},
    {"bf16", 32, BlockType::bf16, BlockType::bf16, BlockType::bf16},
    {"q4_0", 2, BlockType::q4_0, BlockType::q6_k, BlockType::q4_0},
    {"q8_0", 7, BlockType::q8_0, BlockType::q8_0, BlockType::q8_0},
    {"q4_k_m", 15, BlockType::q4_k, BlockType::q6_k, BlockType::q6_k},
    {"q5_k_m", 17, BlockType::q5_k, BlockType::q6_k, BlockType::q6_k},
    {"q6_k", 18, BlockType::q6_k, BlockType::q6_k, BlockType::q6_k},
    {"mxfp4", 38, BlockType::q8_0, BlockType::q8_0, BlockType::q8_0, true},
};

// What takes a type's place where a row is not whole blocks of it.
BlockType type_for(BlockType type, int32_t n_cols) {
  if (n_cols % 256 == 0) return type;
  switch (type) {
    case BlockType::q4_k:
      return BlockType::q5_0;
    case BlockType::q5_k:
      return BlockType::q5_1;
    case BlockType::q6_k:
      return BlockType::q8_0;
    default:
      return type;  // blocks of 32 or 1, of which every row of the table is a multiple
  }
}

// The first and the last eighth of the layers, and every third one between.
bool is_sensitive(int32_t layer, int32_t n_layers) {
  const int32_t eighth = n_layers / 8;
  return layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2;
}

// Llama 3's scaling: the factor by which each frequency is divided, from 1 for wavelengths far below the original
// context of 8192 to the model's factor for those far above it.
std::vector<float> rope_factors(const Shape& shape) {
  std::vector<float> factors;
  for (int32_t i = 0; i < shape.d_head; i += 2) {
    const double wavelength = 2.0 * 3.14159265358979323846 *
                              std::pow(static_cast<double>(shape.rope_base), i / static_cast<double>(shape.d_head));
    const double high = std::clamp((8192.0 / wavelength - 1.0) / 3.0, 0.0, 1.0);
    factors.push_back(static_cast<float>(1.0 / ((1.0 - high) / static_cast<double>(shape.rope_factor) + high)));
  }
  return factors;
}

class TensorList {
 public:
  TensorList(const Shape& shape, const Recipe& recipe) : shape_(shape), recipe_(recipe) {}

  void norm(const std::string& name, int32_t n) { add({name, {u(n)}, BlockType::f32, {1.0f, 0.1f}, {}}); }
  void bias(const std::string& name, int32_t n) { add({name, {u(n)}, BlockType::f32, {0.0f, 0.1f}, {}}); }
  // Deviation 1 / sqrt(n_in) keeps the size of what passes through.
  void matrix(const std::string& name, int32_t n_in, int32_t n_out, BlockType type) {
    add({name, {u(n_in), u(n_out)}, type_for(type, n_in), {0.0f, deviation(n_in)}, {}});
  }
  void experts(const std::string& name, int32_t n_in, int32_t n_out, BlockType type) {
    if (recipe_.mxfp4_experts) type = BlockType::mxfp4;
    add({name, {u(n_in), u(n_out), u(shape_.n_experts)}, type_for(type, n_in), {0.0f, deviation(n_in)}, {}});
  }
  void expert_bias(const std::string& name, int32_t n) {
    add({name, {u(n), u(shape_.n_experts)}, BlockType::f32, {0.0f, 0.1f}, {}});
  }

  void outside_layers() {
    matrix("token_embd.weight", shape_.d_model, shape_.n_vocab, shape_.tied ? recipe_.output : recipe_.base);
    if (!shape_.tied) list.back().spread.deviation = 1.0f;  // only looked up, never multiplied by
    norm("output_norm.weight", shape_.d_model);
    if (!shape_.tied) matrix("output.weight", shape_.d_model, shape_.n_vocab, recipe_.output);
    if (shape_.rope_factor > 0.0f) {
      add({"rope_freqs.weight", {u(shape_.d_head / 2)}, BlockType::f32, {}, rope_factors(shape_)});
    }
  }

  void layer(int32_t i) {
    const std::string at = "blk." + std::to_string(i) + ".";
    const BlockType sensitive = is_sensitive(i, shape_.n_layers) ? recipe_.sensitive : recipe_.base;
    attention(at, sensitive);
    norm(at + (shape_.family == Family::gpt_oss ? "post_attention_norm.weight" : "ffn_norm.weight"), shape_.d_model);
    if (shape_.n_experts > 0) {
      mixture(at, sensitive);
    } else {
      matrix(at + "ffn_gate.weight", shape_.d_model, shape_.d_ff, recipe_.base);
      matrix(at + "ffn_up.weight", shape_.d_model, shape_.d_ff, recipe_.base);
      matrix(at + "ffn_down.weight", shape_.d_ff, shape_.d_model, sensitive);
    }
  }

  std::vector<TensorShape> list;

 private:
  static uint64_t u(int32_t n) { return static_cast<uint64_t>(n); }
  static float deviation(int32_t n_in) { return 1.0f / std::sqrt(static_cast<float>(n_in)); }

  void attention(const std::string& at, BlockType sensitive) {
    const int32_t d_q = shape_.n_heads * shape_.d_head, d_kv = shape_.n_kv_heads * shape_.d_head;
    const bool is_gpt_oss = shape_.family == Family::gpt_oss;
    norm(at + "attn_norm.weight", shape_.d_model);
    matrix(at + "attn_q.weight", shape_.d_model, d_q, recipe_.base);
    matrix(at + "attn_k.weight", shape_.d_model, d_kv, recipe_.base);
    matrix(at + "attn_v.weight", shape_.d_model, d_kv, sensitive);
    matrix(at + "attn_output.weight", d_q, shape_.d_model, recipe_.base);
    if (shape_.family == Family::qwen2 || is_gpt_oss) {
      bias(at + "attn_q.bias", d_q);
      bias(at + "attn_k.bias", d_kv);
      bias(at + "attn_v.bias", d_kv);
    }
    if (shape_.family == Family::qwen3 || shape_.family == Family::qwen3moe) {
      norm(at + "attn_q_norm.weight", shape_.d_head);
      norm(at + "attn_k_norm.weight", shape_.d_head);
    }
    if (is_gpt_oss) {
      bias(at + "attn_output.bias", shape_.d_model);
      add({at + "attn_sinks.weight", {u(shape_.n_heads)}, BlockType::f32, {0.0f, 1.0f}, {}});
    }
  }

  void mixture(const std::string& at, BlockType sensitive) {
    matrix(at + "ffn_gate_inp.weight", shape_.d_model, shape_.n_experts, BlockType::f32);
    experts(at + "ffn_gate_exps.weight", shape_.d_model, shape_.d_ff_expert, recipe_.base);
    experts(at + "ffn_up_exps.weight", shape_.d_model, shape_.d_ff_expert, recipe_.base);
    experts(at + "ffn_down_exps.weight", shape_.d_ff_expert, shape_.d_model, sensitive);
    if (shape_.family != Family::gpt_oss) return;
    bias(at + "ffn_gate_inp.bias", shape_.n_experts);
    expert_bias(at + "ffn_gate_exps.bias", shape_.d_ff_expert);
    expert_bias(at + "ffn_up_exps.bias", shape_.d_ff_expert);
    expert_bias(at + "ffn_down_exps.bias", shape_.d_model);
  }

  void add(TensorShape tensor) { list.push_back(std::move(tensor)); }

  const Shape& shape_;
  const Recipe& recipe_;
};

// The nearest whole number, the even one of two, of x times `scale` in units of `unit`.
int32_t nearest(int32_t x, double scale, int32_t unit) {
  return static_cast<int32_t>(std::nearbyint(x * scale / unit)) * unit;
}

constexpr int32_t kBlock = 256;  // the longest block of any type

// A width that is as good a multiple as x: of the longest block, or of 32 alone.
int32_t scaled_width(int32_t x, double scale) {
  if (x % kBlock == 0) return std::max(kBlock, nearest(x, scale, kBlock));
  const int32_t width = std::max(32, nearest(x, scale, 32));
  return width % kBlock == 0 ? width + 32 : width;
}

}  // namespace

const char* family_name(Family family) {
  constexpr const char* kNames[] = {"llama", "qwen2", "qwen3", "qwen3moe", "gpt-oss"};
  return kNames[static_cast<size_t>(family)];
}

std::span<const Shape> synthetic_shapes() { return kShapes; }
std::span<const Recipe> synthetic_recipes() { return kRecipes; }

Shape scaled(Shape shape, double scale) {
  const int32_t group = shape.n_heads / shape.n_kv_heads;
  shape.n_kv_heads = std::max(1, nearest(shape.n_kv_heads, scale, 1));
  while (shape.n_kv_heads * group * shape.d_head % kBlock != 0) ++shape.n_kv_heads;
  shape.n_heads = shape.n_kv_heads * group;
  shape.d_model = shape.family == Family::qwen2 ? shape.n_heads * shape.d_head  // its heads span the width
                                                : scaled_width(shape.d_model, scale);
  shape.d_ff = scaled_width(shape.d_ff, scale);
  if (shape.n_experts > 0) shape.d_ff_expert = scaled_width(shape.d_ff_expert, scale);
  shape.n_vocab = std::max(1024, nearest(shape.n_vocab, scale, kBlock));
  return shape;
}

std::vector<TensorShape> tensors_of(const Shape& shape, const Recipe& recipe) {
  TensorList tensors(shape, recipe);
  tensors.outside_layers();
  for (int32_t i = 0; i < shape.n_layers; ++i) tensors.layer(i);
  return std::move(tensors.list);
}

}  // namespace inlay::cli
