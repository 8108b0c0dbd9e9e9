// Sizes of the models that can be imitated, and which type each of their tensors has under a quantization recipe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/cli/synthetic_blocks.h"

namespace inlay::cli {

enum class Family : uint8_t { llama, qwen2, qwen3, qwen3moe, gpt_oss };
const char* family_name(Family family);

struct Shape {
  const char* name;
  Family family;
  int32_t n_layers, d_model, d_ff, n_heads, n_kv_heads, d_head, n_vocab;
  float rope_base;
  float rope_factor;  // of Llama 3's frequency scaling; 0 without it
  bool tied;          // the output matrix is the embedding
  float norm_epsilon;
  int32_t n_context;
  int32_t n_experts = 0, n_used = 0, d_ff_expert = 0;  // 0 without experts
  int32_t window = 0;                                  // of attention; 0 without one
};

struct Recipe {
  const char* name;
  uint32_t file_type;   // general.file_type
  BlockType base;       // most matrices
  BlockType output;     // the matrix that makes the logits
  BlockType sensitive;  // attn_v and ffn_down of the first and last eighth of the layers, and of every third between
  bool mxfp4_experts = false;  // the experts' matrices; then it is no recipe for a dense model
};

std::span<const Shape> synthetic_shapes();
std::span<const Recipe> synthetic_recipes();

// Shrinks width, heads and vocabulary; heads keep their width, and experts their number. Rows that are whole blocks of
// every type stay so, and others stay others.
Shape scaled(Shape shape, double scale);

struct TensorShape {
  std::string name;
  std::vector<uint64_t> dims;  // innermost first, as GGUF has them
  BlockType type;
  ValueSpread spread;
  std::vector<float> values;  // not random if there are any
};

std::vector<TensorShape> tensors_of(const Shape& shape, const Recipe& recipe);

}  // namespace inlay::cli
