// Quantized linear layers with AVX-512 VNNI:
//   out[j][row] (+)= sum over columns of weight[row][column] * activation[j][column] (+ bias[row])
//
// Layout and order of operations: quant_layout.h. A quad (16 rows x 4 columns of unsigned codes) is one operand of
// vpdpbusd, four activations broadcast from memory the other; the lanes are the rows, so nothing is added across lanes.
// Offsets of the codes are taken off exactly: the int32 sum starts at -offset * (sum of the activations).
//
// Tiling: the 8 quads of a group are expanded into 8 registers and serve up to 16 activation rows, whose 16 float sums
// stay in registers too (8 + 16 + scale + minimum + 3 temporaries of 32). A tile is walked once per 16 activation rows;
// activation rows are taken in chunks that stay in L2 while all tiles pass by. Every batch size runs the same
// operations per result, so that results are batch-invariant bit for bit.
//
// Bound at m = 1: reading the packed bytes. At large m: the two ports that take vpdpbusd, multiplications and fused
// multiply-adds: 11 of these instructions for 1024 operations of Q4_K.
// Measured on an AMD Zen 5 server core with tests/bench/linear_speed: m = 1 with 4 threads 85 to 100 % of a plain read
// of the same memory (Q4_K 95 to 98 %); m = 512 560 to 640 * 10^9 operations per second and core (Q4_K 640, Q6_K 570).
#include <immintrin.h>

#include <cstring>

#include "kernels/cpu/quant_layout.h"
#include "kernels/cpu/quant_linear.h"
#include "kernels/cpu/simd/compact_linear.h"
#include "kernels/cpu/simd/q8_rows.h"

namespace inlay::cpu::avx512 {
namespace {

#define INLAY_INLINE inline __attribute__((always_inline))

constexpr int kMaxM = 16;
constexpr int64_t kChunkBytes = 512 << 10;  // of activations, half of a usual L2
constexpr int kPrefetchBytes = 8192;

INLAY_INLINE __m512i replace_by_table(__m512i codes, const CodeTable& table) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.codes));
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytes), codes);
}

// The eight quads of a group, one unsigned code per byte: value + kOffset.
template <class L>
INLAY_INLINE void expand(const uint8_t* p, __m512i (&quad)[8]) {
  constexpr int kBits = L::kBits;
  if constexpr (kBits == 8) {
    for (int i = 0; i < 8; ++i) quad[i] = _mm512_loadu_si512(p + kVector * i);
    return;
  }
  constexpr int kOrAnd = 0xf8;  // truth table of a | (b & c)
  if constexpr (kBits < 4) {
    for (int half = 0; half < 2; ++half) {
      const __m512i plane = _mm512_loadu_si512(p + kVector * half), bits = _mm512_set1_epi8(3);
      for (int i = 0; i < 4; ++i) quad[4 * half + i] = _mm512_and_si512(_mm512_srli_epi16(plane, 2 * i), bits);
    }
    if constexpr (kBits == 3) {
      const __m512i plane = _mm512_loadu_si512(p + kVector * 2), bit = _mm512_set1_epi8(4);
      for (int i = 0; i < 8; ++i) {
        const __m512i at2 = i < 2 ? _mm512_slli_epi16(plane, 2 - i) : _mm512_srli_epi16(plane, i - 2);
        quad[i] = _mm512_ternarylogic_epi32(quad[i], at2, bit, kOrAnd);
      }
    }
    return;
  }
  const __m512i low = _mm512_set1_epi8(15);
  for (int i = 0; i < 4; ++i) {
    const __m512i both = _mm512_loadu_si512(p + kVector * i);
    quad[i] = _mm512_and_si512(both, low);
    quad[i + 4] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
  }
  if constexpr (L::kCodes != Codes::plain) {
    static constexpr CodeTable kTable = code_table<L>();
    for (int i = 0; i < 8; ++i) quad[i] = replace_by_table(quad[i], kTable);
  }
  if constexpr (kBits == 5) {
    const __m512i plane = _mm512_loadu_si512(p + kVector * 4), bit = _mm512_set1_epi8(16);
    for (int i = 0; i < 8; ++i) {
      const __m512i at4 = i < 4 ? _mm512_slli_epi16(plane, 4 - i) : _mm512_srli_epi16(plane, i - 4);
      quad[i] = _mm512_ternarylogic_epi32(quad[i], at4, bit, kOrAnd);
    }
  }
  if constexpr (kBits == 6) {
    const __m512i bits = _mm512_set1_epi8(48);
    for (int half = 0; half < 2; ++half) {
      const __m512i plane = _mm512_loadu_si512(p + kVector * (4 + half));
      for (int i = 0; i < 4; ++i) {
        const __m512i at4 = i < 2 ? _mm512_slli_epi16(plane, 4 - 2 * i) : _mm512_srli_epi16(plane, 2 * i - 4);
        quad[4 * half + i] = _mm512_ternarylogic_epi32(quad[4 * half + i], at4, bits, kOrAnd);
      }
    }
  }
}

