// The draw of one row by one CTA where a step is wanted that most rows do not have: top-n-sigma, dynamic temperature,
// typical-p, XTC, Mirostat, adaptive-p. src/sampler/candidates.cpp does the same on the host.
// Formula:  see src/sampler/sampler.h. Runs of tokens are found by bisection on a 64-bit key, as in draw.cuh, and then
//           on the id among equal keys; the sums over what reaches a bar are monotone in it.
// Layout:   all finite logits of the row as candidates in ascending id; a step compacts them in place and keeps the
//           order.
// Shape:    every thread strides over the candidates; all sums are doubles in fixed order, the same on every run.
// Bound:    some hundred passes of one SM over the row: 0.1 to 1 ms. A row with none of these steps never comes here.
#pragma once

#include "kernels/common/philox.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/sample/block.cuh"
#include "kernels/cuda/sample/draw.cuh"

namespace inlay::cuda::sampling {

struct Drawn {
  int32_t token;
  double p_kept;
};

// The sum of value(i) over the candidates.
template <class Value>
__device__ double sum_over(int n, Value value) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) sum += value(i);
  return block_reduce(sum, Sum{});
}

// Logits and ids of the candidates that stay. A tile is read before the scan's barrier and written, no further than
// itself, after it. Weights are not moved.
template <class Stays>
__device__ int keep_if(Candidates list, int n, Stays stays) {
  int kept = 0;
  for (int base = 0; base < n; base += kThreads) {
    const int i = base + static_cast<int>(threadIdx.x);
    const bool inside = i < n;
    const bool own = inside && stays(i);
    const float logit = inside ? list.logits[i] : 0.0f;
    const int32_t id = inside ? list.ids[i] : 0;
    int in_tile;
    const int at = kept + block_exclusive_scan(own ? 1 : 0, in_tile);
    if (own) {
      list.logits[at] = logit;
      list.ids[at] = id;
    }
    kept += in_tile;
  }
  __syncthreads();
  return kept;
}

__device__ inline int keep_within_sigma(Candidates list, int n, double max, double n_sigma) {
  const double mean = sum_over(n, [&](int i) { return static_cast<double>(list.logits[i]); }) / n;
  const double squares = sum_over(n, [&](int i) { return (list.logits[i] - mean) * (list.logits[i] - mean); });
  const double bar = max - n_sigma * sqrt(squares / n);
  return keep_if(list, n, [&](int i) { return list.logits[i] >= bar; });
}

__device__ inline double dynamic_temperature(const SampleRowParams& p, Candidates list, int n, double max) {
  constexpr double kLowestTemperature = 0x1p-126;
  const double range = p.dynatemp_range, middle = p.temperature;
  const double low = middle > range ? middle - range : 0.0, high = middle + range;
  const Softmax plain = {max, 1.0};
  const double total = sum_over(n, [&](int i) { return plain.weight(list.logits[i]); });
  const double exponents = sum_over(n, [&](int i) { return plain.weight(list.logits[i]) * (list.logits[i] - max); });
  const double most = log(static_cast<double>(n));
  const double part = most > 0 ? fmin(fmax((log(total) - exponents / total) / most, 0.0), 1.0) : 0.0;
  return fmax(low + (high - low) * pow(part, static_cast<double>(p.dynatemp_exponent)), kLowestTemperature);
}

