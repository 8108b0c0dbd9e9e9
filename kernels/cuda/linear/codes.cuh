// The codes of a unit (16 rows x 64 columns): where each lies, how a lane loads them, and single values.
//
// Four k-steps s of 16 columns make a unit. Fragment register i (0..3) of lane 4 g + t holds two columns of row
// g + 8 * (i & 1). Which columns stand at which k is free as long as both operands agree; they are chosen so that a
// lane reads its activations in one piece:
//   groups of 32:          column 32 * (s / 2) + 8 t + 4 * (s % 2) + 2 * (i / 2) + half
//                          (16 bytes of FP16 for two k-steps)
//   groups of 16, planes:  column 16 s + 4 t + 2 * (i / 2) + half
//                          (8 bytes of FP16 a k-step)
//
// A lane has as many words as a code has low bits. They lie in vectors of 16 bytes, vector j of all lanes before vector
// j + 1; those of 2 bits in one of 8 bytes; of 3 bits in one of 8 and one of 4.
//   8 bits       vector s / 2, byte 8 * (s % 2) + 2 i + half
//   2 to 4 bits  k-step s has a nibble for every code (nibble_bit): all of word s, of 3 bits the low three of each in
//                words 0 to 2, whose fourth bits make the nibbles of k-step 3; of 2 bits the low and the high halves of
//                those of word s / 2
//   E2M1         word s; sign and magnitude of register i lie so that one shift each brings them to their places in
//   FP16
//   + 1 high bit   a word a lane after the vectors; bit 2 s + i % 2 of byte i / 2 + 2 half
//   + 2 high bits  two words a lane; word s / 2, bits 4 * (s % 2) + 2 * (i % 2) and up of that byte
#pragma once

#include "kernels/cuda/device/halves.cuh"
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

// Where a code of a unit lies: lane, k-step, fragment register, half of it.
struct CodePlace {
  int lane, step, reg, half;
};

template <DType kType>
__device__ __forceinline__ CodePlace place_of(int row, int col) {
  const int g = row % 8, upper = row / 8;
  if constexpr (Layout<kType>::kBySteps) {
    return {4 * g + col % 16 / 4, col / 16, upper + 2 * (col % 4 / 2), col % 2};
  } else {
    const int e = col % 8;
    return {4 * g + col % 32 / 8, 2 * (col / 32) + e / 4, upper + 2 * (e % 4 / 2), col % 2};
  }
}

__device__ __forceinline__ int row_of(int lane, int reg) { return lane / 4 + 8 * (reg & 1); }

template <DType kType>
__device__ __forceinline__ int col_of(int lane, int step, int reg, int half) {
  const int t = lane % 4, in_pair = 2 * (reg / 2) + half;
  if constexpr (Layout<kType>::kBySteps) {
    return 16 * step + 4 * t + in_pair;
  } else {
    return 32 * (step / 2) + 8 * t + 4 * (step % 2) + in_pair;
  }
}

// The nibble of a code among those of its k-step. Looked up codes: the four that one byte_perm chooses by are together,
// in the order in which the chosen bytes become two registers.
template <DType kType>
__host__ __device__ constexpr int nibble_bit(int reg, int half) {
  if (Layout<kType>::kFormat.kind == CodeKind::table) return 4 * (reg % 2) + 8 * half + 16 * (reg / 2);
  return 4 * reg + 16 * half;
}

// The lowest high bit of a code among those of its word.
template <DType kType>
__host__ __device__ constexpr int high_bit(int step, int reg, int half) {
  const int of_byte = Layout<kType>::kFormat.high_bits == 1 ? 2 * step + reg % 2 : 4 * (step % 2) + 2 * (reg % 2);
  return 8 * (reg / 2 + 2 * half) + of_byte;
}

// E2M1 and E4M3 codes become FP16 by taking the places of its sign, of the lower bits of its exponent and of the upper
// ones of its mantissa: their values * 2^-14 and * 2^-8, subnormals included. The exponents of MXFP4 count values in
// halves (half_power).
inline constexpr uint32_t kE2m1Sign = 0x8000u, kE2m1Magnitude = 0x0e00u;
__host__ __device__ constexpr int e2m1_sign_shift(int reg) { return reg == 1 ? 3 : reg == 0 ? 0 : reg - 1; }
__host__ __device__ constexpr int e2m1_magnitude_shift(int reg) { return 3 * reg; }

// ---- k-steps out of a lane's words. Words: whatever has them as words[j].

