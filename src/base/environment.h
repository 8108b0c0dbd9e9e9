// The variables of the environment that the library obeys. No other file reads the environment; what a program decides
// goes through options.
#pragma once

#include <string>

namespace inlay {

struct Environment {
  std::string cublas_directory;  // INLAY_CUBLAS_DIR: where libcublasLt lies; empty: the loader's path
};

// Read at the first call, once.
const Environment& environment();

}  // namespace inlay
