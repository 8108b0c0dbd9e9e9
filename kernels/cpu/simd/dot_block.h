// The matrix kernel of linear layers and attention:
//
//   acc[n][16 t + lane] += sum over steps s of w[t][s][lane] * a[n][s]
//
// T tiles of 16 lanes x N rows of `a` stay in registers; a step loads each weight vector once and broadcasts one value
// of each row. Every accumulator adds its steps one after the other, so its bits depend on neither T nor N, nor on how
// the steps are cut into calls.
//
// Included by one file of each instruction set after its vec16.h; everything has internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay::cpu {
namespace {

// How a step reads weights and activations. kColumns: columns of the matrix that a step takes; kActivationBytes: what
// it takes of a row of `a`.
struct StepF32 {
  static constexpr int kActivationBytes = 4;
  static constexpr int kColumns = 1;
  static constexpr int kRows = Vec16::kRows;
  using Weights = Vec16;
  static Weights load(const char* w) { return Vec16::load(reinterpret_cast<const float*>(w)); }
  static Vec16 add(const Weights& w, const char* a, const Vec16& acc) {
    return fma(w, Vec16::broadcast(*reinterpret_cast<const float*>(a)), acc);
  }
};

struct StepF16 : StepF32 {
  static Weights load(const char* w) { return Vec16::load_f16(w); }
};

// Two columns a step; float activations.
struct StepBf16Pair {
  static constexpr int kActivationBytes = 8;
  static constexpr int kColumns = 2;
  static constexpr int kRows = Vec16::kPairRows;
  struct Weights {
    Vec16 first, second;
  };
  static Weights load(const char* w) {
    Weights out;
    Vec16::load_bf16_pairs(w, out.first, out.second);
    return out;
  }
  static Vec16 add(const Weights& w, const char* a, const Vec16& acc) {
    const float* x = reinterpret_cast<const float*>(a);
    return fma(w.second, Vec16::broadcast(x[1]), fma(w.first, Vec16::broadcast(x[0]), acc));
  }
};

struct DotBlock {
  const char* w;          // weights of tile 0, step 0
  ptrdiff_t tile_stride;  // bytes
  ptrdiff_t step_stride;
  const char* a;       // row 0
  ptrdiff_t a_stride;  // bytes
  int64_t n_steps;
  float* acc;
  ptrdiff_t acc_stride;  // floats
  bool fresh;            // accumulators start at zero instead of what `acc` holds
  // One cache line a step is requested from [prefetch, prefetch_end), whole lines.
  const char* prefetch;
  const char* prefetch_end;
};

template <class Step, int T, int N>
__attribute__((noinline)) void dot_block(const DotBlock& b) {
  Vec16 acc[N][T];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) acc[n][t] = b.fresh ? Vec16::zero() : Vec16::load(b.acc + n * b.acc_stride + 16 * t);
  }
  // Rows are addressed as one of N/3 pointers plus 0, 1 or 2 strides, which an instruction does for free: a pointer a
  // row would not fit into the registers.
  constexpr int kBases = (N + 2) / 3;
  const char* base[kBases];
  for (int i = 0; i < kBases; ++i) base[i] = b.a + 3 * i * b.a_stride;
  const ptrdiff_t a_stride = b.a_stride;
  const char* w = b.w;
  const char* prefetch = b.prefetch;
  const char* const prefetch_end = b.prefetch_end;
  for (int64_t s = 0; s < b.n_steps; ++s) {
    typename Step::Weights weights[T];
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) weights[t] = Step::load(w + t * b.tile_stride);
    if (prefetch != prefetch_end) {
      __builtin_prefetch(prefetch, 0, 3);
      prefetch += 64;
    }
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) {
#pragma GCC unroll 4
      for (int t = 0; t < T; ++t) acc[n][t] = Step::add(weights[t], base[n / 3] + (n % 3) * a_stride, acc[n][t]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kBases; ++i) base[i] += Step::kActivationBytes;
    w += b.step_stride;
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) acc[n][t].store(b.acc + n * b.acc_stride + 16 * t);
  }
}

template <class Step, int T, int N>
void dot_block_of(int64_t n_rows, const DotBlock& b) {
  if constexpr (N > 1) {
    if (n_rows < N) return dot_block_of<Step, T, N - 1>(n_rows, b);
  }
  dot_block<Step, T, N>(b);
}

// Any number of rows, in blocks of nearly equal size. Leaves b.prefetch where the requests got to.
template <class Step, int T>
void dot_rows(int64_t n_rows, DotBlock& b) {
  const char* const a = b.a;
  float* const acc = b.acc;
  int64_t done = 0;
  for (int64_t n_blocks = (n_rows + Step::kRows - 1) / Step::kRows; n_blocks > 0; --n_blocks) {
    const int64_t n = (n_rows - done + n_blocks - 1) / n_blocks;
    b.a = a + done * b.a_stride;
    b.acc = acc + done * b.acc_stride;
    dot_block_of<Step, T, Step::kRows>(n, b);
    const int64_t lines = (b.prefetch_end - b.prefetch) / 64;
    b.prefetch += (lines < b.n_steps ? lines : b.n_steps) * 64;
    done += n;
  }
  b.a = a;
  b.acc = acc;
}

}  // namespace
}  // namespace inlay::cpu