// Keeps the shortest run of the largest keys, equal ones by lower id, whose weights reach `wanted`. Expects weights,
// and leaves those of what stays.
template <class KeyOf>
__device__ int keep_run(Candidates list, int n, const Softmax& softmax, double wanted, KeyOf key_of) {
  Key bar = 0, highest = ~Key{0};
  while (bar < highest) {
    const Key width = highest - bar;
    const Key middle = bar + width / 2 + (width & 1);
    const double sum = sum_over(n, [&](int i) { return key_of(i) >= middle ? list.weights[i] : 0.0; });
    if (sum >= wanted) {
      bar = middle;
    } else {
      highest = middle - 1;
    }
  }
  int last = kNoLimit, first = 0;  // the lowest id among those at the bar with which the sum is reached
  while (first < last) {
    const int middle = first + (last - first) / 2;
    const double sum = sum_over(n, [&](int i) {
      const Key key = key_of(i);
      return (key > bar || (key == bar && list.ids[i] <= middle)) ? list.weights[i] : 0.0;
    });
    if (sum >= wanted) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  const int kept = keep_if(list, n, [&](int i) {
    const Key key = key_of(i);
    return key > bar || (key == bar && list.ids[i] <= last);
  });
  store_weights(list, kept, softmax);
  return kept;
}

__device__ inline int keep_typical(Candidates list, int n, const Softmax& softmax, double typical_p) {
  const double total = sum_over(n, [&](int i) { return list.weights[i]; });
  const double below = sum_over(n, [&](int i) { return list.weights[i] * (list.logits[i] - softmax.max); });
  const double mean = softmax.max + below / total;
  return keep_run(list, n, softmax, typical_p * total, [&](int i) {
    const float distance = static_cast<float>(fabs(list.logits[i] - mean));
    return static_cast<Key>(~__float_as_uint(distance)) << 32 | ordered(list.logits[i]);
  });
}

__device__ inline int keep_min_p(Candidates list, int n, const Softmax& softmax, double min_p) {
  double largest = 0;
  for (int i = threadIdx.x; i < n; i += kThreads) largest = fmax(largest, list.weights[i]);
  const double bar = min_p * block_reduce(largest, Larger{});
  const int kept = keep_if(list, n, [&](int i) { return list.weights[i] >= bar; });
  store_weights(list, kept, softmax);
  return kept;
}

__device__ inline int exclude_top_choices(Candidates list, int n, const Softmax& softmax, double threshold) {
  const double bar = threshold * sum_over(n, [&](int i) { return list.weights[i]; });
  const auto rank = [&](int i) { return make_key(ordered(list.logits[i]), list.ids[i]); };
  Key last = ~Key{0};  // in rank, of those that reach the bar; if there are none all stay
  for (int i = threadIdx.x; i < n; i += kThreads) {
    if (list.weights[i] >= bar) last = Smaller{}(last, rank(i));
  }
  last = block_reduce(last, Smaller{});
  const int kept = keep_if(list, n, [&](int i) { return list.weights[i] < bar || rank(i) == last; });
  store_weights(list, kept, softmax);
  return kept;
}

__device__ inline int keep_surprise(Candidates list, int n, const Softmax& softmax, double mu, int32_t first_in_rank) {
  constexpr double kLn2 = 0.69314718055994530942;
  const double bar = log(sum_over(n, [&](int i) { return list.weights[i]; })) - mu * kLn2;
  const int kept = keep_if(list, n, [&](int i) {
    return (list.logits[i] - softmax.max) * softmax.inverse_temperature >= bar || list.ids[i] == first_in_rank;
  });
  store_weights(list, kept, softmax);
  return kept;
}

__device__ inline int filter(const SampleRowParams& p, Candidates list, int n, const Softmax& softmax, double chance) {
  if (p.top_k > 0) n = keep_top_k(list, n, p.top_k, ordered(static_cast<float>(softmax.max)));
  store_weights(list, n, softmax);
  if (p.typical_p < 1) n = keep_typical(list, n, softmax, p.typical_p);
  if (p.top_p < 1) {
    const double total = sum_over(n, [&](int i) { return list.weights[i]; });
    n = keep_top_p(list, n, p.top_p * total, softmax);
  }
  if (p.min_p > 0) n = keep_min_p(list, n, softmax, p.min_p);
  if (chance < p.xtc_probability) n = exclude_top_choices(list, n, softmax, p.xtc_threshold);
  return n;
}

__device__ inline double adaptive_weight(double p, double aim) {
  const double distance = fabs(p - aim) / 0.3;
  return exp_nonpositive(-10.0 * distance * distance / (1.0 + distance));
}

// Expects the weights of what is kept.
__device__ inline Drawn choose(const SampleRowParams& p, Candidates list, int n, const Softmax& softmax, double u) {
  const double total = sum_over(n, [&](int i) { return list.weights[i]; });
  double drawn_total = total;
  if (p.chooser == Chooser::adaptive) {
    for (int i = threadIdx.x; i < n; i += kThreads) {
      list.weights[i] = adaptive_weight(list.weights[i] / total, p.adaptive_aim);
    }
    __syncthreads();
    drawn_total = sum_over(n, [&](int i) { return list.weights[i]; });
  }
  const int at = first_above(n, StoredWeight{list.weights}, 0.0, u * drawn_total);
  return {list.ids[at], softmax.weight(list.logits[at]) / total};
}

// `row_max` is the row's largest key; `row` may be list.logits.
static __device__ __noinline__ Drawn draw_general(const SampleRowParams& p, Candidates list, const float* row,
                                                  int n_vocab, Key row_max) {
  double max = key_logit(row_max);
  int n = compact(row, nullptr, n_vocab, every_finite(), list);
  if (p.top_n_sigma > 0) n = keep_within_sigma(list, n, max, p.top_n_sigma);
  const auto softmax_of_kept = [&] {
    const double temperature = p.dynatemp_range > 0 ? dynamic_temperature(p, list, n, max) : p.temperature;
    return Softmax{max, 1.0 / temperature};
  };
  Softmax softmax = p.temperature_last != 0 ? Softmax{max, 1.0} : softmax_of_kept();
  const PhiloxUniforms random = philox_uniforms(p.seed, p.stream, p.position);
  if (p.chooser == Chooser::mirostat) {
    store_weights(list, n, softmax);
    n = keep_surprise(list, n, softmax, p.mirostat_mu, key_token(row_max));
  } else {
    n = filter(p, list, n, softmax, random.second);
  }
  if (p.temperature_last != 0) {
    float largest = -FLT_MAX;  // XTC may have taken the row's
    for (int i = threadIdx.x; i < n; i += kThreads) largest = fmaxf(largest, list.logits[i]);
    max = block_reduce(static_cast<double>(largest), Larger{});
    softmax = softmax_of_kept();
    store_weights(list, n, softmax);
  }
  return choose(p, list, n, softmax, random.first);
}

}  // namespace inlay::cuda::sampling
