// launch_moe_route. The router's products are F32 throughout: a choice must not hang on rounding to fewer bits.
//
// Products: a warp has some experts and some rows, whose sums of squares it makes as well, so that nothing has to come
// first. A row's sums are made in one order, whatever rows share the launch. One expert and one row at a time for up to
// four rows, the weights requested before the previous kernel has ended; bound: latency. 4 experts x 8 rows with many;
// bound: loads from L1, 13 for 160 multiplications.
//
// Choice: a warp a row. Places: one CTA, a counting sort of the pairs by expert that keeps their order: every warp has
// some pairs that follow one another, counts them by expert, and gives them their places once it is known how many of
// each expert the warps before it have. Up to 64 rows choose in that CTA too, a single row in one warp.
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/linear/layout.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {
namespace {

constexpr int kProductWarps = 4;
constexpr int kChoiceWarps = 8;  // of a CTA that only chooses
constexpr int kPlaceWarps = 32;
constexpr int kPlaceThreads = 32 * kPlaceWarps;
constexpr int32_t kRowsChosenAtOnce = 64;  // in the CTA that gives the places
constexpr int32_t kMostCounts = 10240;     // warps x experts: with the table within 48 KB of shared memory
constexpr int32_t kMostRows = 8 * 65535;   // what a grid of tiles of 8 rows can have
constexpr uint32_t kWhole = 0xffffffffu;

size_t aligned(size_t n) { return (n + 255) / 256 * 256; }

__device__ __forceinline__ int sum_of_warp_below(int v, int lane) {  // of the lanes below this one
  int sum = v;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(kWhole, sum, step);
    if (lane >= step) sum += other;
  }
  return sum - v;
}

// ---- products

// Columns i .. i + 3 of a row of n, a multiple of 4; zeros beyond. The load hangs on no condition, which would keep it
// from being requested together with others.
__device__ __forceinline__ float4 load_quad(const float* row, int64_t i, int64_t n) {
  const float4 v = *reinterpret_cast<const float4*>(row + (i < n ? i : 0));
  return {i < n ? v.x : 0.0f, i < n ? v.y : 0.0f, i < n ? v.z : 0.0f, i < n ? v.w : 0.0f};
}

__device__ __forceinline__ float dot4(const float4& a, const float4& b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

__device__ __forceinline__ float4 product4(const float4& a, const float4& b) {
  return {__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y), __fmul_rn(a.z, b.z), __fmul_rn(a.w, b.w)};
}

// The last one is the shared expert's gate, if there is one.
__device__ __forceinline__ int32_t last_expert(const MoeRouteArgs& a) {
  return a.shared_gate != nullptr ? a.shape.n_experts : a.shape.n_experts - 1;
}
__device__ __forceinline__ const float* weights_of(const MoeRouteArgs& a, int32_t expert) {
  return expert < a.shape.n_experts ? a.router + expert * units_of(a.n_cols) * kUnitCols : a.shared_gate;
}

// By the lanes of a warp together: dot, squares are their parts.
__device__ __forceinline__ void store_logit(const MoeRouteArgs& a, int32_t row, int32_t expert, float dot,
                                            float squares, int lane) {
  const float sum = warp_sum(dot), square = warp_sum(squares);
  if (lane != 0 || row >= a.shape.m || expert > last_expert(a)) return;
  const float factor = rsqrtf(__fadd_rn(__fdividef(square, static_cast<float>(a.n_cols)), a.epsilon));
  const float bias = a.bias != nullptr && expert < a.shape.n_experts ? a.bias[expert] : 0.0f;
  a.out.logits[static_cast<int64_t>(row) * (a.shape.n_experts + 1) + expert] = fmaf(sum, factor, bias);
}

// blockIdx: experts, row.
__global__ void __launch_bounds__(kProductWarps * 32) moe_logits_of_row(const __grid_constant__ MoeRouteArgs a) {
  constexpr int kAhead = 16;  // steps of 128 columns
  let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t expert = static_cast<int32_t>(blockIdx.x) * kProductWarps + static_cast<int32_t>(threadIdx.x / 32);
  const auto row = static_cast<int32_t>(blockIdx.y);
  const float* weights = weights_of(a, min(expert, last_expert(a)));
  float4 w[kAhead];
#pragma unroll
  for (int k = 0; k < kAhead; ++k) {
    const int64_t i = lane * 4 + k * 128;
    w[k] = product4(load_quad(weights, i, a.n_cols), load_quad(a.norm_weight, i, a.n_cols));
  }
  wait_for_previous_kernel();
  const float* x_row = a.x + row * a.n_cols;
  float4 x[kAhead];
#pragma unroll
  for (int k = 0; k < kAhead; ++k) x[k] = load_quad(x_row, lane * 4 + k * 128, a.n_cols);
  float dot = 0.0f, squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kAhead; ++k) dot = dot4(w[k], x[k], dot), squares = dot4(x[k], x[k], squares);
#pragma unroll 4
  for (int64_t i = lane * 4 + kAhead * 128; i < a.n_cols; i += 128) {
    const float4 more = load_quad(x_row, i, a.n_cols);
    dot = dot4(product4(load_quad(weights, i, a.n_cols), load_quad(a.norm_weight, i, a.n_cols)), more, dot);
    squares = dot4(more, more, squares);
  }
  store_logit(a, row, expert, dot, squares, lane);
}

