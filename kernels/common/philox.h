// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3" (SC 2011). It has no state: the same key and counter give the same numbers on every thread, device and machine.
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"

namespace inlay {

struct PhiloxCounter {
  uint32_t w[4];
  bool operator==(const PhiloxCounter&) const = default;
};
struct PhiloxKey {
  uint32_t w[2];
};

INLAY_HOST_DEVICE constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;  // golden ratio and sqrt(3) - 1, as fractions of 2^32
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter.w[0];
    const uint64_t product1 = kMultiplier1 * counter.w[2];
    counter = {{static_cast<uint32_t>(product1 >> 32) ^ counter.w[1] ^ key.w[0], static_cast<uint32_t>(product1),
                static_cast<uint32_t>(product0 >> 32) ^ counter.w[3] ^ key.w[1], static_cast<uint32_t>(product0)}};
    key = {{key.w[0] + kWeyl0, key.w[1] + kWeyl1}};
  }
  return counter;
}

// Uniform in [0, 1), multiples of 2^-53.
struct PhiloxUniforms {
  double first, second;
};

INLAY_HOST_DEVICE constexpr double philox_fraction(uint32_t high, uint32_t low) {
  return static_cast<double>((static_cast<uint64_t>(high) << 32 | low) >> 11) * 0x1p-53;
}

// The two numbers of one position of one stream, from the two halves of its block.
INLAY_HOST_DEVICE constexpr PhiloxUniforms philox_uniforms(uint64_t seed, uint64_t stream, uint64_t position) {
  const PhiloxCounter words = philox4x32({{static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                                           static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
                                         {{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}});
  return {philox_fraction(words.w[0], words.w[1]), philox_fraction(words.w[2], words.w[3])};
}

INLAY_HOST_DEVICE constexpr double philox_uniform(uint64_t seed, uint64_t stream, uint64_t position) {
  return philox_uniforms(seed, stream, position).first;
}

}  // namespace inlay
