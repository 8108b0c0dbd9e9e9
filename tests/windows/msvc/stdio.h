// Of the C library of MSVC what inlay_dl.h takes: see windows.h.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
int snprintf(char* out, size_t n, const char* format, ...);
#ifdef __cplusplus
}
#endif
