// RMS norm and rotary embedding of one head by one warp. Every operation is rounded where it stands (no product is
// joined to a sum by the compiler), so all kernels that shape a head give it the same bits.
//
//   x' = x * w / sqrt(mean(x^2) + epsilon)
//   (x'[i], x'[i + n_rot/2]) -> (x'[i] c - x'[i + n_rot/2] s, x'[i] s + x'[i + n_rot/2] c)
//
// Layout: register j of a lane has component lane + 32 j; kPer registers reach d_head <= 32 kPer.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {

// magnitude * {cos, sin} of position * inv_freq. The angle is n * pi/2 + r with r exact to 1e-11 for angles up to 2^21
// (doubles, pi/2 in two parts, fused products), so sine and cosine have the error of sincosf near 0; a float angle
// would be off by 0.06 at position 10^6.
__device__ __forceinline__ float2 turn(int32_t position, float inv_freq, float magnitude) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kHalfPiHigh = 1.57079632679489655800, kHalfPiLow = 6.12323399573676603587e-17;
  const double angle = static_cast<double>(position) * static_cast<double>(inv_freq);
  const double quarters = rint(angle * kTwoOverPi);
  const double rest = fma(-quarters, kHalfPiLow, fma(-quarters, kHalfPiHigh, angle));
  float s, c;
  sincosf(static_cast<float>(rest), &s, &c);
  const long long quadrant = static_cast<long long>(quarters) & 3;
  const float cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
  const float sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
  return make_float2(__fmul_rn(cosine, magnitude), __fmul_rn(sine, magnitude));
}

template <int kPer>
__device__ __forceinline__ void load_head(const float* from, int d_head, int lane, float (&x)[kPer]) {
#pragma unroll
  for (int j = 0; j < kPer; ++j) x[j] = lane + 32 * j < d_head ? from[lane + 32 * j] : 0.0f;
}

template <int kPer>
__device__ __forceinline__ void norm_head(const float (&weight)[kPer], int d_head, float epsilon, float (&x)[kPer]) {
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kPer; ++j) sum = fmaf(x[j], x[j], sum);
  sum = warp_sum(sum);
  const float scale = 1.0f / sqrtf(__fadd_rn(sum / static_cast<float>(d_head), epsilon));
#pragma unroll
  for (int j = 0; j < kPer; ++j) x[j] = __fmul_rn(__fmul_rn(x[j], scale), weight[j]);
}

// x: d_head floats in shared memory, turns: half of them (register j has pair lane + 32 j). All lanes see the result.
template <int kTurns>
__device__ __forceinline__ void rotate_head(const float2 (&turns)[kTurns], int half, int lane, float* x) {
#pragma unroll
  for (int j = 0; j < kTurns; ++j) {
    const int i = lane + 32 * j;
    if (i >= half) continue;
    const float x0 = x[i], x1 = x[i + half];
    x[i] = fmaf(x0, turns[j].x, -__fmul_rn(x1, turns[j].y));
    x[i + half] = fmaf(x0, turns[j].y, __fmul_rn(x1, turns[j].x));
  }
  __syncwarp();
}

struct HeadShape {
  const float* norm;    // (d_head) or null
  const float2* turns;  // (half): magnitude * {cos, sin}
  int32_t d_head, half;
  float epsilon;
};

// What a warp applies to a head; none of it depends on the head's values.
template <int kPer>
struct HeadShaper {
  static constexpr int kTurns = kPer / 2;
  const HeadShape& shape;
  int lane;
  float2 turns[kTurns];
  float weight[kPer];

  __device__ __forceinline__ HeadShaper(const HeadShape& of, int of_lane) : shape(of), lane(of_lane) {}
  __device__ __forceinline__ void load() {
#pragma unroll
    for (int j = 0; j < kTurns; ++j) {
      turns[j] = lane + 32 * j < shape.half ? shape.turns[lane + 32 * j] : make_float2(1.0f, 0.0f);
    }
    if (shape.norm != nullptr) load_head(shape.norm, shape.d_head, lane, weight);
  }
  // From `from` to `x`, which is shared memory of this warp and has the whole head afterwards.
  __device__ __forceinline__ void apply(const float* from, float* x) const {
    float values[kPer];
    load_head(from, shape.d_head, lane, values);
    if (shape.norm != nullptr) norm_head(weight, shape.d_head, shape.epsilon, values);
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      if (lane + 32 * j < shape.d_head) x[lane + 32 * j] = values[j];
    }
    __syncwarp();
    rotate_head(turns, shape.half, lane, x);
  }
};

}  // namespace inlay::cuda
