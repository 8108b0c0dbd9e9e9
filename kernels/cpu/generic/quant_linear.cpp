// Quantized linear layers in plain C++, for processors without AVX2 and as the check on the other paths:
//   out[j][row] (+)= sum over columns of weight[row][column] * activation[j][column] (+ bias[row])
//
// Layout and order of operations: quant_layout.h. The codes of a group are brought once into signed 16-bit form with
// the rows innermost, (column, row), which compilers turn into widening multiply-adds, and serve up to 8 activation
// rows. Bound: arithmetic. Rounds products before it adds them, so its results differ from a fused path's in the last
// bits.
#include <cstring>

#include "kernels/common/quant_blocks.h"
#include "kernels/cpu/quant_layout.h"
#include "kernels/cpu/quant_linear.h"
#include "kernels/cpu/simd/compact_linear.h"
#include "kernels/cpu/simd/q8_rows.h"

namespace inlay::cpu::generic {
namespace {

constexpr int kBlockM = 8;

struct Group {
  int16_t codes[kLanes][kGroup];  // offset taken off
  float scale[2][kLanes];         // of each half; both the same where there is one
  float minimum[kLanes];
  int16_t half_minimums[2][kLanes];  // of types with minimums per 16 columns
};

float load_half(const uint8_t* p) { return to_float(Fp16{{p[0], p[1]}}); }

template <class L>
float load_d(const uint8_t* record, int row) {
  if constexpr (L::kFactor == Factor::half) return load_half(record + 2 * row);
  if constexpr (L::kFactor == Factor::exponent) return half_power(record[row]);
  return 1.0f;
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
void load_factors(const uint8_t* record, int g, int row, Group& out) {
  for (int half = 0; half < 2; ++half) {
    out.scale[half][row] = load_d<L>(record, row);
    if constexpr (L::kScales > 0) {
      const int index = g * L::kScales + half * (L::kScales - 1);
      const uint8_t* scales = record + L::kScalesAt + kLanes * L::kScaleBytes * index;
      out.scale[half][row] *= sub_scale<L>(scales, row);
      if constexpr (L::kHalfMinimums) out.half_minimums[half][row] = scales[row] >> 4;
    }
  }
  if constexpr (L::kMinimum) {
    const float m = load_half(record + L::kMinimumAt + 2 * row);
    out.minimum[row] = L::kScales > 0 ? -m : m;
    if constexpr (L::kSubMinimums) {
      out.minimum[row] *= static_cast<float>(record[L::kSubMinimumsAt + kLanes * g + row]);
    }
  }
}

template <class L>
void expand(const uint8_t* record, int g, Group& out) {
  for (int row = 0; row < kLanes; ++row) load_factors<L>(record, g, row, out);
  const uint8_t* codes = record + L::kCodesAt + L::kGroupBytes * g;
  for (int row = 0; row < kLanes; ++row) {
    uint8_t bytes[kGroup];
    unpack_codes<L>(codes, row, bytes);
    for (int i = 0; i < kGroup; ++i) out.codes[row][i] = static_cast<int16_t>(bytes[i] - L::kOffset);
  }
}

template <int kColumns>
float dot(const int16_t* codes, const int16_t* activation) {
  int32_t sum = 0;
  for (int i = 0; i < kColumns; ++i) sum += static_cast<int32_t>(codes[i]) * activation[i];
  return static_cast<float>(sum);
}

// The codes of one row's activations, or their fine codes, widened.
struct Activations {
  int16_t codes[kGroup];
  int sums[2];
};
Activations widen(const int8_t (&codes)[kGroup], const int16_t (&sums)[2]) {
  Activations out;
  for (int i = 0; i < kGroup; ++i) out.codes[i] = codes[i];
  for (int i = 0; i < 2; ++i) out.sums[i] = sums[i];
  return out;
}

// Sums of a group for one row of the tile.
struct Dots {
  float product[2];  // of each half, or of both
  float minimum;     // sub-minimums times activations
};
template <class L>
Dots dots(const Group& w, int row, const Activations& a) {
  Dots d = {};
  if constexpr (L::kScales == 2) {
    d.product[0] = dot<16>(w.codes[row], a.codes);
    d.product[1] = dot<16>(w.codes[row] + 16, a.codes + 16);
  } else {
    d.product[0] = dot<32>(w.codes[row], a.codes);
  }
  if constexpr (L::kHalfMinimums) {
    d.minimum = static_cast<float>(w.half_minimums[0][row] * a.sums[0] + w.half_minimums[1][row] * a.sums[1]);
  }
  return d;
}

template <class L>
void add_group(const Group& w, const Q8Group& a, float* acc) {
  const Activations codes = widen(a.codes, a.sums), fine_codes = widen(a.fine_codes, a.fine_sums);
  for (int row = 0; row < kLanes; ++row) {
    Dots d = dots<L>(w, row, codes);
    if (a.fine) {
      const Dots fine = dots<L>(w, row, fine_codes);
      for (int half = 0; half < 2; ++half) d.product[half] += kFineUnit * fine.product[half];
      d.minimum += kFineUnit * fine.minimum;
    }
    float t = d.product[0] * w.scale[0][row];
    if constexpr (L::kScales == 2) t += d.product[1] * w.scale[1][row];
    if constexpr (L::kHalfMinimums) t += w.minimum[row] * d.minimum;
    acc[row] += t * a.scale;
    if constexpr (L::kMinimum && !L::kHalfMinimums) acc[row] += w.minimum[row] * a.scaled_sum;
  }
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
