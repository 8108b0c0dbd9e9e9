// Blocks of a file to packed tiles and back; the layout is quant_layout.h's. Runs once at load (and for embedding
// rows), so it is plain C++ for all instruction sets.
#include <cstring>

#include "kernels/common/quant_blocks.h"
#include "kernels/cpu/compact_blocks.h"
#include "kernels/cpu/quant_layout.h"
#include "kernels/cpu/quant_linear.h"

namespace inlay::cpu {
namespace {

// One row's share of a record, codes one per byte.
struct RowRecord {
  Fp16 d, m;
  uint8_t exponent;  // in place of d
  uint8_t scales[16];
  uint8_t minimums[8];
  uint8_t codes[256];
};

void split_nibbles(const uint8_t* q, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) codes[i] = q[i] & 15;
  for (int i = 0; i < 16; ++i) codes[i + 16] = q[i] >> 4;
}
void add_high_bits(const uint8_t* high, uint8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] |= static_cast<uint8_t>((high[i / 8] >> (i % 8) & 1) << 4);
}

void read(const BlockQ8_0& b, RowRecord& r) {
  r.d = b.d;
  for (int i = 0; i < 32; ++i) r.codes[i] = static_cast<uint8_t>(b.q[i]) ^ 0x80;
}
void read(const BlockQ4_0& b, RowRecord& r) {
  r.d = b.d;
  split_nibbles(b.q, r.codes);
}
void read(const BlockQ4_1& b, RowRecord& r) {
  r.d = b.d;
  r.m = b.m;
  split_nibbles(b.q, r.codes);
}
void read(const BlockQ5_0& b, RowRecord& r) {
  r.d = b.d;
  split_nibbles(b.q, r.codes);
  add_high_bits(b.high, r.codes);
}
void read(const BlockQ5_1& b, RowRecord& r) {
  r.d = b.d;
  r.m = b.m;
  split_nibbles(b.q, r.codes);
  add_high_bits(b.high, r.codes);
}

void read_k_scales(const uint8_t* scales, RowRecord& r) {
  for (int g = 0; g < 8; ++g) {
    r.scales[g] = k_scale(scales, g, 0);
    r.minimums[g] = k_scale(scales, g, 1);
  }
}
void split_k_nibbles(const uint8_t* q, uint8_t* codes) {
  for (int pair = 0; pair < 4; ++pair) {
    for (int l = 0; l < 32; ++l) codes[64 * pair + l] = q[32 * pair + l] & 15;
    for (int l = 0; l < 32; ++l) codes[64 * pair + 32 + l] = q[32 * pair + l] >> 4;
  }
}

void read(const BlockQ4_K& b, RowRecord& r) {
  r.d = b.d;
  r.m = b.dmin;
  read_k_scales(b.scales, r);
  split_k_nibbles(b.q, r.codes);
}
void read(const BlockQ5_K& b, RowRecord& r) {
  r.d = b.d;
  r.m = b.dmin;
  read_k_scales(b.scales, r);
  split_k_nibbles(b.q, r.codes);
  for (int g = 0; g < 8; ++g) {
    for (int l = 0; l < 32; ++l) r.codes[32 * g + l] |= static_cast<uint8_t>((b.high[l] >> g & 1) << 4);
  }
}
void read(const BlockQ6_K& b, RowRecord& r) {
  r.d = b.d;
  std::memcpy(r.scales, b.scales, 16);
  for (int half = 0; half < 2; ++half) {
    for (int g = 0; g < 4; ++g) {
      const uint8_t* low = b.q_low + 64 * half + 32 * (g % 2);
      const uint8_t* high = b.q_high + 32 * half;
      uint8_t* codes = r.codes + 128 * half + 32 * g;
      for (int l = 0; l < 32; ++l) {
        codes[l] = static_cast<uint8_t>((low[l] >> (4 * (g / 2)) & 15) | (high[l] >> (2 * g) & 3) << 4);
      }
    }
  }
}

