// A library that says that it is of ABI 1.0 and has two of its functions only.
#include <stdint.h>

uint32_t inlay_abi_version(void);
const char* inlay_version_string(void);

uint32_t inlay_abi_version(void) { return 1u << 16; }
const char* inlay_version_string(void) { return "0.0.9"; }
