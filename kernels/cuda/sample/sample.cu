// Draws the token of every row; src/sampler/sampler.h is the specification.
// Formula:  bias and penalties; the largest logit or filters and a draw; log-probabilities of the unmodified logits:
//           logprob[t] = l[t] - max - ln sum exp(l - max).
// Layout:   grid (parts, rows). A part is kTile logits of a row; its CTA leaves maximum, sums and best keys in the
//           row's scratch, and the CTA that takes the last ticket of the row finishes it and sets the ticket back to 0
//           for the next replay. Parts depend on the vocabulary alone and are merged in their order, so a row's bits
//           depend on the row alone. Scratch: 16 bytes a token of the vocabulary and row, and a little.
// Shape:    8 logits a thread in registers: one read of the row for maximum and both sums. 1024 threads a CTA, because
//           the finish of a filtered row is one CTA's work. One launch for all kinds of rows: the parameters lie in
//           device memory and a replayed graph cannot choose kernels.
// Bound:    greedy: one read of the logits; filtered: see draw.cuh (share: not yet measured).
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/philox.cuh"
#include "kernels/cuda/sample/block.cuh"
#include "kernels/cuda/sample/draw.cuh"

namespace inlay::cuda {
namespace sampling {

enum class RowError : int32_t { none = 0, bad_logit = 1, no_finite_logit = 2, everything_banned = 3 };

struct Part {
  Key model_max;     // of the logits as the model gave them
  Key row_max;       // after bias and penalties
  double model_sum;  // of exp(l - the part's model_max)
  double row_sum;    // of the weights relative to the part's row_max, if the row needs it
};

// One row's scratch. Only `ticket` has to be 0 before the first launch; everything else is written before it is read.
struct RowScratch {
  uint32_t* ticket;
  Part* parts;            // (n_parts)
  Key* top;               // (n_parts, kMaxLogprobs) descending, 0: no more
  float* group_max;       // (n_parts, kWarps) after bias and penalties; which logits share a group does not matter
  Candidates candidates;  // n_vocab each; `logits` holds the row after bias and penalties first
};

constexpr int64_t kAlignment = 256;
__host__ __device__ constexpr int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
__host__ __device__ constexpr int32_t part_count(int64_t n_vocab) {
  return static_cast<int32_t>((n_vocab + kTile - 1) / kTile);
}

__host__ __device__ constexpr int64_t row_bytes(int64_t n_vocab) {
  const int64_t n_parts = part_count(n_vocab);
  return kAlignment + aligned(n_parts * static_cast<int64_t>(sizeof(Part))) +
         aligned(n_parts * kMaxLogprobs * static_cast<int64_t>(sizeof(Key))) + aligned(n_parts * kWarps * 4) +
         aligned(n_vocab * 4) * 2 + aligned(n_vocab * 8);
}

__device__ inline RowScratch row_scratch(const SampleArgs& args, int row) {
  const int64_t n_parts = part_count(args.n_vocab);
  char* at = static_cast<char*>(args.scratch) + row * row_bytes(args.n_vocab);
  const auto take = [&](int64_t bytes) {
    char* taken = at;
    at += aligned(bytes);
    return static_cast<void*>(taken);
  };
  RowScratch s;
  s.ticket = static_cast<uint32_t*>(take(kAlignment));
  s.parts = static_cast<Part*>(take(n_parts * sizeof(Part)));
  s.top = static_cast<Key*>(take(n_parts * kMaxLogprobs * sizeof(Key)));
  s.group_max = static_cast<float*>(take(n_parts * kWarps * 4));
  s.candidates.logits = static_cast<float*>(take(args.n_vocab * 4));
  s.candidates.ids = static_cast<int32_t*>(take(args.n_vocab * 4));
  s.candidates.weights = static_cast<double*>(take(args.n_vocab * 8));
  return s;
}

__device__ inline bool penalised(const SampleRowParams& p) {
  return p.n_counts > 0 && (p.repetition_penalty != 1 || p.frequency_penalty != 0 || p.presence_penalty != 0);
}
__device__ inline bool modified(const SampleRowParams& p) { return p.n_bias > 0 || penalised(p); }
__device__ inline bool filtered(const SampleRowParams& p) { return p.top_k > 0 || p.top_p < 1 || p.min_p > 0; }

// The sum over the whole row is wanted by the unfiltered draw and by top-p without top-k.
__device__ inline bool needs_row_sum(const SampleRowParams& p) {
  return p.temperature > 0 && p.top_k <= 0 && (p.top_p < 1 || !filtered(p));
}
__device__ inline bool needs_groups(const SampleRowParams& p) { return p.temperature > 0 && p.top_k > 0; }
__device__ inline int wanted_logprobs(const SampleRowParams& p) {
  return p.n_logprobs < 0 ? 0 : p.n_logprobs > kMaxLogprobs ? kMaxLogprobs : p.n_logprobs;
}

// However large bias and penalties are, only an explicit -inf bans a token.
__device__ inline float clamp_finite(double logit) {
  return static_cast<float>(fmin(fmax(logit, -static_cast<double>(FLT_MAX)), static_cast<double>(FLT_MAX)));
}

__device__ inline float biased(float logit, float bias) {
  if (bias == negative_infinity() || logit == negative_infinity()) return negative_infinity();
  return clamp_finite(static_cast<double>(logit) + bias);
}

__device__ inline float penalise(float value, int32_t count, const SampleRowParams& p) {
  if (count <= 0 || value == negative_infinity()) return value;
  double logit = value;
  logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
  logit -= static_cast<double>(count) * p.frequency_penalty + p.presence_penalty;
  return clamp_finite(logit);
}

// Bias, then penalties, on the slice of the row that begins at `first`. Tokens are distinct within a list; the lists
// are the host's, who has refused tokens outside of the vocabulary.
__device__ inline void modify_slice(const SampleArgs& args, const SampleRowParams& p, int64_t first, float* slice) {
  __syncthreads();
  for (int i = threadIdx.x; i < p.n_bias; i += kThreads) {
    const int64_t at = args.bias_tokens[p.first_bias + i] - first;
    if (at >= 0 && at < kTile) slice[at] = biased(slice[at], args.bias_values[p.first_bias + i]);
  }
  __syncthreads();
  for (int i = threadIdx.x; penalised(p) && i < p.n_counts; i += kThreads) {
    const int64_t at = args.count_tokens[p.first_count + i] - first;
    if (at >= 0 && at < kTile) slice[at] = penalise(slice[at], args.count_values[p.first_count + i], p);
  }
  __syncthreads();
}

struct Slice {
  int64_t first;             // the thread's j-th logit is first + j * kThreads + threadIdx.x
  float logits[kPerThread];  // -inf past the end

