// launch_moe_route. The router's products are F32 throughout: a choice must not hang on rounding to fewer bits.
//
// Products: a warp has one expert and up to kRows rows, whose sums of squares it makes as well, so that nothing has to
// come first. A row's sums are made in one order, whatever rows share the launch. Bound: latency at one row; with many,
// the rows of x and of the router out of L1 and L2.
//
// Choice and places: one CTA. A warp chooses for a row at a time; then a warp takes an expert at a time and finds its
// pairs in ascending order by ballots, first to count them, then to give them their places.
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/linear/layout.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {
namespace {

constexpr int kProductWarps = 4, kRowsAtOnce = 8;
constexpr int kChoiceWarps = 32;
constexpr int kExpertsPerLane = kMaxExperts / 32;
constexpr uint32_t kWhole = 0xffffffffu;

size_t aligned(size_t n) { return (n + 255) / 256 * 256; }

__device__ __forceinline__ float sum_of_warp(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v = __fadd_rn(v, __shfl_xor_sync(kWhole, v, step));
  return v;
}

__device__ __forceinline__ int sum_of_warp_below(int v, int lane) {  // of the lanes below this one
  int sum = v;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(kWhole, sum, step);
    if (lane >= step) sum += other;
  }
  return sum - v;
}

// Columns i .. i + 3 of a row of n; zeros beyond.
__device__ __forceinline__ float4 load_quad(const float* row, int64_t i, int64_t n, bool is_aligned) {
  if (is_aligned && i + 4 <= n) return *reinterpret_cast<const float4*>(row + i);
  return {i < n ? row[i] : 0.0f, i + 1 < n ? row[i + 1] : 0.0f, i + 2 < n ? row[i + 2] : 0.0f,
          i + 3 < n ? row[i + 3] : 0.0f};
}

__device__ __forceinline__ float dot4(const float4& a, const float4& b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

template <int kRows>
__global__ void __launch_bounds__(kProductWarps * 32) moe_logits(const __grid_constant__ MoeRouteArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t expert = static_cast<int32_t>(blockIdx.x) * kProductWarps + static_cast<int32_t>(threadIdx.x / 32);
  const int32_t n_experts = a.shape.n_experts, first = static_cast<int32_t>(blockIdx.y) * kRows;
  if (expert > n_experts || (expert == n_experts && a.shared_gate == nullptr)) return;
  const float* weights = expert < n_experts ? a.router + expert * units_of(a.n_cols) * kUnitCols : a.shared_gate;
  const float* rows[kRows];
  float dot[kRows] = {}, squares[kRows] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) rows[r] = a.x + min(first + r, a.shape.m - 1) * a.n_cols;
  const bool is_aligned = a.n_cols % 4 == 0;
#pragma unroll 4
  for (int64_t i = lane * 4; i < a.n_cols; i += 128) {
    float4 w = load_quad(weights, i, a.n_cols, true);
    const float4 norm = load_quad(a.norm_weight, i, a.n_cols, true);
    w = {__fmul_rn(w.x, norm.x), __fmul_rn(w.y, norm.y), __fmul_rn(w.z, norm.z), __fmul_rn(w.w, norm.w)};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float4 x = load_quad(rows[r], i, a.n_cols, is_aligned);
      dot[r] = dot4(w, x, dot[r]);
      squares[r] = dot4(x, x, squares[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = sum_of_warp(dot[r]), square = sum_of_warp(squares[r]);
    if (lane != 0 || first + r >= a.shape.m) continue;
    const float factor = rsqrtf(__fadd_rn(__fdividef(square, static_cast<float>(a.n_cols)), a.epsilon));
    const float bias = a.bias != nullptr && expert < n_experts ? a.bias[expert] : 0.0f;
    a.out.logits[static_cast<int64_t>(first + r) * (n_experts + 1) + expert] = fmaf(sum, factor, bias);
  }
}

// Larger for larger logits, of equal ones for the lower expert; NaN is as if it were largest, so that a choice is
// always of n_used different experts. Never 0.
__device__ __forceinline__ uint64_t rank_of(float logit, int32_t expert) {
  uint32_t bits = __float_as_uint(logit == 0.0f ? 0.0f : logit);
  if (isnan(logit)) bits = 0x7fffffffu;
  bits = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<uint64_t>(bits) << 32 | (kWhole - static_cast<uint32_t>(expert));
}
__device__ __forceinline__ int32_t expert_of(uint64_t rank) {
  return static_cast<int32_t>(kWhole - static_cast<uint32_t>(rank));
}

__device__ __forceinline__ uint64_t max_of_warp(uint64_t v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    v = max(v, static_cast<uint64_t>(__shfl_xor_sync(kWhole, static_cast<unsigned long long>(v), step)));
  return v;
}

// One row, by a warp; lane l has the experts l, l + 32, ...
__device__ void choose(const MoeRouteArgs& a, int32_t row, int lane) {
  const int32_t n_experts = a.shape.n_experts, n_used = a.shape.n_used;
  const float* logits = a.out.logits + static_cast<int64_t>(row) * (n_experts + 1);
  int32_t* experts = a.out.experts + row * n_used;
  if (a.positions[row] < 0) {
    if (lane < n_used) experts[lane] = -1, a.out.pair_place[row * n_used + lane] = -1;
    return;
  }
  uint64_t ranks[kExpertsPerLane];
#pragma unroll
  for (int j = 0; j < kExpertsPerLane; ++j) {
    const int32_t expert = lane + 32 * j;
    ranks[j] = expert < n_experts ? rank_of(logits[expert], expert) : 0;
  }
  float mine = 0.0f, largest = 0.0f;  // lane i: the logit of choice i
  for (int i = 0; i < n_used; ++i) {
    uint64_t best = 0;
#pragma unroll
    for (int j = 0; j < kExpertsPerLane; ++j) best = max(best, ranks[j]);
    best = max_of_warp(best);
#pragma unroll
    for (int j = 0; j < kExpertsPerLane; ++j) ranks[j] = ranks[j] == best ? 0 : ranks[j];
    const float logit = logits[expert_of(best)];
    if (i == 0) largest = logit;
    if (lane == i) mine = logit, experts[i] = expert_of(best);
  }
  const float share = lane < n_used ? expf(__fsub_rn(mine, largest)) : 0.0f;
  float sum = share;
  if (!a.softmax_over_chosen) {
    sum = 0.0f;
    for (int32_t expert = lane; expert < n_experts; expert += 32) {
      sum = __fadd_rn(sum, expf(__fsub_rn(logits[expert], largest)));
    }
  }
  sum = sum_of_warp(sum);
  if (lane < n_used) a.out.weights[row * n_used + lane] = __fmul_rn(__fdiv_rn(share, sum), a.weights_scale);
  if (lane == 0 && a.shared_gate != nullptr) {
    a.out.shared_weight[row] = __fdiv_rn(1.0f, __fadd_rn(1.0f, expf(-logits[n_experts])));
  }
}

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

// Calls found(pair, how many before it) in every lane whose pair is the expert's.
template <class Found>
__device__ __forceinline__ int32_t for_pairs_of(const MoeRouteArgs& a, int32_t expert, int lane, const Found& found) {
  int32_t n = 0;
  for (int32_t first = 0; first < a.shape.n_pairs(); first += 32) {
    const int32_t pair = first + lane;
    const bool here = pair < a.shape.n_pairs() && a.out.experts[pair] == expert;
    const uint32_t lanes = __ballot_sync(kWhole, here);
    if (here) found(pair, n + __popc(lanes & ((1u << lane) - 1)));
    n += __popc(lanes);
  }
  return n;
}

__global__ void __launch_bounds__(kChoiceWarps * 32) moe_choose(const __grid_constant__ MoeRouteArgs a) {
  __shared__ ExpertTable table;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  wait_for_previous_kernel();
  let_next_kernel_start();
  for (int32_t row = warp; row < a.shape.m; row += kChoiceWarps) choose(a, row, lane);
  __syncthreads();
  for (int32_t expert = warp; expert < a.shape.n_experts; expert += kChoiceWarps) {
    const int32_t n = for_pairs_of(a, expert, lane, [](int32_t, int32_t) {});
    if (lane == 0) table.n_pairs[expert] = n;
  }
  __syncthreads();
  if (warp == 0) lay_out(a, table, lane);
  __syncthreads();
  for (int32_t expert = warp; expert < a.shape.n_experts; expert += kChoiceWarps) {
    const int32_t n = table.n_pairs[expert], first = table.first_place[expert], block_rows = a.shape.block_rows;
    if (n == 0) continue;
    for_pairs_of(a, expert, lane, [&](int32_t pair, int32_t before) {
      a.out.place_row[first + before] = pair / a.shape.n_used;
      a.out.pair_place[pair] = first + before;
    });
    if (lane == 0 && n % 2 != 0) a.out.place_row[first + n] = -1;
    for (int32_t b = lane; b * block_rows < n; b += 32) {
      a.out.blocks[table.first_block[expert] + b] = {expert, first + b * block_rows,
                                                     min(block_rows, n - b * block_rows)};
    }
  }
  for (int32_t place = table.n_places + static_cast<int32_t>(threadIdx.x); place < a.shape.n_places();
       place += kChoiceWarps * 32) {
    a.out.place_row[place] = -1;
  }
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

cudaError_t launch_moe_route(const MoeRouteArgs& args, cudaStream_t stream) {
  const MoeShape& s = args.shape;
  if (s.n_experts < 1 || s.n_experts > kMaxExperts || s.n_used < 1 || s.n_used > kMaxChosen || s.n_used > s.n_experts ||
      s.m < 0 || s.m > INT32_MAX / kMaxExperts || s.block_rows < 1 || args.n_cols <= 0) {
    return cudaErrorInvalidValue;
  }
  if (s.m == 0) return cudaSuccess;
  const auto columns = static_cast<unsigned>(s.n_experts / kProductWarps + 1);
  const auto rows = static_cast<unsigned>(s.m);
  cudaError_t launched;
  if (s.m <= kRowsAtOnce / 2) {
    launched = launch_early(moe_logits<1>, dim3(columns, rows), kProductWarps * 32, stream, args);
  } else {
    launched = launch_early(moe_logits<kRowsAtOnce>, dim3(columns, (rows + kRowsAtOnce - 1) / kRowsAtOnce),
                            kProductWarps * 32, stream, args);
  }
  if (launched != cudaSuccess) return launched;
  return launch_early(moe_choose, dim3(1), kChoiceWarps * 32, stream, args);
}

}  // namespace inlay::cuda
