// Quantized linear layers with AVX2:
//   out[j][row] (+)= sum over columns of weight[row][column] * activation[j][column] (+ bias[row])
//
// Layout and order of operations: quant_layout.h, the same for all instruction sets. A vector of 64 bytes is taken as
// two halves of 8 rows. vpmaddubsw multiplies unsigned codes with four broadcast activations and adds pairs into 16
// bits; how many of those sums still fit into 16 bits depends on the codes' width (kSummed), and only then does
// vpmaddwd widen them. 8-bit codes would overflow: they become |w| and the activations take w's sign. All of this is
// exact integer arithmetic, so results have the same bits as those of the AVX-512 path.
//
// Tiling: the 8 quads of half a tile's group in registers serve up to 4 activation rows.
// Bound at m = 1: reading the packed bytes; at large m: two instructions per quad on the multiplier's and adder's
// ports.
// Measured on an AMD Zen 5 server core with tests/bench/linear_speed: m = 1 with 4 threads about 90 % of a plain read
// of the same memory; m = 512 170 to 230 * 10^9 operations per second and core (Q4_K 222, Q6_K 183).
#include <immintrin.h>

#include <cstring>

#include "kernels/cpu/quant_layout.h"
#include "kernels/cpu/quant_linear.h"
#include "kernels/cpu/simd/compact_linear.h"
#include "kernels/cpu/simd/q8_rows.h"

namespace inlay::cpu::avx2 {
namespace {

#define INLAY_INLINE inline __attribute__((always_inline))

constexpr int kMaxM = 4;
constexpr int kHalfLanes = 8;
constexpr int64_t kChunkBytes = 256 << 10;  // of activations, half of the smallest usual L2
constexpr int kPrefetchBytes = 8192;

INLAY_INLINE __m256i load(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// `bits` of every byte of plane, moved from bit `from` to bit `to`. Shifts are of words: bits must mask what crosses
// bytes.
INLAY_INLINE __m256i moved_bits(__m256i plane, int from, int to, int bits) {
  const __m256i moved = from < to ? _mm256_slli_epi16(plane, to - from) : _mm256_srli_epi16(plane, from - to);
  return _mm256_and_si256(moved, _mm256_set1_epi8(static_cast<char>(bits)));
}

// Both halves of the vector the same; signed where dot products take 8 bits.
template <class L>
INLAY_INLINE __m256i dot_table(const CodeTable& table) {
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.codes));
  const __m128i sign = _mm_set1_epi8(L::kDotBits == 8 ? -128 : 0);
  return _mm256_broadcastsi128_si256(_mm_xor_si128(codes, sign));
}

// The eight quads of a group for 8 rows (p already points at their half): unsigned codes, or signed values of 8-bit
// types.
template <class L>
INLAY_INLINE void expand(const uint8_t* p, __m256i (&quad)[8]) {
  constexpr int kBits = L::kBits;
  if constexpr (kBits == 8) {
    for (int i = 0; i < 8; ++i) quad[i] = _mm256_xor_si256(load(p + kVector * i), _mm256_set1_epi8(-128));
    return;
  }
  if constexpr (kBits < 4) {
    for (int i = 0; i < 8; ++i) quad[i] = moved_bits(load(p + kVector * (i / 4)), 2 * (i % 4), 0, 3);
    if constexpr (kBits == 3) {
      const __m256i plane = load(p + kVector * 2);
      for (int i = 0; i < 8; ++i) quad[i] = _mm256_or_si256(quad[i], moved_bits(plane, i, 2, 4));
    }
    return;
  }
  const __m256i low = _mm256_set1_epi8(15);
  for (int i = 0; i < 4; ++i) {
    const __m256i both = load(p + kVector * i);
    quad[i] = _mm256_and_si256(both, low);
    quad[i + 4] = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
  }
  if constexpr (L::kCodes != Codes::plain) {
    static constexpr CodeTable kTable = code_table<L>();
    const __m256i table = dot_table<L>(kTable);
    for (int i = 0; i < 8; ++i) quad[i] = _mm256_shuffle_epi8(table, quad[i]);
  }
  if constexpr (kBits == 5) {
    const __m256i plane = load(p + kVector * 4);
    for (int i = 0; i < 8; ++i) quad[i] = _mm256_or_si256(quad[i], moved_bits(plane, i, 4, 16));
  }
  if constexpr (kBits == 6) {
    for (int i = 0; i < 8; ++i) {
      quad[i] = _mm256_or_si256(quad[i], moved_bits(load(p + kVector * (4 + i / 4)), 2 * (i % 4), 4, 48));
    }
  }
}

template <class L>
struct Factors {
  __m256 scale[L::kScales == 2 ? 2 : 1];
  __m256 minimum;
  __m256i half_minimums;  // of types with minimums per 16 columns: two words, the first half's and the second's
};

INLAY_INLINE __m256 load_halves(const uint8_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
INLAY_INLINE __m256i load_bytes(const uint8_t* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}

// 2^(byte - 128): half_power of 8 rows.
INLAY_INLINE __m256 load_half_powers(const uint8_t* p) {
  const __m256i exponents = load_bytes(p);
  const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), exponents);
  const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(exponents, _mm256_set1_epi32(1)), 23);
  const __m256i is_normal = _mm256_cmpgt_epi32(exponents, _mm256_set1_epi32(1));
  return _mm256_castsi256_ps(_mm256_blendv_epi8(subnormal, normal, is_normal));
}

