#include "loader.h"

#include "since.h"

static inlay_dl none, loaded;
static const inlay_dl* current = &none;

const inlay_dl* inlay_go_api(void) { return __atomic_load_n(&current, __ATOMIC_ACQUIRE); }

// Finds the functions. Only those of a newer minor ABI than the library's may be missing.
static int resolve(const char* path, inlay_dl* api, uint32_t* abi, char* message, size_t n) {
  const char* missing = NULL;
  uint32_t version;
  if (!inlay_dl_symbol(api->library, "inlay_abi_version", &api->inlay_abi_version)) {
    snprintf(message, n, "%s is not an Inlay library", path);
    return -1;
  }
  version = *abi = api->inlay_abi_version();
  if (version >> 16 != INLAY_ABI_MAJOR) {
    snprintf(message, n, "%s offers ABI %u.%u, the program needs %d.x", path, (unsigned)(version >> 16),
             (unsigned)(version & 0xffffu), INLAY_ABI_MAJOR);
    return -1;
  }
#define RESOLVE(name, since) \
  if (!inlay_dl_symbol(api->library, #name, &api->name) && (version & 0xffffu) >= since) missing = #name;
  INLAY_GO_FUNCTIONS(RESOLVE)
#undef RESOLVE
  if (missing) {
    snprintf(message, n, "%s lacks the function %s", path, missing);
    return -1;
  }
  return 0;
}

int inlay_go_open(const char* path, uint32_t* version, char* message, size_t n) {
  inlay_dl api;
  *version = 0;
  memset(&api, 0, sizeof api);
  api.library = inlay_dl_library_open(path, message, n);
  if (!api.library) return -1;
  if (resolve(path, &api, version, message, n) != 0) {
    inlay_dl_library_close(api.library);
    return -1;
  }
  loaded = api;
  __atomic_store_n(&current, &loaded, __ATOMIC_RELEASE);
  return 0;
}

inlay_status inlay_go_missing(const char* function, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  const inlay_status status = api->library ? INLAY_UNSUPPORTED : INLAY_INVALID_STATE;
  if (!err) return status;
  memset(err, 0, sizeof *err);
  err->status = status;
  if (api->library) {
    const uint32_t version = api->inlay_abi_version();
    snprintf(err->message, sizeof err->message, "%s is not in the loaded library, which is of ABI %u.%u", function,
             (unsigned)(version >> 16), (unsigned)(version & 0xffffu));
  } else {
    snprintf(err->message, sizeof err->message, "%s: the Inlay library has not been loaded", function);
  }
  err->message_len = (uint32_t)strlen(err->message);
  return status;
}