  __device__ int64_t id(int j) const { return first + j * kThreads + static_cast<int64_t>(threadIdx.x); }
  __device__ Key max_below(Key bound) const {
    Key best = 0;
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const Key key = make_key(logits[j], id(j));
      if (key < bound && key > best) best = key;
    }
    return best;
  }
};

// The model's logits of a slice: maximum (or the first bad logit), sum and best keys.
__device__ inline void measure_model(const Slice& slice, int n_top, Part& part, Key* top) {
  part.model_max = block_reduce(slice.max_below(~Key{0}), Larger{});
  double sum = 0;
  if (part.model_max != 0) {
    const float max = key_logit(part.model_max);
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) sum += expf(slice.logits[j] - max);
  }
  part.model_sum = block_reduce(sum, Sum{});
  const int n = extract_top(
      n_top, [&](Key bound) { return slice.max_below(bound); }, [&](int i, Key key) { top[i] = key; });
  if (threadIdx.x == 0 && n < n_top) top[n] = 0;
}

// The logits that are drawn from: maximum, group maxima and the sum of weights.
__device__ inline void measure_row(const Slice& slice, const SampleRowParams& p, Part& part, float* group_max) {
  if (needs_groups(p)) {
    const Key group = warp_reduce(slice.max_below(~Key{0}), Larger{});
    if (threadIdx.x % 32 == 0) group_max[threadIdx.x / 32] = key_logit(group);
  }
  part.row_max = modified(p) ? block_reduce(slice.max_below(~Key{0}), Larger{}) : part.model_max;
  part.row_sum = 0;
  if (!needs_row_sum(p) || part.row_max == 0) return;
  const Softmax softmax = {key_logit(part.row_max), 1.0 / p.temperature};
  double sum = 0;
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) sum += softmax.weight(slice.logits[j]);
  part.row_sum = block_reduce(sum, Sum{});
}

__device__ inline void measure_part(const SampleArgs& args, const SampleRowParams& p, const RowScratch& s) {
  __shared__ float shared_slice[kTile];
  const int part_index = blockIdx.x;
  const float* logits = args.slot_logits + p.slot * args.n_vocab;
  Slice slice;
  slice.first = static_cast<int64_t>(part_index) * kTile;
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    slice.logits[j] = slice.id(j) < args.n_vocab ? logits[slice.id(j)] : negative_infinity();
  }
  Part part;
  measure_model(slice, wanted_logprobs(p), part, s.top + part_index * kMaxLogprobs);
  if (modified(p)) {
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) shared_slice[j * kThreads + threadIdx.x] = slice.logits[j];
    modify_slice(args, p, slice.first, shared_slice);
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      slice.logits[j] = shared_slice[j * kThreads + threadIdx.x];
      if (slice.id(j) < args.n_vocab) s.candidates.logits[slice.id(j)] = slice.logits[j];
    }
  }
  measure_row(slice, p, part, s.group_max + part_index * kWarps);
  if (threadIdx.x == 0) s.parts[part_index] = part;
}

