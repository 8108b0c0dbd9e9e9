// Read-only memory-mapped files: POSIX mmap and Windows file mappings.
#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/system_error.h"
#include "src/formats/checkpoint.h"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace inlay {
namespace {

struct Mapping {
  const std::byte* data = nullptr;
  uint64_t size = 0;
  int fd = -1;  // POSIX: the file itself, for copies that need no page of the mapping
};

#ifdef _WIN32

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (valid()) CloseHandle(handle_);
  }
  bool valid() const { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

Status last_error(const std::string& path, const char* action) {
  const DWORD code = GetLastError();
  const bool absent = code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
  Status out = error(absent ? Code::not_found : Code::io, "%s: cannot %s: error %lu of Windows", path.c_str(), action, code);
  out.native_code = static_cast<int32_t>(code);
  return out;
}

Result<Mapping> map(const std::string& path) {
  std::wstring wide(path.size() + 1, L'\0');
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.c_str(), -1, wide.data(), static_cast<int>(wide.size())))
    return last_error(path, "read the path as UTF-8");
  const Handle file(CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr));
  if (!file.valid()) return last_error(path, "open the file");
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file.get(), &size)) return last_error(path, "get the file's size");
  if (size.QuadPart == 0) return Mapping{};
  const Handle mapping(CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (!mapping.valid()) return last_error(path, "map the file");
  const void* data = MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0);
  if (data == nullptr) return last_error(path, "map the file");
  return Mapping{static_cast<const std::byte*>(data), static_cast<uint64_t>(size.QuadPart)};
}

void unmap(const Mapping& mapping) { UnmapViewOfFile(mapping.data); }

void drop_pages(const std::byte*, uint64_t) {}  // a read-only view's pages leave the working set by themselves

Status copy(const Mapping& mapping, const std::string&, uint64_t offset, std::span<std::byte> into) {
  std::memcpy(into.data(), mapping.data + offset, into.size());
  return {};
}

#else

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Status last_error(const std::string& path, const char* action) {
  return system_error(errno, "%s: cannot %s", path.c_str(), action);
}

// File systems of networks let signals interrupt it.
int open_to_read(const std::string& path) {
  for (;;) {
    // O_NONBLOCK so that a FIFO is refused later instead of blocking here; it changes nothing for regular files.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

Result<Mapping> map(const std::string& path) {
  Descriptor file(open_to_read(path));
  if (file.get() < 0) return last_error(path, "open the file");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return last_error(path, "get the file's size");
  if (!S_ISREG(info.st_mode)) return error(Code::io, "%s: not a regular file", path.c_str());
  if (info.st_size == 0) return Mapping{};  // mmap refuses a length of 0
  void* data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return last_error(path, "map the file");
  return Mapping{static_cast<const std::byte*>(data), static_cast<uint64_t>(info.st_size), file.release()};
}

void unmap(const Mapping& mapping) {
  ::munmap(const_cast<std::byte*>(mapping.data), mapping.size);
  ::close(mapping.fd);
}

// From the system's cache without a page fault for every page, and an error where a file that was cut off would be a
// SIGBUS.
Status copy(const Mapping& mapping, const std::string& path, uint64_t offset, std::span<std::byte> into) {
  constexpr size_t kMost = size_t{1} << 30;  // some systems refuse more than 2^31 bytes at once
  while (!into.empty()) {
    const ssize_t n = ::pread(mapping.fd, into.data(), std::min(into.size(), kMost), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error(path, "read the file");
    if (n == 0) {
      return error(Code::io, "%s: the file ends at %llu, it had %llu bytes when it was opened", path.c_str(),
                   static_cast<unsigned long long>(offset), static_cast<unsigned long long>(mapping.size));
    }
    offset += static_cast<uint64_t>(n);
    into = into.subspan(static_cast<size_t>(n));
  }
  return {};
}

// Only whole pages inside the range: its neighbours keep theirs.
void drop_pages(const std::byte* data, uint64_t n) {
  const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + n) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

#endif

class MappedFile final : public ByteSource {
 public:
  MappedFile(Mapping mapping, std::string path) : mapping_(mapping), path_(std::move(path)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() override {
    if (mapping_.data != nullptr) unmap(mapping_);
  }

  uint64_t size() const override { return mapping_.size; }
  const std::byte* view(uint64_t offset, uint64_t n) const override {
    return contains(offset, n) ? mapping_.data + offset : nullptr;
  }
  Status read(uint64_t offset, std::span<std::byte> into) const override {
    INLAY_TRY(check_range(offset, into.size()));
    return into.empty() ? Status{} : copy(mapping_, path_, offset, into);
  }
  bool is_concurrent() const override { return true; }
  void discard(uint64_t offset, uint64_t n) const override {
    if (n > 0 && contains(offset, n)) drop_pages(mapping_.data + offset, n);
  }
  std::string_view name() const override { return path_; }

 private:
  Mapping mapping_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> map_file(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    return error(Code::invalid_argument, "%s: the path holds a NUL byte", path.c_str());
  INLAY_ASSIGN(const Mapping mapping, map(path));
  return std::unique_ptr<ByteSource>(std::make_unique<MappedFile>(mapping, path));
}

}  // namespace inlay
