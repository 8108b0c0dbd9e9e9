// One chunk of a tile times columns of x, in registers; how codes become operands of mma.m16n8k16. Q4_K, Q5_K and Q6_K,
// whose x is integers, are multiplied by planes.cuh, which has scales and sums from here.
//
// F8_E4M3 and MXFP4 codes enter as FP16 of their values times a power of two; they have no offsets, and none of what
// follows about sums.
//
// Other codes, and entries of tables, enter as FP16 subnormals, code * 2^-24 (one bit operation for two codes; codes of
// 2 to 5 bits: the upper eight rows as code * 2^-20, which saves a shift). They are exact there, and the factor is part
// of the chunk's scale. Offsets and minimums need the sums of x over each group: activations.cuh stores the sum of
// every 16 columns as two halves, high and low part, and one more pair of mma multiplies them with
//   Q4_K, Q5_K, Q2_K: mn     Q4_1, Q5_1: m     Q8_0, Q4_0, Q5_0, TQ2_0, IQ4_NL: d     the others: sc
// as A, of which k-column j belongs to the sixteen columns j of the chunk. So for a chunk
//   c_group = sum codes * x                       mma, starting at 0
//   acc     = sum over groups of scale * c_group  F32
//   total  += x's chunk scale * (factor * acc + minimum factor * minimums)
// A column of C depends on that column of x alone, and the order of operations on nothing but the chunk: every number
// of rows gives the same bits.
#pragma once

#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/mma.cuh"
#include "kernels/cuda/linear/codes.cuh"

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

template <int n>
inline constexpr int kAtLeastOne = n > 0 ? n : 1;

__device__ __forceinline__ uint32_t shift_right(uint32_t v, int n) { return n >= 0 ? v >> n : v << -n; }

// ---- codes

// The A fragment of k-step s.
template <DType kType>
__device__ __forceinline__ void fragment_of(const UnitCodes<kType>& w, int s, uint32_t (&a)[4]) {
  constexpr Format kFormat = Layout<kType>::kFormat;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int odd = i % 2;
    if constexpr (kFormat.low_bits == 16) {
      a[i] = w.words[4 * (s / 2 * 2 + odd) + s % 2 * 2 + i / 2];
    } else if constexpr (kHalves<kType>) {
      a[i] = halves_of<kType>(w.words, s, i);
    } else if constexpr (kFormat.low_bits == 8) {
      a[i] = __byte_perm(w.words[4 * (s / 2) + s % 2 * 2 + i / 2], 0, odd == 0 ? 0x4140 : 0x4342);
    } else if constexpr (kFormat.kind == CodeKind::table) {
      a[i] = __byte_perm(entries_of<kType>(w.words, s, i / 2), 0, odd == 0 ? 0x4240 : 0x4341);
    } else {
      static_assert(kFormat.high_bits < 2);
      constexpr uint32_t kMask = ((1u << kFormat.low_bits) - 1) * 0x00010001u;
      uint32_t v = nibbles_of<kType>(w.words, s) >> (i / 2 * 8) & kMask << (4 * odd);
      if constexpr (kFormat.high_bits == 1) {
        v |= shift_right(w.high[0], high_bit<kType>(s, i, 0) - 4 - 4 * odd) & (odd == 0 ? 0x00100010u : 0x01000100u);
      }
      a[i] = v;
    }
  }
}

// What a fragment's values have to be multiplied by, rows g (upper = 0) and g + 8 (1).
template <DType kType>
__device__ __forceinline__ constexpr float code_unit(int upper) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  if (kHalves<kType>) return kHalvesUnit<kType>;
  return upper == 1 && kFormat.low_bits <= 4 && kFormat.kind == CodeKind::integer ? 1048576.0f : 16777216.0f;
}

// ---- scales

