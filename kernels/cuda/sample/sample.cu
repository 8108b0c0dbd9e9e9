// Draws the token of every row; src/sampler/sampler.h is the specification.
// Formula:  mask, bias and penalties; the largest logit or filters and a draw; log-probabilities of the unmodified logits:
//           logprob[t] = l[t] - max - ln sum exp(l - max).
// Layout:   grid (parts, rows). A part is kTile logits of a row; its CTA leaves maxima and sums in the row's scratch,
//           and the CTA that takes the last ticket of the row finishes it and sets the ticket back to 0 for the next
//           replay. Parts depend on the vocabulary alone and are merged in a fixed order, so a row's bits depend on the
//           row alone. Scratch: 16 bytes a token of the vocabulary and row, and a little.
// Shape:    8 logits a thread in registers: one read of the row for maximum and both sums, relative to the warp's
//           maximum, so that one barrier is enough. A greedy row is finished by one warp; a drawn one, or one whose
//           log-probabilities are wanted, by the CTA, from a short list if it is one. steps.cuh has the draws that take
//           long, apart from the others. One launch for all kinds of rows:
//           the parameters lie in device memory and a replayed graph cannot choose kernels.
// Edges:    `rows` and the lists are read before the predecessor has ended: they come by a copy that precedes the first
//           kernel of the step. `results` may be mapped host memory: a row's few words leave in one store of a warp.
// Bound:    greedy: one read of the logits and latency; the rest: see short.cuh and draw.cuh.
//           cuda_sample speed prints microseconds.
#include "kernels/common/philox.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/sample/block.cuh"
#include "kernels/cuda/sample/draw.cuh"
#include "kernels/cuda/sample/short.cuh"
#include "kernels/cuda/sample/steps.cuh"

