// The headers as a program for MSVC or for clang includes them.
#include "inlay.h"
#ifdef INLAY_WITH_LOADER
#include "inlay_dl.h"
#endif

uint32_t version_of_library(const inlay_load_params* params);
uint32_t version_of_library(const inlay_load_params* params) {
#ifdef INLAY_WITH_LOADER
  inlay_dl api;
  char message[64];
  if (inlay_dl_open("libinlay.dll", &api, message, sizeof message) != 0) return 0;
  inlay_dl_close(&api);
#endif
  return params->struct_size == 0 ? 0 : inlay_abi_version();
}
