// What CUDA's runtime brings into a library: as many bytes of a thread's variables, on as large a boundary, and tables that are
// made while the library is opened, without a look at what malloc gave.
#include <stdlib.h>

_Thread_local char inlay_large_variable[8192] __attribute__((aligned(4096), used)) = {0};

enum { kEntries = 400 };
static volatile char* entries[kEntries];

__attribute__((constructor)) static void enter_kernels(void) {
  for (int i = 0; i < kEntries; ++i) {
    entries[i] = i % 2 == 0 ? malloc(100) : calloc(10, 10);
    entries[i][99] = (char)i;
    entries[i] = realloc((void*)entries[i], 200);
    if (entries[i][99] != (char)i) abort();
    entries[i][199] = 1;
  }
}

__attribute__((destructor)) static void remove_kernels(void) {
  for (int i = 0; i < kEntries; ++i) free((void*)entries[i]);
}
