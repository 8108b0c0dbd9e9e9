// Calls of the C library that fail from the n-th on, in the whole process. In a program that this library is linked to,
// or that was started with it as LD_PRELOAD and INLAY_FAILING=KIND:N.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kFailMalloc = 1, kFailMmap = 2, kFailThread = 4 };

// Calls of these kinds fail from the n-th one on, counted from 1; `once`: that one alone. n 0: none fails, they are
// counted.
void fail_calls(unsigned kinds, uint64_t n, int once);
// How many there were.
uint64_t n_counted_calls(void);

#ifdef __cplusplus
}
#endif
