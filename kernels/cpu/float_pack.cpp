#include "kernels/common/half.h"
#include "kernels/cpu/float_ops.h"

namespace inlay::cpu {
namespace {

constexpr int64_t kColumnsAtOnce = 64;  // of 16 rows: what is read stays in the L1 cache until it is written

// kPair columns of a row lie together.
template <class Element, int kPair>
void pack(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end, void* packed) {
  const int64_t padded_cols = (n_cols + kPair - 1) / kPair * kPair;
  const char* rows = static_cast<const char*>(file_rows);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    Element* to = static_cast<Element*>(packed) + tile * padded_cols * kTileRows;
    for (int64_t k0 = 0; k0 < padded_cols; k0 += kColumnsAtOnce) {
      const int64_t k1 = k0 + kColumnsAtOnce < padded_cols ? k0 + kColumnsAtOnce : padded_cols;
      for (int64_t r = 0; r < kTileRows; ++r) {
        const int64_t row = tile * kTileRows + r;
        const char* from = rows + row * n_cols * static_cast<int64_t>(sizeof(Element));  // at any address
        for (int64_t k = k0; k < k1; ++k) {
          Element e = 0;
          if (row < n_rows && k < n_cols) memcpy(&e, from + k * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
          to[k / kPair * kTileRows * kPair + r * kPair + k % kPair] = e;
        }
      }
    }
  }
}

template <class Element, int kPair>
size_t tile_bytes(int64_t n_cols) {
  return static_cast<size_t>((n_cols + kPair - 1) / kPair * kPair * kTileRows) * sizeof(Element);
}

float f32_value(uint32_t bits) { return float_from_bits(bits); }

template <class Element, int kPair, float (*kValue)(Element)>
void unpack_row(const void* packed, int64_t n_cols, int64_t row, float* out) {
  const int64_t r = row % kTileRows;
  const Element* tile = reinterpret_cast<const Element*>(
      static_cast<const char*>(packed) + static_cast<size_t>(row / kTileRows) * tile_bytes<Element, kPair>(n_cols));
  for (int64_t k = 0; k < n_cols; ++k) out[k] = kValue(tile[k / kPair * kTileRows * kPair + r * kPair + k % kPair]);
}

template <class Element, int kPair, float (*kValue)(Element)>
constexpr FloatPacking kPacking = {tile_bytes<Element, kPair>, pack<Element, kPair>,
                                   unpack_row<Element, kPair, kValue>};

}  // namespace

const FloatPacking& float_packing(DType type) {
  if (type == DType::f32) return kPacking<uint32_t, 1, f32_value>;
  if (type == DType::f16) return kPacking<uint16_t, 1, float_from_f16>;
  return kPacking<uint16_t, 2, float_from_bf16>;
}

}  // namespace inlay::cpu
