// Memory for what goes on without asking whether there is any. The linker sends calls of malloc and free here (--wrap), those
// of the C++ library and of everything else that is linked statically.
//
// - The C++ library keeps a pool for exceptions that malloc has no room for, and takes it from malloc when this library is loaded.
//   Where it gets nothing then, the first such exception would end the process.
// - CUDA's runtime (INLAY_THREAD_STORAGE: builds with it) enters its kernels in tables while this library is loaded, and writes to
//   whatever malloc gave it.
#include <atomic>
#include <cstddef>

#ifdef INLAY_THREAD_STORAGE
#include <malloc.h>

#include <algorithm>
#include <cstring>

#include "src/base/thread_storage.h"
#endif

extern "C" {

void* __real_malloc(size_t n);
void __real_free(void* p);
void* __wrap_malloc(size_t n);
void __wrap_free(void* p);
}

namespace {

alignas(std::max_align_t) std::byte pool[80 * 1024];  // libstdc++ asks for some 72 KB
std::atomic<bool> is_taken{false};

void* for_exceptions(size_t n) {
  constexpr size_t kLeast = 64 * 1024;
  if (n < kLeast || n > sizeof pool || is_taken.exchange(true)) return nullptr;
  return pool;
}

#ifdef INLAY_THREAD_STORAGE
// Given out from the front and never again; each piece with its size before it. Pages that are not used take no memory.
alignas(std::max_align_t) std::byte of_loading[2 << 20];
std::atomic<size_t> n_given{0};

struct alignas(std::max_align_t) Size {
  size_t n;
};

bool is_of_loading(const void* p) { return p >= of_loading && p < of_loading + sizeof of_loading; }
size_t size_of(const void* p) { return (static_cast<const Size*>(p) - 1)->n; }

void* for_loading(size_t n) {
  if (!inlay_is_loading.load(std::memory_order_relaxed) || n > sizeof of_loading) return nullptr;
  const size_t n_bytes = sizeof(Size) + (n + sizeof(Size) - 1) / sizeof(Size) * sizeof(Size);
  const size_t at = n_given.fetch_add(n_bytes, std::memory_order_relaxed);
  if (at > sizeof of_loading || n_bytes > sizeof of_loading - at) return nullptr;
  auto* const size = reinterpret_cast<Size*>(of_loading + at);
  size->n = n;
  return size + 1;
}
#else
bool is_of_loading(const void*) { return false; }
void* for_loading(size_t) { return nullptr; }
#endif

}  // namespace

extern "C" {

void* __wrap_malloc(size_t n) {
  void* p = __real_malloc(n);
  if (!p) p = for_exceptions(n);
  return p ? p : for_loading(n);
}

void __wrap_free(void* p) {
  if (p != pool && !is_of_loading(p)) __real_free(p);
}

#ifdef INLAY_THREAD_STORAGE
void* __real_calloc(size_t n, size_t size);
void* __wrap_calloc(size_t n, size_t size);
void* __real_realloc(void* p, size_t n);
void* __wrap_realloc(void* p, size_t n);

void* __wrap_calloc(size_t n, size_t size) {
  void* p = __real_calloc(n, size);
  return p || (size != 0 && n > sizeof of_loading / size) ? p : for_loading(n * size);
}

void* __wrap_realloc(void* p, size_t n) {
  if (p && is_of_loading(p)) {
    void* to = __wrap_malloc(n);
    if (to) std::memcpy(to, p, std::min(n, size_of(p)));
    return to;
  }
  void* to = __real_realloc(p, n);
  if (to || n == 0) return to;
  to = for_loading(n);
  if (to && p) {
    std::memcpy(to, p, std::min(n, malloc_usable_size(p)));
    __real_free(p);
  }
  return to;
}
#endif
}