__device__ __forceinline__ float half_at(uint32_t word, int upper) {
  return __half2float(__ushort_as_half(static_cast<uint16_t>(upper == 0 ? word & 0xffffu : word >> 16)));
}
// Byte i of a word as a float: 2^23 + byte, then minus 2^23 (and the byte's own offset). Cheaper than a conversion.
__device__ __forceinline__ float byte_at(uint32_t word, int i, float offset) {
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u | static_cast<uint32_t>(i))) - (8388608.0f + offset);
}

template <int kWords>
__device__ __forceinline__ void load_vector(const void* from, uint32_t (&to)[kWords]) {
  if constexpr (kWords == 1) {
    to[0] = *static_cast<const uint32_t*>(from);
  } else if constexpr (kWords == 2) {
    const uint2 v = *static_cast<const uint2*>(from);
    to[0] = v.x, to[1] = v.y;
  } else {
#pragma unroll
    for (int j = 0; j < kWords / 4; ++j) {
      const uint4 v = static_cast<const uint4*>(from)[j];
      to[4 * j] = v.x, to[4 * j + 1] = v.y, to[4 * j + 2] = v.z, to[4 * j + 3] = v.w;
    }
  }
}

// The scale of a group for row g or g + 8, without the factor of the chunk. words: of the groups from 0 on.
template <DType kType>
__device__ __forceinline__ float scale_of_group(const uint32_t* words, int group, int upper) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  if constexpr (kFormat.kind == CodeKind::e2m1) {
    return half_power(static_cast<uint8_t>(words[group / 2] >> (group % 2 * 16 + upper * 8)));
  } else if constexpr (!kFormat.super) {
    return half_at(words[group], upper);
  } else if constexpr (kFormat.minimum) {
    const uint32_t word = words[group / 2];
    return byte_at(Layout<kType>::kNibbleScales ? word & 0x0f0f0f0fu : word, group % 2 * 2 + upper, 0.0f);
  } else {
    return byte_at(words[group / 2] ^ 0x80808080u, group % 2 * 2 + upper, 128.0f);
  }
}

// What a lane needs of a chunk's scales: those of rows g and g + 8 for n of its four units, and its part of the A
// operand for the sums.
template <DType kType, int kUnits = kChunkUnits>
struct ChunkScales {
  using L = Layout<kType>;
  static constexpr Format kFormat = L::kFormat;
  static constexpr int kUnitWords = L::kPairScaleBytes / 4 / kChunkUnits;
  uint32_t scale[kUnits * kUnitWords];
  uint32_t super[kAtLeastOne<L::kPairSuperBytes / 4>];
  uint32_t sums_a[4];

  __device__ __forceinline__ void load(const uint8_t* chunk, int lane, int first_unit = 0) {
    const int g = lane / 4;
    const uint8_t* pair = chunk + g * L::kPairScaleBytes;
    load_vector(pair + first_unit * kUnitWords * 4, scale);
    if constexpr (L::kPairSuperBytes > 0) load_vector(chunk + L::kSupersAt + g * L::kPairSuperBytes, super);
    if constexpr (!kHalves<kType>) load_sums_a(chunk, lane);
  }

  __device__ __forceinline__ float of_group(int group, int upper) const {
    return scale_of_group<kType>(scale, group, upper);
  }
  __device__ __forceinline__ float factor(int upper) const {
    if constexpr (kFormat.super) return __fmul_rn(half_at(super[0], upper), code_unit<kType>(upper) * kFormat.unit);
    return code_unit<kType>(upper);
  }
  __device__ __forceinline__ float minimum_factor(int upper) const {
    if constexpr (!kFormat.super) {
      return kFormat.minimum ? 1.0f : static_cast<float>(-kFormat.offset);
    } else if constexpr (kFormat.minimum) {
      return __fmul_rn(half_at(super[1], upper), -16777216.0f);
    } else {
      return __fmul_rn(half_at(super[0], upper), -16777216.0f * kFormat.unit * kFormat.offset);
    }
  }

