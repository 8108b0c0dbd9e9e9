// From the fits of groups (kernels/cpu/quantize.h), which take nearly all of the time, to blocks.
#include "src/model/quantize_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/quant_blocks.h"
#include "kernels/cpu/cpu_kernels.h"
#include "src/model/quantize.h"

namespace inlay {
namespace {

constexpr int kSuperBlock = 256, kGroup = 32, kGroups = kSuperBlock / kGroup;
constexpr int kSmallGroup = 16, kSmallGroups = kSuperBlock / kSmallGroup;  // of Q6_K
constexpr int kBlocksAtOnce = cpu::kGroupsAtOnce / kGroups;
constexpr float kLargestScale = 63.0f;  // 6 bits
static_assert(kSmallGroups == cpu::kGroupsAtOnce);

const cpu::Quantizers& quantizers() { return cpu::kernels(cpu::best_isa()).quantizers; }

// The kernels' tables have guards, which a child of fork() would find held for ever: they are made while the library is opened, before
// another thread can be in a call.
[[maybe_unused]] const bool tables_are_made = [] {
  for (const cpu::Isa isa : {cpu::Isa::generic, cpu::Isa::avx2, cpu::Isa::avx512})
    if (cpu::supported(isa)) (void)cpu::kernels(isa);
  return true;
}();

int k_code_of(float value, int low, int high) {
  if (!(value > static_cast<float>(low))) return low;
  return value < static_cast<float>(high) ? static_cast<int>(std::lrintf(value)) : high;
}

bool all_finite(const float* values) {
  bool finite = true;
  for (int i = 0; i < kSuperBlock; ++i) finite &= std::fabs(values[i]) <= 3.40282347e38f;
  return finite;
}

// Lane after lane.
template <int kSize>
void put_groups(const float* values, int n_groups, int first_lane, cpu::GroupValues<kSize>& out) {
  for (int i = 0; i < kSize; ++i) {
    for (int g = 0; g < n_groups; ++g) out[i][first_lane + g] = values[g * kSize + i];
  }
}

// The inverse of k_scale.
void put_k_scales(const uint8_t (&scales)[kGroups], const uint8_t (&mins)[kGroups], uint8_t (&out)[12]) {
  for (int g = 0; g < 4; ++g) {
    out[g] = static_cast<uint8_t>(scales[g] | (scales[g + 4] >> 4) << 6);
    out[g + 4] = static_cast<uint8_t>(mins[g] | (mins[g + 4] >> 4) << 6);
    out[g + 8] = static_cast<uint8_t>((scales[g + 4] & 15) | (mins[g + 4] & 15) << 4);
  }
}

// Scales and minimums of the block whose groups begin at `lane`; `fits` become what they stand for.
template <class Block>
void put_scales(cpu::AffineFits& fits, int lane, Block& out) {
  float* const scale = fits.scale + lane;
  float* const min = fits.min + lane;
  out.d = half_of(storable_scale(std::max(0.0f, *std::max_element(scale, scale + kGroups)) / kLargestScale));
  out.dmin = half_of(storable_scale(std::max(0.0f, *std::max_element(min, min + kGroups)) / kLargestScale));
  const float d = to_float(out.d), dmin = to_float(out.dmin);
  uint8_t scales[kGroups], mins[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    scales[g] = static_cast<uint8_t>(d > 0 ? k_code_of(scale[g] / d, 0, 63) : 0);
    mins[g] = static_cast<uint8_t>(dmin > 0 ? k_code_of(min[g] / dmin, 0, 63) : 0);
    scale[g] = d * scales[g], min[g] = dmin * mins[g];
  }
  put_k_scales(scales, mins, out.scales);
}

using Codes = uint8_t[kGroup][cpu::kGroupsAtOnce];

// The low four bits, of the block whose groups begin at `lane`.
void put_nibbles(const Codes& codes, int lane, uint8_t (&out)[kSuperBlock / 2]) {
  for (int g = 0; g < kGroups; g += 2) {
    for (int i = 0; i < kGroup; ++i) {
      const uint8_t* c = codes[i] + lane + g;
      out[g / 2 * kGroup + i] = static_cast<uint8_t>((c[0] & 15) | (c[1] & 15) << 4);
    }
  }
}

void put_codes(const Codes& codes, int lane, BlockQ4_K& out) { put_nibbles(codes, lane, out.q); }

void put_codes(const Codes& codes, int lane, BlockQ5_K& out) {
  put_nibbles(codes, lane, out.q);
  for (int i = 0; i < kGroup; ++i) {
    int high = 0;
    for (int g = 0; g < kGroups; ++g) high |= (codes[i][lane + g] >> 4) << g;
    out.high[i] = static_cast<uint8_t>(high);
  }
}

template <class Block, int kMaxCode>
void quantize_affine(const float* values, int64_t n, std::byte* out) {
  for (int64_t done = 0; done < n; done += kBlocksAtOnce * kSuperBlock) {
    cpu::GroupValues<kGroup> x = {};
    const int n_blocks = static_cast<int>(std::min<int64_t>(kBlocksAtOnce, (n - done) / kSuperBlock));
    bool finite[kBlocksAtOnce];
    for (int b = 0; b < n_blocks; ++b) {
      const float* block = values + done + b * kSuperBlock;
      finite[b] = all_finite(block);
      if (finite[b]) put_groups<kGroup>(block, kGroups, b * kGroups, x);
    }
    cpu::AffineFits fits;
    quantizers().fit_affine(x, kMaxCode, fits);
    Block blocks[kBlocksAtOnce];
    for (int b = 0; b < n_blocks; ++b) put_scales(fits, b * kGroups, blocks[b]);
    Codes codes;
    quantizers().encode_affine(x, fits, kMaxCode, codes);
    for (int b = 0; b < n_blocks; ++b) {
      put_codes(codes, b * kGroups, blocks[b]);
      if (!finite[b]) blocks[b].d = half_of(NAN);
    }
    std::memcpy(out + done / kSuperBlock * static_cast<int64_t>(sizeof(Block)), blocks,
                sizeof(Block) * static_cast<size_t>(n_blocks));
  }
}

void put_codes(const uint8_t (&codes)[kSmallGroup][kSmallGroups], BlockQ6_K& out) {
  const auto code = [&](int half, int part, int i) { return codes[i % 16][8 * half + 2 * part + i / 16]; };
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 32; ++i) {
      const int a = code(half, 0, i), b = code(half, 1, i), c = code(half, 2, i), d = code(half, 3, i);
      out.q_low[64 * half + i] = static_cast<uint8_t>((a & 15) | (c & 15) << 4);
      out.q_low[64 * half + 32 + i] = static_cast<uint8_t>((b & 15) | (d & 15) << 4);
      out.q_high[32 * half + i] = static_cast<uint8_t>(a >> 4 | (b >> 4) << 2 | (c >> 4) << 4 | (d >> 4) << 6);
    }
  }
}

}  // namespace

