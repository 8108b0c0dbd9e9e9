// The kernel of mixed_gemm.cu. Eight warps multiply, four more (one warp group, as sm_90a shares registers out by
// groups) belong to those that copy: warp 0 W, warp 1 x. Both run ahead through rings of stages, across tiles of the
// result.
#pragma once

#include "kernels/cuda/device/halves.cuh"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/gemm/hopper/tma.cuh"
#include "kernels/cuda/gemm/hopper/wgmma.cuh"
#include "kernels/cuda/linear/codes.cuh"

namespace inlay::cuda {

inline constexpr int kGemmRows = 128;  // of W that a CTA multiplies at a time: a packed tile for each warp
inline constexpr int kGemmWarps = 8, kGemmThreads = 32 * (kGemmWarps + 4);
inline constexpr int kGemmSharedBytes = 227 * 1024;

// What the kernel takes. The work is tiles of the result times chunks of columns, counted tile by tile; each CTA has a
// run of it, whole grains. A tile that begins in one CTA and ends in others is added up by the one where it begins: the
// others had their parts of it first, so they are there by then, and the order of addition is that of the columns.
struct GemmTask {
  const uint8_t* packed;
  float* out;
  float* parts;     // kGemmRows x kTokens for each CTA
  uint32_t* flags;  // of each CTA: its part is there. Zeros before and after
  int64_t tile_bytes, n_rows, ld_out;
  int32_t n_units, n_chunks, m;
  int32_t n_row_tiles;  // of the result, in rows of W
  int32_t n_grains, chunks_of_grain;
  float factor, alpha;
};

// Stages of a CTA that has kTokens rows of x at a time.
template <DType kType, int kTokens>
struct GemmStages {
  static constexpr int kXBytes = kTokens * 2 * kUnitCols, kXStages = kTokens == 256 ? 4 : 8;
  static constexpr int kWBytes = (kGemmWarps * Layout<kType>::kChunkBytes + 127) / 128 * 128;
  static constexpr int kFitting = (kGemmSharedBytes - 2048 - kXStages * kXBytes) / kWBytes;
  static constexpr int kWStages = kFitting < 6 ? kFitting : 6;
  static constexpr int kWAt = kXStages * kXBytes, kBarriersAt = kWAt + kWStages * kWBytes;
  static constexpr int kBytes = kBarriersAt + 2 * 8 * (kXStages + kWStages) + 1024;  // a swizzled stage is at 1024 k
  static_assert(kWStages >= 2 && kBytes <= kGemmSharedBytes);
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

// One side of a ring: its stage, and the parity of the barriers in this round.
template <int kStages, int kStageBytes>
struct GemmRing {
  uint32_t memory, full, empty;
  int stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ GemmRing(uint32_t stages, uint32_t barriers)
      : memory(stages), full(barriers), empty(barriers + 8 * kStages) {}
  __device__ void init(int n_users) const {
    for (int i = 0; i < kStages; ++i) {
      init_barrier(full + static_cast<uint32_t>(8 * i), 1);
      init_barrier(empty + static_cast<uint32_t>(8 * i), n_users);
    }
  }
  __device__ __forceinline__ uint32_t at() const { return memory + static_cast<uint32_t>(stage * kStageBytes); }
  __device__ __forceinline__ uint32_t full_barrier() const { return full + static_cast<uint32_t>(8 * stage); }
  __device__ __forceinline__ uint32_t empty_barrier() const { return empty + static_cast<uint32_t>(8 * stage); }
  __device__ __forceinline__ void wait_until_full() const { await(full_barrier(), parity); }
  __device__ __forceinline__ void wait_until_empty() const { await(empty_barrier(), parity ^ 1); }
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

// First chunk of a CTA's run, counting from the first tile's first. The last CTAs begin the first tiles: a CTA waits
// for the parts of those before it, which are on the device when it is.
__device__ __forceinline__ int run_begin(const GemmTask& a, int cta) {
  const auto n = static_cast<int64_t>(gridDim.x);
  return static_cast<int>(a.n_grains * (n - 1 - cta) / n) * a.chunks_of_grain;
}

// Calls visit(tile, first chunk, end chunk) for what a CTA's run has of each tile. Tiles of the same rows of x follow
// one another, so what CTAs have at a time are the same rows of W.
template <class Visit>
__device__ __forceinline__ void for_each_tile(const GemmTask& a, Visit visit) {
  const int cta = static_cast<int>(blockIdx.x), end = run_begin(a, cta - 1);
  for (int at = run_begin(a, cta); at < end;) {
    const int tile = at / a.n_chunks, first = at - tile * a.n_chunks, until = min(a.n_chunks, first + end - at);
    visit(tile, first, until);
    at += until - first;
  }
}

__device__ __forceinline__ int units_of_chunk(const GemmTask& a, int chunk) {
  return min(kChunkUnits, a.n_units - chunk * kChunkUnits);
}

// ---- copying

// By a whole warp; lane i copies the chunk of packed tile i.
template <DType kType, class Ring>
__device__ void copy_weights(const GemmTask& a, Ring ring, int lane) {
  using L = Layout<kType>;
  const auto n_packed_tiles = static_cast<int>((a.n_rows + kTileRows - 1) / kTileRows);
  for_each_tile(a, [&](int tile, int first_chunk, int end_chunk) {
    const int first = tile % a.n_row_tiles * kGemmWarps, n = min(kGemmWarps, n_packed_tiles - first);
    const uint8_t* from = a.packed + (first + lane) * a.tile_bytes;
    for (int chunk = first_chunk; chunk < end_chunk; ++chunk, ring.advance()) {
      const auto bytes = static_cast<uint32_t>(L::kCodesAt + units_of_chunk(a, chunk) * L::kUnitBytes);
      ring.wait_until_empty();
      if (lane == 0) arrive_and_expect(ring.full_barrier(), static_cast<uint32_t>(n) * bytes);
      __syncwarp();
      if (lane < n) {
        copy_bulk_shared(ring.at() + static_cast<uint32_t>(lane * L::kChunkBytes),
                         from + static_cast<int64_t>(chunk) * L::kChunkBytes, bytes, ring.full_barrier());
      }
    }
  });
}

// By one thread. Rows beyond the last one come as zeros.
template <int kTokens, class Ring>
__device__ void copy_x(const GemmTask& a, const CUtensorMap& x, Ring ring) {
  for_each_tile(a, [&](int tile, int first_chunk, int end_chunk) {
    const int row = tile / a.n_row_tiles * kTokens;
    for (int unit = first_chunk * kChunkUnits; unit < end_chunk * kChunkUnits; ++unit, ring.advance()) {
      ring.wait_until_empty();
      arrive_and_expect(ring.full_barrier(), kTokens * 2 * kUnitCols);
      copy_box(ring.at(), x, unit * kUnitCols, row, ring.full_barrier());
    }
  });
}

// ---- multiplying

// Codes of k-step s in register i, as FP16 that the group's scale makes values.
template <DType kType>
__device__ __forceinline__ __half2 code_halves(const UnitCodes<kType>& codes, int s, int i) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  if constexpr (kHalves<kType>) {
    return __hmul2(as_half2(halves_of<kType>(codes.words, s, i)), __float2half2_rn(kHalvesUnit<kType>));
  } else if constexpr (kFormat.low_bits == 4 && kFormat.high_bits == 0 && kFormat.kind == CodeKind::integer) {
    // Every second nibble stays where it is, 16 times what it is.
    const uint32_t two = codes.words[s] >> (8 * (i / 2));
    if (i % 2 == 0) {
      return __hsub2(as_half2(and_or(two, 0x000f000fu, 0x64006400u)), __float2half2_rn(1024.0f + kFormat.offset));
    }
    return __hfma2(as_half2(and_or(two, 0x00f000f0u, 0x64006400u)), __float2half2_rn(0.0625f),
                   __float2half2_rn(-64.0f - kFormat.offset));
  } else {
    return __hsub2(as_half2(codes_of<kType>(codes, s, i)), __float2half2_rn(1024.0f + kFormat.offset));
  }
}

// What makes a group's codes values, for row g (low) and g + 8 (high): rounded to FP16.
struct GroupHalves {
  __half2 scale, minimum;
};

// Of all groups of a chunk of a packed tile, times a power of two, `factor`.
template <DType kType>
struct ChunkFactors {
  const uint8_t* chunk;
  int g;
  float factor;

