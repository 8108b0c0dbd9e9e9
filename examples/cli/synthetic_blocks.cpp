#include "examples/cli/synthetic_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>

namespace inlay::cli {
namespace {

// Root mean squares of what the random codes below stand for; the scale of a block is the wanted deviation over them.
constexpr float kRms4 = 4.61f;           // 16 levels, evenly likely, about their middle
constexpr float kRms5 = 9.23f;           // 32 levels
constexpr float kRms6 = 18.5f;           // 64 levels
constexpr float kSigma8 = 40.0f;         // 8-bit codes are about normal
constexpr int32_t kSigma8Factor = 277;   // kSigma8 / kByteSumSigma x 1024
constexpr float kRmsScale6 = 41.8f;      // 6-bit scales of 16 to 63
constexpr float kRmsScale8 = 62.4f;      // signed 8-bit scales of 16 to 99
constexpr float kRmsFp4 = 2.926f;        // the 16 values of E2M1
constexpr float kByteSumSigma = 147.8f;  // of the sum of four evenly distributed bytes, whose mean is 510

// Random words numbered from a block's place on: one multiplication chain a word, no state between blocks.
class Words {
 public:
  Words(uint64_t seed, uint64_t block) : state_(seed + block * 0x9E3779B97F4A7C15u) {}
  uint64_t next() {
    state_ += 0xD1B54A32D192ED03u;
    uint64_t z = (state_ ^ (state_ >> 32)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 29)) * 0x94D049BB133111EBu;
    return z ^ (z >> 32);
  }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24f; }
  // n is a multiple of 8 but for the last bytes of a run.
  void bytes(std::byte* out, size_t n) {
    while (n > 0) {
      const uint64_t word = next();
      const size_t k = n < 8 ? n : 8;
      std::memcpy(out, &word, k);
      out += k;
      n -= k;
    }
  }

 private:
  uint64_t state_;
};

// About normal with mean 0 and deviation kByteSumSigma: the sum of four bytes of `word`, centred.
int32_t normal_of(uint32_t word) {
  const uint32_t pairs = (word & 0x00FF00FFu) + (word >> 8 & 0x00FF00FFu);
  return static_cast<int32_t>((pairs & 0xFFFFu) + (pairs >> 16)) - 510;
}

// By how much a block is wider than the tensor; its root mean square is 1.
float scatter(Words& words) { return words.between(0.69f, 1.28f); }

uint16_t half_bits(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const float size = std::fabs(x);
  if (size < 0x1p-14f) return sign | static_cast<uint16_t>(std::lrint(size * 0x1p24f));  // subnormal
  return sign | static_cast<uint16_t>(((bits & 0x7FFFFFFFu) + 0x1000u - (112u << 23)) >> 13);
}

uint16_t bfloat_bits(float x) { return static_cast<uint16_t>((std::bit_cast<uint32_t>(x) + 0x8000u) >> 16); }

template <class T>
std::byte* put(std::byte* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

// Two values come from one word: those of an even index and the odd one after it.
template <class T, class Convert>
void fill_scalars(ValueSpread spread, uint64_t seed, uint64_t first, uint64_t n, std::byte* out, Convert convert) {
  const float factor = spread.deviation / kByteSumSigma;
  const auto value_of = [&](uint64_t half) {
    return convert(spread.mean + factor * static_cast<float>(normal_of(static_cast<uint32_t>(half))));
  };
  uint64_t i = first;
  const uint64_t end = first + n;
  if (i % 2 == 1 && i < end) out = put<T>(out, value_of(Words(seed, i++ / 2).next() >> 32));
  for (; i + 1 < end; i += 2) {
    const uint64_t word = Words(seed, i / 2).next();
    out = put<T>(out, value_of(word));
    out = put<T>(out, value_of(word >> 32));
  }
  if (i < end) put<T>(out, value_of(Words(seed, i / 2).next()));
}

void fill_q4_0(float deviation, Words words, std::byte* out) {
  out = put(out, half_bits(deviation / kRms4 * scatter(words)));
  words.bytes(out, 16);
}

// Four bytes of fifth bits and 16 of the others, all random.
void fill_q5_0(float deviation, Words words, std::byte* out) {
  out = put(out, half_bits(deviation / kRms5 * scatter(words)));
  words.bytes(out, 20);
}

void fill_q5_1(float deviation, Words words, std::byte* out) {
  const float d = deviation / kRms5 * scatter(words);
  out = put(out, half_bits(d));
  out = put(out, half_bits(-15.5f * d));
  words.bytes(out, 20);
}

// Scales are powers of two: of the two about the wanted one each comes as often as the mean square asks for.
void fill_mxfp4(float deviation, Words words, std::byte* out) {
  const auto bits = std::bit_cast<uint32_t>(deviation / kRmsFp4);
  const float above = std::bit_cast<float>((bits & 0x7FFFFFu) | 0x3F800000u);  // wanted / the lower one: 1 to 2
  const bool upper = words.between(0.0f, 3.0f) < above * above - 1.0f;
  out = put(out, static_cast<uint8_t>((bits >> 23) + (upper ? 1 : 0)));  // both count exponents from -127 on
  words.bytes(out, 16);
}

void fill_q8_0(float deviation, Words words, std::byte* out) {
  out = put(out, half_bits(deviation / kSigma8 * scatter(words)));
  for (int i = 0; i < 32; i += 2) {
    const uint64_t word = words.next();
    for (const uint32_t half : {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)}) {
      out = put(out, static_cast<int8_t>(std::clamp(normal_of(half) * kSigma8Factor / 1024, -127, 127)));
    }
  }
}

