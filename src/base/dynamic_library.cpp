#include "src/base/dynamic_library.h"

#ifdef _WIN32
#include "src/base/system_error.h"
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#else
#include <dlfcn.h>

#include "src/base/c_locale.h"
#endif

namespace inlay {
namespace {

#ifdef _WIN32
void* open_one(const std::string& path) {
  const Result<std::wstring> name = wide(path);
  return name.ok() ? reinterpret_cast<void*>(LoadLibraryW(name->c_str())) : nullptr;
}
std::string last_error(const std::string& path) { return windows_error(GetLastError(), "%s", path.c_str()).message; }
#else
void* open_one(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
std::string last_error(const std::string&) {
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
    reason = last_error(library.name_);
  }
  return error(Code::not_found, "%s", reason.c_str());
}

void* DynamicLibrary::symbol(const char* name) const {
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

}  // namespace inlay