  __device__ __forceinline__ ChunkFactors(const uint8_t* from, int lane, float times)
      : chunk(from), g(lane / 4), factor(times) {}
  __device__ __forceinline__ GroupHalves operator[](int group) const {
    const GroupFactors upper = factors_of<kType>(chunk, g, 0, group, factor),
                       lower = factors_of<kType>(chunk, g, 1, group, factor);
    return {__floats2half2_rn(upper.scale, lower.scale), __floats2half2_rn(upper.minimum, lower.minimum)};
  }
};

// Scales of a byte and a d for the chunk: as loaded, a byte becomes FP16 when it is needed.
template <DType kType>
inline constexpr bool kBytesAndSuper = Layout<kType>::kFormat.super && !Layout<kType>::kNibbleScales;

template <DType kType>
requires kBytesAndSuper<kType>
struct ChunkFactors<kType> {
  using L = Layout<kType>;
  static constexpr bool kMinimum = L::kFormat.minimum, kSigned = !kMinimum;
  static constexpr int kWords = L::kPairScaleBytes / 4;  // two groups each, row g and g + 8
  uint32_t scales[kWords], minimums[4];
  __half2 super, super_minimum;

  __device__ __forceinline__ ChunkFactors(const uint8_t* chunk, int lane, float factor) {
    const int g = lane / 4;
    load(chunk + g * L::kPairScaleBytes, scales);
    if constexpr (kMinimum) load(chunk + L::kMinimumsAt + 16 * g, minimums);
    if constexpr (kSigned) {
#pragma unroll
      for (uint32_t& word : scales) word ^= 0x80808080u;
    }
    const auto* d = reinterpret_cast<const __half2*>(chunk + L::kSupersAt + g * L::kPairSuperBytes);
    super = times(d[0], factor * L::kFormat.unit);
    super_minimum = kMinimum ? times(d[1], -factor) : super;
  }
  __device__ __forceinline__ GroupHalves operator[](int group) const {
    GroupHalves of;
    of.scale = __hmul2(byte_halves<kSigned>(scales[group / 2], group % 2), super);
    of.minimum = kMinimum ? __hmul2(byte_halves<false>(minimums[group % 4], group / 4), super_minimum) : of.scale;
    return of;
  }

