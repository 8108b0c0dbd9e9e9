// The library stays loaded until the process ends, whatever FreeLibrary is called for: threads of the host keep memory and handles of the
// C++ library's, which nobody gives back but the end of each thread. docs/design/windows.md
#include "src/base/windows_api.h"

namespace {

__attribute__((constructor)) void pin() {
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, reinterpret_cast<LPCWSTR>(&pin), &module);
}

}  // namespace
