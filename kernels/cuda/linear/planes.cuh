// One chunk of a tile times rows of x that are planes (activations.cuh), in registers: mma of bytes.
//
// A code is an unsigned byte of A: one bit operation makes four of them. Codes of four bits stay in the upper halves of
// the bytes of row g + 8, 16 times what they are, which is part of the row's factor. The high and the low bytes of a
// row of x are two neighbouring columns of B, so a mma serves four rows, a quad, and lane 4 g + t gets both sums of row
// t. All of a chunk is added up in integers, exactly, whatever the order:
//   high, low = sum over groups of scale * (sum codes * bytes of x)        |high|, |low| < 2^29
//   total    += x's chunk scale * (factor * (256 high + low) + minimum factor * minimums)
// Offsets and minimums meet the sums of x as in chunk.cuh, high and low parts being two columns here, too.
#pragma once

#include "kernels/cuda/linear/activations.cuh"
#include "kernels/cuda/linear/chunk.cuh"

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// ---- codes and scales

// The codes of row g + 8 * upper in k-step s: four columns.
template <DType kType>
__device__ __forceinline__ uint32_t code_bytes(const UnitCodes<kType>& w, int s, int upper) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  static_assert(kFormat.low_bits == 4 && kFormat.kind == CodeKind::integer);
  if constexpr (kFormat.high_bits == 0) {
    return w.words[s] & (upper == 0 ? 0x0f0f0f0fu : 0xf0f0f0f0u);
  } else {
    constexpr uint32_t kMask = kFormat.high_bits == 1 ? 0x10101010u : 0x30303030u;
    const uint32_t high = w.high[kFormat.high_bits == 1 ? 0 : s / 2];
    return (w.words[s] >> (4 * upper) & 0x0f0f0f0fu) | (shift_right(high, high_bit<kType>(s, upper, 0) - 4) & kMask);
  }
}

// What the integers have to be multiplied by for the codes' and x's sake.
template <DType kType>
__device__ __forceinline__ constexpr float plane_unit(int upper) {
  return Layout<kType>::kFormat.high_bits == 0 && upper == 1 ? kPlaneUnit / 16.0f : kPlaneUnit;
}

// The scale of a group for row g or g + 8. words: of the groups from 0 on.
template <DType kType>
__device__ __forceinline__ int32_t integer_scale(const uint32_t* words, int group, int upper) {
  const auto at = static_cast<uint32_t>(group % 2 * 2 + upper);
  const uint32_t rest = Layout<kType>::kFormat.minimum ? 0x4440u : (8 | at) * 0x1110u;  // zeros, or copies of the sign
  int32_t scale;
  asm("prmt.b32 %0,%1,0,%2;" : "=r"(scale) : "r"(words[group / 2]), "r"(rest | at));
  return scale;
}

// A of a unit.
template <DType kType>
struct UnitBytes {
  static constexpr int kSteps = Layout<kType>::kFormat.group_cols / 16, kGroups = 4 / kSteps;
  uint32_t a[kGroups][2 * kSteps];

  __device__ __forceinline__ void load(const uint8_t* unit, int lane) {
    UnitCodes<kType> codes;
    codes.load(unit, lane);
    set(codes);
  }
  __device__ __forceinline__ void set(const UnitCodes<kType>& codes) {
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i / (2 * kSteps)][i % (2 * kSteps)] = code_bytes<kType>(codes, i / 2, i % 2);
  }
  // c += group j times x; b: of the unit.
  __device__ __forceinline__ void multiply(int j, const uint32_t (&b)[4], int32_t (&c)[4]) const {
    if constexpr (kSteps == 2) {
      mma_16x8x32(c, a[j], {b[2 * j], b[2 * j + 1]});
    } else {
      mma_16x8x16(c, a[j], b[j]);
    }
  }
};

// total with what the integers of a chunk and the minimums' two parts come to.
template <DType kType, class Scales>
__device__ __forceinline__ float plane_total(const Scales& scales, int upper, int32_t high, int32_t low,
                                             const float* minimums, float x_scale, float total) {
  const float sum = fmaf(static_cast<float>(high), 256.0f, static_cast<float>(low));
  const float factor = __fmul_rn(half_at(scales.super[0], upper), plane_unit<kType>(upper));
  const float minimum = __fadd_rn(minimums[2 * upper], minimums[2 * upper + 1]);
  return fmaf(x_scale, fmaf(scales.minimum_factor(upper), minimum, __fmul_rn(factor, sum)), total);
}

