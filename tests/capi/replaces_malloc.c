// A library that breaks the rule that host_malloc.c checks.
#include <stddef.h>

__attribute__((visibility("default"))) size_t malloc_usable_size(void* block) { return block ? 1 : 0; }
__attribute__((visibility("default"))) void* _Znwm(size_t n) { return n ? NULL : NULL; }
