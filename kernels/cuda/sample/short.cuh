// The largest logits of a row, when they are few: the filtered draw of nearly every request, and the log-probabilities.
// Formula:  groups of 256 neighbouring logits know their maximum. A bar that k group maxima reach is reached by the k
//           largest logits, and only groups whose maximum reaches it have to be read again. What reaches the bar is
//           sorted; top-k, top-p and min-p are a prefix of it.
// Layout:   keys in shared memory, at most kShort; a row whose filters may keep more is draw.cuh's.
// Shape:    one CTA: bisection over the group maxima with one counting barrier a step, one warp four groups at a time,
//           bitonic sort of a power of two with barriers only between warps.
// Bound:    latency of about 20 barriers, one read of the groups and the sort; cuda_sample speed prints
//           microseconds.
#pragma once

#include "kernels/cuda/sample/block.cuh"
#include "kernels/cuda/sample/draw.cuh"

namespace inlay::cuda::sampling {

inline constexpr int kGroup = 256;       // logits: one warp's part of a tile
inline constexpr int kMaxGroups = 4096;  // of a row whose short list can be found
inline constexpr int kShort = 1024;      // keys of a short list
inline constexpr int kTopPGroups = 400;  // group maxima above the bar of a top-p without top-k

static_assert(kGroup == 32 * kPerThread && kShort == 2 * kThreads);

// 256 neighbours of a row in a warp: a lane's j-th is first + j / 4 * 128 + lane * 4 + j % 4, so ids ascend with j.
struct Slice {
  int64_t first;
  float logits[kPerThread];  // -inf past the end

  __device__ int64_t id(int j) const {
    return first + j / 4 * 128 + static_cast<int64_t>(threadIdx.x % 32) * 4 + j % 4;
  }
  __device__ void load(const float* row, int64_t n_vocab) {
    const bool by_16 = (reinterpret_cast<size_t>(row) & 15) == 0;
#pragma unroll
    for (int j = 0; j < kPerThread; j += 4) {
      if (by_16 && id(j) + 4 <= n_vocab) {
        const float4 v = __ldcg(reinterpret_cast<const float4*>(row + id(j)));
        logits[j] = v.x, logits[j + 1] = v.y, logits[j + 2] = v.z, logits[j + 3] = v.w;
      } else {
#pragma unroll
        for (int i = j; i < j + 4; ++i) logits[i] = id(i) < n_vocab ? __ldcg(row + id(i)) : negative_infinity();
      }
    }
  }
  // What the mask does not let pass cannot be drawn. A lane's four neighbours are in one word. The mask may be the host's
  // memory, so it is read once, past the caches.
  __device__ void keep(const uint32_t* mask, int64_t n_vocab) {
#pragma unroll
    for (int j = 0; j < kPerThread; j += 4) {
      const uint32_t may = id(j) < n_vocab ? __ldcv(mask + id(j) / 32) >> (id(j) % 32) : 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if ((may >> i & 1) == 0) logits[j + i] = negative_infinity();
      }
    }
  }
  // The warp's largest key in every lane.
  __device__ Key max() const {
    uint32_t best = 0;
    int at = 0;
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const uint32_t rank = rank_of(logits[j]);
      if (rank > best) best = rank, at = j;
    }
    return warp_max(make_key(best, id(at)));
  }
};

struct SharedList {
  union {
    float slice[kTile];           // while bias and penalties are applied
    uint32_t groups[kMaxGroups];  // ranks of the group maxima
    double weights[kShort];       // of the sorted keys
  };
  Key keys[kShort];
  uint16_t hot[kMaxGroups];  // groups that reach the bar
  int n_hot, n_keys;
};

// The row of a list: logits and the ranks of its group maxima.
struct GroupedRow {
  const float* logits;
  const uint32_t* group_max;
  int64_t n_vocab;
  __device__ int n_groups() const { return static_cast<int>((n_vocab + kGroup - 1) / kGroup); }
};

__device__ inline uint32_t lowest_bar() { return ordered(-FLT_MAX); }  // every finite logit reaches it

__device__ inline void load_groups(const GroupedRow& row, SharedList& list) {
  __syncthreads();
  for (int g = threadIdx.x; g < row.n_groups(); g += kThreads) list.groups[g] = __ldcg(row.group_max + g);
  if (threadIdx.x == 0) list.n_hot = list.n_keys = 0;
  __syncthreads();
}

// A bar that at least k group maxima reach; lowest_bar() if there is none. A little too low is good enough.
__device__ inline uint32_t bar_of_groups(const SharedList& list, int n_groups, int k, uint32_t highest) {
  constexpr int kDropped = 12;  // low bits of the mantissa
  uint32_t low = lowest_bar() >> kDropped, high = highest >> kDropped;
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    int count = 0;
    for (int base = 0; base < n_groups; base += kThreads) {
      const int g = base + static_cast<int>(threadIdx.x);
      count += __syncthreads_count(g < n_groups && list.groups[g] >> kDropped >= middle);
    }
    if (count >= k) {
      low = middle;
      if (count <= k + k / 4) break;
    } else {
      high = middle - 1;
    }
  }
  const uint32_t bar = low << kDropped;
  return bar > lowest_bar() ? bar : lowest_bar();
}