 private:
  template <int n>
  __device__ __forceinline__ static void load(const uint8_t* from, uint32_t (&words)[n]) {
#pragma unroll
    for (int i = 0; i < n; i += 4) {
      const uint4 v = *reinterpret_cast<const uint4*>(from + 4 * i);
      words[i] = v.x, words[i + 1] = v.y, words[i + 2] = v.z, words[i + 3] = v.w;
    }
  }
  // Of rows all of whose codes are zeros d may be anything; it stays finite.
  __device__ __forceinline__ static __half2 times(__half2 d, float factor) {
    const auto bounded = [](float f) { return fminf(fmaxf(f, -65504.0f), 65504.0f); };
    const float2 f = __half22float2(d);
    return __floats2half2_rn(bounded(f.x * factor), bounded(f.y * factor));
  }
  // Two bytes of a word as FP16.
  template <bool kOfSigned>
  __device__ __forceinline__ static __half2 byte_halves(uint32_t word, int at) {
    const uint32_t halves = __byte_perm(word, 0x64646464u, at == 0 ? 0x4140 : 0x4342);  // 1024 + byte
    return __hsub2(as_half2(halves), __float2half2_rn(kOfSigned ? 1152.0f : 1024.0f));
  }
};

// A of a unit: values times the chunk's factor.
template <DType kType>
__device__ __forceinline__ void unpack_unit(const UnitCodes<kType>& codes, const ChunkFactors<kType>& factors, int unit,
                                            uint32_t (&a)[4][4]) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  GroupHalves group;
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const int column = unit * kUnitCols + 16 * s;
    if (column % kFormat.group_cols == 0) group = factors[column / kFormat.group_cols];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const __half2 scale = i % 2 == 0 ? __low2half2(group.scale) : __high2half2(group.scale);
      const __half2 minimum = i % 2 == 0 ? __low2half2(group.minimum) : __high2half2(group.minimum);
      const __half2 code = code_halves<kType>(codes, s, i);
      a[s][i] = as_word(kFormat.minimum ? __hfma2(code, scale, minimum) : __hmul2(code, scale));
    }
  }
}

