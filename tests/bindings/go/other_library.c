// Libraries that are not of the ABI that a program was made for: OTHER_ABI is major x 65536 + minor. They have two of the
// functions only.
#include <stdint.h>

uint32_t inlay_abi_version(void);
const char* inlay_version_string(void);

uint32_t inlay_abi_version(void) { return OTHER_ABI; }
const char* inlay_version_string(void) { return "0.0.9"; }
