// What a model is, independent of file formats and devices: its sizes and the choices of its family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace inlay {

enum class RopeScalingKind : uint8_t { none, linear, yarn };

struct RopeSpec {
  int32_t n_rot = 0;      // rotated dimensions of each head, even
  double base = 10000.0;  // theta
  RopeScalingKind scaling = RopeScalingKind::none;
  double factor = 1.0;            // context extension
  int32_t original_context = 0;   // YaRN: the context trained on before extension
  double attention_factor = 1.0;  // YaRN: extra magnitude
  double beta_fast = 32.0;        // YaRN: rotations above which a dimension is not interpolated
  double beta_slow = 1.0;
  std::vector<float> frequency_factors;  // (n_rot / 2), divides each frequency (Llama 3's scaling); empty if none
};

struct ModelSpec {
  std::string arch;  // as general.architecture names it
  std::string name;
  int32_t n_layers = 0, d_model = 0, n_heads = 0, n_kv_heads = 0, d_head = 0, d_ff = 0, n_vocab = 0;
  int32_t n_context_train = 0;
  float norm_epsilon = 0;
  RopeSpec rope;
  bool qkv_bias = false;
  bool qk_norm = false;
  bool tied_embeddings = false;  // lm_head is the token embedding

  int64_t d_q() const { return int64_t{n_heads} * d_head; }
  int64_t d_kv() const { return int64_t{n_kv_heads} * d_head; }
};

// Angle per position of each rotated pair, scaling applied, and what cosine and sine are multiplied by.
// RoPE: Su et al. 2021. YaRN: Peng et al. 2023, as NTK-by-parts with a linear ramp between beta_fast and beta_slow.
struct RopeTable {
  std::vector<float> inv_freq;  // (n_rot / 2)
  float magnitude = 1.0f;
};

RopeTable make_rope_table(const RopeSpec& rope);

}  // namespace inlay