// The low two bits of columns of Q2_K and Q3_K.
void split_k_pairs(const uint8_t* q, uint8_t* codes) {
  for (int i = 0; i < 256; ++i) codes[i] = q[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
}

void read(const BlockQ2_K& b, RowRecord& r) {
  r.d = b.d;
  r.m = b.dmin;
  std::memcpy(r.scales, b.scales, 16);
  split_k_pairs(b.q, r.codes);
}
void read(const BlockQ3_K& b, RowRecord& r) {
  r.d = b.d;
  for (int i = 0; i < 16; ++i) r.scales[i] = static_cast<uint8_t>(q3_k_scale(b.scales, i));
  split_k_pairs(b.q, r.codes);
  for (int i = 0; i < 256; ++i) r.codes[i] |= static_cast<uint8_t>((b.high[i % 32] >> (i / 32) & 1) << 2);
}

void read(const BlockIQ4_NL& b, RowRecord& r) {
  r.d = b.d;
  split_nibbles(b.q, r.codes);
}
void read(const BlockIQ4_XS& b, RowRecord& r) {
  r.d = b.d;
  for (int g = 0; g < 8; ++g) {
    r.scales[g] = static_cast<uint8_t>(iq4_xs_scale(b, g));
    split_nibbles(b.q + 16 * g, r.codes + 32 * g);
  }
}
void read(const BlockMXFP4& b, RowRecord& r) {
  r.exponent = b.exponent;
  split_nibbles(b.q, r.codes);
}
void read(const BlockTQ2_0& b, RowRecord& r) {
  r.d = b.d;
  split_k_pairs(b.q, r.codes);
}

// Bit `from` of the codes as one vector, bits `from` and `from` + 1 as two.
void pack_bits(const uint32_t (&quad)[8], int from, uint8_t* to) {
  uint32_t plane = 0;
  for (int i = 0; i < 8; ++i) plane |= (quad[i] >> from & 0x01010101) << i;
  store_quad(to, plane);
}
void pack_pairs(const uint32_t (&quad)[8], int from, uint8_t* to) {
  for (int half = 0; half < 2; ++half) {
    uint32_t plane = 0;
    for (int i = 0; i < 4; ++i) plane |= (quad[4 * half + i] >> from & 0x03030303) << (2 * i);
    store_quad(to + kVector * half, plane);
  }
}

template <int kBits>
void pack_codes(const uint8_t* codes, int row, uint8_t* group) {
  uint8_t* to = group + 4 * row;
  uint32_t quad[8];
  for (int i = 0; i < 8; ++i) quad[i] = load_quad(codes + 4 * i);
  if constexpr (kBits == 8) {
    for (int i = 0; i < 8; ++i) store_quad(to + kVector * i, quad[i]);
  } else if constexpr (kBits < 4) {
    pack_pairs(quad, 0, to);
  } else {
    constexpr uint32_t kNibbles = 0x0f0f0f0f;
    for (int i = 0; i < 4; ++i) store_quad(to + kVector * i, (quad[i] & kNibbles) | (quad[i + 4] & kNibbles) << 4);
  }
  if constexpr (kBits == 3) pack_bits(quad, 2, to + kVector * 2);
  if constexpr (kBits == 5) pack_bits(quad, 4, to + kVector * 4);
  if constexpr (kBits == 6) pack_pairs(quad, 4, to + kVector * 4);
}

template <class L>
void pack_row_record(const RowRecord& r, int row, uint8_t* record) {
  if constexpr (L::kFactor == Factor::half) std::memcpy(record + 2 * row, &r.d, 2);
  if constexpr (L::kFactor == Factor::exponent) record[row] = r.exponent;
  if constexpr (L::kMinimum) std::memcpy(record + L::kMinimumAt + 2 * row, &r.m, 2);
  for (int i = 0; i < L::kGroups * L::kScales; ++i) record[L::kScalesAt + kLanes * i + row] = r.scales[i];
  if constexpr (L::kSubMinimums) {
    for (int g = 0; g < L::kGroups; ++g) record[L::kSubMinimumsAt + kLanes * g + row] = r.minimums[g];
  }
  for (int g = 0; g < L::kGroups; ++g) {
    pack_codes<L::kBits>(r.codes + kGroup * g, row, record + L::kCodesAt + L::kGroupBytes * g);
  }
}

template <class L, class Block>
void pack(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end, void* packed) {
  const int64_t n_records = n_cols / L::kColumns;
  const auto* blocks = static_cast<const uint8_t*>(file_rows);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    uint8_t* to = static_cast<uint8_t*>(packed) + tile * quant_tile_bytes<L>(n_cols);
    const int64_t first = tile * kLanes;
    const int rows = static_cast<int>(n_rows - first < kLanes ? n_rows - first : kLanes);
    if (rows < kLanes) std::memset(to, 0, quant_tile_bytes<L>(n_cols));
    for (int64_t i = 0; i < n_records; ++i) {
      for (int row = 0; row < rows; ++row) {
        Block block;
        std::memcpy(&block, blocks + ((first + row) * n_records + i) * sizeof(Block), sizeof(Block));
        RowRecord r;
        read(block, r);
        pack_row_record<L>(r, row, to + i * L::kRecordBytes);
      }
    }
  }
}

