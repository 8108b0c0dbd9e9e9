// What becomes of the sums of a tile.
#pragma once

#include "kernels/cuda/device/activation.cuh"
#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

// The token kernel is for models of silu, without factors and caps: its registers are spared the rest.
template <class Values>
inline constexpr bool kSiluAlone = __is_same(Values, TaggedValues);

template <bool kSiluAlone>
__device__ __forceinline__ float activated(Activation activation, float gate, float up) {
  if (kSiluAlone || activation == Activation::silu) return __fmul_rn(times_sigmoid(gate, gate), up);
  return activate(activation, gate, up);
}

// Where row `row` of x leaves its results, or null: nowhere.
__device__ __forceinline__ float* result_row(const LinearArgs& a, int32_t row) {
  if (row >= a.m) return nullptr;
  const int64_t to = a.out_rows != nullptr ? a.out_rows[row] : row;
  return to < 0 ? nullptr : a.out + to * a.ld_out;
}

// What is at the place of element e of a tile's results, for the epilogues that ask for it.
__device__ __forceinline__ float result_before(const LinearArgs& a, int64_t tile, int32_t first, int e) {
  if (a.epilogue != Epilogue::add && a.epilogue != Epilogue::up) return 0.0f;
  const int64_t r = tile * kTileRows + e % kTileRows;
  const float* out = result_row(a, first + e / kTileRows);
  return r < a.n_rows && out != nullptr ? FinishedValues().load(out + r) : 0.0f;
}

// What is stored for a sum with its bias.
template <bool kSiluAlone>
__device__ __forceinline__ float finished(const LinearArgs& a, float before, float value) {
  if (a.epilogue == Epilogue::up) return activated<kSiluAlone>(a.activation, before, value);
  if (a.epilogue == Epilogue::add) return kSiluAlone ? __fadd_rn(before, value) : fmaf(value, a.factor, before);
  if (kSiluAlone) return value;
  value = __fmul_rn(value, a.factor);
  return a.soft_cap != 0.0f ? soft_capped(value, a.soft_cap) : value;
}

// Element e of a tile's results: 16 (gate_up: 8) a row of x. total(row of the tile, row of x - first) is the sum,
// scale(row of x) what it has to be multiplied by.
template <class Values, class Total, class Scale>
__device__ __forceinline__ void store_result(const LinearArgs& a, const Values& values, int64_t tile, int32_t first,
                                             int e, float before, const Total& total, const Scale& scale) {
  if (a.epilogue == Epilogue::gate_up) {
    const int64_t r = tile * 8 + e % 8, half = a.n_rows / 2;
    float* out = result_row(a, first + e / 8);
    if (r >= half || out == nullptr) return;
    const float factor = scale(first + e / 8);
    const float gate = fmaf(total(e % 8, e / 8), factor, a.bias != nullptr ? a.bias[r] : 0.0f);
    const float up = fmaf(total(e % 8 + 8, e / 8), factor, a.up_bias != nullptr ? a.up_bias[r] : 0.0f);
    return values.store(out + r, activated<kSiluAlone<Values>>(a.activation, gate, up));
  }
  const int64_t r = tile * kTileRows + e % kTileRows;
  float* out = result_row(a, first + e / kTileRows);
  if (r >= a.n_rows || out == nullptr) return;
  const float value =
      fmaf(total(e % kTileRows, e / kTileRows), scale(first + e / kTileRows), a.bias != nullptr ? a.bias[r] : 0.0f);
  values.store(out + r, finished<kSiluAlone<Values>>(a, before, value));
}

__device__ __forceinline__ int results_of_tile(const LinearArgs& a) {
  return a.epilogue == Epilogue::gate_up ? kTileRows / 2 : kTileRows;
}

}  // namespace inlay::cuda
