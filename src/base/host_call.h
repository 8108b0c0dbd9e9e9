// A call of a callback that the host gave: with the host's floating-point settings, and an exception does not pass.
#pragma once

#include "src/base/float_environment.h"

namespace inlay {

// False if the callback threw.
template <class Call>
bool call_host(const Call& call) {
  const FloatEnvironment::OfHost environment;
  try {
    call();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace inlay
