#include "src/base/alloc.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "src/base/host_limits.h"
#ifdef _WIN32
#include "src/base/windows_api.h"
#endif

namespace inlay {
namespace {

// AddressSanitizer puts red zones around blocks of operator new only, so everything goes there when it watches.
#if (defined(__linux__) || defined(_WIN32)) && !defined(__SANITIZE_ADDRESS__)
constexpr bool kMapLargeBlocks = true;
#else
constexpr bool kMapLargeBlocks = false;
#endif

Status out_of_memory(uint64_t bytes, uint64_t available, const char* what, int native_code = 0) {
  Status status = error(Code::out_of_memory, "%s needs %" PRIu64 " bytes of host memory, %" PRIu64 " are available",
                        what, bytes, available);
  status.native_code = native_code;
  status.required = bytes;
  status.available = available;
  return status;
}

#if defined(__linux__)
// Maps `bytes` (a multiple of the huge page) at a multiple of the huge page: maps one page more and cuts off both ends.
// Null, and errno, where the system refuses.
std::byte* map_aligned(uint64_t bytes) {
  constexpr uint64_t kAlign = HostBuffer::kHugePage;
  void* raw = mmap(nullptr, bytes + kAlign, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(raw);
  const uint64_t head = (kAlign - reinterpret_cast<uintptr_t>(start) % kAlign) % kAlign;
  if (head != 0) munmap(start, head);
  munmap(start + head + bytes, kAlign - head);
  madvise(start + head, bytes, MADV_HUGEPAGE);  // a hint: a kernel without huge pages refuses it and nothing is lost
  return start + head;
}

void unmap(std::byte* data, uint64_t bytes) { munmap(data, bytes); }
int last_error() { return errno; }
#elif defined(_WIN32)
// Zeroed pages of 4 KiB, which the system promises only if it has them; those of 2 MiB take a right that few users have.
std::byte* map_aligned(uint64_t bytes) {
  return static_cast<std::byte*>(VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
}

void unmap(std::byte* data, uint64_t) { VirtualFree(data, 0, MEM_RELEASE); }
int last_error() { return static_cast<int>(GetLastError()); }
#else
std::byte* map_aligned(uint64_t) { return nullptr; }
void unmap(std::byte*, uint64_t) {}
int last_error() { return 0; }
#endif

}  // namespace

Result<HostBuffer> HostBuffer::allocate(uint64_t bytes, const char* what) {
  HostBuffer buffer;
  if (bytes == 0) return buffer;
  const bool large = bytes >= kHugePage;
  if (large) {
    // The kernel promises memory that it does not have and kills the host program later; so the promise is checked
    // here.
    const uint64_t available = host_memory().available;
    if (bytes > available || bytes > std::numeric_limits<uint64_t>::max() / 4)
      return out_of_memory(bytes, available, what);
  }
  if (large && kMapLargeBlocks) {
    const uint64_t mapped = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    buffer.data_ = map_aligned(mapped);
    if (buffer.data_ == nullptr) {
      const int number = last_error();  // before host_memory() reads files
      return out_of_memory(bytes, host_memory().available, what, number);
    }
    buffer.size_ = bytes;
    buffer.mapped_ = mapped;
    return buffer;
  }
  buffer.data_ = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow));
  if (buffer.data_ == nullptr) return out_of_memory(bytes, host_memory().available, what);
  buffer.size_ = bytes;
  std::memset(buffer.data_, 0, bytes);
  return buffer;
}

void HostBuffer::take_pages(uint64_t begin, uint64_t end) {
  if (mapped_ == 0 || begin >= end) return;  // small blocks were zeroed
  constexpr uint64_t kPage = 4096;
#ifdef MADV_POPULATE_WRITE
  const uint64_t first = begin / kPage * kPage;
  if (madvise(data_ + first, (end - first + kPage - 1) / kPage * kPage, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (uint64_t at = begin; at < end; at += kPage) *static_cast<volatile std::byte*>(data_ + at) = std::byte{0};
}

HostBuffer::~HostBuffer() {
  if (data_ == nullptr) return;
  if (mapped_ != 0) {
    unmap(data_, mapped_);
    return;
  }
  ::operator delete (data_, std::align_val_t{kAlignment});
}

}  // namespace inlay