// The keys that reach the bar, in any order. Returns their number; what exceeds kShort is not stored.
__device__ inline int gather_keys(const GroupedRow& row, uint32_t bar, SharedList& list) {
  constexpr int kAtOnce = 4;  // groups of a warp under way together
  for (int g = threadIdx.x; g < row.n_groups(); g += kThreads) {
    if (list.groups[g] >= bar) list.hot[atomicAdd(&list.n_hot, 1)] = static_cast<uint16_t>(g);
  }
  __syncthreads();
  const int n_hot = list.n_hot;
  for (int base = static_cast<int>(threadIdx.x) / 32 * kAtOnce; base < n_hot; base += kWarps * kAtOnce) {
    Slice slices[kAtOnce];
#pragma unroll
    for (int q = 0; q < kAtOnce; ++q) {
      slices[q].first = base + q < n_hot ? static_cast<int64_t>(list.hot[base + q]) * kGroup : row.n_vocab;
      slices[q].load(row.logits, row.n_vocab);
    }
#pragma unroll
    for (int q = 0; q < kAtOnce; ++q) {
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) {
        const uint32_t rank = rank_of(slices[q].logits[j]);
        if (rank < bar) continue;
        const int at = atomicAdd(&list.n_keys, 1);
        if (at < kShort) list.keys[at] = make_key(rank, slices[q].id(j));
      }
    }
  }
  __syncthreads();
  return list.n_keys;
}

// Descending. Pairs nearer than 64 belong to one warp.
__device__ inline void sort_keys(Key* keys, int n) {
  int padded = 2;
  while (padded < n) padded *= 2;
  __syncthreads();
  for (int i = n + static_cast<int>(threadIdx.x); i < padded; i += kThreads) keys[i] = 0;
  __syncthreads();
  const int t = threadIdx.x;
  for (int size = 2; size <= padded; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      if (t < padded / 2) {
        const int low = 2 * t - (t & (stride - 1));
        const Key a = keys[low], b = keys[low + stride];
        const bool descending = (low & size) == 0;
        if ((a < b) == descending) keys[low] = b, keys[low + stride] = a;
      }
      if (stride > 32 || (stride == 1 && size >= 64)) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

// The row's n_top largest keys, descending. Returns how many there are, -1: they are not a short list.
__device__ inline int short_top(const GroupedRow& row, int n_top, uint32_t highest, SharedList& list) {
  const bool whole = row.n_vocab <= kShort;
  if (!whole && (n_top > row.n_groups() || row.n_groups() > kMaxGroups)) return -1;
  load_groups(row, list);
  const uint32_t bar = whole ? lowest_bar() : bar_of_groups(list, row.n_groups(), n_top, highest);
  const int n = gather_keys(row, bar, list);
  if (n > kShort) return -1;
  sort_keys(list.keys, n);
  return n < n_top ? n : n_top;
}

struct Filters {
  int top_k;
  float top_p, min_p;
  double u;          // the random number
  double row_total;  // sum of all weights, for top-p without top-k
  uint32_t bar;      // nothing below it can be kept
  uint32_t highest;  // rank of the largest logit
};

// The sorted keys that the filters may keep; -1: not a short list.
__device__ inline int candidates(const GroupedRow& row, const Filters& f, SharedList& list, bool& whole) {
  const int n_groups = row.n_groups(), two_thirds = n_groups * 2 / 3;
  whole = row.n_vocab <= kShort;
  uint32_t bar = lowest_bar();
  int wanted = 0;
  if (!whole && (f.top_k > 0 || f.top_p < 1)) {
    wanted = f.top_k > 0 ? f.top_k : two_thirds < kTopPGroups ? two_thirds : kTopPGroups;
    if (wanted > n_groups || wanted > kShort) return -1;
  }
  if (n_groups > kMaxGroups) return -1;
  load_groups(row, list);
  if (wanted > 0) {
    bar = bar_of_groups(list, n_groups, wanted, f.highest);
    whole = bar == lowest_bar();
  } else if (!whole) {
    bar = f.bar;
  }
  const int n = gather_keys(row, bar, list);
  if (n > kShort) return -1;
  sort_keys(list.keys, n);
  return n;
}

__device__ inline void weigh(SharedList& list, int n, const Softmax& softmax) {
  for (int i = threadIdx.x; i < n; i += kThreads) list.weights[i] = softmax.weight(key_logit(list.keys[i]));
  __syncthreads();
}

// Keys with the id before the logit, so that they sort by ascending id.
__device__ inline void sort_by_id(SharedList& list, int n) {
  for (int i = threadIdx.x; i < n; i += kThreads) list.keys[i] = list.keys[i] << 32 | list.keys[i] >> 32;
  sort_keys(list.keys, n);
}

// -1: the filters may keep more than a short list.
__device__ inline int32_t draw_short(const GroupedRow& row, const Filters& f, const Softmaxes& softmax,
                                     SharedList& list) {
  bool whole;
  int n = candidates(row, f, list, whole);
  if (n < 0) return -1;
  if (f.top_k > 0 && n > f.top_k) n = f.top_k;
  if (f.top_p < 1) {
    weigh(list, n, softmax.filter);
    double total = f.row_total;
    if (f.top_k > 0) {
      total = 0;
      for (int i = threadIdx.x; i < n; i += kThreads) total += list.weights[i];
      total = block_reduce(total, Sum{});
    }
    const Passing cut = first_passing(n, StoredWeight{list.weights}, 0.0, AtLeast{f.top_p * total});
    if (cut.first == kNoLimit && f.top_k == 0 && !whole) return -1;
    if (cut.first != kNoLimit) n = cut.first + 1;
  }
  sort_by_id(list, n);
  double total = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) {
    const float logit = from_ordered(static_cast<uint32_t>(list.keys[i]));
    list.weights[i] = softmax.filter.weight(logit) < f.min_p ? 0.0 : softmax.draw.weight(logit);
    total += list.weights[i];
  }
  total = block_reduce(total, Sum{});
  const int at = first_above(n, StoredWeight{list.weights}, 0.0, f.u * total);
  return static_cast<int32_t>(~static_cast<uint32_t>(list.keys[at] >> 32));
}

}  // namespace inlay::cuda::sampling
