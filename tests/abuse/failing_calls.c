#define _GNU_SOURCE
#include "tests/abuse/failing_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static atomic_uint watched;
static _Atomic uint64_t n_calls, n_good, n_bad;
static int (*real_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

__attribute__((constructor)) static void begin(void) { *(void**)&real_create = dlsym(RTLD_NEXT, "pthread_create"); }

// Calls fail from main on: before it a program can catch nothing.
static int (*real_main)(int, char**, char**);
static int failing_main(int argc, char** argv, char** environment) {
  const char* given = getenv("INLAY_FAILING");
  if (given) {
    char* rest = NULL;
    const unsigned kinds = (unsigned)strtoul(given, &rest, 10);
    fail_calls(kinds, *rest == ':' ? strtoull(rest + 1, NULL, 10) : 0, 0);
  }
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  int (*real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = program;
  return real(failing_main, argc, argv, init, fini, loader_fini, stack_end);
}

void fail_calls(unsigned kinds, uint64_t n, int once) {
  atomic_store(&watched, 0);
  atomic_store(&n_calls, 0);
  atomic_store(&n_good, n == 0 ? UINT64_MAX : n - 1);
  atomic_store(&n_bad, once ? 1 : UINT64_MAX);
  atomic_store(&watched, kinds);
}

uint64_t n_counted_calls(void) { return atomic_load(&n_calls); }

static int fails(unsigned kind) {
  if (!(atomic_load_explicit(&watched, memory_order_relaxed) & kind)) return 0;
  const uint64_t i = atomic_fetch_add(&n_calls, 1), good = atomic_load(&n_good);
  return i >= good && i - good < atomic_load(&n_bad);
}

static void* no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t n) { return fails(kFailMalloc) ? no_memory() : __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return fails(kFailMalloc) ? no_memory() : __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return fails(kFailMalloc) ? no_memory() : __libc_realloc(p, n); }
void* memalign(size_t a, size_t n) { return fails(kFailMalloc) ? no_memory() : __libc_memalign(a, n); }
void* aligned_alloc(size_t a, size_t n) { return memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) {
  void* made = memalign(a, n);
  if (!made) return ENOMEM;
  *p = made;
  return 0;
}

void* mmap(void* at, size_t n, int protection, int flags, int fd, off_t offset) {
  if (fails(kFailMmap)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t n, int protection, int flags, int fd, off_t offset) {
  return mmap(at, n, protection, flags, fd, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  return fails(kFailThread) ? EAGAIN : real_create(thread, attributes, run, argument);
}