// ---- rows of x. A lane's columns of B belong to row g / 2 of every quad, plane g % 2; its results to row t.

// Records in global memory, quads of which this lane has n_valid. What rows beyond the last one come to is thrown away,
// so they may be anything finite: zeros.
struct GlobalPlanes {
  const uint8_t *values, *part;  // of row g / 2: 16 bytes of the plane; 8 bytes of the sums
  const float* chunk_scale;      // of row t
  int n_valid;

  __device__ __forceinline__ uint4 unit(int quad, int u) const {
    if (quad >= n_valid) return {0, 0, 0, 0};
    return *reinterpret_cast<const uint4*>(values + quad * 4 * kRecordBytes + u * (2 * kPlaneBytes));
  }
  __device__ __forceinline__ uint2 sums(int quad) const {
    if (quad >= n_valid) return {0, 0};
    return *reinterpret_cast<const uint2*>(part + quad * 4 * kRecordBytes);
  }
  __device__ __forceinline__ float scale(int quad) const { return chunk_scale[4 * quad]; }
};

// Records in shared memory, all there. What those that are not come to reaches no other row.
struct SharedPlanes {
  const uint8_t *values, *part;
  const float* chunk_scale;

  __device__ __forceinline__ SharedPlanes(const uint8_t* records, const uint8_t* scales, int lane)
      : values(records + lane / 8 * kRecordBytes + lane / 4 % 2 * kPlaneBytes + lane % 4 * 16),
        part(records + lane / 8 * kRecordBytes + kRecordSumsAt + lane % 4 * 16 + lane / 4 % 2 * 8),
        chunk_scale(reinterpret_cast<const float*>(scales) + lane % 4) {}
  __device__ __forceinline__ uint4 unit(int quad, int u) const {
    return *reinterpret_cast<const uint4*>(values + quad * 4 * kRecordBytes + u * (2 * kPlaneBytes));
  }
  __device__ __forceinline__ uint2 sums(int quad) const {
    return *reinterpret_cast<const uint2*>(part + quad * 4 * kRecordBytes);
  }
  __device__ __forceinline__ float scale(int quad) const { return chunk_scale[4 * quad]; }
};

// ---- several rows

// acc += scale * (codes of unit u) x, for n tiles. NT: eights of rows.
template <DType kType, int NT, int n, class Rows>
__device__ __forceinline__ void multiply_unit_planes(const UnitBytes<kType> (&tiles)[n],
                                                     const ChunkScales<kType> (&scales)[n], int u, const Rows& x,
                                                     int32_t (&acc)[n][2 * NT][4]) {
  constexpr int kGroups = UnitBytes<kType>::kGroups;
#pragma unroll
  for (int quad = 0; quad < 2 * NT; ++quad) {
    const uint4 words = x.unit(quad, u);
    const uint32_t b[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < n; ++i) {
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
        int32_t c[4] = {};
        tiles[i].multiply(j, b, c);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          acc[i][quad][k] += integer_scale<kType>(scales[i].scale, u * kGroups + j, k / 2) * c[k];
      }
    }
  }
}

template <DType kType, int NT, class Rows>
__device__ __forceinline__ void finish_planes(const ChunkScales<kType>& scales, const Rows& x,
                                              const int32_t (&acc)[2 * NT][4], float (&total)[NT][4]) {
#pragma unroll
  for (int quad = 0; quad < 2 * NT; ++quad) {
    float minimums[4] = {};
    mma_16x8x16<false>(minimums, scales.sums_a, x.sums(quad));
    const float x_scale = x.scale(quad);
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      float& to = total[quad / 2][2 * upper + quad % 2];
      to = plane_total<kType>(scales, upper, acc[quad][2 * upper], acc[quad][2 * upper + 1], minimums, x_scale, to);
    }
  }
}