// Columns i .. i + 3 of a warp's rows and experts.
template <int kRows, int kExperts>
struct Quads {
  float4 norm, w[kExperts], x[kRows];
};

// blockIdx: experts, rows. kSteps: of 128 columns, that are read together.
template <int kRows, int kExperts, int kSteps>
__global__ void __launch_bounds__(kProductWarps * 32) moe_logits(const __grid_constant__ MoeRouteArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t warp = static_cast<int32_t>(blockIdx.x) * kProductWarps + static_cast<int32_t>(threadIdx.x / 32);
  const int32_t first_expert = warp * kExperts, first = static_cast<int32_t>(blockIdx.y) * kRows;
  if (first_expert > last_expert(a)) return;
  const float *weights[kExperts], *rows[kRows];
#pragma unroll
  for (int e = 0; e < kExperts; ++e) weights[e] = weights_of(a, min(first_expert + e, last_expert(a)));
#pragma unroll
  for (int r = 0; r < kRows; ++r) rows[r] = a.x + min(first + r, a.shape.m - 1) * a.n_cols;
  float dot[kExperts][kRows] = {}, squares[kRows] = {};
#pragma unroll 1
  for (int64_t at = lane * 4; at < a.n_cols; at += kSteps * 128) {
    Quads<kRows, kExperts> q[kSteps];
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const int64_t i = at + k * 128;
      q[k].norm = load_quad(a.norm_weight, i, a.n_cols);
#pragma unroll
      for (int e = 0; e < kExperts; ++e) q[k].w[e] = load_quad(weights[e], i, a.n_cols);
#pragma unroll
      for (int r = 0; r < kRows; ++r) q[k].x[r] = load_quad(rows[r], i, a.n_cols);
    }
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
#pragma unroll
      for (int e = 0; e < kExperts; ++e) q[k].w[e] = product4(q[k].w[e], q[k].norm);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        squares[r] = dot4(q[k].x[r], q[k].x[r], squares[r]);
#pragma unroll
        for (int e = 0; e < kExperts; ++e) dot[e][r] = dot4(q[k].w[e], q[k].x[r], dot[e][r]);
      }
    }
  }
#pragma unroll
  for (int e = 0; e < kExperts; ++e) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) store_logit(a, first + r, first_expert + e, dot[e][r], squares[r], lane);
  }
}

// ---- choice

// Larger for larger logits; NaN is as if it were largest, so that a choice is always of n_used different experts. Never
// 0.
__device__ __forceinline__ uint32_t rank_of(float logit) {
  const uint32_t bits = __float_as_uint(logit == 0.0f ? 0.0f : logit);
  if (isnan(logit)) return kWhole;
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float logit_of(uint32_t rank) {
  return __uint_as_float(rank >> 31 != 0 ? rank & 0x7fffffffu : ~rank);
}

// The experts' ranks of a row; lane l has those of l, l + 32, ...; 0: taken, or no expert.
template <int kPerLane>
struct Ranks {
  uint32_t of[kPerLane];

  __device__ __forceinline__ Ranks(const float* logits, int32_t n_experts, int lane) {
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) of[j] = lane + 32 * j < n_experts ? rank_of(logits[lane + 32 * j]) : 0;
  }
  // Of equal ones the lower expert; no longer there afterwards.
  __device__ __forceinline__ int32_t take_best(int lane, uint32_t& rank) {
    uint32_t best = of[0];
    int32_t expert = lane;
#pragma unroll
    for (int j = 1; j < kPerLane; ++j) {
      if (of[j] > best) best = of[j], expert = lane + 32 * j;
    }
    rank = max_of_warp(best);
    const uint32_t inverted = best == rank ? kWhole - static_cast<uint32_t>(expert) : 0;
    const auto taken = static_cast<int32_t>(kWhole - max_of_warp(inverted));
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) of[j] = lane + 32 * j == taken ? 0 : of[j];
    return taken;
  }
  __device__ __forceinline__ float sum_of_shares(float largest) const {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      if (of[j] != 0) sum = __fadd_rn(sum, expf(__fsub_rn(logit_of(of[j]), largest)));
    }
    return warp_sum(sum);
  }
};

