// A call of a callback that the host gave: with the host's floating-point settings. Nothing unwinds through it: this library has
// a C++ runtime and an allocator of its own, which cannot catch and free an exception of another runtime. The process ends.
#pragma once

#include "src/base/float_environment.h"

namespace inlay {

template <class Call>
void call_host(const Call& call) noexcept {
  const FloatEnvironment::OfHost environment;
  call();
}

}  // namespace inlay