// Q4_K and Q5_K: value = scale x code - minimum. The 6-bit minimums equal the scales, and the block's factor for them
// is `middle` times the one for the scales, so that values centre on zero.
void fill_k_with_minimum(float deviation, float rms, float middle, size_t code_bytes, Words words, std::byte* out) {
  const float d = deviation / (rms * kRmsScale6) * scatter(words);
  out = put(out, half_bits(d));
  out = put(out, half_bits(d * middle));
  uint8_t scale[8];
  const uint64_t word = words.next();
  for (int i = 0; i < 8; ++i) scale[i] = static_cast<uint8_t>(16 + (word >> 8 * i & 0xFF) * 48 / 256);
  // Bytes 0-3 and 4-7: six bits of scales and minimums 0-3 below the upper two of 4-7; bytes 8-11: the lower four of
  // 4-7.
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 0; i < 4; ++i) out = put(out, static_cast<uint8_t>(scale[i] | scale[i + 4] >> 4 << 6));
  }
  for (int i = 4; i < 8; ++i) out = put(out, static_cast<uint8_t>((scale[i] & 15) * 17));
  words.bytes(out, code_bytes);
}

void fill_q6_k(float deviation, Words words, std::byte* out) {
  const float d = deviation / (kRms6 * kRmsScale8) * scatter(words);
  words.bytes(out, 192);
  out += 192;
  for (int i = 0; i < 16; i += 4) {
    const uint64_t word = words.next();
    for (int k = 0; k < 4; ++k) {
      const auto size = static_cast<int8_t>(16 + (word >> 16 * k & 0xFF) * 84 / 256);
      out = put(out, static_cast<int8_t>(word >> (16 * k + 8) & 1 ? -size : size));
    }
  }
  put(out, half_bits(d));
}

void fill_block(BlockType type, float deviation, Words words, std::byte* out) {
  switch (type) {
    case BlockType::q4_0:
      return fill_q4_0(deviation, words, out);
    case BlockType::q5_0:
      return fill_q5_0(deviation, words, out);
    case BlockType::q5_1:
      return fill_q5_1(deviation, words, out);
    case BlockType::mxfp4:
      return fill_mxfp4(deviation, words, out);
    case BlockType::q8_0:
      return fill_q8_0(deviation, words, out);
    case BlockType::q4_k:
      return fill_k_with_minimum(deviation, kRms4, 7.5f, 128, words, out);
    case BlockType::q5_k:
      return fill_k_with_minimum(deviation, kRms5, 15.5f, 160, words, out);
    case BlockType::q6_k:
      return fill_q6_k(deviation, words, out);
    case BlockType::f32:
    case BlockType::f16:
    case BlockType::bf16:
      break;  // fill_scalars
  }
}

}  // namespace

const BlockTraits& block_traits(BlockType type) {
  static constexpr BlockTraits kTraits[] = {{"f32", 0, 1, 4},       {"f16", 1, 1, 2},       {"bf16", 30, 1, 2},
                                            {"q4_0", 2, 32, 18},    {"q5_0", 6, 32, 22},    {"q5_1", 7, 32, 24},
                                            {"q8_0", 8, 32, 34},    {"q4_k", 12, 256, 144}, {"q5_k", 13, 256, 176},
                                            {"q6_k", 14, 256, 210}, {"mxfp4", 39, 32, 17}};
  return kTraits[static_cast<size_t>(type)];
}

void fill_blocks(BlockType type, ValueSpread spread, uint64_t seed, uint64_t first, uint64_t n, std::byte* out) {
  switch (type) {
    case BlockType::f32:
      return fill_scalars<float>(spread, seed, first, n, out, [](float x) { return x; });
    case BlockType::f16:
      return fill_scalars<uint16_t>(spread, seed, first, n, out, half_bits);
    case BlockType::bf16:
      return fill_scalars<uint16_t>(spread, seed, first, n, out, bfloat_bits);
    default:
      break;
  }
  const size_t block_bytes = block_traits(type).n_bytes;
  for (uint64_t i = 0; i < n; ++i) fill_block(type, spread.deviation, Words(seed, first + i), out + i * block_bytes);
}

}  // namespace inlay::cli