void quantize_q4_k(const float* values, int64_t n, std::byte* out) { quantize_affine<BlockQ4_K, 15>(values, n, out); }

void quantize_q5_k(const float* values, int64_t n, std::byte* out) { quantize_affine<BlockQ5_K, 31>(values, n, out); }

void quantize_q6_k(const float* values, int64_t n, std::byte* out) {
  for (int64_t done = 0; done < n; done += kSuperBlock, out += sizeof(BlockQ6_K)) {
    cpu::GroupValues<kSmallGroup> x = {};
    const bool finite = all_finite(values + done);
    if (finite) put_groups<kSmallGroup>(values + done, kSmallGroups, 0, x);
    float scale[kSmallGroups], largest = 0;
    quantizers().fit_symmetric(x, scale);
    for (const float s : scale) largest = std::fabs(s) > std::fabs(largest) ? s : largest;
    BlockQ6_K block;
    block.d = half_of(finite ? storable_scale(largest / -128.0f) : NAN);
    const float d = to_float(block.d);
    for (int g = 0; g < kSmallGroups; ++g) {
      block.scales[g] = static_cast<int8_t>(d != 0 ? k_code_of(scale[g] / d, -128, 127) : 0);
      scale[g] = d * block.scales[g];
    }
    uint8_t codes[kSmallGroup][kSmallGroups];
    quantizers().encode_symmetric(x, scale, codes);
    put_codes(codes, block);
    std::memcpy(out, &block, sizeof block);
  }
}

}  // namespace inlay
