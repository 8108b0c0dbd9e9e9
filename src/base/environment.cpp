#include "src/base/environment.h"

#include <cstdlib>

namespace inlay {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

const Environment& environment() {
  static const Environment read{.cublas_directory = variable("INLAY_CUBLAS_DIR")};
  return read;
}

}  // namespace inlay
