// Philox4x32-10 on the device, for the same numbers as src/base/rng.h gives for the same key and counter.
// Formula:  ten rounds of two 32 x 32 -> 64 bit products, key increments by Weyl constants (Salmon et al., SC 2011).
// Layout:   counter = (position low, position high, stream low, stream high), key = (seed low, seed high).
// Shape:    one thread, registers only: a row needs a single number.
// Bound:    integer latency, about 10 dependent products (share: not yet measured).
#pragma once

#include <cstdint>

namespace inlay::cuda {

struct PhiloxWords {
  uint32_t w[4];
};

__host__ __device__ inline PhiloxWords philox4x32(PhiloxWords counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter.w[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter.w[2];
    counter = {{static_cast<uint32_t>(product1 >> 32) ^ counter.w[1] ^ key0, static_cast<uint32_t>(product1),
                static_cast<uint32_t>(product0 >> 32) ^ counter.w[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

// Uniform in [0, 1), a multiple of 2^-53.
__host__ __device__ inline double philox_uniform(uint64_t seed, uint64_t stream, uint64_t position) {
  const PhiloxWords words = philox4x32({{static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                                         static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
                                       static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  const uint64_t bits = (static_cast<uint64_t>(words.w[0]) << 32 | words.w[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace inlay::cuda
