// Sixteen keys and values of one KV head in the registers of a warp, and the sequence of such steps that a warp walks.
//
// A lane 4 g + t has of the keys g and g + 8 the components 32 c + 8 t .. + 7, and of the values 2 t, 2 t + 1, 2 t + 8,
// 2 t + 9 the components 64 c + 8 g .. + 7: loads of 8 elements which are fragments of the products as they stand (see
// warp_attention.cuh). What a row may not read, and components past d_head, are zeros: the cache may hold anything
// there, a NaN too.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention/kv_element.cuh"
#include "kernels/cuda/attention/split.cuh"

namespace inlay::cuda {

inline constexpr int32_t kStepKeys = 16;
inline constexpr int32_t kStepsOfTile = kTileKeys / kStepKeys;

struct StepLane {
  int32_t g, t;
  __device__ explicit StepLane(int lane) : g(lane / 4), t(lane % 4) {}
  __device__ __forceinline__ int32_t key(int i) const { return g + 8 * i; }                      // i = 0, 1
  __device__ __forceinline__ int32_t value(int i) const { return 2 * t + i % 2 + 8 * (i / 2); }  // i = 0 .. 3
};

// Which keys of a step a row may read. kFrom: not all from the step's first one on.
template <bool kFrom>
struct StepKeys {
  int32_t first, end;
  __device__ __forceinline__ bool has(int32_t key) const { return key < end && (!kFrom || key >= first); }
  __device__ __forceinline__ bool all() const { return kStepKeys <= end && (!kFrom || first <= 0); }
};

// A row's newest key and value in their stored form, of one KV head.
template <int kChunks, KvType kType>
struct FreshHead {
  alignas(16) typename KvElement<kType>::Packed k[8 * kChunks], v[8 * kChunks];
  float k_scale, v_scale;
};

template <int kChunks, KvType kType>
struct StepTile {
  using Element = KvElement<kType>;
  using Packed = typename Element::Packed;

  Packed k[2 * kChunks][2];
  Packed v[kChunks][4];
  float k_scale[4], v_scale[4];  // of the keys of v; types without scales: never touched

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) k[2 * chunk + i / 2][i % 2] = v[chunk][i] = Element::zeros();
    }
  }
  // base: the step's first key (load_values: value) of the KV head; scales: its scale. keys: those that may be read.
  template <bool kFrom>
  __device__ __forceinline__ void load_keys(const char* base, const char* scales, int32_t d_head, StepKeys<kFrom> keys,
                                            const StepLane& lane) {
    if (keys.all() && d_head == kWidth) {
      read_keys<true>(base, kWidth, keys, lane);
    } else {
      read_keys<false>(base, d_head, keys, lane);
    }
    read_scales(scales, keys, lane, k_scale);
  }

  template <bool kFrom>
  __device__ __forceinline__ void load_values(const char* base, const char* scales, int32_t d_head,
                                              StepKeys<kFrom> keys, const StepLane& lane) {
    if (keys.all() && d_head == kWidth) {
      read_values<true>(base, kWidth, keys, lane);
    } else {
      read_values<false>(base, d_head, keys, lane);
    }
    read_scales(scales, keys, lane, v_scale);
  }

  // Put the newest key and value, which the cache does not have yet, at `key` of the step.
  __device__ __forceinline__ void insert_key(const FreshHead<kChunks, kType>& fresh, int32_t key, int32_t d_head,
                                             const StepLane& lane) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (lane.key(i) != key) continue;
