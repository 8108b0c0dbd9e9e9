// What becomes of the sums of a tile.
#pragma once

#include <cfloat>

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

// Where element e of a tile's results goes, 16 (gate_up: 8) a row of x, and what joins its sum: known before x is, but
// for what an op before left at that place.
struct ResultPlace {
  float* to = nullptr;  // null: there is none
  float before = 0.0f;  // for the epilogues that ask for it; as an op left it (exchange.cuh)
  float bias = 0.0f, up_bias = 0.0f;
  int row, col;  // of the tile; of x, from the product's first
  Epilogue epilogue;

  __device__ __forceinline__ void load_before() {
    if (to != nullptr && (epilogue == Epilogue::add || epilogue == Epilogue::up)) before = __ldcg(to);
  }
};

__device__ __forceinline__ ResultPlace result_place(const LinearArgs& a, int64_t tile, int32_t first, int e) {
  ResultPlace at;
  at.epilogue = a.epilogue;
  const bool gate_up = a.epilogue == Epilogue::gate_up;
  const int tile_bits = gate_up ? 3 : 4;
  at.row = e & ((1 << tile_bits) - 1), at.col = e >> tile_bits;
  const int64_t r = (tile << tile_bits) + at.row;
  float* out = result_row(a, first + at.col);
  if (r >= (gate_up ? a.n_rows / 2 : a.n_rows) || out == nullptr) return at;
  at.to = out + r;
  if (a.bias != nullptr) at.bias = __ldg(a.bias + r);
  if (gate_up && a.up_bias != nullptr) at.up_bias = __ldg(a.up_bias + r);
  return at;
}

// What is stored for a sum with its bias.
template <bool kSiluAlone>
__device__ __forceinline__ float finished(const LinearArgs& a, Epilogue epilogue, float before, float value) {
  if (epilogue == Epilogue::up) return activated<kSiluAlone>(a.activation, before, value);
  if (epilogue == Epilogue::add) return kSiluAlone ? __fadd_rn(before, value) : fmaf(value, a.factor, before);
  if (kSiluAlone) return value;
  value = __fmul_rn(value, a.factor);
  return a.soft_cap != 0.0f ? soft_capped(value, a.soft_cap) : value;
}

// Of a result of row `row` of x that went `to`.
__device__ __forceinline__ void mirror_result(const LinearArgs& a, int32_t row, const float* to, float value) {
  if (a.mirrors == nullptr) return;
  float* const mirror = a.mirrors[row];
  if (mirror == nullptr) return;
  mirror[to - result_row(a, row)] = value;
  if (!(value <= FLT_MAX)) mirror[-1] = 1.0f;
}

// total(row of the tile, row of x - first) is the sum, scale(row of x) what it has to be multiplied by.
template <class Values, class Total, class Scale>
__device__ __forceinline__ void store_result(const LinearArgs& a, const Values& values, int32_t first,
                                             const ResultPlace& at, const Total& total, const Scale& scale) {
  if (at.to == nullptr) return;
  const float factor = scale(first + at.col);
  const float value = fmaf(total(at.row, at.col), factor, at.bias);
  if (at.epilogue == Epilogue::gate_up) {
    const float up = fmaf(total(at.row + 8, at.col), factor, at.up_bias);
    return values.store(at.to, activated<kSiluAlone<Values>>(a.activation, value, up));
  }
  const float result = finished<kSiluAlone<Values>>(a, at.epilogue, cleared(at.before), value);
  values.store(at.to, result);
  mirror_result(a, first + at.col, at.to, result);
}

__device__ __forceinline__ int results_of_tile(const LinearArgs& a) {
  return a.epilogue == Epilogue::gate_up ? kTileRows / 2 : kTileRows;
}

}  // namespace inlay::cuda
