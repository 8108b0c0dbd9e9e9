// One warp's attention over tiles of 32 keys for up to 4 query heads that share a KV head.
//
//   score = (q . k) * scale,  weight = exp(score - max),  acc = sum(weight * v)      (online: max grows from tile to
//   tile)
//
// Lanes: kLanes (a power of two, 8 * kLanes >= d_head) lanes share a key, each has 8 of its components (16 bytes), so a
// load of the warp takes 32 / kLanes keys and a tile takes kLanes loads. Load p gives a lane a share of the dot product
// of its key; the shares of all kLanes loads are added by a folding tree (bit b of the load number against bit b of the
// lane), after which lane l holds the one whole score of load l % kLanes: kLanes - 1 shuffles for 32 scores, and each
// exponential is taken by one lane only. Scores are in units of log2: q is multiplied by scale * log2(e).
#pragma once

#include <cuda_fp16.h>
#include <math_constants.h>

#include <cstdint>

#include "kernels/cuda/attention/split.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {

__device__ __forceinline__ void unpack_halves(const uint4& packed, float (&x)[8]) {
  const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = __halves2half2(__ushort_as_half(static_cast<unsigned short>(words[i] & 0xffffu)),
                                        __ushort_as_half(static_cast<unsigned short>(words[i] >> 16)));
    const float2 both = __half22float2(pair);
    x[2 * i] = both.x;
    x[2 * i + 1] = both.y;
  }
}

// A lane's place: which of the keys of a load, which components; whether d_head reaches them.
template <int kLanes>
struct LanePlace {
  static constexpr int kKeys = 32 / kLanes;
  int lane, key, component;
  bool inside;

  __device__ LanePlace(int lane_, int d_head)
      : lane(lane_), key(lane_ / kLanes), component(lane_ % kLanes * 8), inside(component < d_head) {}
};

// One tile as a lane reads it: base is the lane's 16 bytes of its key of load 0.
struct TileView {
  const __half* base;
  int load_stride;  // halves from a load to the next
  int valid_keys;   // 1..32; what follows in the block is not the row's to read
};

// Loads first, first + 1, ...: all issued before the first is used. Keys past the row's position and components past
// d_head are zeros (the cache may hold anything there, a NaN too).
template <int kLanes, int kCount>
__device__ __forceinline__ void load_tile(const TileView& tile, const LanePlace<kLanes>& place, int first,
                                          uint4 (&out)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const int load = first + i;
    const bool wanted = place.inside && load * LanePlace<kLanes>::kKeys + place.key < tile.valid_keys;
    out[i] = make_uint4(0, 0, 0, 0);
    if (wanted)
      out[i] = __ldcg(reinterpret_cast<const uint4*>(tile.base + static_cast<int64_t>(load) * tile.load_stride));
  }
}

template <int kLanes, int kHeads>
struct WarpAttention {
  static constexpr int kLevels = kLanes == 2 ? 1 : kLanes == 4 ? 2 : kLanes == 8 ? 3 : kLanes == 16 ? 4 : 5;
  static constexpr int kBatchLevels = kLevels < 3 ? kLevels : 3;
  static constexpr int kBatch = 1 << kBatchLevels;  // loads in flight

  float q[kHeads][8];  // times scale * log2(e); zeros for heads past the pass
  float acc[kHeads][8];
  float max[kHeads];
  float sum[kHeads];  // of this lane's keys only until finish()

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      max[h] = -CUDART_INF_F;
      sum[h] = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) acc[h][i] = 0.0f;
    }
  }

  __device__ __forceinline__ void add_tile(const TileView& keys, const TileView& values,
                                           const LanePlace<kLanes>& place) {
    float weight[kHeads];
    tile_scores<kLevels>(keys, place, 0, weight);
    const int own_key = place.lane % kLanes * LanePlace<kLanes>::kKeys + place.key;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const float score = own_key < keys.valid_keys ? weight[h] : -CUDART_INF_F;
      const float new_max = fmaxf(max[h], warp_max(score));  // key 0 of a tile is always valid: finite
      const float correction = exp2f(max[h] - new_max);
      weight[h] = exp2f(score - new_max);
      sum[h] = sum[h] * correction + weight[h];
      max[h] = new_max;
#pragma unroll
      for (int i = 0; i < 8; ++i) acc[h][i] *= correction;
    }
    add_values(values, place, weight);
  }

  // After it every lane has the sum of all keys, and all lanes with the same components have the same acc.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      sum[h] = warp_sum(sum[h]);
#pragma unroll
      for (int mask = kLanes; mask < 32; mask *= 2) {
#pragma unroll
        for (int i = 0; i < 8; ++i) acc[h][i] += __shfl_xor_sync(kAllLanes, acc[h][i], mask);
      }
    }
  }

 private:
  // Scores of the 2^kLevel loads from `first`: lane l ends with load first + l % 2^kLevel, added over 2^kLevel lanes.
  template <int kLevel>
  __device__ __forceinline__ void tile_scores(const TileView& keys, const LanePlace<kLanes>& place, int first,
                                              float (&out)[kHeads]) {
    if constexpr (kLevel == kBatchLevels) {
      uint4 k[kBatch];
      load_tile<kLanes, kBatch>(keys, place, first, k);
      batch_scores<kLevel>(k, place.lane, out);
    } else {
      float upper[kHeads];
      tile_scores<kLevel - 1>(keys, place, first, out);
      tile_scores<kLevel - 1>(keys, place, first + (1 << (kLevel - 1)), upper);
      fold<kLevel - 1>(place.lane, out, upper);
    }
  }

  template <int kLevel>
  __device__ __forceinline__ void batch_scores(const uint4* k, int lane, float (&out)[kHeads]) {
    if constexpr (kLevel == 0) {
      float x[8];
      unpack_halves(*k, x);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        out[h] = q[h][0] * x[0];
#pragma unroll
        for (int i = 1; i < 8; ++i) out[h] = fmaf(q[h][i], x[i], out[h]);
      }
    } else {
      float upper[kHeads];
      batch_scores<kLevel - 1>(k, lane, out);
      batch_scores<kLevel - 1>(k + (1 << (kLevel - 1)), lane, upper);
      fold<kLevel - 1>(lane, out, upper);
    }
  }

  // Lanes whose bit is clear keep the lower loads, the others the upper ones; each gives its partner what the partner
  // keeps.
  template <int kBit>
  __device__ __forceinline__ void fold(int lane, float (&lower)[kHeads], const float (&upper)[kHeads]) {
    const bool keeps_upper = (lane >> kBit & 1) != 0;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const float given = keeps_upper ? lower[h] : upper[h];
      const float kept = keeps_upper ? upper[h] : lower[h];
      lower[h] = kept + __shfl_xor_sync(kAllLanes, given, 1 << kBit);
    }
  }

  __device__ __forceinline__ void add_values(const TileView& values, const LanePlace<kLanes>& place,
                                             const float (&weight)[kHeads]) {
#pragma unroll
    for (int first = 0; first < kLanes; first += kBatch) {
      uint4 v[kBatch];
      load_tile<kLanes, kBatch>(values, place, first, v);
#pragma unroll
      for (int load = 0; load < kBatch; ++load) {
        float x[8];
        unpack_halves(v[load], x);
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          const float w = __shfl_sync(kAllLanes, weight[h], first + load, kLanes);
#pragma unroll
          for (int i = 0; i < 8; ++i) acc[h][i] = fmaf(w, x[i], acc[h][i]);
        }
      }
    }
  }
};

}  // namespace inlay::cuda