namespace inlay::cuda {
namespace sampling {

struct alignas(16) Part {
  Key model_max;    // of the logits as the model gave them
  Key row_max;      // after mask, bias and penalties
  double row_sum;   // of the weights relative to the part's row_max, if the row needs it
  float model_sum;  // of exp(l - the part's model_max)
};

// One row's scratch. Only `ticket` has to be 0 before the first launch; everything else is written before it is read.
struct RowScratch {
  uint32_t* ticket;
  Part* parts;            // (n_parts)
  uint32_t* model_group;  // (n_parts, kWarps) ranks of the group maxima, if the row needs them
  uint32_t* row_group;    // likewise after bias and penalties, if there are any
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
  return kAlignment + aligned(n_parts * static_cast<int64_t>(sizeof(Part))) + aligned(n_parts * kWarps * 4) * 2 +
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
  s.model_group = static_cast<uint32_t*>(take(n_parts * kWarps * 4));
  s.row_group = static_cast<uint32_t*>(take(n_parts * kWarps * 4));
  s.candidates.logits = static_cast<float*>(take(args.n_vocab * 4));
  s.candidates.ids = static_cast<int32_t*>(take(args.n_vocab * 4));
  s.candidates.weights = static_cast<double*>(take(args.n_vocab * 8));
  return s;
}

__device__ inline bool penalised(const SampleRowParams& p) {
  return p.n_counts > 0 && (p.repetition_penalty != 1 || p.frequency_penalty != 0 || p.presence_penalty != 0);
}
__device__ inline bool modified(const SampleRowParams& p) { return p.masked != 0 || p.n_bias > 0 || penalised(p); }
__device__ inline bool filtered(const SampleRowParams& p) { return p.top_k > 0 || p.top_p < 1 || p.min_p > 0; }

// What the filters see.
__device__ inline double filter_temperature(const SampleRowParams& p) { return p.temperature_last != 0 && filtered(p) ? 1.0 : p.temperature; }

// The sum over the whole row is wanted by the unfiltered draw and by top-p without top-k.
__device__ inline bool needs_row_sum(const SampleRowParams& p) {
  return p.temperature > 0 && p.general == 0 && p.top_k <= 0 && (p.top_p < 1 || !filtered(p));
}
__device__ inline int wanted_logprobs(const SampleRowParams& p) {
  return p.n_logprobs < 0 ? 0 : p.n_logprobs > kMaxLogprobs ? kMaxLogprobs : p.n_logprobs;
}

// More than the largest logit is wanted: all warps of the last CTA take part.
__device__ inline bool needs_list(const SampleRowParams& p) { return p.temperature > 0 || wanted_logprobs(p) > 0; }

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

// What the warps of a part found.
struct WarpParts {
  Key model_max[kWarps], row_max[kWarps];
  double row_sum[kWarps];
  float model_sum[kWarps];
};

// The sum of exp(l - max) of a warp; 0 without a finite logit.
__device__ inline float sum_exp(const Slice& slice, Key max) {
  if (max == 0) return 0;
  const float largest = key_logit(max);
  float sum[kPerThread / 2];
#pragma unroll
  for (int j = 0; j < kPerThread / 2; ++j) {
    sum[j] = expf(slice.logits[2 * j] - largest) + expf(slice.logits[2 * j + 1] - largest);
  }
  static_assert(kPerThread == 8);
  return warp_reduce((sum[0] + sum[1]) + (sum[2] + sum[3]), Sum{});
}

__device__ inline double sum_weights(const Slice& slice, Key max, const SampleRowParams& p) {
  if (max == 0) return 0;
  const Softmax softmax = {key_logit(max), 1.0 / filter_temperature(p)};
  double sum = 0;
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) sum += softmax.weight(slice.logits[j]);
  return warp_reduce(sum, Sum{});
}

// Applies bias and penalties to the part and leaves the modified row in the scratch.
__device__ inline void modify(const SampleArgs& args, const SampleRowParams& p, const RowScratch& s, Slice& slice,
                              float* shared_slice) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile;
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) shared_slice[slice.id(j) - first] = slice.logits[j];
  modify_slice(args, p, first, shared_slice);
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    slice.logits[j] = shared_slice[slice.id(j) - first];
    if (slice.id(j) < args.n_vocab) s.candidates.logits[slice.id(j)] = slice.logits[j];
  }
}

__device__ inline void measure_warp(const SampleArgs& args, const SampleRowParams& p, const RowScratch& s,
                                    SharedList& list, WarpParts& found) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  Slice slice;
  slice.first = group * kGroup;
  slice.load(args.slot_logits + p.slot * args.n_vocab, args.n_vocab);
  const Key model_max = slice.max();
  const float model_sum = sum_exp(slice, model_max);
  Key row_max = model_max;
  if (p.masked != 0) slice.keep(args.masks + blockIdx.y * ((args.n_vocab + 31) / 32), args.n_vocab);
  if (modified(p)) {
    modify(args, p, s, slice, list.slice);
    row_max = slice.max();
  }
  const double row_sum = needs_row_sum(p) ? sum_weights(slice, row_max, p) : 0.0;
  if (lane != 0) return;
  if (needs_list(p)) s.model_group[group] = static_cast<uint32_t>(model_max >> 32);
  if (needs_list(p) && modified(p)) s.row_group[group] = static_cast<uint32_t>(row_max >> 32);
  found.model_max[warp] = model_max;
  found.model_sum[warp] = model_sum;
  found.row_max[warp] = row_max;
  found.row_sum[warp] = row_sum;
}

