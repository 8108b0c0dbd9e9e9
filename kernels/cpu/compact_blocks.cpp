#include "kernels/cpu/compact_blocks.h"

#include "kernels/common/grid_codes.h"
#include "kernels/ref/dequantize.h"

namespace inlay::cpu {
namespace {

template <DType kType>
size_t tile_bytes(int64_t n_cols) {
  return compact_tile_bytes(kType, n_cols);
}

template <DType kType>
void pack(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end, void* packed) {
  constexpr size_t kBytes = traits(kType).block_bytes;
  const int64_t n_records = n_cols / traits(kType).block_elements;
  const auto* blocks = static_cast<const uint8_t*>(file_rows);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    uint8_t* to = static_cast<uint8_t*>(packed) + tile * tile_bytes<kType>(n_cols);
    std::memset(to, 0, tile_bytes<kType>(n_cols));
    const int64_t first = tile * kLanes, rows = n_rows - first < kLanes ? n_rows - first : kLanes;
    for (int64_t row = 0; row < rows; ++row) {
      const uint8_t* from = blocks + (first + row) * n_records * kBytes;
      for (int64_t i = 0; i < n_records; ++i) std::memcpy(to + (i * kLanes + row) * kBytes, from + i * kBytes, kBytes);
    }
  }
}

template <DType kType>
void unpack_row(const void* packed, int64_t n_cols, int64_t row, float* out) {
  const uint8_t* blocks = static_cast<const uint8_t*>(packed) + row / kLanes * tile_bytes<kType>(n_cols);
  for (int64_t i = 0; i < n_cols / traits(kType).block_elements; ++i) {
    ref::dequantize_row(kType, blocks + (i * kLanes + row % kLanes) * traits(kType).block_bytes,
                        traits(kType).block_elements, out + i * traits(kType).block_elements);
  }
}

template <DType kType>
constexpr QuantPacking packing() {
  return {tile_bytes<kType>, pack<kType>, unpack_row<kType>};
}

template <class Block>
void expand_blocks(const uint8_t* blocks, uint8_t* record) {
  using L = LayoutExpanded;
  for (int row = 0; row < kLanes; ++row) {
    Block block;
    std::memcpy(&block, blocks + row * sizeof(Block), sizeof(Block));
    for (int g = 0; g < L::kGroups; ++g) {
      GridGroup group;
      read_group(block, g, group);
      uint8_t* scales = record + L::kScalesAt + g * L::kScales * kLanes * L::kScaleBytes + row * L::kScaleBytes;
      std::memcpy(scales, &group.scale[0], 4);
      std::memcpy(scales + kLanes * L::kScaleBytes, &group.scale[1], 4);
      uint8_t* codes = record + L::kCodesAt + g * L::kGroupBytes + 4 * row;
      for (int i = 0; i < 4; ++i) {
        const uint64_t pair = group.codes[i] ^ 0x80 * kEveryByte;  // the offset of 128
        store_quad(codes + kVector * (2 * i), static_cast<uint32_t>(pair));
        store_quad(codes + kVector * (2 * i + 1), static_cast<uint32_t>(pair >> 32));
      }
    }
  }
}

constexpr QuantPacking kPackings[] = {packing<DType::tq1_0>(), packing<DType::iq2_xxs>(), packing<DType::iq2_xs>(),
                                      packing<DType::iq2_s>(), packing<DType::iq3_xxs>(), packing<DType::iq3_s>(),
                                      packing<DType::iq1_s>(), packing<DType::iq1_m>()};
constexpr void (*kExpansions[])(const uint8_t*, uint8_t*) = {
    expand_blocks<BlockTQ1_0>,   expand_blocks<BlockIQ2_XXS>, expand_blocks<BlockIQ2_XS>, expand_blocks<BlockIQ2_S>,
    expand_blocks<BlockIQ3_XXS>, expand_blocks<BlockIQ3_S>,   expand_blocks<BlockIQ1_S>,  expand_blocks<BlockIQ1_M>};
constexpr size_t kFirst = static_cast<size_t>(kFirstCompact);
static_assert(kFirst + sizeof(kPackings) / sizeof(kPackings[0]) == static_cast<size_t>(DType::count));
static_assert(kFirst + sizeof(kExpansions) / sizeof(kExpansions[0]) == static_cast<size_t>(DType::count));

}  // namespace

const QuantPacking& compact_packing(DType type) { return kPackings[static_cast<size_t>(type) - kFirst]; }

void expand_compact(DType type, const uint8_t* blocks, uint8_t* record) {
  kExpansions[static_cast<size_t>(type) - kFirst](blocks, record);
}

}  // namespace inlay::cpu