 private:
  // For rows g and g + 8: the groups of columns 2 t and 2 t + 1 (in sixteens), then those of 2 t + 8 and 2 t + 9.
  __device__ __forceinline__ void load_sums_a(const uint8_t* chunk, int lane) {
    const int t = lane % 4;
    const auto* words = reinterpret_cast<const uint32_t*>(chunk + lane / 4 * L::kPairScaleBytes);
    if constexpr (kFormat.minimum && !kFormat.super) {  // m
      const uint2 pairs = reinterpret_cast<const uint2*>(chunk + L::kMinimumsAt)[lane];
      put_halves_twice(pairs.x, pairs.y);
    } else if constexpr (L::kNibbleScales) {  // mn * 2^-24
      put_bytes(words[t] >> 4 & 0x0f0f0f0fu, words[t + 4] >> 4 & 0x0f0f0f0fu);
    } else if constexpr (kFormat.minimum) {  // mn * 2^-24
      put_bytes_twice(reinterpret_cast<const uint32_t*>(chunk + L::kMinimumsAt)[lane]);
    } else if constexpr (!kFormat.super) {  // d
      put_halves_twice(words[t], words[t + 4]);
    } else {  // sc, signed: (sc + 128) * 2^-24 - 128 * 2^-24
      if constexpr (kFormat.group_cols == 16) {
        put_bytes(words[t] ^ 0x80808080u, words[t + 4] ^ 0x80808080u);
      } else {
        put_bytes_twice(__byte_perm(words[t / 2], words[t / 2 + 2], t % 2 == 0 ? 0x5410 : 0x7632) ^ 0x80808080u);
      }
      const __half2 offset = __halves2half2(__ushort_as_half(128), __ushort_as_half(128));
#pragma unroll
      for (uint32_t& pair : sums_a) {
        const __half2 value = __hsub2(*reinterpret_cast<const __half2*>(&pair), offset);
        pair = *reinterpret_cast<const uint32_t*>(&value);
      }
    }
  }
  // Words of {group, row g; group, g + 8; next group, g; next group, g + 8}.
  __device__ __forceinline__ void put_bytes(uint32_t low, uint32_t high) {
    sums_a[0] = __byte_perm(low, 0, 0x4240), sums_a[1] = __byte_perm(low, 0, 0x4341);
    sums_a[2] = __byte_perm(high, 0, 0x4240), sums_a[3] = __byte_perm(high, 0, 0x4341);
  }
  // Groups of 32 columns: {row g; g + 8} of the first, then of the second.
  __device__ __forceinline__ void put_bytes_twice(uint32_t word) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums_a[i] = __byte_perm(word, 0, 0x4040u | static_cast<uint32_t>(i * 0x101));
  }
  __device__ __forceinline__ void put_halves_twice(uint32_t low, uint32_t high) {
    sums_a[0] = __byte_perm(low, 0, 0x1010), sums_a[1] = __byte_perm(low, 0, 0x3232);
    sums_a[2] = __byte_perm(high, 0, 0x1010), sums_a[3] = __byte_perm(high, 0, 0x3232);
  }
};

// ---- products. Columns: where x's chunk is; see the classes below.

// acc += scale * (codes of unit u) x
template <DType kType, int NT, class Columns>
__device__ __forceinline__ void multiply_unit(const UnitCodes<kType>& w, const ChunkScales<kType>& scales, int u,
                                              const Columns& columns, float (&acc)[NT][4]) {
  constexpr int kSteps = Layout<kType>::kFormat.group_cols / 16;
  constexpr int kUnitGroups = 4 / kSteps;
#pragma unroll
  for (int j = 0; j < kUnitGroups; ++j) {
    uint32_t a[kSteps][4];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) fragment_of<kType>(w, j * kSteps + s, a[s]);
    const float scale[2] = {scales.of_group(u * kUnitGroups + j, 0), scales.of_group(u * kUnitGroups + j, 1)};
#pragma unroll
    for (int nt = 0; nt < NT; ++nt) {
      uint2 b[kSteps];
      columns.template fetch<kSteps>(nt, u, j * kSteps, b);
      float c[4] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) mma_16x8x16<false>(c, a[s], b[s]);
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[nt][i] = fmaf(scale[i / 2], c[i], acc[nt][i]);
    }
  }
}