#pragma unroll
      for (int chunk = 0; chunk < 2 * kChunks; ++chunk) {
        if (32 * chunk + 8 * lane.t < d_head) k[chunk][i] = fresh.k[4 * chunk + lane.t];
      }
    }
    insert_scale(fresh.k_scale, key, lane, k_scale);
  }
  __device__ __forceinline__ void insert_value(const FreshHead<kChunks, kType>& fresh, int32_t key, int32_t d_head,
                                               const StepLane& lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (lane.value(i) != key) continue;
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        if (64 * chunk + 8 * lane.g < d_head) v[chunk][i] = fresh.v[8 * chunk + lane.g];
      }
    }
    insert_scale(fresh.v_scale, key, lane, v_scale);
  }

 private:
  static constexpr int32_t kWidth = 64 * kChunks;  // of the widest head

  // Past L1: another kernel may have written there since it was filled.
  __device__ static __forceinline__ Packed read(const char* from, bool wanted) {
    return wanted ? __ldcg(reinterpret_cast<const Packed*>(from)) : Element::zeros();
  }
  // kAll: every key of the step, and heads of kWidth components.
  template <bool kAll, bool kFrom>
  __device__ __forceinline__ void read_keys(const char* base, int32_t d_head, StepKeys<kFrom> keys,
                                            const StepLane& lane) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int32_t components = keys.has(lane.key(i)) ? d_head - 8 * lane.t : 0;
      const char* from = base + (lane.key(i) * d_head + 8 * lane.t) * Element::kBytes;
#pragma unroll
      for (int chunk = 0; chunk < 2 * kChunks; ++chunk) {
        k[chunk][i] = read(from + 32 * chunk * Element::kBytes, kAll || 32 * chunk < components);
      }
    }
  }
  template <bool kAll, bool kFrom>
  __device__ __forceinline__ void read_values(const char* base, int32_t d_head, StepKeys<kFrom> keys,
                                              const StepLane& lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int32_t components = keys.has(lane.value(i)) ? d_head - 8 * lane.g : 0;
      const char* from = base + (lane.value(i) * d_head + 8 * lane.g) * Element::kBytes;
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        v[chunk][i] = read(from + 64 * chunk * Element::kBytes, kAll || 64 * chunk < components);
      }
    }
  }
  template <bool kFrom>
  __device__ static __forceinline__ void read_scales(const char* scales, StepKeys<kFrom> keys, const StepLane& lane,
                                                     float (&out)[4]) {
    if constexpr (Element::kScaled) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        out[i] = keys.has(lane.value(i)) ? __ldcg(reinterpret_cast<const float*>(scales) + lane.value(i)) : 0.0f;
      }
    }
  }
  __device__ static __forceinline__ void insert_scale(float scale, int32_t key, const StepLane& lane, float (&to)[4]) {
    if constexpr (Element::kScaled) {
#pragma unroll
      for (int i = 0; i < 4; ++i) to[i] = lane.value(i) == key ? scale : to[i];
    }
  }
};

// Every kStride-th step of a row from one on; the blocks of the next few are known in advance.
template <int kStride>
struct StepWalk {
  static constexpr int kKnown = 3;
  static constexpr int kTiles = kStride / kStepsOfTile;  // from a step to the next: all begin at the same token
  static_assert(kStride % kStepsOfTile == 0);

  const int32_t* table;    // at this step's entry of the row's line of block_tables
  int32_t n_left, n_keys;  // steps to the end, in units of one; keys of the row from this step on
  int32_t blocks[kKnown];  // of this step and the following

  __device__ __forceinline__ void begin(const int32_t* row_table, int32_t first, int32_t end, int32_t position) {
    table = row_table + first / kStepsOfTile;
    n_left = end - first;
    n_keys = position + 1 - first * kStepKeys;
#pragma unroll
    for (int i = 0; i < kKnown; ++i) blocks[i] = block_of(i);
  }
  __device__ __forceinline__ void advance() {
    table += kTiles;
    n_left -= kStride;
    n_keys -= kStride * kStepKeys;
#pragma unroll
    for (int i = 0; i + 1 < kKnown; ++i) blocks[i] = blocks[i + 1];
    blocks[kKnown - 1] = block_of(kKnown - 1);
  }
  __device__ __forceinline__ bool has(int ahead) const { return n_left > ahead * kStride; }
  __device__ __forceinline__ int32_t keys(int ahead) const { return n_keys - ahead * kStride * kStepKeys; }

 private:
  __device__ __forceinline__ int32_t block_of(int ahead) const { return has(ahead) ? table[ahead * kTiles] : 0; }
};

// Asks the L2 for a piece of global memory (16-byte units), without a register for it.
__device__ __forceinline__ void fetch_to_l2(const char* from, int32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0],%1;" ::"l"(from), "r"(bytes));
#endif
}

}  // namespace inlay::cuda
