// A library that takes memory of the host's allocator: the negative control of host_malloc.c.
#include <stdlib.h>

__declspec(dllexport) void take(void);
void take(void) {
  for (int i = 0; i < 3; ++i) {
    volatile char* block = malloc(20000);
    if (block) block[0] = 1;
    free((void*)block);
  }
}
