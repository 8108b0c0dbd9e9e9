#include "src/base/float_environment.h"

#include <utility>

namespace inlay {

static thread_local const FloatEnvironment* innermost = nullptr;

const FloatEnvironment* FloatEnvironment::exchange_innermost(const FloatEnvironment* now) { return std::exchange(innermost, now); }

}  // namespace inlay