// The factors of a record for rows 8 * half .. + 7.
template <class L>
INLAY_INLINE __m256 load_d(const uint8_t* record, int half) {
  if constexpr (L::kFactor == Factor::none) return _mm256_set1_ps(1.0f);
  if constexpr (L::kFactor == Factor::exponent) return load_half_powers(record + kHalfLanes * half);
  return load_halves(record + 2 * kHalfLanes * half);
}

template <class L>
INLAY_INLINE __m256 load_sub_scales(const uint8_t* p) {
  if constexpr (L::kSubScale == SubScale::real) return _mm256_loadu_ps(reinterpret_cast<const float*>(p));
  __m256i scales = load_bytes(p);
  if constexpr (L::kSubScale == SubScale::signed_byte) {
    scales = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  if constexpr (L::kSubScale == SubScale::with_minimum) scales = _mm256_and_si256(scales, _mm256_set1_epi32(15));
  return _mm256_cvtepi32_ps(scales);
}

// Factors of group g for rows 8 * half .. + 7. K types' minimums are subtracted, so their sign is turned here.
template <class L>
INLAY_INLINE Factors<L> load_factors(const uint8_t* record, int g, int half) {
  const uint8_t* scales = record + L::kScalesAt + L::kScaleBytes * (kLanes * L::kScales * g + kHalfLanes * half);
  const __m256 d = load_d<L>(record, half);
  Factors<L> f;
  f.scale[0] = d;
  f.minimum = _mm256_setzero_ps();
  f.half_minimums = _mm256_setzero_si256();
  if constexpr (L::kScales > 0) f.scale[0] = _mm256_mul_ps(d, load_sub_scales<L>(scales));
  if constexpr (L::kScales == 2) f.scale[1] = _mm256_mul_ps(d, load_sub_scales<L>(scales + kLanes * L::kScaleBytes));
  if constexpr (L::kMinimum) f.minimum = load_halves(record + L::kMinimumAt + 2 * kHalfLanes * half);
  if constexpr (L::kMinimum && L::kScales > 0) f.minimum = _mm256_xor_ps(f.minimum, _mm256_set1_ps(-0.0f));
  if constexpr (L::kHalfMinimums) {
    const __m256i first = _mm256_srli_epi32(load_bytes(scales), 4);
    const __m256i second = _mm256_slli_epi32(_mm256_srli_epi32(load_bytes(scales + kLanes), 4), 16);
    f.half_minimums = _mm256_or_si256(first, second);
  }
  if constexpr (L::kSubMinimums) {
    const __m256i sub = load_bytes(record + L::kSubMinimumsAt + kLanes * g + kHalfLanes * half);
    f.minimum = _mm256_mul_ps(f.minimum, _mm256_cvtepi32_ps(sub));
  }
  return f;
}

INLAY_INLINE __m256i broadcast_word(const uint8_t* p) {
  int32_t word;
  std::memcpy(&word, p, 4);
  return _mm256_set1_epi32(word);
}

// Pairs of products of one quad, in 16 bits. |activation| <= 127: at most 2 * 127 * (largest code), or 2 * 127 * 128.
template <int kBits>
INLAY_INLINE __m256i multiply(__m256i quad, __m256i a) {
  if constexpr (kBits == 8) return _mm256_maddubs_epi16(_mm256_abs_epi8(quad), _mm256_sign_epi8(a, quad));
  return _mm256_maddubs_epi16(quad, a);
}

// Exact sums over the group, or over its first (1) or second (2) half. plane: codes of activations, and their sums.
template <class L, int kHalves>
INLAY_INLINE __m256 dot(const __m256i (&quad)[8], const uint8_t* plane) {
  constexpr int kQuads = kHalves == 3 ? 8 : 4;
  // Quads whose sum fits 16 bits.
  constexpr int kFitting = L::kDotBits <= 4 ? 8 : L::kDotBits == 5 ? 4 : L::kDotBits == 6 ? 2 : 1;
  constexpr int kSummed = kFitting < kQuads ? kFitting : kQuads;
  static_assert(L::kDotBits == 8 || kSummed * 2 * 127 * ((1 << L::kDotBits) - 1) <= 32767);
  constexpr int kBegin = kHalves == 2 ? 4 : 0, kEnd = kBegin + kQuads;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256();
  if constexpr (L::kOffset != 0 && L::kDotBits != 8) {
    constexpr uint32_t kMinus = -L::kOffset & 0xffff;
    constexpr uint32_t kPair = (kHalves & 1 ? kMinus : 0) | (kHalves & 2 ? kMinus << 16 : 0);
    sum = _mm256_madd_epi16(_mm256_set1_epi32(static_cast<int32_t>(kPair)),
                            broadcast_word(plane + offsetof(Q8Group, sums)));
  }
  for (int i = kBegin; i < kEnd; i += kSummed) {
    __m256i words = multiply<L::kDotBits>(quad[i], broadcast_word(plane + 4 * i));
    for (int k = 1; k < kSummed; ++k) {
      words = _mm256_add_epi16(words, multiply<L::kDotBits>(quad[i + k], broadcast_word(plane + 4 * (i + k))));
    }
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(words, ones));
  }
  return _mm256_cvtepi32_ps(sum);
}

