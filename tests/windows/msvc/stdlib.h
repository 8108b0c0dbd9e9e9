// Of the C library of MSVC what inlay_dl.h takes: see windows.h.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void* malloc(size_t n);
void free(void* block);
#ifdef __cplusplus
}
#endif