// Whether offsets or minimums meet the sums of x.
template <DType kType>
inline constexpr bool kHasSums = !kHalves<kType>;

// total += what a chunk's groups came to
template <DType kType, int NT, class Scales, class Columns>
__device__ __forceinline__ void finish_chunk(const Scales& scales, const Columns& columns, const float (&acc)[NT][4],
                                             float (&total)[NT][4]) {
  const float factor[2] = {scales.factor(0), scales.factor(1)};
  [[maybe_unused]] const float minimum[2] = {scales.minimum_factor(0), scales.minimum_factor(1)};
#pragma unroll
  for (int nt = 0; nt < NT; ++nt) {
    const float2 x_scale = columns.scale(nt);
    [[maybe_unused]] float c[4] = {};
    if constexpr (kHasSums<kType>) {
      const uint4 sums = columns.sums(nt);
      mma_16x8x16<false>(c, scales.sums_a, {sums.x, sums.y});
      mma_16x8x16<false>(c, scales.sums_a, {sums.z, sums.w});
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float value = __fmul_rn(factor[i / 2], acc[nt][i]);
      if constexpr (kHasSums<kType>) value = fmaf(minimum[i / 2], c[i], value);
      total[nt][i] = fmaf(i % 2 == 0 ? x_scale.x : x_scale.y, value, total[nt][i]);
    }
  }
}

// total += one unit of a row-major type
template <DType kType, int NT, class Columns>
__device__ __forceinline__ void multiply_row_major(const UnitCodes<kType>& w, const Columns& columns,
                                                   float (&total)[NT][4]) {
  constexpr bool kBf16 = kType == DType::bf16;
#pragma unroll
  for (int nt = 0; nt < NT; ++nt) {
    float c[4] = {};
    uint2 b[4];
    columns.template fetch<4>(nt, 0, 0, b);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      uint32_t a[4];
      fragment_of<kType>(w, s, a);
      mma_16x8x16<kBf16>(c, a, b[s]);
    }
    if constexpr (kBf16) {
#pragma unroll
      for (int i = 0; i < 4; ++i) total[nt][i] = __fadd_rn(total[nt][i], c[i]);
    } else {
      const float2 x_scale = columns.scale(nt);
#pragma unroll
      for (int i = 0; i < 4; ++i) total[nt][i] = fmaf(i % 2 == 0 ? x_scale.x : x_scale.y, c[i], total[nt][i]);
    }
  }
}

// ---- where a chunk of x is. values: at the chunk's first column; a lane reads 16 bytes for two k-steps (groups of 32
// columns and more) or 8 for one (groups of 16).

template <int kSteps, class At16, class At8>
__device__ __forceinline__ void fetch_steps(int first_step, uint2 (&b)[kSteps], At16 at16, At8 at8) {
  if constexpr (kSteps == 1) {
    b[0] = at8(first_step);
  } else {
#pragma unroll
    for (int j = 0; j < kSteps; j += 2) {
      const uint4 v = at16((first_step + j) / 2);
      b[j] = {v.x, v.y};
      b[j + 1] = {v.z, v.w};
    }
  }
}

// A single row of x in shared memory: every column of B is that row.
struct OneRow {
  const uint8_t* values;
  const uint4* chunk_sums;  // of the chunk: 4
  float chunk_scale;
  int t;

  template <int kSteps>
  __device__ __forceinline__ void fetch(int, int u, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = values + u * 128;
    fetch_steps<kSteps>(
        first_step, b, [&](int j) { return *reinterpret_cast<const uint4*>(at + 64 * j + 16 * t); },
        [&](int s) { return *reinterpret_cast<const uint2*>(at + 32 * s + 8 * t); });
  }
  // The same of a group of kSteps * 16 columns of the chunk.
  template <int kSteps>
  __device__ __forceinline__ void fetch_group(int group, uint2 (&b)[kSteps]) const {
    const uint8_t* at = values + group * kSteps * 32;
    fetch_steps<kSteps>(
        0, b, [&](int) { return *reinterpret_cast<const uint4*>(at + 16 * t); },
        [&](int) { return *reinterpret_cast<const uint2*>(at + 8 * t); });
  }
  __device__ __forceinline__ uint4 sums(int) const { return chunk_sums[t]; }
  __device__ __forceinline__ float2 scale(int) const { return {chunk_scale, chunk_scale}; }
};

