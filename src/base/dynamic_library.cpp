#include "src/base/dynamic_library.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>

#include "src/base/c_locale.h"
#endif

namespace inlay {
namespace {

#ifdef _WIN32
void* open_one(const std::string& path) { return reinterpret_cast<void*>(LoadLibraryA(path.c_str())); }
std::string last_error() { return "Windows error " + std::to_string(GetLastError()); }
#else
void* open_one(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
std::string last_error() {
  const CLocale locale;  // dlerror translates
  const char* text = dlerror();
  return text ? text : "no reason given";
}
#endif

}  // namespace

Result<DynamicLibrary> DynamicLibrary::open(std::span<const char* const> names, const std::string& directory) {
  std::string reason = "no name to try";
  for (const char* name : names) {
    DynamicLibrary library;
    library.name_ = directory.empty() ? name : directory + "/" + name;
    library.handle_ = open_one(library.name_);
    if (library.handle_) return library;
    reason = last_error();
  }
  return error(Code::not_found, "%s", reason.c_str());
}

void* DynamicLibrary::symbol(const char* name) const {
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

}  // namespace inlay
