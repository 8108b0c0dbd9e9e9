// Model families as data: what distinguishes one from another, in one row each (src/model/arch/<family>.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace inlay {

enum class Presence : uint8_t { never, optional, required };

struct ArchSpec {
  const char* name;  // general.architecture
  // GGUF files of this family store the rows of Q and K so that RoPE turns neighbours (2i, 2i+1); the loader brings them
  // into the order (i, i + n_rot/2) that all kernels use.
  bool interleaved_rope;
  Presence qkv_bias;
  Presence qk_norm;  // RMS norm of each head of Q and K before RoPE
  // Mixtures of experts.
  Presence experts = Presence::never;
  bool normalised_experts = true;        // the chosen weights are divided by their sum, where the file does not say
  bool shared_expert = false;            // with a gate
  bool biased_experts = false;           // the router too; softmax is over the chosen ones
  bool ffn_norm_after_attention = false; // GGUF's name of ffn_norm is post_attention_norm
};

extern const ArchSpec kLlama;
extern const ArchSpec kQwen2;
extern const ArchSpec kQwen3;
extern const ArchSpec kQwen2Moe;
extern const ArchSpec kQwen3Moe;

std::span<const ArchSpec* const> all_archs();
const ArchSpec* find_arch(std::string_view name);  // null if unknown

}  // namespace inlay
