#include "src/model/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/half.h"
#include "kernels/ref/dequantize.h"
#include "src/base/printable.h"
#include "src/model/fp8.h"
#include "src/model/quantize_k.h"

namespace inlay {
namespace {

constexpr uint16_t kNanHalf = 0x7e00;
constexpr int64_t kConvertedAtOnce = 1024;  // whole blocks of every type

// Nearest, halves away from zero, as the types' definition in ggml rounds.
int code_of(float value, int low, int high) {
  if (!(value > static_cast<float>(low))) return low;
  return value < static_cast<float>(high) ? static_cast<int>(std::lroundf(value)) : high;
}

void quantize_block(const float* x, BlockQ8_0& out) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(x[i]));
  const float scale = storable_scale(largest / 127.0f), inverse = scale > 0 ? 1.0f / scale : 0.0f;
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
  const float scale = storable_scale(largest_of(x) / -8.0f), inverse = scale != 0 ? 1.0f / scale : 0.0f;
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
  const float scale = storable_scale(largest_of(x) / -16.0f), inverse = scale != 0 ? 1.0f / scale : 0.0f;
  out.d = half_of(scale);
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code_of(x[i] * inverse + 16, 0, 31);
  put_codes(codes, out);
}

void quantize_block(const float* x, BlockQ5_1& out) {
  const auto [low, high] = std::minmax_element(x, x + 32);
  const float scale = storable_scale((*high - *low) / 31.0f), inverse = scale > 0 ? 1.0f / scale : 0.0f;
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

// Share of the squares that may be lost: several times what normally distributed values lose.
double allowed_loss(DType type) {
  switch (type) {
    case DType::f16:
    case DType::bf16:
      return 1e-4;
    case DType::q8_0:
      return 1e-3;
    case DType::f8_e4m3:
    case DType::q6_k:
      return 5e-3;
    case DType::q5_0:
    case DType::q5_1:
    case DType::q5_k:
      return 1e-2;
    default:
      return 5e-2;
  }
}

// Of F32, F16 or BF16. Infinity or a NaN, where there is one: bits of magnitudes are in the order of the numbers.
float largest_magnitude(DType type, const std::byte* values, int64_t n) {
  if (type == DType::f32) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      uint32_t bits;
      std::memcpy(&bits, values + 4 * i, sizeof bits);
      largest = std::max(largest, bits & 0x7fffffffu);
    }
    return float_from_bits(largest);
  }
  uint16_t largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, values + 2 * i, sizeof bits);
    largest = std::max(largest, static_cast<uint16_t>(bits & 0x7fff));
  }
  return type == DType::f16 ? float_from_f16(largest) : float_from_bf16(largest);
}

// Where the largest magnitude of some values is between these, all types hold it, and what is small beside it matters little.
constexpr float kSmallSafe = 1.0f / 128, kLargeSafe = 65504;

bool is_safe(float largest) { return largest >= kSmallSafe && largest <= kLargeSafe; }

ConversionLoss measured_loss(const float* values, int64_t n, DType to, const std::byte* converted) {
  ConversionLoss loss;
  float held[kConvertedAtOnce];
  ref::dequantize_row(to, converted, n, held);
  for (int64_t i = 0; i < n; ++i) {
    const double error = double{values[i]} - held[i];
    loss.errors += error * error, loss.squares += double{values[i]} * values[i];
  }
  return loss;
}

}  // namespace

void ConversionLoss::add(const ConversionLoss& other) {
  largest = std::max(largest, other.largest), errors += other.errors, squares += other.squares;
}

bool ConversionLoss::is_beyond() const { return !std::isfinite(errors); }

bool ConversionLoss::is_too_much(DType to) const { return !(errors <= allowed_loss(to) * squares); }

Status cannot_hold(std::string_view tensor, DType to, const ConversionLoss& loss) {
  const char* which = loss.largest > 1 ? "beyond" : "below";
  const char* others = to == DType::bf16 ? "F32 holds them" : "its numbers or scales are FP16; BF16 and F32 hold them";
  return error(Code::unsupported, "%s has values of up to %.3g, %s what %s holds: %s", printable(tensor).c_str(), double{loss.largest},
               which, traits(to).name, others);
}

Fp16 half_of(float value) {
  const uint16_t h = f16_from_float(value);
  Fp16 out;
  std::memcpy(out.bytes, &h, sizeof h);
  return out;
}

float storable_scale(float scale) {
  constexpr float kStep = 0x1p-24f, kFew = 16 * kStep;
  return std::fabs(scale) < kFew ? std::copysign(std::ceil(std::fabs(scale) / kStep) * kStep, scale) : scale;
}

bool can_quantize_to(DType type) { return quantizer_of(type) != nullptr; }

void quantize(DType to, const float* values, int64_t n, std::byte* out) {
  if (const Quantizer quantizer = quantizer_of(to)) quantizer(values, n, out);
}

ConversionLoss convert(DType from, const std::byte* values, DType to, int64_t n, std::byte* out) {
  ConversionLoss loss;
  if (from == to) {
    std::memcpy(out, values, static_cast<size_t>(row_bytes(from, static_cast<uint64_t>(n))));
    return loss;
  }
  float floats[kConvertedAtOnce];
  for (int64_t done = 0; done < n; done += kConvertedAtOnce) {
    const int64_t n_part = std::min(kConvertedAtOnce, n - done);
    const auto at = static_cast<uint64_t>(done);
    const std::byte* part = values + row_bytes(from, at);
    std::byte* converted = out + row_bytes(to, at);
    const bool from_floats = to != DType::f8_e4m3;
    if (from_floats) {
      ref::dequantize_row(from, part, n_part, floats);
      quantize(to, floats, n_part, converted);
    } else {
      quantize_f8_e4m3(from, part, n_part, converted);
    }
    const float largest = from_floats ? largest_magnitude(DType::f32, reinterpret_cast<const std::byte*>(floats), n_part)
                                      : largest_magnitude(from, part, n_part);
    if (largest == 0 || !std::isfinite(largest)) continue;
    ConversionLoss of_part;
    if (is_safe(largest)) {
      of_part.squares = double{largest} * largest;
    } else {
      if (!from_floats) ref::dequantize_row(from, part, n_part, floats);
      of_part = measured_loss(floats, n_part, to, converted);
    }
    of_part.largest = largest;
    loss.add(of_part);
  }
  return loss;
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
