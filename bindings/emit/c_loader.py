"""include/capi/inlay_dl.h: a table of function pointers, for programs that load the library at run time."""

from api_model import Api
from emit import c_types

HEAD = """\
// Loads the Inlay library at run time, so that a program starts without it. Header only, C11 and C++.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
//
//   inlay_dl api;
//   char message[256];
//   if (inlay_dl_open("libinlay.so.1", &api, message, sizeof message) != 0) { ... }
//   api.inlay_load(...);
//   inlay_dl_close(&api);
#ifndef INLAY_DL_H
#define INLAY_DL_H

#include <stdio.h>
#include <string.h>

#include "inlay.h"

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <stdlib.h>
#include <windows.h>
#else
#include <dlfcn.h>
#endif
"""

BODY = """\
#ifdef _WIN32
static inline void* inlay_dl_library_open(const char* path, char* message, size_t n) {
  HMODULE library = NULL;
  const int n_wide = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  DWORD error = n_wide > 0 ? ERROR_NOT_ENOUGH_MEMORY : GetLastError();
  wchar_t* wide = n_wide > 0 ? (wchar_t*)malloc((size_t)n_wide * sizeof *wide) : NULL;
  if (wide) {
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, n_wide) > 0) library = LoadLibraryW(wide);
    error = GetLastError();
    free(wide);
  }
  if (!library) snprintf(message, n, "cannot load %s: error %lu", path, (unsigned long)error);
  return (void*)library;
}
static inline void inlay_dl_library_close(void* library) { FreeLibrary((HMODULE)library); }
static inline int inlay_dl_symbol(void* library, const char* name, void* function) {
  FARPROC symbol = GetProcAddress((HMODULE)library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}
#else
static inline void* inlay_dl_library_open(const char* path, char* message, size_t n) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    snprintf(message, n, "cannot load %s: %s", path, reason ? reason : "unknown reason");
  }
  return library;
}
static inline void inlay_dl_library_close(void* library) { dlclose(library); }
// A function pointer may not be cast from an object pointer in ISO C, so its bytes are copied.
static inline int inlay_dl_symbol(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}
#endif

// Forgets the functions and unloads the library. All handles must have been freed.
static inline void inlay_dl_close(inlay_dl* api) {
  if (api->library) inlay_dl_library_close(api->library);
  memset(api, 0, sizeof *api);
}

// Fails, with a message, if the library cannot be loaded, offers an older ABI than this header, or lacks a function.
// Returns 0 on success and -1 on failure, which leaves the table empty. `message` may be NULL if n is 0.
static inline int inlay_dl_open(const char* path, inlay_dl* api, char* message, size_t n) {
  uint32_t version;
  unsigned abi_major;
  int abi_minor;
  const char* missing = NULL;
  memset(api, 0, sizeof *api);
  if (n > 0) message[0] = 0;
  api->library = inlay_dl_library_open(path, message, n);
  if (!api->library) return -1;
  if (!inlay_dl_symbol(api->library, "inlay_abi_version", &api->inlay_abi_version)) {
    snprintf(message, n, "%s is not an Inlay library", path);
    inlay_dl_close(api);
    return -1;
  }
  version = api->inlay_abi_version();
  abi_major = version >> 16;
  abi_minor = version & 0xffffu;
  if (abi_major != INLAY_ABI_MAJOR || abi_minor < INLAY_ABI_MINOR) {
    snprintf(message, n, "%s offers ABI %u.%d, the program needs %d.%d", path, abi_major, abi_minor, INLAY_ABI_MAJOR, INLAY_ABI_MINOR);
    inlay_dl_close(api);
    return -1;
  }
#define INLAY_DL_RESOLVE(name) \\
  if (!inlay_dl_symbol(api->library, #name, &api->name)) missing = #name;
  INLAY_DL_FUNCTIONS(INLAY_DL_RESOLVE)
#undef INLAY_DL_RESOLVE
  if (missing) {
    snprintf(message, n, "%s lacks the function %s", path, missing);
    inlay_dl_close(api);
    return -1;
  }
  return 0;
}

#endif
"""


def emit(api: Api) -> str:
    names = " \\\n".join(f"  X({f.name})" for f in api.functions)
    out = [HEAD, "// X-macro over all functions, in the order of the header.", f"#define INLAY_DL_FUNCTIONS(X) \\\n{names}", "",
           "typedef struct inlay_dl {", "  void* library;"]
    for f in api.functions:
        text = f"  {c_types.C_RETURNS[f.returns]} (*{f.name})({c_types.function_params(api, f)});"
        out.append(c_types.declaration(text))
    return "\n".join([*out, "} inlay_dl;", "", BODY])