// The group's sums, over codes or fine codes.
template <class L>
struct Dots {
  __m256 product[L::kScales == 2 ? 2 : 1];  // of each half, or of both
  __m256 minimum;                           // sub-minimums times activations
};
template <class L>
INLAY_INLINE Dots<L> dots(const __m256i (&quad)[8], const Factors<L>& f, const uint8_t* plane) {
  Dots<L> d;
  d.product[0] = dot<L, L::kScales == 2 ? 1 : 3>(quad, plane);
  if constexpr (L::kScales == 2) d.product[1] = dot<L, 2>(quad, plane);
  if constexpr (L::kHalfMinimums) {
    const __m256i sums = broadcast_word(plane + offsetof(Q8Group, sums));
    d.minimum = _mm256_cvtepi32_ps(_mm256_madd_epi16(f.half_minimums, sums));
  }
  return d;
}

template <class L>
INLAY_INLINE __m256 add_group(const __m256i (&quad)[8], const Factors<L>& f, const uint8_t* group, __m256 acc) {
  const auto* a = reinterpret_cast<const Q8Group*>(group);
  Dots<L> d = dots<L>(quad, f, group);
  if (a->fine) {
    const Dots<L> fine = dots<L>(quad, f, group + kFineAt);
    const __m256 unit = _mm256_set1_ps(kFineUnit);
    d.product[0] = _mm256_fmadd_ps(fine.product[0], unit, d.product[0]);
    if constexpr (L::kScales == 2) d.product[1] = _mm256_fmadd_ps(fine.product[1], unit, d.product[1]);
    if constexpr (L::kHalfMinimums) d.minimum = _mm256_fmadd_ps(fine.minimum, unit, d.minimum);
  }
  __m256 t = _mm256_mul_ps(d.product[0], f.scale[0]);
  if constexpr (L::kScales == 2) t = _mm256_fmadd_ps(d.product[1], f.scale[1], t);
  if constexpr (L::kHalfMinimums) t = _mm256_fmadd_ps(f.minimum, d.minimum, t);
  acc = _mm256_fmadd_ps(t, _mm256_set1_ps(a->scale), acc);
  if constexpr (L::kMinimum && !L::kHalfMinimums) acc = _mm256_fmadd_ps(f.minimum, _mm256_set1_ps(a->scaled_sum), acc);
  return acc;
}

INLAY_INLINE void store(const LinearArgs& args, int64_t first, int64_t j, __m256 value) {
  const int64_t rows = args.n_rows - first;
  if (rows <= 0) return;
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask =
      _mm256_cmpgt_epi32(_mm256_set1_epi32(rows < kHalfLanes ? static_cast<int>(rows) : kHalfLanes), lane);
  float* out = args.out + j * args.ld_out + first;
  if (args.bias) value = _mm256_add_ps(value, _mm256_maskload_ps(args.bias + first, mask));
  if (args.add_to_out) value = _mm256_add_ps(_mm256_maskload_ps(out, mask), value);
  _mm256_maskstore_ps(out, mask, value);
}