// Eight codes of 2 to 4 low bits; of fewer than 4 the rest of every nibble is anything.
template <DType kType, class Words>
__device__ __forceinline__ uint32_t nibbles_of(const Words& words, int step) {
  constexpr int kBits = Layout<kType>::kFormat.low_bits;
  if constexpr (kBits == 2) {
    return step % 2 == 0 ? words[step / 2] : words[step / 2] >> 2;
  } else {
    if (kBits == 3 && step == 3)
      return (words[0] >> 3 & 0x11111111u) | (words[1] >> 2 & 0x22222222u) | (words[2] >> 1 & 0x44444444u);
    return words[step];
  }
}

// Entries of the table for registers 2 h and 2 h + 1: bytes 0 and 2, and 1 and 3.
template <DType kType, class Words>
__device__ __forceinline__ uint32_t entries_of(const Words& words, int step, int h) {
  constexpr CodeTable kTable = code_table(kType);
  const uint32_t codes = nibbles_of<kType>(words, step), chosen = (codes & 0x77777777u) >> (16 * h);
  const uint32_t lower = __byte_perm(kTable.words[0], kTable.words[1], chosen);
  if constexpr (Layout<kType>::kFormat.low_bits == 3) {
    return lower;
  } else {
    const uint32_t upper = __byte_perm(kTable.words[2], kTable.words[3], chosen);
    return __byte_perm(lower, upper, ((codes >> 1 & 0x44444444u) | 0x32103210u) >> (16 * h));
  }
}

// Two codes of E4M3 or E2M1 as FP16; kHalvesUnit makes them their values.
template <DType kType, class Words>
__device__ __forceinline__ uint32_t halves_of(const Words& words, int step, int reg) {
  if constexpr (Layout<kType>::kFormat.kind == CodeKind::e2m1) {
    const uint32_t word = words[step];
    return (word << e2m1_sign_shift(reg) & kE2m1Sign * 0x10001u) |
           (word << e2m1_magnitude_shift(reg) & kE2m1Magnitude * 0x10001u);
  } else {
    // The exponent's four bits take the place of FP16's lower four. Any architecture does this, where a conversion
    // takes 8.9.
    const uint32_t two = __byte_perm(words[4 * (step / 2) + step % 2 * 2 + reg / 2], 0, reg % 2 == 0 ? 0x1404 : 0x3424);
    return (two & 0x80008000u) | (two >> 1 & 0x3f803f80u);
  }
}

template <DType kType>
inline constexpr bool kHalves =
    Layout<kType>::kFormat.kind == CodeKind::e4m3 || Layout<kType>::kFormat.kind == CodeKind::e2m1;
template <DType kType>
inline constexpr float kHalvesUnit = Layout<kType>::kFormat.kind == CodeKind::e4m3 ? 256.0f : 32768.0f;

// ---- all codes of a lane

// Row-major types: vector 2 j + upper is columns 32 j + 8 t of row g + 8 upper.
template <DType kType>
struct UnitCodes {
  using L = Layout<kType>;
  static constexpr Format kFormat = L::kFormat;
  static constexpr int kWords = kFormat.low_bits, kVectors = kWords / 4;
  uint32_t words[kWords];
  uint32_t high[kFormat.high_bits > 0 ? kFormat.high_bits : 1];

  __device__ __forceinline__ void set_vector(int j, const uint4& v) {
    words[4 * j] = v.x, words[4 * j + 1] = v.y, words[4 * j + 2] = v.z, words[4 * j + 3] = v.w;
  }

  // A unit in fragment order, in shared or global memory.
  __device__ __forceinline__ void load(const uint8_t* unit, int lane) {
#pragma unroll
    for (int j = 0; j < kVectors; ++j) set_vector(j, *(reinterpret_cast<const uint4*>(unit + j * 512) + lane));
    if constexpr (kWords < 4) {
      const uint2 v = *(reinterpret_cast<const uint2*>(unit) + lane);
      words[0] = v.x, words[1] = v.y;
    }
    if constexpr (kWords == 3) words[2] = *(reinterpret_cast<const uint32_t*>(unit + 256) + lane);
    const uint8_t* at = unit + L::kLowBytes + lane * 4 * kFormat.high_bits;
    if constexpr (kFormat.high_bits == 1) high[0] = *reinterpret_cast<const uint32_t*>(at);
    if constexpr (kFormat.high_bits == 2) {
      const uint2 v = *reinterpret_cast<const uint2*>(at);
      high[0] = v.x, high[1] = v.y;
    }
  }
  __device__ void store(uint8_t* unit, int lane) const {
    for (int j = 0; j < kVectors; ++j) {
      *(reinterpret_cast<uint4*>(unit + j * 512) + lane) = {words[4 * j], words[4 * j + 1], words[4 * j + 2],
                                                            words[4 * j + 3]};
    }
    if constexpr (kWords < 4) *(reinterpret_cast<uint2*>(unit) + lane) = {words[0], words[1]};
    if constexpr (kWords == 3) *(reinterpret_cast<uint32_t*>(unit + 256) + lane) = words[2];
    auto* high_to = reinterpret_cast<uint32_t*>(unit + L::kLowBytes + lane * 4 * kFormat.high_bits);
    for (int j = 0; j < kFormat.high_bits; ++j) high_to[j] = high[j];
  }

