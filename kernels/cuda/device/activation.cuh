// What becomes of gate and up (kernels/common/activation.h).
#pragma once

#include <cuda_runtime.h>

#include "kernels/common/activation.h"

namespace inlay::cuda {

// x * sigmoid(y). Past the range of exp the quotient is 0, as it should be.
__device__ __forceinline__ float times_sigmoid(float x, float y) { return __fdividef(x, __fadd_rn(1.0f, expf(-y))); }

// gelu by tanh: x (1 + tanh(u)) / 2 = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
__device__ __forceinline__ float gelu_tanh(float x) {
  constexpr float kTwoRoot = 1.59576912160573071f, kCubic = 0.044715f;
  return times_sigmoid(x, __fmul_rn(kTwoRoot, fmaf(__fmul_rn(kCubic, __fmul_rn(x, x)), x, x)));
}

// A NaN stays one.
__device__ __forceinline__ float clamped_swiglu(float gate, float up) {
  const float g = gate > kSwigluLimit ? kSwigluLimit : gate;
  const float u = up > kSwigluLimit ? kSwigluLimit : up < -kSwigluLimit ? -kSwigluLimit : up;
  return __fmul_rn(__fadd_rn(u, 1.0f), times_sigmoid(g, __fmul_rn(kSwigluAlpha, g)));
}

// Activations but silu, of which every caller has a form of its own.
__device__ __forceinline__ float activate(Activation activation, float gate, float up) {
  return activation == Activation::gelu_tanh ? __fmul_rn(gelu_tanh(gate), up) : clamped_swiglu(gate, up);
}

// cap * tanh(x / cap)
__device__ __forceinline__ float soft_capped(float x, float cap) { return __fmul_rn(cap, tanhf(__fdividef(x, cap))); }

}  // namespace inlay::cuda