Fp16 load_half(const uint8_t* p) { return {{p[0], p[1]}}; }

template <class L>
float sub_scale(uint8_t byte) {
  if constexpr (L::kSubScale == SubScale::signed_byte) return static_cast<float>(static_cast<int8_t>(byte));
  if constexpr (L::kSubScale == SubScale::with_minimum) return static_cast<float>(byte & 15);
  return static_cast<float>(byte);
}

// Scale and minimum of half group `half` of group g, per column as the files' formulas have them.
struct HalfGroup {
  float scale, minimum;
};
template <class L>
HalfGroup factors_of(const uint8_t* record, int g, int half, int row) {
  HalfGroup f = {L::kFactor == Factor::half ? to_float(load_half(record + 2 * row)) : half_power(record[row]), 0};
  if constexpr (L::kMinimum) f.minimum = to_float(load_half(record + L::kMinimumAt + 2 * row));
  if constexpr (L::kScales > 0) {
    const int index = g * L::kScales + half * (L::kScales - 1);
    const uint8_t byte = record[L::kScalesAt + kLanes * index + row];
    f.scale *= sub_scale<L>(byte);
    if constexpr (L::kHalfMinimums) f.minimum = -(f.minimum * static_cast<float>(byte >> 4));
  }
  if constexpr (L::kSubMinimums) {
    f.minimum = -(f.minimum * static_cast<float>(record[L::kSubMinimumsAt + kLanes * g + row]));
  }
  return f;
}

template <class L>
void unpack_group(const uint8_t* record, int g, int row, float* out) {
  uint8_t codes[kGroup];
  unpack_codes<L>(record + L::kCodesAt + L::kGroupBytes * g, row, codes);
  for (int i = 0; i < kGroup; ++i) {
    const HalfGroup f = factors_of<L>(record, g, i / 16, row);
    out[i] = f.scale * static_cast<float>(codes[i] - L::kOffset);
    if constexpr (L::kMinimum) out[i] += f.minimum;
  }
}

template <class L>
void unpack_row(const void* packed, int64_t n_cols, int64_t row, float* out) {
  const uint8_t* tile = static_cast<const uint8_t*>(packed) + row / kLanes * quant_tile_bytes<L>(n_cols);
  for (int64_t i = 0; i < n_cols / L::kColumns; ++i) {
    for (int g = 0; g < L::kGroups; ++g) {
      unpack_group<L>(tile + i * L::kRecordBytes, g, static_cast<int>(row % kLanes),
                      out + i * L::kColumns + g * kGroup);
    }
  }
}

template <class L>
size_t tile_bytes(int64_t n_cols) {
  return quant_tile_bytes<L>(n_cols);
}

template <class L, class Block>
constexpr QuantPacking packing() {
  return {tile_bytes<L>, pack<L, Block>, unpack_row<L>};
}

constexpr QuantPacking kPackings[] = {
    packing<LayoutQ8_0, BlockQ8_0>(),   packing<LayoutQ4_0, BlockQ4_0>(),     packing<LayoutQ4_1, BlockQ4_1>(),
    packing<LayoutQ5_0, BlockQ5_0>(),   packing<LayoutQ5_1, BlockQ5_1>(),     packing<LayoutQ4_K, BlockQ4_K>(),
    packing<LayoutQ5_K, BlockQ5_K>(),   packing<LayoutQ6_K, BlockQ6_K>(),     packing<LayoutQ2_K, BlockQ2_K>(),
    packing<LayoutQ3_K, BlockQ3_K>(),   packing<LayoutIQ4_NL, BlockIQ4_NL>(), packing<LayoutIQ4_XS, BlockIQ4_XS>(),
    packing<LayoutMXFP4, BlockMXFP4>(), packing<LayoutTQ2_0, BlockTQ2_0>(),
};
constexpr size_t kFirst = static_cast<size_t>(DType::q8_0);
static_assert(kFirst + sizeof(kPackings) / sizeof(kPackings[0]) == static_cast<size_t>(kFirstCompact));

}  // namespace

const QuantPacking& quant_packing(DType type) {
  return type >= kFirstCompact ? compact_packing(type) : kPackings[static_cast<size_t>(type) - kFirst];
}

size_t q8_activation_row_bytes(int64_t n_cols) { return q8_row_bytes(n_cols); }

}  // namespace inlay::cpu