// Sums of 64 rows of W, those of this warp group, and kTokens rows of x.
template <int kTokens>
struct GemmSums {
  static constexpr int kWide = kTokens < 128 ? kTokens : 128, kParts = kTokens / kWide;  // columns of one product
  float c[kParts][kWide / 2];

  // accumulate: 0 for the first one
  __device__ __forceinline__ void multiply(const uint32_t (&a)[4][4], uint32_t x, int accumulate) {
    const uint64_t b = wgmma_operand(x);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        wgmma_64xNx16(c[part], a[s], b + static_cast<uint64_t>(part * kWide * 8 + s * 2), s == 0 ? accumulate : 1);
    }
  }
  // Of all products that were begun.
  __device__ __forceinline__ void wait() {
    wgmma_wait<0>();
#pragma unroll
    for (auto& part : c) {
#pragma unroll
      for (float& sum : part) asm volatile("" : "+f"(sum)::"memory");  // not read before
    }
  }
  // visit(which of this thread's, sum)
  template <class Visit>
  __device__ __forceinline__ void for_each_sum(Visit visit) {
#pragma unroll
    for (int i = 0; i < kTokens / 2; ++i) visit(i, c[i / (kWide / 2)][i % (kWide / 2)]);
  }
  // visit(row of x, sum of row g, of row g + 8)
  template <class Visit>
  __device__ __forceinline__ void for_each_pair(int lane, Visit visit) const {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int i = 0; i < kWide / 4; ++i) {
        const int at = i / 2 * 4 + i % 2;
        visit(part * kWide + i / 2 * 8 + lane % 4 * 2 + i % 2, c[part][at], c[part][at + 2]);
      }
    }
  }
};

// Chunks of one tile of the result.
template <DType kType, int kTokens, class WRing, class XRing>
__device__ __forceinline__ void multiply_chunks(const GemmTask& a, int n, int warp, int lane, WRing& w, XRing& x,
                                                GemmSums<kTokens>& sums) {
  uint32_t unpacked[2][4][4];  // in turns: one is multiplied, the other one written
  int accumulate = 0;
  uint32_t used = 0;  // the barrier of the stage of x whose products are under way
  for (int chunk = 0; chunk < n; ++chunk, w.advance()) {
    w.wait_until_full();
    const auto* packed = static_cast<const uint8_t*>(
        __cvta_shared_to_generic(w.at() + static_cast<uint32_t>(warp * Layout<kType>::kChunkBytes)));
    const ChunkFactors<kType> factors(packed, lane, a.factor);
    UnitCodes<kType> codes[2];
    codes[0].load(packed + Layout<kType>::kCodesAt, lane);
#pragma unroll
    for (int unit = 0; unit < kChunkUnits; ++unit) {
      if (unit + 1 < kChunkUnits)  // on their way while these are unpacked and multiplied
        codes[(unit + 1) % 2].load(packed + Layout<kType>::kCodesAt + (unit + 1) * Layout<kType>::kUnitBytes, lane);
      unpack_unit<kType>(codes[unit % 2], factors, unit, unpacked[unit % 2]);
      if (unit == kChunkUnits - 1) {
        __syncwarp();
        if (lane == 0) arrive(w.empty_barrier());
      }
      x.wait_until_full();
      wgmma_fence();
      sums.multiply(unpacked[unit % 2], x.at(), accumulate);
      wgmma_commit();
      accumulate = 1;
      wgmma_wait<1>();
      if (used != 0 && lane == 0) arrive(used);
      used = x.empty_barrier();
      x.advance();
    }
  }
  sums.wait();
  if (used != 0 && lane == 0) arrive(used);
}

template <int kTokens>
__device__ __forceinline__ void store_sums(const GemmTask& a, const GemmSums<kTokens>& sums, int tile, int warp,
                                           int lane) {
  const int64_t row = static_cast<int64_t>(tile % a.n_row_tiles) * kGemmRows + warp * kTileRows + lane / 4;
  const int first = tile / a.n_row_tiles * kTokens;
  sums.for_each_pair(lane, [&](int token, float upper, float lower) {
    if (first + token >= a.m) return;
    float* to = a.out + (first + token) * a.ld_out + row;
    if (row < a.n_rows) to[0] = a.alpha * upper;
    if (row + 8 < a.n_rows) to[8] = a.alpha * lower;
  });
}

