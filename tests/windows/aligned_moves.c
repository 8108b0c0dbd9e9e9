// A vector on the stack, moved as if that were aligned. The negative control of tests/lint/check_dll.py: this file is compiled without the
// project's flags.
#include <immintrin.h>

__attribute__((target("avx"))) void moves(float* into, const float* from) {
  __asm__ volatile("vmovaps %%ymm0, -64(%%rsp)" : : : "memory");
  _mm256_storeu_ps(into, _mm256_loadu_ps(from));
}