// Rows of prepared activations in global memory. n-tile nt is there for this lane if nt < n_valid; what rows beyond the
// last one come to is thrown away, so they may be anything finite: zeros.
struct GlobalRows {
  const uint8_t* values;     // of this lane's row g
  const uint4* row_sums;     // of row g, this lane's quarter of the chunk
  const float* chunk_scale;  // of row 2 t
  int64_t tile_stride;       // bytes between rows eight apart
  int64_t sums_stride;       // vectors between rows eight apart
  int t, n_valid;

  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int u, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = values + nt * tile_stride + u * 128;
    const bool there = nt < n_valid;
    fetch_steps<kSteps>(
        first_step, b,
        [&](int j) {
          return there ? *reinterpret_cast<const uint4*>(at + 64 * j + 16 * t) : uint4{0, 0, 0, 0};
        },
        [&](int s) {
          return there ? *reinterpret_cast<const uint2*>(at + 32 * s + 8 * t) : uint2{0, 0};
        });
  }
  __device__ __forceinline__ uint4 sums(int nt) const {
    return nt < n_valid ? row_sums[nt * sums_stride] : uint4{0, 0, 0, 0};
  }
  __device__ __forceinline__ float2 scale(int nt) const {
    return *reinterpret_cast<const float2*>(chunk_scale + 8 * nt);
  }
};

// ---- whole chunks. The groups of a unit are added in order, the units in pairs: (0 + 1) + (2 + 3).

template <DType kType, int NT, class Columns>
__device__ __forceinline__ void multiply_scaled_chunk(const uint8_t* chunk, const Columns& columns, int lane,
                                                      float (&total)[NT][4]) {
  using L = Layout<kType>;
  ChunkScales<kType> scales;
  scales.load(chunk, lane);
  float acc[NT][4], pair[NT][4];
#pragma unroll
  for (int u = 0; u < kChunkUnits; ++u) {
    UnitCodes<kType> codes;
    codes.load(chunk + L::kCodesAt + u * L::kUnitBytes, lane);
    float sum[NT][4] = {};
    multiply_unit<kType, NT>(codes, scales, u, columns, sum);
#pragma unroll
    for (int i = 0; i < 4 * NT; ++i) {
      const int nt = i / 4, e = i % 4;
      if (u == 0) acc[nt][e] = sum[nt][e];
      if (u == 1) acc[nt][e] = __fadd_rn(acc[nt][e], sum[nt][e]);
      if (u == 2) pair[nt][e] = sum[nt][e];
      if (u == 3) acc[nt][e] = __fadd_rn(acc[nt][e], __fadd_rn(pair[nt][e], sum[nt][e]));
    }
  }
  finish_chunk<kType, NT>(scales, columns, acc, total);
}

// ---- several tiles times the same columns of x, which are fetched once

// A chunk of x in registers; of its values one unit at a time.
template <int NT>
struct FetchedRows {
  uint2 b[NT][4];
  uint4 chunk_sums[NT];
  float2 chunk_scale[NT];

