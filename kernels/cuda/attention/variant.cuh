// What the kernels of rows and those of tiles make of an AttentionVariant: scores are in units of log2.
#pragma once

#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

inline constexpr float kLog2E = 1.44269504088896341f;
inline constexpr int32_t kNoWindow = 1 << 30;  // beyond every position

struct ScoreParams {
  float scale;     // of q . k, times log2(e); with a soft cap divided by it instead
  float soft_cap;  // times log2(e); 0: none
  int32_t window;  // keys that a row sees
  const float* sinks;
};

inline bool supported(const AttentionVariant& v) { return v.window >= 0 && v.soft_cap >= 0; }

inline ScoreParams score_params(const AttentionVariant& v, float scale) {
  return {.scale = v.soft_cap > 0 ? scale / v.soft_cap : scale * kLog2E,
          .soft_cap = v.soft_cap * kLog2E,
          .window = v.window > 0 && v.window < kNoWindow ? v.window : kNoWindow,
          .sinks = v.sinks};
}

// The first key that a row sees; negative where it sees all.
__device__ __forceinline__ int32_t first_seen_key(const ScoreParams& s, int32_t position) {
  return position - s.window + 1;
}

}  // namespace inlay::cuda
