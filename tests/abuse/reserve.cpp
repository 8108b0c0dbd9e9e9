// operator new of this program, which goes on where malloc fails: what cannot go on then is the library, not the host
// that looks at it.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if !INLAY_SANITIZED
namespace {

alignas(16) std::byte reserve[16 << 20];  // never given back: a case takes some kilobytes
std::atomic<size_t> taken = 0;

void* from_reserve(size_t n) {
  const size_t bytes = (n + 15) & ~size_t{15}, at = taken.fetch_add(bytes);
  if (at + bytes > sizeof reserve) std::abort();
  return reserve + at;
}

bool is_reserve(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p), begin = reinterpret_cast<uintptr_t>(reserve);
  return at >= begin && at < begin + sizeof reserve;
}

}  // namespace

void* operator new(size_t n) {
  void* p = std::malloc(n == 0 ? 1 : n);
  return p ? p : from_reserve(n);
}
void* operator new[](size_t n) { return operator new(n); }
void operator delete(void* p) noexcept {
  if (!is_reserve(p)) std::free(p);
}
void operator delete[](void* p) noexcept { operator delete(p); }
void operator delete(void* p, size_t) noexcept { operator delete(p); }
void operator delete[](void* p, size_t) noexcept { operator delete(p); }
#endif
