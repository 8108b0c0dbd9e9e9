#include "examples/cli/synthetic_shapes.h"

#include <algorithm>
#include <cmath>

namespace inlay::cli {
namespace {

constexpr Family kLlama = Family::llama, kQwen2 = Family::qwen2, kQwen3 = Family::qwen3;

// From the models' published configurations. The tiny ones are for tests.
constexpr Shape kShapes[] = {
    // name, family, layers, width, feed-forward, heads, kv heads, head width, vocabulary, rope base, factor, tied,
    // epsilon, context
    {"qwen2.5-1.5b", kQwen2, 28, 1536, 8960, 12, 2, 128, 151936, 1e6f, 0, true, 1e-6f, 32768},
    {"qwen2.5-7b", kQwen2, 28, 3584, 18944, 28, 4, 128, 152064, 1e6f, 0, false, 1e-6f, 32768},
    {"llama3.2-1b", kLlama, 16, 2048, 8192, 32, 8, 64, 128256, 5e5f, 32, true, 1e-5f, 131072},
    {"llama3.2-3b", kLlama, 28, 3072, 8192, 24, 8, 128, 128256, 5e5f, 32, true, 1e-5f, 131072},
    {"llama3.1-8b", kLlama, 32, 4096, 14336, 32, 8, 128, 128256, 5e5f, 8, false, 1e-5f, 131072},
    {"qwen3-0.6b", kQwen3, 28, 1024, 3072, 16, 8, 128, 151936, 1e6f, 0, true, 1e-6f, 40960},
    {"qwen3-1.7b", kQwen3, 28, 2048, 6144, 16, 8, 128, 151936, 1e6f, 0, true, 1e-6f, 40960},
    {"qwen3-4b", kQwen3, 36, 2560, 9728, 32, 8, 128, 151936, 1e6f, 0, true, 1e-6f, 40960},
    {"qwen3-8b", kQwen3, 36, 4096, 12288, 32, 8, 128, 151936, 1e6f, 0, false, 1e-6f, 40960},
    {"tiny-llama", kLlama, 4, 256, 768, 8, 4, 64, 1024, 1e4f, 0, false, 1e-5f, 8192},
    {"tiny-qwen2", kQwen2, 4, 256, 768, 4, 2, 64, 1024, 1e6f, 0, true, 1e-6f, 8192},
    {"tiny-qwen3", kQwen3, 4, 256, 768, 4, 2, 128, 1024, 1e6f, 0, true, 1e-6f, 8192},
};

// What llama.cpp's quantizer chooses for dense models of these families without an importance matrix.
constexpr Recipe kRecipes[] = {
    {"f32", 0, BlockType::f32, BlockType::f32, BlockType::f32},
    {"f16", 1, BlockType::f16, BlockType::f16, BlockType::f16},
    {"bf16", 32, BlockType::bf16, BlockType::bf16, BlockType::bf16},
    {"q4_0", 2, BlockType::q4_0, BlockType::q6_k, BlockType::q4_0},
    {"q8_0", 7, BlockType::q8_0, BlockType::q8_0, BlockType::q8_0},
    {"q4_k_m", 15, BlockType::q4_k, BlockType::q6_k, BlockType::q6_k},
    {"q5_k_m", 17, BlockType::q5_k, BlockType::q6_k, BlockType::q6_k},
    {"q6_k", 18, BlockType::q6_k, BlockType::q6_k, BlockType::q6_k},
};

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
    add({name, {u(n_in), u(n_out)}, type, {0.0f, 1.0f / std::sqrt(static_cast<float>(n_in))}, {}});
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
    const int32_t d_q = shape_.n_heads * shape_.d_head, d_kv = shape_.n_kv_heads * shape_.d_head;
    const BlockType sensitive = is_sensitive(i, shape_.n_layers) ? recipe_.sensitive : recipe_.base;
    norm(at + "attn_norm.weight", shape_.d_model);
    matrix(at + "attn_q.weight", shape_.d_model, d_q, recipe_.base);
    matrix(at + "attn_k.weight", shape_.d_model, d_kv, recipe_.base);
    matrix(at + "attn_v.weight", shape_.d_model, d_kv, sensitive);
    matrix(at + "attn_output.weight", d_q, shape_.d_model, recipe_.base);
    if (shape_.family == Family::qwen2) {
      bias(at + "attn_q.bias", d_q);
      bias(at + "attn_k.bias", d_kv);
      bias(at + "attn_v.bias", d_kv);
    }
    if (shape_.family == Family::qwen3) {
      norm(at + "attn_q_norm.weight", shape_.d_head);
      norm(at + "attn_k_norm.weight", shape_.d_head);
    }
    norm(at + "ffn_norm.weight", shape_.d_model);
    matrix(at + "ffn_gate.weight", shape_.d_model, shape_.d_ff, recipe_.base);
    matrix(at + "ffn_up.weight", shape_.d_model, shape_.d_ff, recipe_.base);
    matrix(at + "ffn_down.weight", shape_.d_ff, shape_.d_model, sensitive);
  }

  std::vector<TensorShape> list;

 private:
  static uint64_t u(int32_t n) { return static_cast<uint64_t>(n); }
  void add(TensorShape tensor) { list.push_back(std::move(tensor)); }

  const Shape& shape_;
  const Recipe& recipe_;
};

// The nearest whole number, the even one of two, of x times `scale` in units of `unit`.
int32_t nearest(int32_t x, double scale, int32_t unit) {
  return static_cast<int32_t>(std::nearbyint(x * scale / unit)) * unit;
}

}  // namespace

const char* family_name(Family family) {
  return family == Family::llama ? "llama" : family == Family::qwen2 ? "qwen2" : "qwen3";
}

std::span<const Shape> synthetic_shapes() { return kShapes; }
std::span<const Recipe> synthetic_recipes() { return kRecipes; }

Shape scaled(Shape shape, double scale) {
  constexpr int32_t kBlock = 256;  // the longest block of any type; every width of the table is a multiple of it
  const int32_t group = shape.n_heads / shape.n_kv_heads;
  shape.n_kv_heads = std::max(1, nearest(shape.n_kv_heads, scale, 1));
  while (shape.n_kv_heads * group * shape.d_head % kBlock != 0) ++shape.n_kv_heads;
  shape.n_heads = shape.n_kv_heads * group;
  shape.d_model = shape.family == Family::qwen2 ? shape.n_heads * shape.d_head  // its heads span the width
                                                : std::max(kBlock, nearest(shape.d_model, scale, kBlock));
  shape.d_ff = std::max(kBlock, nearest(shape.d_ff, scale, kBlock));
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
