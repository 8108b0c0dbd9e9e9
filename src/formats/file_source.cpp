// Files, read in pieces at any offset. They are not mapped: a mapped file that another process cuts short kills the
// process that reads it.
#include <algorithm>
#include <utility>

#include "src/base/held_folder.h"
#include "src/base/pulse.h"
#include "src/base/system_error.h"
#include "src/formats/checkpoint.h"

#ifdef _WIN32
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/descriptor.h"
#endif

namespace inlay {
namespace {

// What tells whether a file was written to.
struct FileState {
  uint64_t size = 0;
  int64_t seconds = 0, nanoseconds = 0;  // of the last write
  bool operator==(const FileState&) const = default;
};

#ifdef _WIN32

using File = Handle;

Status last_error(const std::string& path, const char* action) {
  return windows_error(GetLastError(), "%s: cannot %s", path.c_str(), action);
}

// Shared as files are elsewhere: while it is read, others may write to it, rename it, delete it and put another in its place.
Result<File> open(const std::string& path) {
  INLAY_ASSIGN(const std::wstring name, wide_path(HeldFolder::place_of(path)));
  constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  File file(CreateFileW(name.c_str(), GENERIC_READ, kShared, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (file) return file;
  const DWORD number = GetLastError(), attributes = GetFileAttributesW(name.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY)
    return error(Code::io, "%s: it is not a regular file", path.c_str());
  return windows_error(number, "%s: cannot open the file", path.c_str());
}

Result<FileState> state_of(const File& file, const std::string& path) {
  if (GetFileType(file.get()) != FILE_TYPE_DISK) return error(Code::io, "%s: it is not a regular file", path.c_str());
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(file.get(), &info)) return last_error(path, "get the file's size");
  const auto both = [](DWORD high, DWORD low) { return static_cast<uint64_t>(high) << 32 | low; };
  return FileState{both(info.nFileSizeHigh, info.nFileSizeLow),
                   static_cast<int64_t>(both(info.ftLastWriteTime.dwHighDateTime, info.ftLastWriteTime.dwLowDateTime))};
}

// How many bytes were read; 0 at the end of the file.
Result<size_t> read_some(const File& file, const std::string& path, uint64_t offset, std::span<std::byte> into) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset), at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD n = 0;
  if (ReadFile(file.get(), into.data(), static_cast<DWORD>(into.size()), &n, &at) || GetLastError() == ERROR_HANDLE_EOF)
    return static_cast<size_t>(n);
  return last_error(path, "read the file");
}

#else

class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Status last_error(const std::string& path, const char* action) {
  return system_error(errno, "%s: cannot %s", path.c_str(), action);
}

// File systems of networks let signals interrupt it.
int open_to_read(const std::string& path) {
  const HeldFolder::Place place = HeldFolder::place_of(path);
  for (;;) {
    // O_NONBLOCK so that a FIFO is refused later instead of blocking here; it changes nothing for regular files.
    const int fd = above_standard_streams(::openat(place.folder, place.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

Result<File> open(const std::string& path) {
  File file(open_to_read(path));
  if (file.get() < 0) return last_error(path, "open the file");
  return file;
}

Result<FileState> state_of(const File& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return last_error(path, "get the file's size");
  if (!S_ISREG(info.st_mode)) return error(Code::io, "%s: it is not a regular file", path.c_str());
#ifdef __APPLE__
  const timespec& written = info.st_mtimespec;
#else
  const timespec& written = info.st_mtim;
#endif
  return FileState{static_cast<uint64_t>(info.st_size), written.tv_sec, written.tv_nsec};
}

// How many bytes were read; 0 at the end of the file.
Result<size_t> read_some(const File& file, const std::string& path, uint64_t offset, std::span<std::byte> into) {
  for (;;) {
    const ssize_t n = ::pread(file.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return last_error(path, "read the file");
  }
}

#endif

class FileSource final : public ByteSource {
 public:
  FileSource(File file, FileState state, std::string path)
      : file_(std::move(file)), state_(state), path_(std::move(path)) {}

  uint64_t size() const override { return state_.size; }
  const std::byte* view(uint64_t, uint64_t) const override { return nullptr; }
  Status read(uint64_t offset, std::span<std::byte> into) const override {
    INLAY_TRY(check_range(offset, into.size()));
    while (!into.empty()) {
      INLAY_ASSIGN(const size_t n, read_some(file_, path_, offset, into.first(std::min(into.size(), kReadAtOnce))));
      if (n == 0) {
        return error(Code::io, "%s: the file was cut short while it was read: it ends at byte %llu, it had %llu bytes when it was opened", path_.c_str(),
                     static_cast<unsigned long long>(offset), static_cast<unsigned long long>(state_.size));
      }
      offset += n;
      into = into.subspan(n);
      INLAY_TRY(Pulse::beat(n));
    }
    return {};
  }
  bool is_concurrent() const override { return true; }
  Status check_unchanged() const override {
    INLAY_ASSIGN(const FileState now, state_of(file_, path_));
    if (now == state_) return {};
    return error(Code::io, "%s: the file was written to while it was read", path_.c_str());
  }
  std::string_view name() const override { return path_; }

 private:
  const File file_;
  const FileState state_;  // when it was opened
  const std::string path_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    return error(Code::invalid_argument, "%s: the path holds a NUL byte", path.c_str());
  INLAY_ASSIGN(File file, open(path));
  INLAY_ASSIGN(const FileState state, state_of(file, path));
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(std::move(file), state, path));
}

}  // namespace inlay