// True in the CTA that is the last of its row; the results of the others are visible to it then.
__device__ inline bool last_of_row(uint32_t* ticket) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    if (last) *ticket = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

struct Merged {
  Key model_max, row_max;
  double log_sum;    // of the model's logits
  double row_total;  // of the row's weights, if it needs it
};

__device__ inline double part_weight(const Part* part, const Softmax& softmax) {
  const Key max = __ldcg(&part->row_max);
  return max == 0 ? 0.0 : __ldcg(&part->row_sum) * softmax.weight(key_logit(max));
}

__device__ inline Merged merge_parts(const SampleRowParams& p, const Part* parts, int n_parts) {
  Merged m = {0, 0, 0, 0};
  for (int i = threadIdx.x; i < n_parts; i += kThreads) {
    m.model_max = Larger{}(m.model_max, __ldcg(&parts[i].model_max));
    m.row_max = Larger{}(m.row_max, __ldcg(&parts[i].row_max));
  }
  m.model_max = block_reduce(m.model_max, Larger{});
  m.row_max = modified(p) ? block_reduce(m.row_max, Larger{}) : m.model_max;
  if (is_bad(m.model_max) || m.row_max == 0) return m;
  const double max = key_logit(m.model_max);
  double sum = 0;
  for (int i = threadIdx.x; i < n_parts; i += kThreads) {
    const Key part_max = __ldcg(&parts[i].model_max);
    if (part_max != 0) sum += __ldcg(&parts[i].model_sum) * exp_nonpositive(key_logit(part_max) - max);
  }
  m.log_sum = max + log(block_reduce(sum, Sum{}));
  if (needs_row_sum(p)) {
    const Softmax softmax = {key_logit(m.row_max), 1.0 / p.temperature};
    double total = 0;
    for (int i = threadIdx.x; i < n_parts; i += kThreads) total += part_weight(parts + i, softmax);
    m.row_total = block_reduce(total, Sum{});
  }
  return m;
}

struct PartWeight {
  const Part* parts;
  Softmax softmax;
  __device__ double operator()(int i) const { return part_weight(parts + i, softmax); }
};
struct LogitWeight {
  const float* logits;
  Softmax softmax;
  __device__ double operator()(int i) const { return softmax.weight(__ldcg(logits + i)); }
};

// First the part in which the cumulated weight passes u * total, then the token in it.
__device__ inline int32_t draw_unfiltered(const float* row, int64_t n_vocab, const PartWeight& weight, double target) {
  const int part = first_above(part_count(n_vocab), weight, 0.0, target);
  double before = 0;
  for (int i = threadIdx.x; i < part; i += kThreads) before += weight(i);
  before = block_reduce(before, Sum{});
  const int64_t first = static_cast<int64_t>(part) * kTile;
  const int n = static_cast<int>(n_vocab - first < kTile ? n_vocab - first : kTile);
  return static_cast<int32_t>(first) + first_above(n, LogitWeight{row + first, weight.softmax}, before, target);
}

// A bar that no kept token fails, so that the list of candidates is short. For top-k: as many group maxima as tokens
// are wanted reach it. For top-p: all tokens below it together weigh less than half of what top-p may drop. For min-p:
// half of min-p. Half, because the bar's own rounding is nothing beside it.
__device__ inline Cut safe_bar(const SampleRowParams& p, const RowScratch& s, int64_t n_vocab, const Merged& m) {
  if (p.top_k > 0) {
    const int n_groups = part_count(n_vocab) * kWarps;
    const BarRange range = {ordered(-FLT_MAX), static_cast<uint32_t>(m.row_max >> 32)};
    if (p.top_k > n_groups) return every_finite();
    return {highest_bar(s.group_max, n_groups, One{}, p.top_k, range), kNoLimit};
  }
  const double droppable = p.top_p < 1 ? (1.0 - p.top_p) * m.row_total / static_cast<double>(n_vocab) : p.min_p;
  const double lowest = key_logit(m.row_max) + p.temperature * log(0.5 * droppable);
  if (!(lowest > -FLT_MAX)) return every_finite();
  return {ordered(__double2float_rd(lowest)), kNoLimit};
}