// Factors of one group, per row.
template <class L>
struct Factors {
  __m512 scale[L::kScales == 2 ? 2 : 1];
  __m512 minimum;
  __m512i half_minimums;  // of types with minimums per 16 columns: two words, the first half's and the second's
};

INLAY_INLINE __m512 load_halves(const uint8_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
INLAY_INLINE __m512i load_bytes(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

// 2^(byte - 128): half_power of 16 rows.
INLAY_INLINE __m512 load_half_powers(const uint8_t* p) {
  const __m512i exponents = load_bytes(p), one = _mm512_set1_epi32(1);
  const __m512i subnormal = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), exponents);
  const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(exponents, one), 23);
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(normal, _mm512_cmple_epi32_mask(exponents, one), subnormal));
}

// The factors of a record.
template <class L>
INLAY_INLINE __m512 load_d(const uint8_t* record) {
  if constexpr (L::kFactor == Factor::none) return _mm512_set1_ps(1.0f);
  if constexpr (L::kFactor == Factor::exponent) return load_half_powers(record);
  return load_halves(record);
}

template <class L>
INLAY_INLINE __m512 load_sub_scales(const uint8_t* p) {
  if constexpr (L::kSubScale == SubScale::real) return _mm512_loadu_ps(p);
  __m512i scales = load_bytes(p);
  if constexpr (L::kSubScale == SubScale::signed_byte) {
    scales = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  if constexpr (L::kSubScale == SubScale::with_minimum) scales = _mm512_and_si512(scales, _mm512_set1_epi32(15));
  return _mm512_cvtepi32_ps(scales);
}

// d, m: the record's. K types' minimums are subtracted, so their sign is turned here.
template <class L>
INLAY_INLINE Factors<L> load_factors(const uint8_t* record, int g, __m512 d, __m512 m) {
  const uint8_t* scales = record + L::kScalesAt + kLanes * L::kScaleBytes * L::kScales * g;
  Factors<L> f;
  f.scale[0] = d;
  f.minimum = L::kScales > 0 ? _mm512_xor_ps(m, _mm512_set1_ps(-0.0f)) : m;
  f.half_minimums = _mm512_setzero_si512();
  if constexpr (L::kScales > 0) f.scale[0] = _mm512_mul_ps(d, load_sub_scales<L>(scales));
  if constexpr (L::kScales == 2) f.scale[1] = _mm512_mul_ps(d, load_sub_scales<L>(scales + kLanes * L::kScaleBytes));
  if constexpr (L::kHalfMinimums) {
    const __m512i first = _mm512_srli_epi32(load_bytes(scales), 4);
    const __m512i second = _mm512_slli_epi32(_mm512_srli_epi32(load_bytes(scales + kLanes), 4), 16);
    f.half_minimums = _mm512_or_si512(first, second);
  }
  if constexpr (L::kSubMinimums) {
    const __m512i sub = load_bytes(record + L::kSubMinimumsAt + kLanes * g);
    f.minimum = _mm512_mul_ps(f.minimum, _mm512_cvtepi32_ps(sub));
  }
  return f;
}

INLAY_INLINE __m512i broadcast_word(const uint8_t* p) {
  int32_t word;
  std::memcpy(&word, p, 4);
  return _mm512_set1_epi32(word);
}

// Exact int32 sums over the quads of both halves of the group (kHalves 3), the first (1) or the second (2). plane: codes
// of activations, and their sums.
template <class L, int kHalves>
INLAY_INLINE __m512 dot(const __m512i (&quad)[8], const uint8_t* plane) {
  __m512i sum = _mm512_setzero_si512();
  if constexpr (L::kOffset != 0) {
    constexpr int kFirst = kHalves & 1 ? -L::kOffset & 0xffff : 0, kSecond = kHalves & 2 ? -L::kOffset & 0xffff : 0;
    const __m512i offsets = _mm512_set1_epi32(static_cast<int32_t>(static_cast<uint32_t>(kSecond) << 16 | kFirst));
    sum = _mm512_dpwssd_epi32(sum, offsets, broadcast_word(plane + offsetof(Q8Group, sums)));
  }
  for (int i = kHalves == 2 ? 4 : 0; i < (kHalves == 1 ? 4 : 8); ++i) {
    sum = _mm512_dpbusd_epi32(sum, quad[i], broadcast_word(plane + 4 * i));
  }
  return _mm512_cvtepi32_ps(sum);
}

// The group's sums, over codes or fine codes.
template <class L>
struct Dots {
  __m512 product[L::kScales == 2 ? 2 : 1];  // of each half, or of both
  __m512 minimum;                           // sub-minimums times activations
};
template <class L>
INLAY_INLINE Dots<L> dots(const __m512i (&quad)[8], const Factors<L>& f, const uint8_t* plane) {
  Dots<L> d;
  d.product[0] = dot<L, L::kScales == 2 ? 1 : 3>(quad, plane);
  if constexpr (L::kScales == 2) d.product[1] = dot<L, 2>(quad, plane);
  if constexpr (L::kHalfMinimums) {
    const __m512i sums = broadcast_word(plane + offsetof(Q8Group, sums));
    d.minimum = _mm512_cvtepi32_ps(_mm512_madd_epi16(f.half_minimums, sums));
  }
  return d;
}

template <class L>
INLAY_INLINE __m512 add_group(const __m512i (&quad)[8], const Factors<L>& f, const uint8_t* group, __m512 acc) {
  const auto* a = reinterpret_cast<const Q8Group*>(group);
  Dots<L> d = dots<L>(quad, f, group);
  if (a->fine) {
    const Dots<L> fine = dots<L>(quad, f, group + kFineAt);
    const __m512 unit = _mm512_set1_ps(kFineUnit);
    d.product[0] = _mm512_fmadd_ps(fine.product[0], unit, d.product[0]);
    if constexpr (L::kScales == 2) d.product[1] = _mm512_fmadd_ps(fine.product[1], unit, d.product[1]);
    if constexpr (L::kHalfMinimums) d.minimum = _mm512_fmadd_ps(fine.minimum, unit, d.minimum);
  }
  __m512 t = _mm512_mul_ps(d.product[0], f.scale[0]);
  if constexpr (L::kScales == 2) t = _mm512_fmadd_ps(d.product[1], f.scale[1], t);
  if constexpr (L::kHalfMinimums) t = _mm512_fmadd_ps(f.minimum, d.minimum, t);
  acc = _mm512_fmadd_ps(t, _mm512_set1_ps(a->scale), acc);
  if constexpr (L::kMinimum && !L::kHalfMinimums) acc = _mm512_fmadd_ps(f.minimum, _mm512_set1_ps(a->scaled_sum), acc);
  return acc;
}

INLAY_INLINE void store(const LinearArgs& args, int64_t tile, int64_t j, __m512 value) {
  const int64_t first = tile * kLanes, rows = args.n_rows - first;
  const __mmask16 mask = rows >= kLanes ? 0xffff : static_cast<__mmask16>((1u << rows) - 1);
  float* out = args.out + j * args.ld_out + first;
  if (args.bias) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, args.bias + first));
  if (args.add_to_out) value = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, out), value);
  _mm512_mask_storeu_ps(out, mask, value);
}