// A CTA's part of a tile that begins in another one: each thread's sums where a thread of that one looks for them.
template <int kTokens>
__device__ __forceinline__ float* part_of(const GemmTask& a, int cta) {
  return a.parts + static_cast<int64_t>(cta) * kGemmRows * kTokens + threadIdx.x % (32 * kGemmWarps);
}

template <int kTokens>
__device__ __forceinline__ void leave_part(const GemmTask& a, GemmSums<kTokens>& sums) {
  const int cta = static_cast<int>(blockIdx.x);
  float* to = part_of<kTokens>(a, cta);
  sums.for_each_sum([&](int i, float sum) { __stcg(to + i * 32 * kGemmWarps, sum); });
  __threadfence();
  sync_threads<32 * kGemmWarps>();
  if (threadIdx.x % (32 * kGemmWarps) == 0) store_release(a.flags + cta, 1);
}

// Adds what the CTAs before this one have of a tile, up to chunk `end` of the whole work.
template <int kTokens>
__device__ __forceinline__ void add_parts(const GemmTask& a, int end, GemmSums<kTokens>& sums) {
  for (int cta = static_cast<int>(blockIdx.x) - 1; run_begin(a, cta) < end; --cta) {
    if (threadIdx.x % (32 * kGemmWarps) == 0) {
      wait_for_flag(a.flags + cta);
      a.flags[cta] = 0;  // for the next launch
    }
    sync_threads<32 * kGemmWarps>();
    const float* from = part_of<kTokens>(a, cta);
    sums.for_each_sum([&](int i, float& sum) { sum += __ldcg(from + i * 32 * kGemmWarps); });
  }
}

template <DType kType, int kTokens>
__device__ __forceinline__ void multiply_all(const GemmTask& a, int warp, int lane, auto w, auto x) {
  GemmSums<kTokens> sums;
  for_each_tile(a, [&](int tile, int first_chunk, int end_chunk) {
    multiply_chunks<kType>(a, end_chunk - first_chunk, warp, lane, w, x, sums);
    if (first_chunk > 0) return leave_part(a, sums);
    if (end_chunk < a.n_chunks) add_parts(a, (tile + 1) * a.n_chunks, sums);
    store_sums(a, sums, tile, warp, lane);
  });
}

template <DType kType, int kTokens>
__global__ void __launch_bounds__(kGemmThreads, 1)
    mixed_gemm(const __grid_constant__ GemmTask a, const __grid_constant__ CUtensorMap x_map) {
  using Stages = GemmStages<kType, kTokens>;
  extern __shared__ uint8_t memory[];
  const uint32_t shared = (static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + 1023) / 1024 * 1024;
  const GemmRing<Stages::kXStages, Stages::kXBytes> x(shared, shared + Stages::kBarriersAt);
  const GemmRing<Stages::kWStages, Stages::kWBytes> w(shared + Stages::kWAt,
                                                      shared + Stages::kBarriersAt + 16 * Stages::kXStages);
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  if (threadIdx.x == 0) {
    x.init(kGemmWarps), w.init(kGemmWarps);
    make_barriers_visible();
  }
  __syncthreads();
  let_next_kernel_start();
  if (warp < 4) {
    lower_registers<40>();
    if (warp == 0) copy_weights<kType>(a, w, lane);
    if (warp == 1) {
      wait_for_previous_kernel();
      if (lane == 0) copy_x<kTokens>(a, x_map, x);
    }
  } else {
    raise_registers<232>();
    wait_for_previous_kernel();  // it may still read what is written here
    multiply_all<kType, kTokens>(a, warp - 4, lane, w, x);
  }
}

#endif

// Rows of x that a CTA takes at a time, CTAs, and where they run.
struct GemmLaunch {
  int n_tokens, n_ctas;
  cudaStream_t stream;
};

// mixed_gemm_launch.cuh; a generated file of mixed_gemm_type.cu.in has the instances of each type.
template <DType kType>
cudaError_t load_mixed_gemm_of();
template <DType kType>
cudaError_t launch_mixed_gemm_of(const GemmTask&, const CUtensorMap& x, const GemmLaunch&);

}  // namespace inlay::cuda