// One row, by a warp. Returns what lane i < n_used has chosen, or -1.
template <int kPerLane>
__device__ int32_t choose(const MoeRouteArgs& a, int32_t row, int lane) {
  const int32_t n_experts = a.shape.n_experts, n_used = a.shape.n_used;
  int32_t* experts = a.out.experts + row * n_used;
  if (a.positions[row] < 0) {
    if (lane < n_used) experts[lane] = -1, a.out.pair_place[row * n_used + lane] = -1;
    return -1;
  }
  const float* logits = a.out.logits + static_cast<int64_t>(row) * (n_experts + 1);
  Ranks<kPerLane> ranks(logits, n_experts, lane);
  Ranks<kPerLane> all = ranks;
  float mine = 0.0f, largest = 0.0f;  // lane i: the logit of choice i
  int32_t chosen = -1;
  for (int i = 0; i < n_used; ++i) {
    uint32_t rank;
    const int32_t expert = ranks.take_best(lane, rank);
    if (i == 0) largest = logit_of(rank);
    if (lane == i) mine = logit_of(rank), chosen = expert;
  }
  const float share = lane < n_used ? expf(__fsub_rn(mine, largest)) : 0.0f;
  const float sum = a.softmax_over_chosen ? warp_sum(share) : all.sum_of_shares(largest);
  if (lane < n_used) {
    experts[lane] = chosen;
    a.out.weights[row * n_used + lane] = __fmul_rn(__fdiv_rn(share, sum), a.weights_scale);
  }
  if (lane == 0 && a.shared_gate != nullptr) {
    a.out.shared_weight[row] = __fdiv_rn(1.0f, __fadd_rn(1.0f, expf(-logits[n_experts])));
  }
  return chosen;
}

template <int kPerLane>
__global__ void __launch_bounds__(kChoiceWarps * 32) moe_choose(const __grid_constant__ MoeRouteArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int32_t row = static_cast<int32_t>(blockIdx.x) * kChoiceWarps + static_cast<int32_t>(threadIdx.x / 32);
  if (row < a.shape.m) choose<kPerLane>(a, row, static_cast<int>(threadIdx.x % 32));
}

// A step of one row: every block has one.
template <int kPerLane>
__global__ void __launch_bounds__(32) moe_choose_alone(const __grid_constant__ MoeRouteArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int lane = static_cast<int>(threadIdx.x);
  const int32_t n_used = a.shape.n_used, mine = choose<kPerLane>(a, 0, lane);
  const bool is_padding = __shfl_sync(kWhole, mine, 0) < 0;
  int32_t block = 0;  // how many chosen experts are below this one
  for (int i = 0; i < n_used; ++i) block += __shfl_sync(kWhole, mine, i) < mine ? 1 : 0;
  if (lane < n_used && !is_padding) {
    a.out.pair_place[lane] = 2 * block;
    a.out.blocks[block] = {mine, 2 * block, 1};
  }
  for (int32_t place = lane; place < a.shape.n_places(); place += 32) {
    a.out.place_row[place] = !is_padding && place < 2 * n_used && place % 2 == 0 ? 0 : -1;
  }
  if (lane == 0) *a.out.n_blocks = is_padding ? 0 : n_used;
}

// ---- places

// How many pairs each expert has, and where its places and blocks begin.
struct ExpertTable {
  int32_t n_pairs[kMaxExperts], first_place[kMaxExperts], first_block[kMaxExperts];
  int32_t n_places;
};

__device__ void lay_out(const MoeRouteArgs& a, ExpertTable& table, int lane) {
  const int32_t n = a.shape.n_experts, block_rows = a.shape.block_rows;
  const int32_t per_lane = (n + 31) / 32, begin = min(lane * per_lane, n), end = min(begin + per_lane, n);
  int32_t places = 0, blocks = 0;
  for (int32_t e = begin; e < end; ++e) {
    places += (table.n_pairs[e] + 1) / 2 * 2;
    blocks += (table.n_pairs[e] + block_rows - 1) / block_rows;
  }
  int32_t place = sum_of_warp_below(places, lane), block = sum_of_warp_below(blocks, lane);
  for (int32_t e = begin; e < end; ++e) {
    table.first_place[e] = place;
    table.first_block[e] = block;
    place += (table.n_pairs[e] + 1) / 2 * 2;
    block += (table.n_pairs[e] + block_rows - 1) / block_rows;
  }
  if (lane == 31) table.n_places = place, *a.out.n_blocks = block;
}

