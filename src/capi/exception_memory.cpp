// Memory to report that there is no memory. The C++ library keeps a pool for exceptions that malloc has no room for, and takes
// it from malloc when this library is loaded. Where it gets nothing then, the first such exception would end the process. The
// linker sends its calls of malloc and free here (--wrap), as those of everything that is linked statically.
#include <atomic>
#include <cstddef>

extern "C" {

void* __real_malloc(size_t n);
void __real_free(void* p);
void* __wrap_malloc(size_t n);
void __wrap_free(void* p);

namespace {

alignas(std::max_align_t) std::byte pool[80 * 1024];  // libstdc++ asks for some 72 KB
std::atomic<bool> is_taken{false};

}  // namespace

void* __wrap_malloc(size_t n) {
  constexpr size_t kLeast = 64 * 1024;
  void* p = __real_malloc(n);
  if (p || n < kLeast || n > sizeof pool || is_taken.exchange(true)) return p;
  return pool;
}

void __wrap_free(void* p) {
  if (p != pool) __real_free(p);
}
}