  template <class Columns>
  __device__ __forceinline__ void load_sums(const Columns& columns) {
#pragma unroll
    for (int nt = 0; nt < NT; ++nt) chunk_sums[nt] = columns.sums(nt);
  }
  template <class Columns>
  __device__ __forceinline__ void load_scales(const Columns& columns) {
#pragma unroll
    for (int nt = 0; nt < NT; ++nt) chunk_scale[nt] = columns.scale(nt);
  }
  // kSteps: that products fetch at a time.
  template <int kSteps, class Columns>
  __device__ __forceinline__ void load_unit(const Columns& columns, int u) {
#pragma unroll
    for (int nt = 0; nt < NT; ++nt) {
      if constexpr (kSteps == 1) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          uint2 step[1];
          columns.template fetch<1>(nt, u, s, step);
          b[nt][s] = step[0];
        }
      } else {
        columns.template fetch<4>(nt, u, 0, b[nt]);
      }
    }
  }
  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int, int first_step, uint2 (&to)[kSteps]) const {
#pragma unroll
    for (int j = 0; j < kSteps; ++j) to[j] = b[nt][first_step + j];
  }
  __device__ __forceinline__ uint4 sums(int nt) const { return chunk_sums[nt]; }
  __device__ __forceinline__ float2 scale(int nt) const { return chunk_scale[nt]; }
};

// total[i] += the chunk chunks[i] times x; the same bits as multiply_scaled_chunk
template <DType kType, int NT, int n, class Columns>
__device__ __forceinline__ void multiply_scaled_chunks(const uint8_t* const (&chunks)[n], const Columns& columns,
                                                       int lane, float (&total)[n][NT][4]) {
  using L = Layout<kType>;
  FetchedRows<NT> x;
  ChunkScales<kType> scales[n];
  float acc[n][NT][4], pair[n][NT][4];
#pragma unroll
  for (int i = 0; i < n; ++i) scales[i].load(chunks[i], lane);
#pragma unroll
  for (int u = 0; u < kChunkUnits; ++u) {
    x.template load_unit<L::kFormat.group_cols / 16>(columns, u);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      UnitCodes<kType> codes;
      codes.load(chunks[i] + L::kCodesAt + u * L::kUnitBytes, lane);
      float sum[NT][4] = {};
      multiply_unit<kType, NT>(codes, scales[i], u, x, sum);
#pragma unroll
      for (int k = 0; k < 4 * NT; ++k) {
        const int nt = k / 4, e = k % 4;
        if (u == 0) acc[i][nt][e] = sum[nt][e];
        if (u == 1) acc[i][nt][e] = __fadd_rn(acc[i][nt][e], sum[nt][e]);
        if (u == 2) pair[i][nt][e] = sum[nt][e];
        if (u == 3) acc[i][nt][e] = __fadd_rn(acc[i][nt][e], __fadd_rn(pair[i][nt][e], sum[nt][e]));
      }
    }
  }
  if constexpr (kHasSums<kType>) x.load_sums(columns);
  x.load_scales(columns);
#pragma unroll
  for (int i = 0; i < n; ++i) finish_chunk<kType, NT>(scales[i], x, acc[i], total[i]);
}

__device__ __forceinline__ uint32_t times(__half2 factor, uint32_t halves) {
  const __half2 v = __hmul2(factor, *reinterpret_cast<const __half2*>(&halves));
  return *reinterpret_cast<const uint32_t*>(&v);
}

// ---- one row of x: seven columns of every product are free, so column j of B is the row's group j of eight, and lane
// 4 g + t gets the sums of unit t alone, which it scales. Types with 16 groups have two sets of eight. Same sums in the
// same order as above.
template <DType kType>
struct RowGroups {
  using L = Layout<kType>;
  static constexpr int kSteps = L::kFormat.group_cols / 16, kSets = 2 / kSteps, kUnitGroups = 4 / kSteps;
  uint2 x[kSets][kSteps];     // B: of the groups that are column g
  float sum[kUnitGroups][2];  // of the groups of unit t, rows g and g + 8

  __device__ __forceinline__ void load(const OneRow& row, int lane) {
    const int g = lane / 4;
#pragma unroll
    for (int set = 0; set < kSets; ++set) row.fetch_group<kSteps>(g / 2 * kUnitGroups + 2 * set + g % 2, x[set]);
  }

