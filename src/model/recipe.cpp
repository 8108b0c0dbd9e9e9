#include "src/model/recipe.h"

#include <iterator>

namespace inlay {
namespace {

constexpr Recipe kRecipes[] = {
    {"F16", 1, DType::f16, DType::f16, DType::f16},        {"BF16", 32, DType::bf16, DType::bf16, DType::bf16},
    {"F32", 0, DType::f32, DType::f32, DType::f32},        {"Q8_0", 7, DType::q8_0, DType::q8_0, DType::q8_0},
    {"Q4_0", 2, DType::q4_0, DType::q6_k, DType::q4_0},    {"Q4_K_M", 15, DType::q4_k, DType::q6_k, DType::q6_k},
    {"Q5_K_M", 17, DType::q5_k, DType::q6_k, DType::q6_k}, {"Q6_K", 18, DType::q6_k, DType::q6_k, DType::q6_k},
};
static_assert(std::size(kRecipes) == static_cast<size_t>(ConvertType::count));

// The first and the last eighth of the layers, and every third between.
bool gets_more_bits(int32_t layer, int32_t n_layers) {
  const int32_t eighth = n_layers / 8;
  return layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2;
}

// A type whose blocks rows of this width consist of, of about the size.
DType fitting(DType type, int64_t n_cols) {
  const auto fits = [&](DType t) { return n_cols % traits(t).block_elements == 0; };
  if (fits(type)) return type;
  const DType smaller_blocks = type == DType::q4_k ? DType::q5_0 : type == DType::q5_k ? DType::q5_1 : DType::q8_0;
  return fits(smaller_blocks) ? smaller_blocks : DType::f16;
}

bool takes_as_little(DType a, DType b) {
  return traits(a).block_bytes * traits(b).block_elements <= traits(b).block_bytes * traits(a).block_elements;
}

}  // namespace

const Recipe& recipe_of(ConvertType type) { return kRecipes[static_cast<size_t>(type)]; }

DType type_by(const Recipe& recipe, const Weight& w, const ModelSpec& spec) {
  if (w.n_rows == 1 || w.role == WeightRole::router) return DType::f32;
  DType type = recipe.matrices;
  const bool is_output = w.role == WeightRole::output || (w.role == WeightRole::token_embd && spec.tied_embeddings);
  if (is_output) type = recipe.output;
  const bool is_sensitive = w.stored == WeightRole::attn_v || w.stored == WeightRole::ffn_down;
  if (is_sensitive && gets_more_bits(w.layer, spec.n_layers)) type = recipe.more;
  type = fitting(type, w.n_cols);
  const bool is_small =
      is_quantized(w.file_dtype) && w.file_dtype != DType::f8_e4m3 && takes_as_little(w.file_dtype, type);
  return is_small && is_quantized(recipe.matrices) ? w.file_dtype : type;
}

}  // namespace inlay