  // Adds a code where zeros are.
  __device__ void put(int step, int reg, int half, uint32_t code) {
    if constexpr (kWords == 8) {
      words[2 * step + reg / 2] |= code << (16 * (reg % 2) + 8 * half);
    } else if constexpr (kFormat.kind == CodeKind::e2m1) {
      const uint32_t sign = code << 12 & kE2m1Sign, magnitude = code << 9 & kE2m1Magnitude;
      words[step] |= (sign >> e2m1_sign_shift(reg) | magnitude >> e2m1_magnitude_shift(reg)) << (16 * half);
    } else {
      put_nibble(step, nibble_bit<kType>(reg, half), code & 15);
      if constexpr (kFormat.high_bits == 1) high[0] |= (code >> 4) << high_bit<kType>(step, reg, half);
      if constexpr (kFormat.high_bits == 2) high[step / 2] |= (code >> 4) << high_bit<kType>(step, reg, half);
    }
  }

 private:
  __device__ void put_nibble(int step, int bit, uint32_t code) {
    if constexpr (kWords == 2) {
      words[step / 2] |= code << (bit + 2 * (step % 2));
    } else if (kWords == 4 || step < 3) {
      words[step] |= code << bit;
    } else {
      for (int j = 0; j < 3; ++j) words[j] |= (code >> j & 1) << (bit + 3);
    }
  }
};

// ---- codes as FP16

// Bits of a word from bit `from` on, to bit 4 and above.
__device__ __forceinline__ uint32_t to_bit_4(uint32_t word, int from) {
  return from >= 4 ? word >> (from - 4) : word << (4 - from);
}

// (word & mask) | bits, in one instruction, which takes a constant at most: `bits` is a register.
__device__ __forceinline__ uint32_t and_or(uint32_t word, uint32_t mask, uint32_t bits) {
  uint32_t result;
  asm("lop3.b32 %0,%1,%2,%3,0xEA;" : "=r"(result) : "r"(word), "r"(mask), "r"(bits));
  return result;
}

// Fragment register i of k-step s as two FP16 1024 + code. Not of E2M1 and E4M3 (halves_of).
template <DType kType>
__device__ __forceinline__ uint32_t codes_of(const UnitCodes<kType>& w, int s, int i) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  if constexpr (kFormat.low_bits == 8) {
    return __byte_perm(w.words[4 * (s / 2) + s % 2 * 2 + i / 2], 0x64646464u, i % 2 == 0 ? 0x4140 : 0x4342);
  } else if constexpr (kFormat.kind == CodeKind::table) {
    return __byte_perm(entries_of<kType>(w.words, s, i / 2), 0x64646464u, i % 2 == 0 ? 0x4240 : 0x4341);
  } else {
    constexpr uint32_t kMask = ((1u << kFormat.low_bits) - 1) * 0x00010001u;
    uint32_t v = and_or(nibbles_of<kType>(w.words, s) >> (4 * i), kMask, 0x64006400u);
    if constexpr (kFormat.high_bits == 1) v = and_or(to_bit_4(w.high[0], high_bit<kType>(s, i, 0)), 0x00100010u, v);
    if constexpr (kFormat.high_bits == 2) v = and_or(to_bit_4(w.high[s / 2], high_bit<kType>(s, i, 0)), 0x00300030u, v);
    return v;
  }
}

// ---- single values

// A lane's words where they are stored.
template <DType kType>
struct StoredWords {
  const uint8_t* unit;
  int lane;
  __device__ __forceinline__ uint32_t operator[](int j) const {
    constexpr int kWords = Layout<kType>::kFormat.low_bits;
    int at;
    if constexpr (kWords >= 4) {
      at = j / 4 * 512 + lane * 16 + j % 4 * 4;
    } else {
      at = j < 2 ? lane * 8 + j * 4 : 256 + lane * 4;
    }
    return *reinterpret_cast<const uint32_t*>(unit + at);
  }
};