// A record's share of kM activation rows, kHalves halves of the tile from `half` on.
template <class L, int kM, int kHalves>
INLAY_INLINE void add_record(const uint8_t* record, int half, const uint8_t* group, size_t stride,
                             __m256 (&acc)[kHalves][kM]) {
  for (int g = 0; g < L::kGroups; ++g, group += sizeof(Q8Group)) {
    const uint8_t* codes = record + L::kCodesAt + L::kGroupBytes * g;
    if constexpr (L::kFactor != Factor::none) {  // else it was just made
      for (int line = 0; line < L::kBits; ++line) {
        _mm_prefetch(reinterpret_cast<const char*>(codes + kPrefetchBytes + 64 * line), _MM_HINT_T0);
      }
    }
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) {
      __m256i quad[8];
      expand<L>(codes + kVector / 2 * (half + h), quad);
      const Factors<L> f = load_factors<L>(record, g, half + h);
      const uint8_t* row = group;
#pragma GCC unroll 8
      for (int j = 0; j < kM; ++j, row += stride) acc[h][j] = add_group<L>(quad, f, row, acc[h][j]);
    }
  }
}

template <class L, int kM, int kHalves>
void run_block(const LinearArgs& args, int64_t tile, int half, int64_t j0) {
  const uint8_t* record = static_cast<const uint8_t*>(args.weights) + tile * quant_tile_bytes<L>(args.n_cols);
  const size_t stride = q8_row_bytes(args.n_cols);
  const uint8_t* group = static_cast<const uint8_t*>(args.activations) + j0 * stride;
  __m256 acc[kHalves][kM];
  for (int h = 0; h < kHalves; ++h) {
    for (int j = 0; j < kM; ++j) acc[h][j] = _mm256_setzero_ps();
  }
  for (int64_t i = args.n_cols / L::kColumns; i > 0; --i, record += L::kRecordBytes) {
    add_record<L, kM, kHalves>(record, half, group, stride, acc);
    group += L::kGroups * sizeof(Q8Group);
  }
  for (int j = 0; j < kM; ++j) {
    for (int h = 0; h < kHalves; ++h) store(args, tile * kLanes + (half + h) * kHalfLanes, j0 + j, acc[h][j]);
  }
}

// One activation row: a single walk over the weights, at the memory's speed. More: two walks, the second from the
// cache, because the quads of one half are all that the 16 registers hold.
template <class L, int kM>
void run_tile(const LinearArgs& args, int64_t tile, int64_t j) {
  if constexpr (kM == 1) return run_block<L, 1, 2>(args, tile, 0, j);
  run_block<L, kM, 1>(args, tile, 0, j);
  run_block<L, kM, 1>(args, tile, 1, j);
}

// Calls block<kM>(j) for rows [j, j_end) in blocks of kMaxM and less.
template <class Block>
INLAY_INLINE void in_blocks(int64_t j, int64_t j_end, Block block) {
  for (; j_end - j >= kMaxM; j += kMaxM) block.template operator()<kMaxM>(j);
  switch (j_end - j) {
    case 3:
      return block.template operator()<3>(j);
    case 2:
      return block.template operator()<2>(j);
    case 1:
      return block.template operator()<1>(j);
    default:
      return;
  }
}

template <class L>
void run_rows(const LinearArgs& args, int64_t tile, int64_t j, int64_t j_end) {
  in_blocks(j, j_end, [&]<int kM>(int64_t at) { run_tile<L, kM>(args, tile, at); });
}

template <int kM>
void add_expanded_block(const uint8_t* record, const uint8_t* groups, size_t stride, float (*sums)[kLanes]) {
  for (int half = 0; half < 2; ++half) {
    __m256 acc[1][kM];
    for (int j = 0; j < kM; ++j) acc[0][j] = _mm256_load_ps(sums[j] + kHalfLanes * half);
    add_record<LayoutExpanded, kM, 1>(record, half, groups, stride, acc);
    for (int j = 0; j < kM; ++j) _mm256_store_ps(sums[j] + kHalfLanes * half, acc[0][j]);
  }
}

void add_expanded(const uint8_t* record, const uint8_t* groups, size_t stride, int m, float (*sums)[kLanes]) {
  in_blocks(0, m, [&]<int kM>(int64_t at) { add_expanded_block<kM>(record, groups + at * stride, stride, sums + at); });
}

