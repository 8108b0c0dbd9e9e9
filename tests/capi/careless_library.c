// A library with all the right names that checks nothing: abi_calls must find fault with it.
#include <string.h>

#include "include/capi/inlay_dl.h"

// The right ABI version, so that it can be opened, and otherwise the address of an empty text.
#define CARELESS(name)                                                                                  \
  __attribute__((visibility("default"))) uintptr_t careless_##name(void) __asm__(#name);                \
  uintptr_t careless_##name(void) {                                                                     \
    return strcmp(#name, "inlay_abi_version") == 0 ? (uintptr_t)INLAY_ABI_MAJOR << 16 | INLAY_ABI_MINOR \
                                                   : (uintptr_t) "";                                    \
  }
INLAY_DL_FUNCTIONS(CARELESS)
