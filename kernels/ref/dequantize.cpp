// Formulas: kernels/common/quant_blocks.h. Float operations are written in the one order that gives the same bits as
// the formats' first implementation; this file is compiled without contraction to fused multiply-adds.
#include "kernels/ref/dequantize.h"

#include <cstring>

#include "kernels/common/grid_codes.h"

namespace inlay::ref {
namespace {

struct BlockF32 {
  float value;
};

void expand(const BlockF32& b, float* out) { *out = b.value; }
void expand(const Fp16& b, float* out) { *out = to_float(b); }
void expand(const Bf16& b, float* out) { *out = to_float(b); }

int nibble(const uint8_t* q, int column) { return column < 16 ? q[column] & 15 : q[column - 16] >> 4; }
int high_bit(const uint8_t* high, int column) { return (high[column / 8] >> (column % 8) & 1) << 4; }

void expand(const BlockF8_E4M3& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = to_float(b.d) * e4m3_to_float(b.q[i]);
}
void expand(const BlockQ8_0& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = to_float(b.d) * static_cast<float>(b.q[i]);
}
void expand(const BlockQ4_0& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = to_float(b.d) * static_cast<float>(nibble(b.q, i) - 8);
}
void expand(const BlockQ4_1& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = to_float(b.d) * static_cast<float>(nibble(b.q, i)) + to_float(b.m);
}
void expand(const BlockQ5_0& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = to_float(b.d) * static_cast<float>((nibble(b.q, i) | high_bit(b.high, i)) - 16);
}
void expand(const BlockQ5_1& b, float* out) {
  for (int i = 0; i < 32; ++i) {
    out[i] = to_float(b.d) * static_cast<float>(nibble(b.q, i) | high_bit(b.high, i)) + to_float(b.m);
  }
}

// Group g's nibble of column l.
int k_nibble(const uint8_t* q, int g, int l) { return q[32 * (g / 2) + l] >> (4 * (g % 2)) & 15; }

void expand(const BlockQ4_K& b, float* out) {
  for (int g = 0; g < 8; ++g) {
    const float scale = to_float(b.d) * k_scale(b.scales, g, 0);
    const float min = to_float(b.dmin) * k_scale(b.scales, g, 1);
    for (int l = 0; l < 32; ++l) out[32 * g + l] = scale * static_cast<float>(k_nibble(b.q, g, l)) - min;
  }
}
void expand(const BlockQ5_K& b, float* out) {
  for (int g = 0; g < 8; ++g) {
    const float scale = to_float(b.d) * k_scale(b.scales, g, 0);
    const float min = to_float(b.dmin) * k_scale(b.scales, g, 1);
    for (int l = 0; l < 32; ++l) {
      const int code = k_nibble(b.q, g, l) | (b.high[l] >> g & 1) << 4;
      out[32 * g + l] = scale * static_cast<float>(code) - min;
    }
  }
}
void expand(const BlockQ6_K& b, float* out) {
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, g = column / 32 % 4, l = column % 32;
    const int low = b.q_low[64 * half + 32 * (g % 2) + l] >> (4 * (g / 2)) & 15;
    const int high = b.q_high[32 * half + l] >> (2 * g) & 3;
    const float scale = to_float(b.d) * static_cast<float>(b.scales[column / 16]);
    out[column] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

// Low two bits of a column of Q2_K and Q3_K.
int k_pair(const uint8_t* q, int column) { return q[column / 128 * 32 + column % 32] >> (column / 32 % 4 * 2) & 3; }

void expand(const BlockQ2_K& b, float* out) {
  for (int column = 0; column < 256; ++column) {
    const int sub = b.scales[column / 16];
    const float scale = to_float(b.d) * static_cast<float>(sub & 15);
    const float min = to_float(b.dmin) * static_cast<float>(sub >> 4);
    out[column] = scale * static_cast<float>(k_pair(b.q, column)) - min;
  }
}
void expand(const BlockQ3_K& b, float* out) {
  for (int column = 0; column < 256; ++column) {
    const int high = b.high[column % 32] >> (column / 32) & 1;
    const float scale = to_float(b.d) * static_cast<float>(q3_k_scale(b.scales, column / 16));
    out[column] = scale * static_cast<float>((k_pair(b.q, column) | high << 2) - 4);
  }
}

void expand(const BlockIQ4_NL& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = to_float(b.d) * static_cast<float>(kIq4Values[nibble(b.q, i)]);
}
void expand(const BlockIQ4_XS& b, float* out) {
  for (int column = 0; column < 256; ++column) {
    const float scale = to_float(b.d) * static_cast<float>(iq4_xs_scale(b, column / 32));
    out[column] = scale * static_cast<float>(kIq4Values[nibble(b.q + column / 32 * 16, column % 32)]);
  }
}
void expand(const BlockMXFP4& b, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = half_power(b.exponent) * static_cast<float>(kFp4Values[nibble(b.q, i)]);
}
void expand(const BlockTQ2_0& b, float* out) {
  for (int column = 0; column < 256; ++column) {
    out[column] = to_float(b.d) * static_cast<float>(k_pair(b.q, column) - 1);
  }
}

// The others.
template <class Block>
void expand(const Block& b, float* out) {
  for (int g = 0; g < 8; ++g) {
    GridGroup group;
    read_group(b, g, group);
    for (int i = 0; i < 32; ++i) out[32 * g + i] = group.scale[i / 16] * static_cast<float>(code_of(group, i));
  }
}

template <class Block, DType kType>
void row(const void* blocks, int64_t n, float* out) {
  constexpr int64_t kElements = traits(kType).block_elements;
  static_assert(sizeof(Block) == traits(kType).block_bytes);
  const auto* bytes = static_cast<const uint8_t*>(blocks);
  for (int64_t i = 0; i < n / kElements; ++i) {
    Block block;
    std::memcpy(&block, bytes + i * sizeof(Block), sizeof(Block));
    expand(block, out + i * kElements);
  }
}

using RowFn = void (*)(const void*, int64_t, float*);
constexpr RowFn kRows[] = {
    row<BlockF32, DType::f32>,
    row<Fp16, DType::f16>,
    row<Bf16, DType::bf16>,
    row<BlockF8_E4M3, DType::f8_e4m3>,
    row<BlockQ8_0, DType::q8_0>,
    row<BlockQ4_0, DType::q4_0>,
    row<BlockQ4_1, DType::q4_1>,
    row<BlockQ5_0, DType::q5_0>,
    row<BlockQ5_1, DType::q5_1>,
    row<BlockQ4_K, DType::q4_k>,
    row<BlockQ5_K, DType::q5_k>,
    row<BlockQ6_K, DType::q6_k>,
    row<BlockQ2_K, DType::q2_k>,
    row<BlockQ3_K, DType::q3_k>,
    row<BlockIQ4_NL, DType::iq4_nl>,
    row<BlockIQ4_XS, DType::iq4_xs>,
    row<BlockMXFP4, DType::mxfp4>,
    row<BlockTQ2_0, DType::tq2_0>,
    row<BlockTQ1_0, DType::tq1_0>,
    row<BlockIQ2_XXS, DType::iq2_xxs>,
    row<BlockIQ2_XS, DType::iq2_xs>,
    row<BlockIQ2_S, DType::iq2_s>,
    row<BlockIQ3_XXS, DType::iq3_xxs>,
    row<BlockIQ3_S, DType::iq3_s>,
    row<BlockIQ1_S, DType::iq1_s>,
    row<BlockIQ1_M, DType::iq1_m>,
};
static_assert(sizeof(kRows) / sizeof(kRows[0]) == static_cast<size_t>(DType::count));

}  // namespace

void dequantize_row(DType type, const void* blocks, int64_t n, float* out) {
  kRows[static_cast<size_t>(type)](blocks, n, out);
}

}  // namespace inlay::ref
