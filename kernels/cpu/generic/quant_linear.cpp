// Quantized linear layers in plain C++, for processors without AVX2 and as the check on the other paths:
//   out[j][row] (+)= sum over columns of weight[row][column] * activation[j][column] (+ bias[row])
//
// Layout and order of operations: quant_layout.h. The codes of a group are brought once into the form that group_dots.h
// says, and serve up to 8 activation rows. Bound: arithmetic. Rounds products before it adds them, so its results differ
// from a fused path's in the last bits.
#include <cstring>

#include "kernels/common/half.h"
#include "kernels/common/quant_blocks.h"
#include "kernels/cpu/generic/group_dots.h"
#include "kernels/cpu/quant_layout.h"
#include "kernels/cpu/quant_linear.h"
#include "kernels/cpu/simd/compact_linear.h"
#include "kernels/cpu/simd/q8_rows.h"

namespace inlay::cpu::generic {
namespace {

constexpr int kBlockM = 8;

struct Group {
  GroupCodes codes;
  float scale[2][kLanes];  // of each half; both the same where there is one
  float minimum[kLanes];
  int32_t half_minimums[2][kLanes];  // of types with minimums per 16 columns
};

// 16 FP16 as floats.
void load_halves(const uint8_t* from, float* out) {
  uint16_t halves[kLanes];
  std::memcpy(halves, from, sizeof(halves));
#pragma GCC unroll 1
  for (int row = 0; row < kLanes; ++row) out[row] = float_from_f16(halves[row]);
}

// The factor of a record's rows.
template <class L>
void load_d(const uint8_t* record, float* out) {
  if constexpr (L::kFactor == Factor::half) {
    load_halves(record, out);
  } else {
    for (int row = 0; row < kLanes; ++row) out[row] = L::kFactor == Factor::exponent ? half_power(record[row]) : 1.0f;
  }
}

// scales: of one half of a group, for 16 rows.
template <class L>
float sub_scale(const uint8_t* scales, int row) {
  if constexpr (L::kSubScale == SubScale::real) {
    float scale;
    std::memcpy(&scale, scales + L::kScaleBytes * row, sizeof(scale));
    return scale;
  } else {
    const uint8_t byte = scales[row];
    const int with_minimum = L::kSubScale == SubScale::with_minimum ? byte & 15 : byte;
    return static_cast<float>(L::kSubScale == SubScale::signed_byte ? static_cast<int8_t>(byte) : with_minimum);
  }
}

template <class L>
void load_factors(const uint8_t* record, int g, Group& out) {
  float d[kLanes];
  load_d<L>(record, d);
  for (int half = 0; half < (L::kScales == 2 ? 2 : 1); ++half) {
    const uint8_t* scales = record + L::kScalesAt + kLanes * L::kScaleBytes * (g * L::kScales + half);
#pragma GCC unroll 1
    for (int row = 0; row < kLanes; ++row) out.scale[half][row] = L::kScales > 0 ? d[row] * sub_scale<L>(scales, row) : d[row];
    if constexpr (L::kHalfMinimums) {
#pragma GCC unroll 1
      for (int row = 0; row < kLanes; ++row) out.half_minimums[half][row] = scales[row] >> 4;
    }
  }
  if constexpr (L::kMinimum) {
    float m[kLanes];
    load_halves(record + L::kMinimumAt, m);
    const uint8_t* subs = record + L::kSubMinimumsAt + kLanes * g;
#pragma GCC unroll 1
    for (int row = 0; row < kLanes; ++row) {
      out.minimum[row] = L::kScales > 0 ? -m[row] : m[row];
      if constexpr (L::kSubMinimums) out.minimum[row] *= static_cast<float>(subs[row]);
    }
  }
}

template <class L>
void expand(const uint8_t* record, int g, Group& out) {
  load_factors<L>(record, g, out);
  expand_codes<L>(record + L::kCodesAt + L::kGroupBytes * g, out.codes);
}

// Sums of a group for the rows of the tile: over codes of activations, or over their fine codes.
template <class L>
struct Dots {
  int32_t product[L::kScales == 2 ? 2 : 1][kLanes];  // of each half, or of both
  int32_t minimum[kLanes];                           // sub-minimums times activations
};
template <class L>
void dots(const Group& w, const int8_t* codes, const int16_t* sums, Dots<L>& out) {
  constexpr int kHalf = L::kScales == 2 ? kGroup / 2 : kGroup;
  dot<L, 0, kHalf>(w.codes, codes, out.product[0]);
  if constexpr (L::kScales == 2) dot<L, kHalf, kGroup>(w.codes, codes, out.product[1]);
  if constexpr (L::kHalfMinimums) {
#pragma GCC unroll 1
    for (int row = 0; row < kLanes; ++row) {
      out.minimum[row] = w.half_minimums[0][row] * sums[0] + w.half_minimums[1][row] * sums[1];
    }
  }
}

template <class L, bool kFine>
void add_scaled(const Group& w, const Q8Group& a, const Dots<L>& coarse, const Dots<L>& fine, float* acc) {
  const auto value = [](int32_t of_codes, int32_t of_fine_codes) {
    const float sum = static_cast<float>(of_codes);
    return kFine ? sum + kFineUnit * static_cast<float>(of_fine_codes) : sum;
  };
#pragma GCC unroll 1
  for (int row = 0; row < kLanes; ++row) {
    float t = value(coarse.product[0][row], fine.product[0][row]) * w.scale[0][row];
    if constexpr (L::kScales == 2) t += value(coarse.product[1][row], fine.product[1][row]) * w.scale[1][row];
    if constexpr (L::kHalfMinimums) t += w.minimum[row] * value(coarse.minimum[row], fine.minimum[row]);
    float sum = acc[row] + t * a.scale;
    if constexpr (L::kMinimum && !L::kHalfMinimums) sum += w.minimum[row] * a.scaled_sum;
    acc[row] = sum;
  }
}

template <class L>
void add_group(const Group& w, const Q8Group& a, float* acc) {
  Dots<L> coarse, fine;
  dots<L>(w, a.codes, a.sums, coarse);
  if (!a.fine) return add_scaled<L, false>(w, a, coarse, coarse, acc);
  dots<L>(w, a.fine_codes, a.fine_sums, fine);
  add_scaled<L, true>(w, a, coarse, fine, acc);
}

void store(const LinearArgs& args, int64_t tile, int64_t j, const float* acc) {
  const int64_t first = tile * kLanes;
  const int64_t rows = args.n_rows - first < kLanes ? args.n_rows - first : kLanes;
  float* out = args.out + j * args.ld_out + first;
  for (int64_t row = 0; row < rows; ++row) {
    float value = acc[row];
    if (args.bias) value += args.bias[first + row];
    out[row] = args.add_to_out ? out[row] + value : value;
  }
}

// A record's share of m activation rows.
template <class L>
void add_record(const uint8_t* record, const uint8_t* groups, size_t stride, int m, float (*sums)[kLanes]) {
  Group group;
  for (int g = 0; g < L::kGroups; ++g, groups += sizeof(Q8Group)) {
    expand<L>(record, g, group);
    for (int j = 0; j < m; ++j) {
      Q8Group a;
      std::memcpy(&a, groups + j * stride, sizeof(a));
      add_group<L>(group, a, sums[j]);
    }
  }
}

template <class L>
void run_block(const LinearArgs& args, int64_t tile, int64_t m_begin, int m) {
  const uint8_t* record = static_cast<const uint8_t*>(args.weights) + tile * quant_tile_bytes<L>(args.n_cols);
  const size_t stride = q8_row_bytes(args.n_cols);
  const uint8_t* groups = static_cast<const uint8_t*>(args.activations) + m_begin * stride;
  float sums[kBlockM][kLanes] = {};
  for (int64_t i = args.n_cols / L::kColumns; i > 0; --i, record += L::kRecordBytes) {
    add_record<L>(record, groups, stride, m, sums);
    groups += L::kGroups * sizeof(Q8Group);
  }
  for (int j = 0; j < m; ++j) store(args, tile, m_begin + j, sums[j]);
}

template <class L>
void run(const LinearArgs& args, int64_t tile_begin, int64_t tile_end, int64_t m_begin, int64_t m_end) {
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    for (int64_t j = m_begin; j < m_end; j += kBlockM) {
      run_block<L>(args, tile, j, static_cast<int>(m_end - j < kBlockM ? m_end - j : kBlockM));
    }
  }
}

// Rounds to the nearest integer, ties to even; |x| < 2^22.
int round_to_int(float x) {
  const float shifted = x + 0x1.8p23f;
  int32_t bits;
  std::memcpy(&bits, &shifted, 4);
  return bits - 0x4b400000;
}

uint32_t largest_bits(const float* x) {
  uint32_t largest = 0;
  for (int i = 0; i < kGroup; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, 4);
    bits &= 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

void quantize(const float* x, uint32_t largest, bool fine, Q8Group* out) {
  const float limit = float_of(largest), inverse = 127.0f / limit;
  Q8Group group = {};
  for (int i = 0; i < kGroup; ++i) {
    const float scaled = x[i] * inverse;
    const int code = round_to_int(scaled);
    int fine_code = fine ? round_to_int((scaled - static_cast<float>(code)) * (1 / kFineUnit)) : 0;
    fine_code = fine_code > 127 ? 127 : fine_code < -127 ? -127 : fine_code;
    group.codes[i] = static_cast<int8_t>(code);
    group.fine_codes[i] = static_cast<int8_t>(fine_code);
    group.sums[i / 16] = static_cast<int16_t>(group.sums[i / 16] + code);
    group.fine_sums[i / 16] = static_cast<int16_t>(group.fine_sums[i / 16] + fine_code);
  }
  group.fine = fine;
  set_scale(limit, &group);
  *out = group;
}

template <DType kType>
constexpr LinearFn compact = run_compact<kType, add_record<LayoutExpanded>, store>;

constexpr LinearFn kRuns[] = {
    run<LayoutQ8_0>,        run<LayoutQ4_0>,       run<LayoutQ4_1>,         run<LayoutQ5_0>,
    run<LayoutQ5_1>,        run<LayoutQ4_K>,       run<LayoutQ5_K>,         run<LayoutQ6_K>,
    run<LayoutQ2_K>,        run<LayoutQ3_K>,       run<LayoutIQ4_NL>,       run<LayoutIQ4_XS>,
    run<LayoutMXFP4>,       run<LayoutTQ2_0>,      compact<DType::tq1_0>,   compact<DType::iq2_xxs>,
    compact<DType::iq2_xs>, compact<DType::iq2_s>, compact<DType::iq3_xxs>, compact<DType::iq3_s>,
    compact<DType::iq1_s>,  compact<DType::iq1_m>};
static_assert(static_cast<size_t>(DType::q8_0) + sizeof(kRuns) / sizeof(kRuns[0]) == static_cast<size_t>(DType::count));

}  // namespace

LinearFn quant_linear(DType type) {
  return type >= DType::q8_0 ? kRuns[static_cast<int>(type) - static_cast<int>(DType::q8_0)] : nullptr;
}

void prepare_q8(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, float fine_above,
                void* out) {
  prepare_q8_rows<largest_bits, quantize>(x, n_cols, ld_x, m_begin, m_end, fine_above, out);
}

}  // namespace inlay::cpu::generic
