// Of the C library of MSVC what inlay_dl.h takes: see windows.h.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void* memcpy(void* to, const void* from, size_t n);
void* memset(void* to, int value, size_t n);
#ifdef __cplusplus
}
#endif