// A record's share of kM activation rows.
template <class L, int kM>
INLAY_INLINE void add_record(const uint8_t* record, const uint8_t* group, size_t stride, __m512 (&acc)[kM]) {
  constexpr bool kInMemory = L::kFactor != Factor::none;  // else it was just made
  const __m512 d = load_d<L>(record);
  const __m512 m = L::kMinimum ? load_halves(record + L::kMinimumAt) : d;
  for (int g = 0; g < L::kGroups; ++g, group += sizeof(Q8Group)) {
    const uint8_t* codes = record + L::kCodesAt + L::kGroupBytes * g;
    if constexpr (kM <= 4 && kInMemory) {
      for (int line = 0; line < L::kBits; ++line) {
        _mm_prefetch(reinterpret_cast<const char*>(codes + kPrefetchBytes + 64 * line), _MM_HINT_T0);
      }
    }
    __m512i quad[8];
    expand<L>(codes, quad);
    const Factors<L> f = load_factors<L>(record, g, d, m);
    const uint8_t* row = group;
#pragma GCC unroll 16
    for (int j = 0; j < kM; ++j, row += stride) acc[j] = add_group<L>(quad, f, row, acc[j]);
  }
}

// One tile for kM activation rows.
template <class L, int kM>
void run_block(const LinearArgs& args, int64_t tile, int64_t j0) {
  const uint8_t* record = static_cast<const uint8_t*>(args.weights) + tile * quant_tile_bytes<L>(args.n_cols);
  const size_t stride = q8_row_bytes(args.n_cols);
  const uint8_t* group = static_cast<const uint8_t*>(args.activations) + j0 * stride;
  __m512 acc[kM];
#pragma GCC unroll 16
  for (int j = 0; j < kM; ++j) acc[j] = _mm512_setzero_ps();
  for (int64_t i = args.n_cols / L::kColumns; i > 0; --i, record += L::kRecordBytes) {
    add_record<L, kM>(record, group, stride, acc);
    group += L::kGroups * sizeof(Q8Group);
  }
#pragma GCC unroll 16
  for (int j = 0; j < kM; ++j) store(args, tile, j0 + j, acc[j]);
}

