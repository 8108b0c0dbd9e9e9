// A program that MSVC's conventions link, with no C library: exits with 0 where the library has the header's ABI.
#include "inlay.h"

__declspec(dllimport) __attribute__((noreturn)) void ExitProcess(unsigned code);

void start(void) { ExitProcess(inlay_abi_version() == (INLAY_ABI_MAJOR << 16 | INLAY_ABI_MINOR) ? 0 : 1); }