void store_sums(const LinearArgs& args, int64_t tile, int64_t j, const float* sums) {
  for (int h = 0; h < 2; ++h) {
    store(args, tile * kLanes + h * kHalfLanes, j, _mm256_load_ps(sums + h * kHalfLanes));
  }
}

template <class L>
void run(const LinearArgs& args, int64_t tile_begin, int64_t tile_end, int64_t m_begin, int64_t m_end) {
  const int64_t fitting = kChunkBytes / static_cast<int64_t>(q8_row_bytes(args.n_cols)) / kMaxM * kMaxM;
  const int64_t chunk = fitting > 0 ? fitting : kMaxM;
  for (int64_t j = m_begin; j < m_end; j += chunk) {
    const int64_t j_end = m_end - j < chunk ? m_end : j + chunk;
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) run_rows<L>(args, tile, j, j_end);
  }
}

template <DType kType>
constexpr LinearFn compact = run_compact<kType, add_expanded, store_sums>;

constexpr LinearFn kRuns[] = {
    run<LayoutQ8_0>,        run<LayoutQ4_0>,       run<LayoutQ4_1>,         run<LayoutQ5_0>,
    run<LayoutQ5_1>,        run<LayoutQ4_K>,       run<LayoutQ5_K>,         run<LayoutQ6_K>,
    run<LayoutQ2_K>,        run<LayoutQ3_K>,       run<LayoutIQ4_NL>,       run<LayoutIQ4_XS>,
    run<LayoutMXFP4>,       run<LayoutTQ2_0>,      compact<DType::tq1_0>,   compact<DType::iq2_xxs>,
    compact<DType::iq2_xs>, compact<DType::iq2_s>, compact<DType::iq3_xxs>, compact<DType::iq3_s>,
    compact<DType::iq1_s>,  compact<DType::iq1_m>};
static_assert(static_cast<size_t>(DType::q8_0) + sizeof(kRuns) / sizeof(kRuns[0]) == static_cast<size_t>(DType::count));

uint32_t largest_bits(const float* x) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i all = _mm256_setzero_si256();
  for (int i = 0; i < 4; ++i) {
    all = _mm256_max_epi32(all, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + 8 * i)), magnitude));
  }
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(four));
}

// 16 int8 from two vectors of int32 within their range.
INLAY_INLINE __m128i narrow(__m256i a, __m256i b) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

INLAY_INLINE int16_t sum_bytes(__m128i bytes) {
  const __m256i pairs = _mm256_madd_epi16(_mm256_cvtepi8_epi16(bytes), _mm256_set1_epi16(1));
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return static_cast<int16_t>(_mm_cvtsi128_si32(four));
}

// Stores 32 codes and the sums of their halves; codes: within their range.
INLAY_INLINE void store_codes(const __m256i (&codes)[4], int8_t (&bytes)[kGroup], int16_t (&sums)[2]) {
  for (int i = 0; i < 2; ++i) {
    const __m128i half = narrow(codes[2 * i], codes[2 * i + 1]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + 16 * i), half);
    sums[i] = sum_bytes(half);
  }
}

void quantize(const float* x, uint32_t largest, bool fine, Q8Group* out) {
  const float limit = float_of(largest);
  const __m256 inverse = _mm256_set1_ps(127.0f / limit), unit = _mm256_set1_ps(1 / kFineUnit);
  const __m256i most = _mm256_set1_epi32(127);
  __m256i codes[4], fine_codes[4];
  for (int i = 0; i < 4; ++i) {
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), inverse);
    codes[i] = _mm256_cvtps_epi32(scaled);
    fine_codes[i] = _mm256_setzero_si256();
    if (!fine) continue;
    fine_codes[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_sub_ps(scaled, _mm256_cvtepi32_ps(codes[i])), unit));
    fine_codes[i] = _mm256_max_epi32(_mm256_min_epi32(fine_codes[i], most), _mm256_sub_epi32(_mm256_setzero_si256(), most));
  }
  store_codes(codes, out->codes, out->sums);
  store_codes(fine_codes, out->fine_codes, out->fine_sums);
  out->fine = fine;
  set_scale(limit, out);
}

}  // namespace

LinearFn quant_linear(DType type) {
  return type < DType::q8_0 ? nullptr : kRuns[static_cast<int>(type) - static_cast<int>(DType::q8_0)];
}

void prepare_q8(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, float fine_above,
                void* out) {
  prepare_q8_rows<largest_bits, quantize>(x, n_cols, ld_x, m_begin, m_end, fine_above, out);
}

}  // namespace inlay::cpu::avx2
