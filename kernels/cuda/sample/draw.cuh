// Top-k, top-p, min-p and the draw of one row by one CTA, with the results of src/sampler/sampler.cpp, for filters that
// may keep any number of tokens (short.cuh is for few).
// Formula:  every filter keeps a run of the largest logits, that is all above a bar and the first few equal to it. The
//           bar is found by bisection on the ordered bits of the logit: the sum over what reaches the bar (of ones for
//           top-k, of weights for top-p) is monotone in it.
// Layout:   the candidates as three arrays in ascending id: logit, id, weight; compaction keeps the order, so that ties
//           fall to the lower id and the draw cumulates in ascending id.
// Shape:    one CTA a row; before anything else a safe bar (the weight below which the tokens together cannot matter to
//           top-p; half of min-p) cuts the vocabulary, so that the up to 32 bisection steps run on fewer candidates.
//           Top-k alone bisects all of them. All sums are doubles in fixed order.
// Bound:    one read of the row by one SM, then barrier latency.
#pragma once

#include "kernels/common/exp_nonpositive.h"
#include "kernels/cuda/sample/block.cuh"

namespace inlay::cuda::sampling {

inline constexpr int kPerThread = 8;
inline constexpr int kTile = kThreads * kPerThread;
inline constexpr int kNoLimit = 0x7fffffff;

struct Candidates {
  float* logits;
  int32_t* ids;
  double* weights;
};

// Keeps the logits above `bar` and the first `ties` that equal it.
struct Cut {
  uint32_t bar;  // ordered
  int ties;
};

struct Softmax {
  double max, inverse_temperature;
  __device__ double weight(float logit) const { return exp_nonpositive((logit - max) * inverse_temperature); }
};

// What the filters see, and what is drawn by: another temperature.
struct Softmaxes {
  Softmax filter, draw;
};

__device__ inline Cut every_finite() { return {ordered(-FLT_MAX), kNoLimit}; }

struct One {
  __device__ double operator()(int) const { return 1.0; }
};
struct StoredWeight {
  const double* weights;
  __device__ double operator()(int i) const { return weights[i]; }
};

// Sum of measure(i) over the logits that reach `bar`.
template <class Measure>
__device__ double sum_from(const float* logits, int n, Measure measure, uint32_t bar) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) {
    if (ordered(logits[i]) >= bar) sum += measure(i);
  }
  return block_reduce(sum, Sum{});
}

struct BarRange {
  uint32_t low, high;
};

// The highest bar in the range whose sum is at least `wanted`; `low` if none is.
template <class Measure>
__device__ uint32_t highest_bar(const float* logits, int n, Measure measure, double wanted, BarRange range) {
  while (range.low < range.high) {
    const uint32_t width = range.high - range.low;
    const uint32_t middle = range.low + width / 2 + (width & 1);
    if (sum_from(logits, n, measure, middle) >= wanted) {
      range.low = middle;
    } else {
      range.high = middle - 1;
    }
  }
  return range.low;
}

// Copies what `cut` keeps of n logits to the front of `to`; `ids` null: a logit's id is its index. `logits` and `ids`
// may be those of `to`: a tile is read before its barrier and written, no further than itself, after it. Weights are
// not moved.
__device__ inline int compact(const float* logits, const int32_t* ids, int n, Cut cut, Candidates to) {
  constexpr Key kAbove = Key{1} << 32;  // counts of two kinds in one scan: above the bar (high half), equal (low half)
  Key before_tile = 0;
  for (int base = 0; base < n; base += kTile) {
    const int first = base + static_cast<int>(threadIdx.x) * kPerThread;
    float logit[kPerThread];
    int32_t id[kPerThread];
    Key count = 0;
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const int i = first + j;
      logit[j] = i < n ? __ldcg(logits + i) : negative_infinity();
      id[j] = i < n && ids != nullptr ? __ldcg(ids + i) : i;
      const uint32_t key = ordered(logit[j]);
      count += key > cut.bar ? kAbove : key == cut.bar ? 1 : 0;
    }
    Key in_tile;
    Key before = before_tile + block_exclusive_scan(count, in_tile);
    before_tile += in_tile;
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const uint32_t key = ordered(logit[j]);
      const int ties = static_cast<int>(before & 0xffffffffu);
      const int at = static_cast<int>(before >> 32) + (ties < cut.ties ? ties : cut.ties);
      if (key > cut.bar || (key == cut.bar && ties < cut.ties)) {
        to.logits[at] = logit[j];
        to.ids[at] = id[j];
      }
      before += key > cut.bar ? kAbove : key == cut.bar ? 1 : 0;
    }
  }
  __syncthreads();
  const int ties = static_cast<int>(before_tile & 0xffffffffu);
  return static_cast<int>(before_tile >> 32) + (ties < cut.ties ? ties : cut.ties);
}

