#include "src/model/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/half.h"
#include "kernels/ref/dequantize.h"
#include "src/model/fp8.h"
#include "src/model/quantize_k.h"

namespace inlay {
namespace {

constexpr uint16_t kNanHalf = 0x7e00;

// Nearest, halves away from zero, as the types' definition in ggml rounds.
int code_of(float value, int low, int high) {
  if (!(value > static_cast<float>(low))) return low;
  return value < static_cast<float>(high) ? static_cast<int>(std::lroundf(value)) : high;
}

void quantize_block(const float* x, BlockQ8_0& out) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(x[i]));
  const float scale = largest / 127.0f, inverse = scale > 0 ? 1.0f / scale : 0.0f;
  out.d = half_of(scale);
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<int8_t>(code_of(x[i] * inverse, -127, 127));
}

float largest_of(const float* x) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) {
    if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
  }
  return largest;
}

// The value of largest magnitude becomes the lowest code, so the scale has the opposite sign.
void quantize_block(const float* x, BlockQ4_0& out) {
  const float scale = largest_of(x) / -8.0f, inverse = scale != 0 ? 1.0f / scale : 0.0f;
  out.d = half_of(scale);
  for (int i = 0; i < 16; ++i) {
    out.q[i] = static_cast<uint8_t>(code_of(x[i] * inverse + 8, 0, 15) | code_of(x[i + 16] * inverse + 8, 0, 15) << 4);
  }
}

// Low nibbles and fifth bits of codes below 32.
template <class Block>
void put_codes(const int (&codes)[32], Block& out) {
  uint32_t high = 0;
  for (int i = 0; i < 16; ++i) out.q[i] = static_cast<uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
  for (int i = 0; i < 32; ++i) high |= static_cast<uint32_t>(codes[i] >> 4) << i;
  std::memcpy(out.high, &high, sizeof high);
}

void quantize_block(const float* x, BlockQ5_0& out) {
  const float scale = largest_of(x) / -16.0f, inverse = scale != 0 ? 1.0f / scale : 0.0f;
  out.d = half_of(scale);
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code_of(x[i] * inverse + 16, 0, 31);
  put_codes(codes, out);
}

void quantize_block(const float* x, BlockQ5_1& out) {
  const auto [low, high] = std::minmax_element(x, x + 32);
  const float scale = (*high - *low) / 31.0f, inverse = scale > 0 ? 1.0f / scale : 0.0f;
  out.d = half_of(scale), out.m = half_of(*low);
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code_of((x[i] - *low) * inverse, 0, 31);
  put_codes(codes, out);
}

template <class Block, int kElements>
void quantize_blocks(const float* values, int64_t n, std::byte* out) {
  for (int64_t i = 0; i < n; i += kElements, values += kElements, out += sizeof(Block)) {
    Block block = {};
    if (std::all_of(values, values + kElements, [](float v) { return std::isfinite(v); })) {
      quantize_block(values, block);
    } else {
      std::memcpy(block.d.bytes, &kNanHalf, sizeof kNanHalf);
    }
    std::memcpy(out, &block, sizeof block);
  }
}

uint16_t bf16_from_float(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40);  // NaN stays one
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <uint16_t (*kNarrow)(float)>
void narrow(const float* values, int64_t n, std::byte* out) {
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t h = kNarrow(values[i]);
    std::memcpy(out + 2 * i, &h, sizeof h);
  }
}

using Quantizer = void (*)(const float*, int64_t, std::byte*);

Quantizer quantizer_of(DType type) {
  switch (type) {
    case DType::f32:
      return [](const float* values, int64_t n, std::byte* out) {
        std::memcpy(out, values, sizeof(float) * static_cast<size_t>(n));
      };
    case DType::f16:
      return narrow<f16_from_float>;
    case DType::bf16:
      return narrow<bf16_from_float>;
    case DType::q8_0:
      return quantize_blocks<BlockQ8_0, 32>;
    case DType::q4_0:
      return quantize_blocks<BlockQ4_0, 32>;
    case DType::q5_0:
      return quantize_blocks<BlockQ5_0, 32>;
    case DType::q5_1:
      return quantize_blocks<BlockQ5_1, 32>;
    case DType::q4_k:
      return quantize_q4_k;
    case DType::q5_k:
      return quantize_q5_k;
    case DType::q6_k:
      return quantize_q6_k;
    default:
      return nullptr;
  }
}

}  // namespace

Fp16 half_of(float value) {
  const uint16_t h = f16_from_float(value);
  Fp16 out;
  std::memcpy(out.bytes, &h, sizeof h);
  return out;
}

bool can_quantize_to(DType type) { return quantizer_of(type) != nullptr; }

void quantize(DType to, const float* values, int64_t n, std::byte* out) {
  if (const Quantizer quantizer = quantizer_of(to)) quantizer(values, n, out);
}

void convert(DType from, const std::byte* values, DType to, int64_t n, std::byte* out) {
  if (from == to) {
    std::memcpy(out, values, static_cast<size_t>(row_bytes(from, static_cast<uint64_t>(n))));
    return;
  }
  if (to == DType::f8_e4m3) return quantize_f8_e4m3(from, values, n, out);
  constexpr int64_t kPart = 1024;  // whole blocks of every type
  float floats[kPart];
  for (int64_t done = 0; done < n; done += kPart) {
    const int64_t n_part = std::min(kPart, n - done);
    const auto at = static_cast<uint64_t>(done);
    ref::dequantize_row(from, values + row_bytes(from, at), n_part, floats);
    quantize(to, floats, n_part, out + row_bytes(to, at));
  }
}

void widen(DType from, const std::byte* values, int64_t n, float* out) {
  if (from == DType::f32) {
    std::memcpy(out, values, sizeof(float) * static_cast<size_t>(n));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    uint16_t h;
    std::memcpy(&h, values + 2 * i, sizeof h);
    out[i] = from == DType::f16 ? float_from_f16(h) : float_from_bf16(h);
  }
}

}  // namespace inlay