template <DType kType, int NT, int n, class Rows>
__device__ __forceinline__ void add_up_planes(const uint8_t* const (&chunks)[n], const Rows& x, int lane,
                                              ChunkScales<kType> (&scales)[n], int32_t (&acc)[n][2 * NT][4]) {
  using L = Layout<kType>;
#pragma unroll
  for (int i = 0; i < n; ++i) scales[i].load(chunks[i], lane);
#pragma unroll
  for (int u = 0; u < kChunkUnits; ++u) {
    UnitBytes<kType> tiles[n];
#pragma unroll
    for (int i = 0; i < n; ++i) tiles[i].load(chunks[i] + L::kCodesAt + u * L::kUnitBytes, lane);
    multiply_unit_planes<kType, NT>(tiles, scales, u, x, acc);
  }
}

// total += the chunk times x
template <DType kType, int NT, class Rows>
__device__ __forceinline__ void multiply_planes(const uint8_t* chunk, const Rows& x, int lane, float (&total)[NT][4]) {
  const uint8_t* const chunks[1] = {chunk};
  ChunkScales<kType> scales[1];
  int32_t acc[1][2 * NT][4] = {};
  add_up_planes<kType, NT>(chunks, x, lane, scales, acc);
  finish_planes<kType, NT>(scales[0], x, acc[0], total);
}

// total[i] += the chunk chunks[i] times x
template <DType kType, int NT, int n, class Rows>
__device__ __forceinline__ void multiply_planes(const uint8_t* const (&chunks)[n], const Rows& x, int lane,
                                                float (&total)[n][NT][4]) {
  ChunkScales<kType> scales[n];
  int32_t acc[n][2 * NT][4] = {};
  add_up_planes<kType, NT>(chunks, x, lane, scales, acc);
#pragma unroll
  for (int i = 0; i < n; ++i) finish_planes<kType, NT>(scales[i], x, acc[i], total[i]);
}

// ---- one row: six columns of every product are free, as seven in chunk.cuh

// Column 2 u + p of B is the row's unit u, plane p, and zeros elsewhere: lane 4 g + t gets the groups of unit t alone.
template <DType kType>
__device__ __forceinline__ void multiply_row_planes(const uint8_t* chunk, const OneRow& x, int lane,
                                                    float (&total)[1][4]) {
  using L = Layout<kType>;
  using Bytes = UnitBytes<kType>;
  const int g = lane / 4, t = lane % 4;
  ChunkScales<kType, 1> scales;
  scales.load(chunk, lane, t);
  const uint4 row = *reinterpret_cast<const uint4*>(x.values + g * kPlaneBytes + t * 16);
  int32_t c[Bytes::kGroups][4] = {};
#pragma unroll
  for (int u = 0; u < kChunkUnits; ++u) {
    Bytes bytes;
    bytes.load(chunk + L::kCodesAt + u * L::kUnitBytes, lane);
    const uint32_t here = g / 2 == u ? 0xffffffffu : 0;
    const uint32_t b[4] = {row.x & here, row.y & here, row.z & here, row.w & here};
#pragma unroll
    for (int j = 0; j < Bytes::kGroups; ++j) bytes.multiply(j, b, c[j]);
  }
  const uint2 sums = *(reinterpret_cast<const uint2*>(x.chunk_sums + t) + g % 2);
  float minimums[4] = {};
  mma_16x8x16<false>(minimums, scales.sums_a, sums);
#pragma unroll
  for (int upper = 0; upper < 2; ++upper) {
    int32_t high = 0, low = 0;
#pragma unroll
    for (int j = 0; j < Bytes::kGroups; ++j) {
      const int32_t scale = integer_scale<kType>(scales.scale, j, upper);
      high += scale * c[j][2 * upper], low += scale * c[j][2 * upper + 1];
    }
#pragma unroll
    for (int step = 1; step < 4; step *= 2) {
      high += __shfl_xor_sync(0xffffffffu, high, step);
      low += __shfl_xor_sync(0xffffffffu, low, step);
    }
    total[0][2 * upper] = plane_total<kType>(scales, upper, high, low, minimums, x.chunk_scale, total[0][2 * upper]);
  }
}

#endif

}  // namespace inlay::cuda