__device__ inline int32_t draw_filtered(const SampleArgs& args, const SampleRowParams& p, const RowScratch& s,
                                        const float* row, const Merged& m) {
  const Softmax softmax = {key_logit(m.row_max), 1.0 / p.temperature};
  const double u = philox_uniform(p.seed, p.stream, p.position);
  if (!filtered(p)) return draw_unfiltered(row, args.n_vocab, {s.parts, softmax}, u * m.row_total);
  const Candidates list = s.candidates;
  int n = compact(row, nullptr, static_cast<int>(args.n_vocab), safe_bar(p, s, args.n_vocab, m), list);
  if (p.top_k > 0) n = keep_top_k(list, n, p.top_k, static_cast<uint32_t>(m.row_max >> 32));
  store_weights(list, n, softmax);
  if (p.top_p < 1) {
    double total = m.row_total;
    if (p.top_k > 0) total = sum_from(list.logits, n, StoredWeight{list.weights}, 0u);
    n = keep_top_p(list, n, p.top_p * total, softmax);
  }
  return draw_candidates(list, n, p.min_p, u);
}

__device__ inline int report_top(const RowScratch& s, int n_parts, int n_top, double log_sum, SampleRowResult* result) {
  const auto next = [&](Key bound) {
    Key best = 0;
    for (int part = threadIdx.x; part < n_parts; part += kThreads) {
      for (int i = 0; i < n_top; ++i) {
        const Key key = __ldcg(s.top + part * kMaxLogprobs + i);
        if (key >= bound) continue;
        best = Larger{}(best, key);
        break;
      }
    }
    return best;
  };
  return extract_top(n_top, next, [&](int i, Key key) {
    result->top_token[i] = key_token(key);
    result->top_logprob[i] = static_cast<float>(key_logit(key) - log_sum);
  });
}

// Not inlined: it needs more registers than the parts of a greedy row, which would spill.
__device__ __noinline__ void finish_row(const SampleArgs& args, const SampleRowParams& p, const RowScratch& s) {
  SampleRowResult* result = args.results + blockIdx.y;
  const float* logits = args.slot_logits + p.slot * args.n_vocab;
  const int n_parts = part_count(args.n_vocab);
  const Merged m = merge_parts(p, s.parts, n_parts);
  const RowError error = is_bad(m.model_max) ? RowError::bad_logit
                         : m.model_max == 0  ? RowError::no_finite_logit
                         : m.row_max == 0    ? RowError::everything_banned
                                             : RowError::none;
  if (error != RowError::none) {
    if (threadIdx.x == 0) {
      result->token = -1;
      result->error = static_cast<int32_t>(error);
      result->bad_token = error == RowError::bad_logit ? key_token(m.model_max) : -1;
      result->n_logprobs = 0;
      result->logprob = 0;
    }
    return;
  }
  int32_t token = key_token(m.row_max);
  if (p.temperature > 0) token = draw_filtered(args, p, s, modified(p) ? s.candidates.logits : logits, m);
  const int n_top = report_top(s, n_parts, wanted_logprobs(p), m.log_sum, result);
  if (threadIdx.x == 0) {
    result->token = token;
    result->error = 0;
    result->bad_token = -1;
    result->n_logprobs = n_top;
    result->logprob = static_cast<float>(logits[token] - m.log_sum);
  }
}

__global__ void __launch_bounds__(kThreads) sample_kernel(const __grid_constant__ SampleArgs args) {
  const SampleRowParams params = args.rows[blockIdx.y];
  if (params.slot < 0) return;
  const RowScratch scratch = row_scratch(args, blockIdx.y);
  measure_part(args, params, scratch);
  if (last_of_row(scratch.ticket)) finish_row(args, params, scratch);
}

}  // namespace sampling

size_t sample_scratch_bytes(int32_t max_rows, int64_t n_vocab) {
  return static_cast<size_t>(max_rows) * static_cast<size_t>(sampling::row_bytes(n_vocab));
}

cudaError_t launch_sample(const SampleArgs& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  if (args.n < 0 || args.n > 65535 || args.n_vocab <= 0 || args.n_vocab > INT32_MAX / 2) return cudaErrorInvalidValue;
  const dim3 grid(static_cast<unsigned>(sampling::part_count(args.n_vocab)), static_cast<unsigned>(args.n));
  SampleArgs copy = args;
  void* arguments[] = {&copy};
  return cudaLaunchKernel(reinterpret_cast<const void*>(&sampling::sample_kernel), grid, dim3(sampling::kThreads),
                          arguments, 0, stream);
}

}  // namespace inlay::cuda
