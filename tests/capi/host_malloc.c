// The host keeps its own allocator: loading the library, even for everybody to see, changes what none of these names
// means, and the library itself offers none of them. Usage: host_malloc LIBRARY. It fails with a library that defines
// one of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static const char* const names[] = {
    "malloc", "free",  "calloc", "realloc", "posix_memalign", "aligned_alloc", "malloc_usable_size",
    "_Znwm",  "_Znam", "_ZdlPv", "_ZdaPv"};
enum { N_NAMES = sizeof names / sizeof *names };

// The file that an address was mapped from.
static const char* origin(void* address) {
  Dl_info info;
  return address && dladdr(address, &info) ? info.dli_fname : "nowhere";
}

int main(int argc, char** argv) {
  void *before[N_NAMES], *library;
  int i, n_changed = 0;
  if (argc != 2) return 2;
  for (i = 0; i < N_NAMES; ++i) before[i] = dlsym(RTLD_DEFAULT, names[i]);
  library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    printf("%s\n", dlerror());
    return 2;
  }
  for (i = 0; i < N_NAMES; ++i) {
    void* now = dlsym(RTLD_DEFAULT, names[i]);
    void* own = dlsym(library, names[i]);  // also searches what the library needs, so that the C library's is found
    if (now == before[i] && own == before[i]) continue;
    ++n_changed;
    printf("%s was of %s, is of %s; the library's is of %s\n", names[i], origin(before[i]), origin(now), origin(own));
  }
  printf("%d names, %d changed\n", (int)N_NAMES, n_changed);
  return n_changed == 0 ? 0 : 1;
}