  // Every group is a product of its own, of which only column 2 u + j counts. Fewer instructions: for many warps an SM.
  __device__ __forceinline__ void multiply_apart(const uint8_t* units, int lane) {
#pragma unroll
    for (int u = 0; u < kChunkUnits; ++u) {
      UnitCodes<kType> codes;
      codes.load(units + u * L::kUnitBytes, lane);
#pragma unroll
      for (int j = 0; j < kUnitGroups; ++j) {
        float c[4] = {};
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          uint32_t a[4];
          fragment_of<kType>(codes, j * kSteps + s, a);
          mma_16x8x16<false>(c, a, x[j / 2][s]);
        }
#pragma unroll
        for (int upper = 0; upper < 2; ++upper) {
          if (u == 0 || lane % 4 == u) sum[j][upper] = c[2 * upper + j % 2];
        }
      }
    }
  }

  // Products add up side by side, in columns that are zeros but for their own group's: adding a zero changes nothing.
  // Shorter from first to last: for few warps that wait for one another. What is not the group's column is multiplied
  // by zero rather than selected: integer instructions are what bounds a chunk.
  __device__ __forceinline__ void multiply_together(const uint8_t* units, int lane) {
    float c[2][kSets][4] = {};  // even and odd units: shorter chains
#pragma unroll
    for (int u = 0; u < kChunkUnits; ++u) {
      UnitCodes<kType> codes;
      codes.load(units + u * L::kUnitBytes, lane);
#pragma unroll
      for (int j = 0; j < kUnitGroups; ++j) {
        const __half2 here = __float2half2_rn(lane / 4 == 2 * u + j % 2 ? 1.0f : 0.0f);
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          uint32_t a[4];
          fragment_of<kType>(codes, j * kSteps + s, a);
          const uint2 v = x[j / 2][s];
          mma_16x8x16<false>(c[u % 2][j / 2], a, {times(here, v.x), times(here, v.y)});
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 2 * kUnitGroups; ++i) {
      const int j = i / 2, upper = i % 2, at = 2 * upper + j % 2;
      sum[j][upper] = lane % 2 == 0 ? c[0][j / 2][at] : c[1][j / 2][at];
    }
  }
};

template <DType kType, bool kApart>
__device__ __forceinline__ void multiply_row_chunk(const uint8_t* chunk, const OneRow& x, int lane,
                                                   float (&total)[1][4]) {
  using L = Layout<kType>;
  ChunkScales<kType, 1> scales;
  scales.load(chunk, lane, lane % 4);
  RowGroups<kType> groups;
  groups.load(x, lane);
  if constexpr (kApart) {
    groups.multiply_apart(chunk + L::kCodesAt, lane);
  } else {
    groups.multiply_together(chunk + L::kCodesAt, lane);
  }
  float acc[1][4];
#pragma unroll
  for (int upper = 0; upper < 2; ++upper) {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < RowGroups<kType>::kUnitGroups; ++j) {
      sum = fmaf(scales.of_group(j, upper), groups.sum[j][upper], sum);
    }
    sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 1));
    sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 2));
    acc[0][2 * upper] = acc[0][2 * upper + 1] = sum;
  }
  finish_chunk<kType, 1>(scales, x, acc, total);
}

// Which row of x element i of a lane's sums for n-tile nt belongs to, and which row of the tile.
template <DType kType>
__device__ __forceinline__ int column_of(int nt, int i, int lane) {
  const int t = lane % 4;
  return 8 * nt + (Layout<kType>::kPlanes ? i % 2 * 4 + t : 2 * t + i % 2);
}
__device__ __forceinline__ int tile_row_of(int i, int lane) { return lane / 4 + 8 * (i / 2); }

// Partial sums of a tile: n_cols columns of 16 rows.
template <DType kType, int NT>
__device__ __forceinline__ void store_part(const float (&total)[NT][4], int n_cols, int lane, float* to) {
#pragma unroll
  for (int nt = 0; nt < NT; ++nt) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int col = column_of<kType>(nt, i, lane);
      if (col < n_cols) to[col * kTileRows + tile_row_of(i, lane)] = total[nt][i];
    }
  }
}

#endif

}  // namespace inlay::cuda
