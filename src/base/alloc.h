// Host memory of the engine's long-lived arrays: weights, KV pool, workspaces. All of it is taken at load or at session
// creation, so that a step allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/base/status.h"

namespace inlay {

// A zero-filled block of host memory, aligned to 64 bytes (a cache line, an AVX-512 register). Blocks of 2 MiB and more
// come from the system directly, aligned to 2 MiB (Windows: 64 KiB), with a hint for huge pages, and go back to it when freed.
class HostBuffer {
 public:
  static constexpr uint64_t kAlignment = 64;
  static constexpr uint64_t kHugePage = uint64_t{2} << 20;

  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept { swap(other); }
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    HostBuffer(std::move(other)).swap(*this);
    return *this;
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer();

  // `what` names the block in the error (OUT_OF_MEMORY, with the bytes required and available). Zero bytes give an
  // empty buffer. Pages of a large block become resident only when first touched.
  static Result<HostBuffer> allocate(uint64_t bytes, const char* what);

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }  // bytes as asked for
  // Makes pages of bytes [begin, end) resident; nothing may write there meanwhile. Where the system refuses, their first
  // use does.
  void take_pages(uint64_t begin, uint64_t end);
  void take_pages() { take_pages(0, size_); }
  bool empty() const { return size_ == 0; }

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

  void swap(HostBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
  }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t mapped_ = 0;  // bytes of the mapping, a multiple of kHugePage; 0: the block comes from operator new
};

}  // namespace inlay
