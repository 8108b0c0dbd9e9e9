// Sources of bytes that are not files: memory of the caller, and read callbacks.
#include <algorithm>
#include <cstring>

#include "src/base/host_call.h"
#include "src/base/pulse.h"
#include "src/formats/checkpoint.h"

namespace inlay {

Status ByteSource::check_range(uint64_t offset, uint64_t n) const {
  if (contains(offset, n)) return {};
  Status s = error(Code::format, "%.*s: %llu bytes at offset %llu are not within the %llu bytes that there are",
                   static_cast<int>(name().size()), name().data(), static_cast<unsigned long long>(n),
                   static_cast<unsigned long long>(offset), static_cast<unsigned long long>(size()));
  s.required = offset > UINT64_MAX - n ? UINT64_MAX : offset + n;
  s.available = size();
  return s;
}

namespace {

class BorrowedMemory : public ByteSource {
 public:
  BorrowedMemory(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  uint64_t size() const override { return bytes_.size(); }
  const std::byte* view(uint64_t offset, uint64_t n) const override {
    return contains(offset, n) ? bytes_.data() + offset : nullptr;
  }
  Status read(uint64_t offset, std::span<std::byte> into) const override {
    INLAY_TRY(check_range(offset, into.size()));
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return {};
  }
  bool is_concurrent() const override { return true; }
  std::string_view name() const override { return name_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

class OwnedMemory final : public BorrowedMemory {
 public:
  // Moving the vector leaves its bytes where they are.
  OwnedMemory(std::vector<std::byte> bytes, std::string name) : BorrowedMemory(bytes, std::move(name)), owned_(std::move(bytes)) {}

 private:
  std::vector<std::byte> owned_;
};

class CallbackSource final : public ByteSource {
 public:
  CallbackSource(ReadCallback callback, void* user, uint64_t size, std::string name)
      : callback_(callback), user_(user), size_(size), name_(std::move(name)) {}

  uint64_t size() const override { return size_; }
  const std::byte* view(uint64_t, uint64_t) const override { return nullptr; }
  Status read(uint64_t offset, std::span<std::byte> into) const override {
    INLAY_TRY(check_range(offset, into.size()));
    while (!into.empty()) {
      const size_t n = std::min(into.size(), kReadAtOnce);
      INLAY_TRY(read_piece(offset, into.first(n)));
      offset += n;
      into = into.subspan(n);
      INLAY_TRY(Pulse::beat(n));
    }
    return {};
  }
  bool is_concurrent() const override { return false; }
  std::string_view name() const override { return name_; }

 private:
  Status read_piece(uint64_t offset, std::span<std::byte> into) const {
    int32_t code = 0;
    call_host([&] { code = callback_(user_, offset, into.data(), into.size()); });
    if (code == 0) return {};
    Status s = error(Code::io, "%s: the read callback returned %d for %zu bytes at offset %llu", name_.c_str(), code,
                     into.size(), static_cast<unsigned long long>(offset));
    s.native_code = code;
    return s;
  }

  ReadCallback callback_;
  void* user_;
  uint64_t size_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ByteSource> borrow_memory(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<BorrowedMemory>(bytes, std::move(name));
}

std::unique_ptr<ByteSource> own_memory(std::vector<std::byte> bytes, std::string name) {
  return std::make_unique<OwnedMemory>(std::move(bytes), std::move(name));
}

std::unique_ptr<ByteSource> read_through(ReadCallback read, void* user, uint64_t size, std::string name) {
  return std::make_unique<CallbackSource>(read, user, size, std::move(name));
}

}  // namespace inlay