__device__ inline int keep_top_k(Candidates list, int n, int top_k, uint32_t highest) {
  if (n <= top_k) return n;
  const uint32_t bar = highest_bar(list.logits, n, One{}, top_k, {ordered(-FLT_MAX), highest});
  const int above = static_cast<int>(sum_from(list.logits, n, One{}, bar + 1));
  return compact(list.logits, list.ids, n, {bar, top_k - above}, list);
}

__device__ inline void store_weights(Candidates list, int n, const Softmax& softmax) {
  for (int i = threadIdx.x; i < n; i += kThreads) list.weights[i] = softmax.weight(list.logits[i]);
  __syncthreads();
}

// The shortest run of largest weights whose sum reaches `wanted`; all if none does.
__device__ inline int keep_top_p(Candidates list, int n, double wanted, const Softmax& softmax) {
  const StoredWeight weight{list.weights};
  const uint32_t highest = ordered(static_cast<float>(softmax.max));
  const uint32_t lowest = ordered(-FLT_MAX);
  const uint32_t bar = highest_bar(list.logits, n, weight, wanted, {lowest, highest});
  if (bar == lowest && sum_from(list.logits, n, weight, bar) < wanted) return n;
  const double above = sum_from(list.logits, n, weight, bar + 1);
  const double each = softmax.weight(from_ordered(bar));
  const double needed = ceil((wanted - above) / each);
  double ties = needed < 1 ? 1 : needed < n ? needed : n;
  if (ties > 1 && above + (ties - 1) * each >= wanted) ties -= 1;  // the quotient was rounded
  if (above + ties * each < wanted) ties += 1;
  const int kept = compact(list.logits, list.ids, n, {bar, static_cast<int>(ties)}, list);
  store_weights(list, kept, softmax);
  return kept;
}

struct Above {
  double target;
  __device__ bool operator()(double sum) const { return sum > target; }
};
struct AtLeast {
  double target;
  __device__ bool operator()(double sum) const { return sum >= target; }
};

struct Passing {
  int first;          // kNoLimit: none
  int last_possible;  // the last of weight above 0, -1: none
};

// The first i of weight above 0 whose cumulated weight, starting from `base`, passes. weight(i) >= 0; every thread
// cumulates a run of neighbours.
template <class Weight, class Passes>
__device__ Passing first_passing(int n, Weight weight, double base, Passes passes) {
  const int per_thread = (n + kThreads - 1) / kThreads;
  const int begin = static_cast<int>(threadIdx.x) * per_thread;
  const int end = begin + per_thread < n ? begin + per_thread : n;
  double own = 0;
  int last = -1;
  for (int i = begin; i < end; ++i) {
    const double w = weight(i);
    if (w > 0) last = i;
    own += w;
  }
  double total;
  double sum = base + block_exclusive_scan(own, total);
  int found = kNoLimit;
  for (int i = begin; i < end && found == kNoLimit; ++i) {
    const double w = weight(i);
    sum += w;
    if (w > 0 && passes(sum)) found = i;
  }
  return {block_reduce(found, Smaller{}), block_reduce(last, Larger{})};
}

// The first i whose cumulated weight exceeds `target`; the last of weight above 0 if rounding lets none.
template <class Weight>
__device__ int first_above(int n, Weight weight, double base, double target) {
  const Passing p = first_passing(n, weight, base, Above{target});
  return p.first != kNoLimit ? p.first : p.last_possible;
}

// Ascending id, with the filter's weights; candidates below min_p (the largest weight is 1) weigh nothing.
__device__ inline int32_t draw_candidates(Candidates list, int n, float min_p, const Softmaxes& softmax, double u) {
  double total = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) {
    list.weights[i] = list.weights[i] < min_p ? 0.0 : softmax.draw.weight(list.logits[i]);
    total += list.weights[i];
  }
  total = block_reduce(total, Sum{});
  const int at = first_above(n, StoredWeight{list.weights}, 0.0, u * total);
  return list.ids[at];
}

}  // namespace inlay::cuda::sampling
