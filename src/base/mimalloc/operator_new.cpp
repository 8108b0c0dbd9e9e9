// operator new and delete of the shared library, all forms, on its private mimalloc. The export map keeps them local,
// so the host's operators and malloc stay what they are. mi_new is not used: compiled as C it aborts when memory runs
// out.
//
// Where the process has used up its keys of threads before the library is opened, mimalloc has none by which it would hear of a thread's
// end, and would lose what the thread had, some 200 KB each. The operators are the system's allocator then.
#include <mimalloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#ifndef _WIN32
#include <pthread.h>
#endif

namespace {

enum class Allocator : unsigned char { unknown, own, of_the_system };

std::atomic<Allocator> allocator{Allocator::unknown};

// At the first allocation, while the library is opened.
Allocator choose() noexcept {
  Allocator found = Allocator::own;
#ifndef _WIN32
  pthread_key_t key;
  if (pthread_key_create(&key, nullptr) == 0) pthread_key_delete(key);
  else found = Allocator::of_the_system;
#endif
  Allocator before = Allocator::unknown;
  return allocator.compare_exchange_strong(before, found) ? found : before;
}

bool is_own() noexcept {
  Allocator now = allocator.load(std::memory_order_relaxed);
  if (now == Allocator::unknown) [[unlikely]] now = choose();
  return now == Allocator::own;
}

void* take(std::size_t n) noexcept { return is_own() ? mi_malloc(n) : std::malloc(n != 0 ? n : 1); }

void* take(std::size_t n, std::size_t alignment) noexcept {
  if (is_own()) return mi_malloc_aligned(n, alignment);
#ifdef _WIN32
  return nullptr;
#else
  void* out = nullptr;
  return posix_memalign(&out, alignment < sizeof(void*) ? sizeof(void*) : alignment, n) == 0 ? out : nullptr;
#endif
}

void give(void* p) noexcept { is_own() ? mi_free(p) : std::free(p); }

void* checked(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

constexpr std::size_t bytes(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t n) { return checked(take(n)); }
void* operator new[](std::size_t n) { return checked(take(n)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void* operator new(std::size_t n, std::align_val_t a) { return checked(take(n, bytes(a))); }
void* operator new[](std::size_t n, std::align_val_t a) { return checked(take(n, bytes(a))); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(n, bytes(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(n, bytes(a));
}

void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, std::size_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t) noexcept { give(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }

#ifdef INLAY_NO_ENVIRONMENT
// What mimalloc of an archive takes for the environment: src/base/mimalloc.cmake.
extern "C" {
char* inlay_no_getenv(const char* name);
char* inlay_no_getenv(const char*) { return nullptr; }
extern char* inlay_no_variables[1];
char* inlay_no_variables[1] = {nullptr};
extern char **inlay_no_environ, **inlay_no_environment;
char **inlay_no_environ = inlay_no_variables, **inlay_no_environment = inlay_no_variables;
}
#endif