// The pairs of one of the warps that sort, 32 at a time: calls found(pair, expert, its lanes) for every pair of a row
// that is not padding.
struct PairsOfWarp {
  int32_t first, end;
  __device__ __forceinline__ PairsOfWarp(const MoeShape& shape, int warp, int32_t n_warps) {
    const int32_t each = ((shape.n_pairs() + n_warps - 1) / n_warps + 31) / 32 * 32;
    first = min(warp * each, shape.n_pairs());
    end = min(first + each, shape.n_pairs());
  }
  template <class Found>
  __device__ __forceinline__ void each(const int32_t* experts, int lane, const Found& found) const {
    for (int32_t at = first; at < end; at += 32) {
      const int32_t pair = at + lane, expert = pair < end ? experts[pair] : -1;
      const uint32_t same = __match_any_sync(kWhole, expert);
      if (expert >= 0) found(pair, expert, same);
      __syncwarp();
    }
  }
};

// From counts by warp and expert to how many pairs of the expert the warps before have; the sums go to the table.
__device__ __forceinline__ void add_up(int32_t* counts, int32_t n_warps, int32_t n_experts, ExpertTable& table) {
  for (auto e = static_cast<int32_t>(threadIdx.x); e < n_experts; e += kPlaceThreads) {
    int32_t sum = 0;
    for (int32_t w = 0; w < n_warps; ++w) {
      const int32_t n = counts[w * n_experts + e];
      counts[w * n_experts + e] = sum;
      sum += n;
    }
    table.n_pairs[e] = sum;
  }
}

// An expert's blocks and what follows its last place.
__device__ __forceinline__ void store_blocks(const MoeRouteArgs& a, const ExpertTable& table) {
  const int32_t block_rows = a.shape.block_rows;
  for (auto e = static_cast<int32_t>(threadIdx.x); e < a.shape.n_experts; e += kPlaceThreads) {
    const int32_t n = table.n_pairs[e], first = table.first_place[e];
    if (n % 2 != 0) a.out.place_row[first + n] = -1;
    ExpertBlock* to = a.out.blocks + table.first_block[e];
    for (int32_t at = 0; at < n; at += block_rows) *to++ = {e, first + at, min(block_rows, n - at)};
  }
  for (int32_t place = table.n_places + static_cast<int32_t>(threadIdx.x); place < a.shape.n_places();
       place += kPlaceThreads) {
    a.out.place_row[place] = -1;
  }
}

template <int kPerLane, bool kChooses>
__global__ void __launch_bounds__(kPlaceThreads) moe_places(const __grid_constant__ MoeRouteArgs a) {
  __shared__ ExpertTable table;
  __shared__ int32_t counts[kMostCounts];
  let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int32_t n_experts = a.shape.n_experts;
  const int32_t n_warps = min(min(kPlaceWarps, kMostCounts / n_experts), (a.shape.n_pairs() + 31) / 32);
  for (auto i = static_cast<int32_t>(threadIdx.x); i < n_warps * n_experts; i += kPlaceThreads) counts[i] = 0;
  wait_for_previous_kernel();
  if constexpr (kChooses) {
    for (int32_t row = warp; row < a.shape.m; row += kPlaceWarps) choose<kPerLane>(a, row, lane);
  }
  __syncthreads();
  const PairsOfWarp pairs(a.shape, min(warp, n_warps - 1), n_warps);
  int32_t* mine = counts + warp * n_experts;
  if (warp < n_warps) {
    pairs.each(a.out.experts, lane, [&](int32_t, int32_t expert, uint32_t same) {
      if (lane == __ffs(static_cast<int>(same)) - 1) mine[expert] += __popc(same);
    });
  }
  __syncthreads();
  add_up(counts, n_warps, n_experts, table);
  __syncthreads();
  if (warp == 0) lay_out(a, table, lane);
  __syncthreads();
  if (warp < n_warps) {
    pairs.each(a.out.experts, lane, [&](int32_t pair, int32_t expert, uint32_t same) {
      const int32_t before = mine[expert] + __popc(same & ((1u << lane) - 1));
      const int32_t place = table.first_place[expert] + before;
      a.out.place_row[place] = pair / a.shape.n_used;
      a.out.pair_place[pair] = place;
      __syncwarp(same);
      if (lane == __ffs(static_cast<int>(same)) - 1) mine[expert] += __popc(same);
    });
  }
  store_blocks(a, table);
}