// What the code of an element stands for, less its scale and minimum.
template <DType kType>
__device__ __forceinline__ float code_value(const uint8_t* unit, int row, int col) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  const CodePlace p = place_of<kType>(row, col);
  const StoredWords<kType> words{unit, p.lane};
  if constexpr (kHalves<kType>) {
    const uint32_t two = halves_of<kType>(words, p.step, p.reg);
    return __half2float(__ushort_as_half(static_cast<uint16_t>(two >> (16 * p.half)))) * kHalvesUnit<kType>;
  } else {
    uint32_t code;
    if constexpr (kFormat.kind == CodeKind::table) {
      code = entries_of<kType>(words, p.step, p.reg / 2) >> (8 * (p.reg % 2) + 16 * p.half) & 255;
    } else if constexpr (kFormat.low_bits == 8) {
      code = words[2 * p.step + p.reg / 2] >> (16 * (p.reg % 2) + 8 * p.half) & 255;
    } else {
      constexpr uint32_t kMask = (1u << kFormat.low_bits) - 1;
      code = nibbles_of<kType>(words, p.step) >> nibble_bit<kType>(p.reg, p.half) & kMask;
    }
    const auto* high = reinterpret_cast<const uint32_t*>(unit + L::kLowBytes + p.lane * 4 * kFormat.high_bits);
    if constexpr (kFormat.high_bits == 1) code |= (high[0] >> high_bit<kType>(p.step, p.reg, p.half) & 1) << 4;
    if constexpr (kFormat.high_bits == 2) {
      code |= (high[p.step / 2] >> high_bit<kType>(p.step, p.reg, p.half) & 3) << 4;
    }
    return static_cast<float>(static_cast<int>(code) - kFormat.offset);
  }
}

// value = scale * code_value + minimum, each rounded.
struct GroupFactors {
  float scale, minimum;
};

// Of row g + 8 * upper and a group of the chunk, times `factor`, which is a power of two.
template <DType kType>
__device__ __forceinline__ GroupFactors factors_of(const uint8_t* chunk, int g, int upper, int group, float factor) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  const uint8_t* scales = chunk + g * L::kPairScaleBytes;
  const uint8_t* minimums = chunk + L::kMinimumsAt;
  [[maybe_unused]] const int at = minimum_at(group, g + 8 * upper);
  GroupFactors f{};
  if constexpr (kFormat.super) {
    const auto* d = reinterpret_cast<const __half*>(chunk + L::kSupersAt + g * L::kPairSuperBytes);
    const float super = __half2float(d[upper]) * (kFormat.unit * factor);
    const uint8_t sub = scales[2 * group + upper];
    if constexpr (kFormat.minimum) {
      const uint8_t mn = L::kNibbleScales ? sub >> 4 : minimums[at];
      f.scale = __fmul_rn(super, static_cast<float>(L::kNibbleScales ? sub & 15 : sub));
      f.minimum = -__fmul_rn(__half2float(d[2 + upper]) * factor, static_cast<float>(mn));
    } else {
      f.scale = __fmul_rn(super, static_cast<float>(static_cast<int8_t>(sub)));
    }
  } else if constexpr (kFormat.kind == CodeKind::e2m1) {
    f.scale = half_power(scales[2 * group + upper]) * factor;
  } else {
    f.scale = __half2float(reinterpret_cast<const __half*>(scales)[2 * group + upper]) * factor;
    if constexpr (kFormat.minimum) f.minimum = __half2float(reinterpret_cast<const __half*>(minimums)[at]) * factor;
  }
  return f;
}

// One element as a float: the bits that dequantizing the file's block gives (no contraction).
template <DType kType>
__device__ __forceinline__ float element_of(const uint8_t* tile, int64_t n_units, int row, int64_t column) {
  using L = Layout<kType>;
  const int64_t at = row * n_units * kUnitCols + column;
  if constexpr (kType == DType::f32) {
    return reinterpret_cast<const float*>(tile)[at];
  } else if constexpr (kType == DType::bf16) {
    return __uint_as_float(static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(tile)[at]) << 16);
  } else if constexpr (kType == DType::f16) {
    return __half2float(reinterpret_cast<const __half*>(tile)[at]);
  } else {
    const uint8_t* chunk = tile + column / kChunkCols * L::kChunkBytes;
    const int in_chunk = static_cast<int>(column % kChunkCols), unit = in_chunk / kUnitCols;
    const GroupFactors f = factors_of<kType>(chunk, row % 8, row / 8, in_chunk / L::kFormat.group_cols, 1.0f);
    const float value = code_value<kType>(chunk + L::kCodesAt + unit * L::kUnitBytes, row, in_chunk % kUnitCols);
    const float product = __fmul_rn(f.scale, value);
    if constexpr (!L::kFormat.minimum) return product;
    return __fadd_rn(product, f.minimum);
  }
}

}  // namespace inlay::cuda
