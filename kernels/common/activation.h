// What a feed-forward network makes of gate and up.
#pragma once

#include <cstdint>

namespace inlay {

enum class Activation : uint8_t {
  silu,            // silu(gate) * up
  gelu_tanh,       // gelu(gate) * up, gelu by its approximation with tanh
  clamped_swiglu,  // (up + 1) * gate * sigmoid(1.702 gate), gate cut off above 7, up on both sides: gpt-oss
};
inline constexpr int kActivations = 3;

// clamped_swiglu's numbers.
inline constexpr float kSwigluAlpha = 1.702f, kSwigluLimit = 7.0f;

}  // namespace inlay