// ---- launches

cudaError_t launch_logits(const MoeRouteArgs& a, LaunchTarget target) {
  constexpr int32_t kRows = 8, kExperts = 4;
  const int32_t m = a.shape.m, n_warps = a.shape.n_experts + (a.shared_gate != nullptr ? 1 : 0);
  const auto grid = [&](int32_t experts, int32_t rows) {
    const int32_t per_cta = kProductWarps * experts;
    return dim3(static_cast<unsigned>((n_warps + per_cta - 1) / per_cta), static_cast<unsigned>((m + rows - 1) / rows));
  };
  constexpr int kThreads = kProductWarps * 32;
  if (m <= 4) return launch_early(moe_logits_of_row, grid(1, 1), kThreads, target, a);
  if (m <= 16) return launch_early(moe_logits<2, 1, 8>, grid(1, 2), kThreads, target, a);
  if (m <= 128) return launch_early(moe_logits<4, 2, 4>, grid(2, 4), kThreads, target, a);
  return launch_early(moe_logits<kRows, kExperts, 1>, grid(kExperts, kRows), kThreads, target, a);
}

template <int kPerLane>
cudaError_t launch_choice(const MoeRouteArgs& a, LaunchTarget target) {
  const int32_t m = a.shape.m;
  if (m == 1) return launch_early(moe_choose_alone<kPerLane>, dim3(1), 32, target, a);
  if (m <= kRowsChosenAtOnce) return launch_early(moe_places<kPerLane, true>, dim3(1), kPlaceThreads, target, a);
  const dim3 grid(static_cast<unsigned>((m + kChoiceWarps - 1) / kChoiceWarps));
  const cudaError_t e = launch_early(moe_choose<kPerLane>, grid, kChoiceWarps * 32, target, a);
  return e != cudaSuccess ? e : launch_early(moe_places<kPerLane, false>, dim3(1), kPlaceThreads, target, a);
}

}  // namespace

size_t moe_routing_bytes(const MoeShape& shape) {
  const auto rows = static_cast<size_t>(shape.m), pairs = static_cast<size_t>(shape.n_pairs());
  return aligned(rows * static_cast<size_t>(shape.n_experts + 1) * 4) + 3 * aligned(pairs * 4) + aligned(rows * 4) +
         aligned(static_cast<size_t>(shape.n_places()) * 4) +
         aligned(static_cast<size_t>(shape.most_blocks()) * sizeof(ExpertBlock)) + aligned(4);
}

MoeRouting moe_routing_at(void* memory, const MoeShape& shape) {
  const auto rows = static_cast<size_t>(shape.m), pairs = static_cast<size_t>(shape.n_pairs());
  auto* at = static_cast<uint8_t*>(memory);
  const auto take = [&at](auto*& part, size_t n) {
    part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(at);
    at += aligned(n * sizeof(*part));
  };
  MoeRouting out{};
  take(out.logits, rows * static_cast<size_t>(shape.n_experts + 1));
  take(out.weights, pairs);
  take(out.shared_weight, rows);
  take(out.experts, pairs);
  take(out.pair_place, pairs);
  take(out.place_row, static_cast<size_t>(shape.n_places()));
  take(out.blocks, static_cast<size_t>(shape.most_blocks()));
  take(out.n_blocks, 1);
  return out;
}

cudaError_t launch_moe_route(const MoeRouteArgs& args, LaunchTarget target) {
  const MoeShape& s = args.shape;
  if (s.n_experts < 1 || s.n_experts > kMaxExperts || s.n_used < 1 || s.n_used > kMaxChosen || s.n_used > s.n_experts ||
      s.m < 0 || s.m > kMostRows || s.block_rows < 1 || args.n_cols <= 0 || args.n_cols % 4 != 0) {
    return cudaErrorInvalidValue;
  }
  if (s.m == 0) return cudaSuccess;
  const cudaError_t launched = launch_logits(args, target);
  if (launched != cudaSuccess) return launched;
  return s.n_experts <= 128 ? launch_choice<4>(args, target) : launch_choice<kMaxExperts / 32>(args, target);
}

}  // namespace inlay::cuda
