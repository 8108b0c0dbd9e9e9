// Groups of the types whose codes are looked up several columns at a time (IQ1, IQ2, IQ3) or packed as digits (TQ1_0),
// as integers with a scale.
#pragma once

#include "kernels/common/quant_blocks.h"
#include "kernels/common/quant_grids.h"

namespace inlay {

// 32 columns: value of column i = scale[i / 16] * code_of(group, i).
struct GridGroup {
  float scale[2];
  uint64_t codes[4];  // int8, byte i % 8 of word i / 8, the lowest byte being 0
};

INLAY_DEVICE_FUNCTION int8_t code_of(const GridGroup& group, int i) {
  return static_cast<int8_t>(group.codes[i / 8] >> (8 * (i % 8)));
}

INLAY_DEVICE_FUNCTION uint32_t load_u16(const uint8_t* p) { return p[0] | static_cast<uint32_t>(p[1]) << 8; }
INLAY_DEVICE_FUNCTION uint32_t load_u32(const uint8_t* p) { return load_u16(p) | load_u16(p + 2) << 16; }

inline constexpr uint64_t kEveryByte = 0x0101010101010101;

// Byte j of entry i is 0xff where bit j of i is set.
template <int kEntries>
struct SignMasks {
  uint64_t entries[kEntries];
};
// even: of seven signs, and an eighth that makes the number of set ones even.
template <int kEntries>
constexpr SignMasks<kEntries> make_sign_masks(bool even) {
  SignMasks<kEntries> out = {};
  for (int i = 0; i < kEntries; ++i) {
    const int bits = even ? i | __builtin_parity(static_cast<unsigned>(i)) << 7 : i;
    for (int j = 0; j < 8; ++j) out.entries[i] |= static_cast<uint64_t>(bits >> j & 1) * 0xff << (8 * j);
  }
  return out;
}
INLAY_DEVICE_TABLE auto kSignMasks = make_sign_masks<256>(false);
INLAY_DEVICE_TABLE auto kEvenSignMasks = make_sign_masks<128>(true);

// Turns the sign of every byte that has a set one in mask. No byte is 0, so that adding 1 carries nowhere.
INLAY_DEVICE_FUNCTION uint64_t turn(uint64_t magnitudes, uint64_t mask) {
  return (magnitudes ^ mask) + (mask & kEveryByte);
}
INLAY_DEVICE_FUNCTION uint64_t with_signs(uint64_t magnitudes, uint32_t eight) {
  return turn(magnitudes, kSignMasks.entries[eight]);
}
INLAY_DEVICE_FUNCTION uint64_t with_even_signs(uint64_t magnitudes, uint32_t seven) {
  return turn(magnitudes, kEvenSignMasks.entries[seven]);
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ2_XXS& b, int g, GridGroup& out) {
  const uint8_t* q = b.q + 8 * g;
  const uint32_t signs = load_u32(q + 4);
  out.scale[0] = out.scale[1] = to_float(b.d) * (0.5f + static_cast<float>(signs >> 28)) * 0.25f;
  for (int i = 0; i < 4; ++i) {
    out.codes[i] = with_even_signs(kIq2XxsGrid[q[i]], signs >> (7 * i) & 127);
  }
}

INLAY_DEVICE_FUNCTION void read_iq2_scales(Fp16 d, uint8_t scales, GridGroup& out) {
  out.scale[0] = to_float(d) * (0.5f + static_cast<float>(scales & 15)) * 0.25f;
  out.scale[1] = to_float(d) * (0.5f + static_cast<float>(scales >> 4)) * 0.25f;
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ2_XS& b, int g, GridGroup& out) {
  read_iq2_scales(b.d, b.scales[g], out);
  for (int i = 0; i < 4; ++i) {
    const uint32_t q = load_u16(b.q + 8 * g + 2 * i);
    out.codes[i] = with_even_signs(kIq2XsGrid[q & 511], q >> 9);
  }
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ2_S& b, int g, GridGroup& out) {
  read_iq2_scales(b.d, b.scales[g], out);
  for (int i = 0; i < 4; ++i) {
    const uint32_t index = b.q[4 * g + i] | static_cast<uint32_t>(b.high[g] >> (2 * i) & 3) << 8;
    out.codes[i] = with_signs(kIq2SGrid[index], b.signs[4 * g + i]);
  }
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ3_XXS& b, int g, GridGroup& out) {
  const uint8_t* q = b.q + 8 * g;
  const uint32_t signs = load_u32(b.signs + 4 * g);
  out.scale[0] = out.scale[1] = to_float(b.d) * (0.5f + static_cast<float>(signs >> 28)) * 0.5f;
  for (int i = 0; i < 4; ++i) {
    const uint64_t magnitudes = kIq3XxsGrid[q[2 * i]] | static_cast<uint64_t>(kIq3XxsGrid[q[2 * i + 1]]) << 32;
    out.codes[i] = with_even_signs(magnitudes, signs >> (7 * i) & 127);
  }
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ3_S& b, int g, GridGroup& out) {
  const int scale = 1 + 2 * (b.scales[g / 2] >> (4 * (g % 2)) & 15);
  out.scale[0] = out.scale[1] = to_float(b.d) * static_cast<float>(scale);
  for (int i = 0; i < 4; ++i) {
    uint64_t magnitudes = 0;
    for (int half = 0; half < 2; ++half) {
      const int at = 2 * i + half;
      const uint32_t index = b.q[8 * g + at] | static_cast<uint32_t>(b.high[g] >> at & 1) << 8;
      magnitudes |= static_cast<uint64_t>(kIq3SGrid[index]) << (32 * half);
    }
    out.codes[i] = with_signs(magnitudes, b.signs[4 * g + i]);
  }
}

// Codes of IQ1 in eighths: eight times the entry, an eighth more or less. `high`: three bits of the index, and whether
// it is less.
INLAY_DEVICE_FUNCTION uint64_t iq1_codes(uint8_t low, uint32_t high) {
  const uint64_t entry = kIq1Grid[low | (high & 7) << 8];
  return (high & 8 ? entry - kEveryByte : entry + kEveryByte) ^ 0x80 * kEveryByte;
}
INLAY_DEVICE_FUNCTION float iq1_scale(Fp16 d, uint32_t scale) {
  return to_float(d) * static_cast<float>(2 * (scale & 7) + 1) * 0.125f;
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ1_S& b, int g, GridGroup& out) {
  const uint32_t high = load_u16(b.high + 2 * g);
  out.scale[0] = out.scale[1] = iq1_scale(b.d, high >> 12);
  for (int i = 0; i < 4; ++i) {
    out.codes[i] = iq1_codes(b.q[4 * g + i], (high >> (3 * i) & 7) | high >> 15 << 3);
  }
}

INLAY_DEVICE_FUNCTION Fp16 iq1_m_factor(const BlockIQ1_M& b) {
  const auto nibble = [&](int i) { return b.scales[2 * i + 1] >> 4; };
  return {{static_cast<uint8_t>(nibble(0) | nibble(1) << 4), static_cast<uint8_t>(nibble(2) | nibble(3) << 4)}};
}

INLAY_DEVICE_FUNCTION void read_group(const BlockIQ1_M& b, int g, GridGroup& out) {
  const Fp16 d = iq1_m_factor(b);
  const uint32_t scales = load_u16(b.scales + g / 2 * 2) >> (6 * (g % 2));
  out.scale[0] = iq1_scale(d, scales);
  out.scale[1] = iq1_scale(d, scales >> 3);
  for (int i = 0; i < 4; ++i) {
    out.codes[i] = iq1_codes(b.q[4 * g + i], b.high[2 * g + i / 2] >> (4 * (i % 2)) & 15);
  }
}

// Digit n of n_bytes bytes of TQ1_0, fractions in base 3 whose first digit is n = 0, as -1, 0 or 1.
INLAY_DEVICE_FUNCTION void put_tq1_digits(int8_t* codes, const uint8_t* bytes, int n_bytes, int n) {
  constexpr uint8_t kPowers[5] = {1, 3, 9, 27, 81};
  for (int i = 0; i < n_bytes; ++i) {
    const auto from_digit_on = static_cast<uint8_t>(bytes[i] * kPowers[n]);
    codes[i] = static_cast<int8_t>((from_digit_on * 3 >> 8) - 1);
  }
}

// Columns 0..159: digits of 32 bytes, all first ones before the second. 160..239: of 16 bytes. 240..255: four digits of
// 4 bytes.
INLAY_DEVICE_FUNCTION void read_group(const BlockTQ1_0& b, int g, GridGroup& out) {
  out.scale[0] = out.scale[1] = to_float(b.d);
  int8_t codes[32];
  if (g < 5) {
    put_tq1_digits(codes, b.q, 32, g);
  } else {
    put_tq1_digits(codes, b.q + 32, 16, 2 * (g - 5));
    if (g < 7) put_tq1_digits(codes + 16, b.q + 32, 16, 2 * (g - 5) + 1);
    for (int n = 0; g == 7 && n < 4; ++n) put_tq1_digits(codes + 16 + 4 * n, b.high, 4, n);
  }
  std::memcpy(out.codes, codes, sizeof(out.codes));
}

}  // namespace inlay
