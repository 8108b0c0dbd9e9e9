// cap * tanh(x / cap) of sixteen lanes, by tanh(y) = 1 - 2 / (exp(2 y) + 1): absolute error below cap * 2^-22.
//
// Included after an instruction set's vec16.h; everything has internal linkage.
#pragma once

#include "kernels/cpu/simd/exp.h"

namespace inlay::cpu {
namespace {

[[maybe_unused]] inline Vec16 soft_capped(const Vec16& x, float cap) {
  const Vec16 one = Vec16::broadcast(1.0f), two = Vec16::broadcast(2.0f), limit = Vec16::broadcast(cap);
  return limit * (one - two / (exp(two * x / limit) + one));
}

}  // namespace
}  // namespace inlay::cpu
