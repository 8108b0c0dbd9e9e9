// The exponential of the samplers, which weigh tokens alike on every machine and device.
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"

namespace inlay {

// exp(x) for x <= 0, relative error below 1e-12; 0 below -700 (exp there is 1e-304). Branch-free and the same on every
// processor, unlike the C library's; a GPU fuses products and sums, which may change the last bit. x = k ln 2 + r with
// |r| <= ln(2) / 2, then 2^k times the Taylor polynomial of e^r.
INLAY_HOST_DEVICE inline double exp_nonpositive(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 0x1.62e42fee00000p-1,
                   kLn2Low = 0x1.a39ef35793c76p-33;  // their sum is ln 2; high: 32 bits
  constexpr double kRound = 0x1.8p52;                // adding it leaves the nearest integer in the low mantissa bits
  const double clamped = x < -700.0 ? -700.0 : x;
  const double shifted = clamped * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (clamped - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const uint64_t scale = (__builtin_bit_cast(uint64_t, shifted) + 1023)
                         << 52;  // 2^k: the exponent field, other bits fall out
  const double value = p * __builtin_bit_cast(double, scale);
  return x < -700.0 ? 0.0 : value;
}

}  // namespace inlay