// By one warp.
__device__ inline void store_part(const SampleRowParams& p, const WarpParts& found, Part* part) {
  const int lane = threadIdx.x % 32;
  const Key model = lane < kWarps ? found.model_max[lane] : 0, row = lane < kWarps ? found.row_max[lane] : 0;
  const Key model_max = warp_max(model), row_max = modified(p) ? warp_max(row) : model_max;
  const float model_sum =
      warp_reduce(model == 0 ? 0.0f : found.model_sum[lane] * expf(key_logit(model) - key_logit(model_max)), Sum{});
  double row_sum = 0;
  if (needs_row_sum(p) && row_max != 0) {
    const Softmax softmax = {key_logit(row_max), 1.0 / filter_temperature(p)};
    row_sum = warp_reduce(row == 0 ? 0.0 : found.row_sum[lane] * softmax.weight(key_logit(row)), Sum{});
  }
  if (lane == 0) *part = {model_max, row_max, row_sum, model_sum};
}

// By one thread, after a barrier behind all that the CTA wrote. True for the last CTA of the row, which sees what the
// others wrote, and so does everybody behind the next barrier.
__device__ inline bool take_ticket(uint32_t* ticket) {
  uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0,[%1],1;" : "=r"(before) : "l"(ticket) : "memory");
  if (before != gridDim.x - 1) return false;
  *ticket = 0;
  return true;
}

struct Merged {
  Key model_max, row_max;
  double model_sum;  // of exp(l - the model's largest)
  double row_total;  // of the row's weights, if it needs it
};

__device__ inline double part_weight(const Part* part, const Softmax& softmax) {
  const Key max = __ldcg(&part->row_max);
  return max == 0 ? 0.0 : __ldcg(&part->row_sum) * softmax.weight(key_logit(max));
}

