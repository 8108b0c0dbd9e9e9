#include "src/base/environment.h"

#include <cstdlib>

#include "src/base/made_once.h"
#include "src/base/wide_path.h"

namespace inlay {
namespace {

#ifdef _WIN32
std::string variable(const char* name) {
  const Result<std::wstring> wide_name = wide(name);
  const wchar_t* value = wide_name.ok() ? ::_wgetenv(wide_name->c_str()) : nullptr;
  return value ? utf8(value) : "";
}
#else
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}
#endif

}  // namespace

const Environment& environment() {
  static constinit MadeOnce<Environment> read;
  return read.get([] { return Environment{.cublas_directory = variable("INLAY_CUBLAS_DIR")}; });
}

}  // namespace inlay