// Calls block<kM>(j) for rows [j, j_end) in blocks of 16 and less.
template <class Block>
INLAY_INLINE void in_blocks(int64_t j, int64_t j_end, Block block) {
  for (; j_end - j >= 16; j += 16) block.template operator()<16>(j);
  if (j_end - j >= 8) block.template operator()<8>(j), j += 8;
  if (j_end - j >= 4) block.template operator()<4>(j), j += 4;
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
  in_blocks(j, j_end, [&]<int kM>(int64_t at) { run_block<L, kM>(args, tile, at); });
}

template <int kM>
void add_expanded_block(const uint8_t* record, const uint8_t* groups, size_t stride, float (*sums)[kLanes]) {
  __m512 acc[kM];
#pragma GCC unroll 16
  for (int j = 0; j < kM; ++j) acc[j] = _mm512_load_ps(sums[j]);
  add_record<LayoutExpanded, kM>(record, groups, stride, acc);
#pragma GCC unroll 16
  for (int j = 0; j < kM; ++j) _mm512_store_ps(sums[j], acc[j]);
}

void add_expanded(const uint8_t* record, const uint8_t* groups, size_t stride, int m, float (*sums)[kLanes]) {
  in_blocks(0, m, [&]<int kM>(int64_t at) { add_expanded_block<kM>(record, groups + at * stride, stride, sums + at); });
}

void store_sums(const LinearArgs& args, int64_t tile, int64_t j, const float* sums) {
  store(args, tile, j, _mm512_load_ps(sums));
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

INLAY_INLINE int16_t sum_bytes(__m128i bytes) {
  const __m512i words = _mm512_cvtepi8_epi32(bytes);
  return static_cast<int16_t>(_mm512_reduce_add_epi32(words));
}

uint32_t largest_bits(const float* x) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  const __m512i first = _mm512_and_si512(_mm512_castps_si512(_mm512_loadu_ps(x)), magnitude);
  const __m512i second = _mm512_and_si512(_mm512_castps_si512(_mm512_loadu_ps(x + 16)), magnitude);
  return static_cast<uint32_t>(_mm512_reduce_max_epi32(_mm512_max_epi32(first, second)));
}

void quantize(const float* x, uint32_t largest, bool fine, Q8Group* out) {
  const float limit = float_of(largest);
  const __m512 inverse = _mm512_set1_ps(127.0f / limit), unit = _mm512_set1_ps(1 / kFineUnit);
  const __m512i least = _mm512_set1_epi32(-127);
  for (int i = 0; i < 2; ++i) {
    const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x + 16 * i), inverse);
    const __m512i rounded = _mm512_cvtps_epi32(scaled);
    const __m128i codes = _mm512_cvtsepi32_epi8(rounded);
    __m128i fine_codes = _mm_setzero_si128();
    if (fine) {
      const __m512 rest = _mm512_mul_ps(_mm512_sub_ps(scaled, _mm512_cvtepi32_ps(rounded)), unit);
      fine_codes = _mm512_cvtsepi32_epi8(_mm512_max_epi32(_mm512_cvtps_epi32(rest), least));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out->codes + 16 * i), codes);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out->fine_codes + 16 * i), fine_codes);
    out->sums[i] = sum_bytes(codes);
    out->fine_sums[i] = sum_bytes(fine_codes);
  }
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

}  // namespace inlay::cpu::avx512