// By every warp for itself: each lane its parts one after another, then the butterfly over lanes.
__device__ inline Merged merge_parts(const SampleRowParams& p, const Part* parts, int n_parts) {
  Key model = 0, row = 0;
  float sum = 0;  // relative to `model`
#pragma unroll 2
  for (int i = threadIdx.x % 32; i < n_parts; i += 32) {
    const Key part_model = __ldcg(&parts[i].model_max), part_row = __ldcg(&parts[i].row_max);
    const float part_sum = __ldcg(&parts[i].model_sum);
    const Key larger = Larger{}(model, part_model);
    const float kept = model == 0 ? 0.0f : sum * expf(key_logit(model) - key_logit(larger));
    const float joins = part_model == 0 ? 0.0f : part_sum * expf(key_logit(part_model) - key_logit(larger));
    sum = kept + joins;
    model = larger;
    row = Larger{}(row, part_row);
  }
  Merged m = {warp_max(model), 0, 0, 0};
  m.row_max = modified(p) ? warp_max(row) : m.model_max;
  if (m.model_max == 0 || is_bad(m.model_max) || m.row_max == 0) return m;
  const float scaled = model == 0 ? 0.0f : sum * expf(key_logit(model) - key_logit(m.model_max));
  m.model_sum = warp_reduce(static_cast<double>(scaled), Sum{});
  if (needs_row_sum(p)) {
    const Softmax softmax = {key_logit(m.row_max), 1.0 / filter_temperature(p)};
    double total = 0;
    for (int i = threadIdx.x % 32; i < n_parts; i += 32) total += part_weight(parts + i, softmax);
    m.row_total = warp_reduce(total, Sum{});
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

// A bar that no kept token fails. For top-k it is the lowest. For top-p: all tokens below it together weigh less than
// half of what top-p may drop. For min-p: half of min-p. Half, because the bar's own rounding is nothing beside it.
__device__ inline uint32_t safe_bar(const SampleRowParams& p, int64_t n_vocab, const Merged& m) {
  if (p.top_k > 0) return lowest_bar();
  const double droppable = p.top_p < 1 ? (1.0 - p.top_p) * m.row_total / static_cast<double>(n_vocab) : p.min_p;
  const double lowest = key_logit(m.row_max) + filter_temperature(p) * log(0.5 * droppable);
  return lowest > -FLT_MAX ? ordered(__double2float_rd(lowest)) : lowest_bar();
}

// Any number of tokens may be kept.
__device__ inline int32_t draw_long(const SampleRowParams& p, Candidates list, const GroupedRow& row, const Filters& f,
                                    const Softmaxes& softmax) {
  int n = compact(row.logits, nullptr, static_cast<int>(row.n_vocab), {f.bar, kNoLimit}, list);
  if (p.top_k > 0) n = keep_top_k(list, n, p.top_k, f.highest);
  store_weights(list, n, softmax.filter);
  if (p.top_p < 1) {
    double total = f.row_total;
    if (p.top_k > 0) total = sum_from(list.logits, n, StoredWeight{list.weights}, 0u);
    n = keep_top_p(list, n, p.top_p * total, softmax.filter);
  }
  return draw_candidates(list, n, p.min_p, softmax, f.u);
}

__device__ inline int32_t draw(const SampleRowParams& p, const RowScratch& s, const GroupedRow& row, const Merged& m,
                               SharedList& list) {
  const double max = key_logit(m.row_max);
  const Softmaxes softmax = {{max, 1.0 / filter_temperature(p)}, {max, 1.0 / p.temperature}};
  const double u = philox_uniform(p.seed, p.stream, p.position);
  if (!filtered(p)) return draw_unfiltered(row.logits, row.n_vocab, {s.parts, softmax.draw}, u * m.row_total);
  const Filters filters = {
      p.top_k, p.top_p, p.min_p, u, m.row_total, safe_bar(p, row.n_vocab, m), static_cast<uint32_t>(m.row_max >> 32)};
  const int32_t token = draw_short(row, filters, softmax, list);
  return token >= 0 ? token : draw_long(p, s.candidates, row, filters, softmax);
}

// The first words of a row's result, by one warp with one store.
__device__ inline void store_head(const SampleArgs& args, int32_t token, RowError error, int32_t bad_token,
                                  int32_t n_logprobs, float logprob, float p_kept) {
  static_assert(offsetof(SampleRowResult, token) == 0 && offsetof(SampleRowResult, error) == 4 &&
                offsetof(SampleRowResult, bad_token) == 8 && offsetof(SampleRowResult, n_logprobs) == 12 &&
                offsetof(SampleRowResult, logprob) == 16 && offsetof(SampleRowResult, p_kept) == 20);
  const int lane = threadIdx.x % 32;
  const int32_t word = lane == 0   ? token
                       : lane == 1 ? static_cast<int32_t>(error)
                       : lane == 2 ? bad_token
                       : lane == 3 ? n_logprobs
                       : lane == 4 ? __float_as_int(logprob)
                                   : __float_as_int(p_kept);
  if (lane < 6) reinterpret_cast<int32_t*>(args.results + blockIdx.y)[lane] = word;
  if (lane == 0 && args.tokens != nullptr) args.tokens[blockIdx.y] = token;
}

// The n_top largest logits of the model as keys in list.keys. Returns how many there are.
__device__ inline int find_top(const GroupedRow& model, int n_top, uint32_t highest, SharedList& list) {
  const int n = short_top(model, n_top, highest, list);
  if (n >= 0) return n;
  const auto next = [&](Key bound) {
    Key best = 0;
    for (int64_t i = threadIdx.x; i < model.n_vocab; i += kThreads) {
      const Key key = make_key(rank_of(__ldcg(model.logits + i)), i);
      if (key < bound && key > best) best = key;
    }
    return best;
  };
  const int found = extract_top(n_top, next, [&](int i, Key key) { list.keys[i] = key; });
  __syncthreads();
  return found;
}

// By all warps if needs_list, else by one.
__device__ inline void finish_row(const SampleArgs& args, const SampleRowParams& p, const RowScratch& s,
                                  SharedList& list) {
  SampleRowResult* result = args.results + blockIdx.y;
  const bool first_warp = threadIdx.x < 32;
  const GroupedRow model = {args.slot_logits + p.slot * args.n_vocab, s.model_group, args.n_vocab};
  const Merged m = merge_parts(p, s.parts, part_count(args.n_vocab));
  const RowError error = is_bad(m.model_max) ? RowError::bad_logit
                         : m.model_max == 0  ? RowError::no_finite_logit
                         : m.row_max == 0    ? RowError::everything_banned
                                             : RowError::none;
  if (error != RowError::none) {
    const int32_t bad_token = error == RowError::bad_logit ? key_token(m.model_max) : -1;
    if (first_warp) store_head(args, -1, error, bad_token, 0, 0, 0);
    return;
  }
  int32_t token = key_token(m.row_max);
  float p_kept = 0;
  if (p.temperature > 0) {
    const GroupedRow row = modified(p) ? GroupedRow{s.candidates.logits, s.row_group, args.n_vocab} : model;
    if (p.general != 0) {
      const Drawn drawn = draw_general(p, s.candidates, row.logits, static_cast<int>(row.n_vocab), m.row_max);
      token = drawn.token;
      if (p.chooser != Chooser::plain) p_kept = static_cast<float>(drawn.p_kept);
    } else {
      token = draw(p, s, row, m, list);
    }
  }
  const int wanted = wanted_logprobs(p);
  const int n_top = wanted > 0 ? find_top(model, wanted, static_cast<uint32_t>(m.model_max >> 32), list) : 0;
  if (!first_warp) return;
  const float logit = token == key_token(m.model_max) ? key_logit(m.model_max) : __ldcg(model.logits + token);
  const double log_sum = key_logit(m.model_max) + log(m.model_sum);
  if (static_cast<int>(threadIdx.x) < n_top) {
    const Key key = list.keys[threadIdx.x];
    result->top_token[threadIdx.x] = key_token(key);
    result->top_logprob[threadIdx.x] = static_cast<float>(key_logit(key) - log_sum);
  }
  store_head(args, token, RowError::none, -1, n_top, static_cast<float>(logit - log_sum), p_kept);
}

__global__ void __launch_bounds__(kThreads, 1) sample_kernel(const __grid_constant__ SampleArgs args) {
  __shared__ SharedList list;
  __shared__ WarpParts found;
  __shared__ bool last;
  __shared__ SampleRowParams params;
  constexpr int kWords = sizeof(SampleRowParams) / 4;
  if (threadIdx.x < kWords) {
    reinterpret_cast<uint32_t*>(&params)[threadIdx.x] =
        __ldcg(reinterpret_cast<const uint32_t*>(args.rows + blockIdx.y) + threadIdx.x);
  }
  __syncthreads();
  wait_for_previous_kernel();
  if (params.slot < 0) return;
  const RowScratch scratch = row_scratch(args, static_cast<int>(blockIdx.y));
  measure_warp(args, params, scratch, list, found);
  __syncthreads();
  const bool all_warps = needs_list(params);
  if (threadIdx.x >= 32 && !all_warps) return;
  if (threadIdx.x < 32) store_part(params, found, scratch.parts + blockIdx.x);
  if (threadIdx.x == 0) last = take_ticket(scratch.ticket);
  if (all_warps) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  if (last) finish_row(args, params, scratch, list);
}

}  // namespace sampling

size_t sample_scratch_bytes(int32_t max_rows, int64_t n_vocab) {
  return static_cast<size_t>(max_rows) * static_cast<size_t>(sampling::row_bytes(n_vocab));
}

cudaError_t launch_sample(const SampleArgs& args, LaunchTarget target) {
  if (args.n == 0) return cudaSuccess;
  if (args.n < 0 || args.n > 65535 || args.n_vocab <= 0 || args.n_vocab > INT32_MAX / 2) return cudaErrorInvalidValue;
  const dim3 grid(static_cast<unsigned>(sampling::part_count(args.n_vocab)), static_cast<unsigned>(args.n));
  return launch_early<SampleArgs>(sampling::sample_kernel, grid, sampling::kThreads, target, args);
}

}  // namespace inlay::cuda
