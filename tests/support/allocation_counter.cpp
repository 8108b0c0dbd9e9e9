#include "tests/support/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> count{0}, n_bytes{0};
thread_local int64_t count_of_thread = 0, fails_at = 0;

#ifdef _WIN32
void* aligned(size_t bytes, size_t alignment) { return _aligned_malloc(bytes, alignment); }
void free_aligned(void* p) { _aligned_free(p); }
#else
void* aligned(size_t bytes, size_t alignment) { return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment); }
void free_aligned(void* p) { std::free(p); }
#endif

void* allocate(size_t bytes, size_t alignment) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  if (++count_of_thread == fails_at) return nullptr;
  n_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (bytes == 0) bytes = 1;
  return alignment == 1 ? std::malloc(bytes) : aligned(bytes, alignment);
}

void* allocate_or_throw(size_t bytes, size_t alignment) {
  if (void* block = allocate(bytes, alignment)) return block;
  throw std::bad_alloc();
}

}  // namespace

namespace inlay::test {
int64_t allocation_count() { return count.load(std::memory_order_relaxed); }
int64_t allocations_of_this_thread() { return count_of_thread; }
void fail_allocation(int64_t n) { fails_at = n > 0 ? count_of_thread + n : 0; }
int64_t allocated_bytes() { return n_bytes.load(std::memory_order_relaxed); }
}  // namespace inlay::test

void* operator new(size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](size_t n) { return allocate_or_throw(n, 1); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new(size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<size_t>(a)); }
void* operator new[](size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<size_t>(a)); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<size_t>(a));
}
void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free_aligned(p); }
void operator delete[](void* p, std::align_val_t) noexcept { free_aligned(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free_aligned(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { free_aligned(p); }
