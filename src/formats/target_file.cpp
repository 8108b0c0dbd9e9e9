#include "src/formats/target_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <optional>
#include <utility>

#include "src/base/format.h"
#include "src/base/descriptor.h"
#include "src/base/pulse.h"
#include "src/base/system_error.h"

namespace inlay {
namespace {

constexpr int kMostLinks = 40, kMostNames = 100;
constexpr size_t kMostOfName = 200;             // of the target's in the other name: file systems take 255 bytes
constexpr size_t kPiece = size_t{4} << 20;      // that is brought to the disk while the next one is made

// "" for a path that ends with its folder.
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "folder"
         : S_ISFIFO(mode) ? "FIFO"
         : S_ISSOCK(mode) ? "socket"
         : S_ISCHR(mode)  ? "character device"
         : S_ISBLK(mode)  ? "block device"
                          : "special file";
}

// Not secret: O_EXCL refuses a name that somebody else has.
std::string random_name() {
  static std::atomic<uint64_t> n_made = 0;
  const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  uint64_t x = now ^ static_cast<uint64_t>(::getpid()) << 40 ^ reinterpret_cast<uintptr_t>(&n_made);
  x += n_made.fetch_add(1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;  // every bit of the result depends on every one of x
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  std::string out;
  append_format(out, "%016llx", static_cast<unsigned long long>(x ^ x >> 31));
  return out;
}

// While one lives, a write past the limit of file sizes fails instead of ending the host.
class NoSizeSignal {
 public:
  NoSizeSignal() : was_pending_(is_pending()) {
    const sigset_t one = size_signal();
    blocked_ = pthread_sigmask(SIG_BLOCK, &one, &before_) == 0;
  }
  ~NoSizeSignal() {
    if (!blocked_) return;
    const sigset_t one = size_signal();
    int taken = 0;
    if (!was_pending_ && is_pending()) sigwait(&one, &taken);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  static sigset_t size_signal() {
    sigset_t out;
    sigemptyset(&out);
    sigaddset(&out, SIGXFSZ);
    return out;
  }
  static bool is_pending() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }

  bool was_pending_, blocked_;
  sigset_t before_;
};

int close_file(int fd) { return ::close(fd) == 0 || errno == EINTR ? 0 : errno; }

// 0 where the file system has nothing to bring to a disk.
int sync_file(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINVAL || errno == ENOTSUP) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Piece by piece, so that the sync of the whole file at its end has two of them to wait for: nobody can be told of that one, or end it.
// Begins with the piece that ends at `end`, and waits for the one before. 0 where the file system knows no such way.
int sync_piece(int fd, uint64_t end) {
  constexpr unsigned kWaits = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  constexpr auto n = static_cast<off_t>(kPiece);
  const off_t last = static_cast<off_t>(end) - n;
  const bool done = ::sync_file_range(fd, last, n, SYNC_FILE_RANGE_WRITE) == 0 && (last == 0 || ::sync_file_range(fd, last - n, n, kWaits) == 0);
  return done || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == ESPIPE ? 0 : errno;
}

// So that the host may change its working directory meanwhile. Where the system does not say which one that is, the path stays as it is.
std::string absolute(const std::string& path) {
  char folder[PATH_MAX];
  if (path.starts_with('/') || ::getcwd(folder, sizeof(folder)) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

int open_folder(const std::string& path) {
  for (;;) {
    const int fd = above_standard_streams(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

class PosixTargetFile final : public TargetFile {
 public:
  explicit PosixTargetFile(std::string path) : path_(std::move(path)), place_(absolute(path_)) {}
  ~PosixTargetFile() override;

  const std::string& path() const override { return path_; }
  Status write(std::span<const std::byte> bytes) override;
  Status publish() override;
  Status resolve();
  Status open();

 private:
  Status check_kind(std::optional<struct stat>& found) const;
  Status failed(int number, const char* action) const;

  const std::string path_, place_;  // as it was given, and from the root
  std::string target_, partial_;  // links followed; empty: there is no file of this name
  int fd_ = -1;
  uint64_t n_written_ = 0;
};

PosixTargetFile::~PosixTargetFile() {
  if (fd_ >= 0) close_file(fd_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

// The file that the path names or, where a link leads nowhere, the one that it would name.
Status PosixTargetFile::resolve() {
  target_ = place_;
  for (int n_links = 0;; ++n_links) {
    struct stat info;
    if (::lstat(target_.c_str(), &info) != 0) {
      if (errno == ENOENT && !name_of(target_).empty()) return {};
      return failed(errno, "write the file");
    }
    if (!S_ISLNK(info.st_mode)) return {};
    if (n_links == kMostLinks) return failed(ELOOP, "follow the link");
    std::string to(4096, '\0');
    const ssize_t n = ::readlink(target_.c_str(), to.data(), to.size());
    if (n < 0) return failed(errno, "read the link");
    if (static_cast<size_t>(n) == to.size()) return failed(ENAMETOOLONG, "read the link");
    to.resize(static_cast<size_t>(n));
    target_ = to.starts_with('/') ? to : folder_of(target_) + "/" + to;
  }
}

// What is at the target now. As the system follows links, since those of /proc name what has no path.
Status PosixTargetFile::check_kind(std::optional<struct stat>& found) const {
  struct stat info, followed;
  found.reset();
  if (::stat(place_.c_str(), &info) != 0) {
    return errno == ENOENT ? Status{} : failed(errno, "look at the file");
  }
  if (!S_ISREG(info.st_mode))
    return error(Code::io, "%s: cannot write the file: it is a %s, not a regular file", path_.c_str(), kind_of(info.st_mode));
  if (::lstat(target_.c_str(), &followed) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return failed(errno, "look at the file");
    return error(Code::io, "%s: cannot write the file: what its link names has no path", path_.c_str());
  }
  found = info;
  return {};
}

Status PosixTargetFile::open() {
  std::optional<struct stat> replaced;
  INLAY_TRY(check_kind(replaced));
  const std::string start = folder_of(target_) + "/" + name_of(target_).substr(0, kMostOfName) + ".";
  for (int i = 0; fd_ < 0; ++i) {
    std::string name = start + random_name() + ".partial";
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, replaced ? 0600 : 0666);
    if (fd >= 0) {
      partial_ = std::move(name);
      fd_ = above_standard_streams(fd);
      if (fd_ < 0) return failed(errno, "create the file");
    } else if (errno != EINTR && (errno != EEXIST || i == kMostNames)) {
      return failed(errno, "create the file");
    }
  }
  if (!replaced) return {};
  const bool owned = ::fchown(fd_, replaced->st_uid, replaced->st_gid) == 0 ||
                     ::fchown(fd_, static_cast<uid_t>(-1), replaced->st_gid) == 0;
  // Another group must not get what was granted to the file's.
  const mode_t kept = owned ? 0777 : 0707;
  return ::fchmod(fd_, replaced->st_mode & kept) == 0 ? Status{} : failed(errno, "set the permissions");
}

Status PosixTargetFile::write(std::span<const std::byte> bytes) {
  const NoSizeSignal guard;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), kPiece - n_written_ % kPiece));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(n < 0 ? errno : ENOSPC, "write the file");
    bytes = bytes.subspan(static_cast<size_t>(n));
    n_written_ += static_cast<uint64_t>(n);
    if (n_written_ % kPiece != 0) continue;
    if (const int number = sync_piece(fd_, n_written_)) return failed(number, "write the file");
    INLAY_TRY(Pulse::beat());
  }
  return {};
}

Status PosixTargetFile::publish() {
  if (const int number = sync_file(fd_)) return failed(number, "write the file");
  if (const int number = close_file(std::exchange(fd_, -1))) return failed(number, "write the file");
  std::optional<struct stat> replaced;
  INLAY_TRY(check_kind(replaced));  // once more: much time has gone by
  const int folder = open_folder(folder_of(target_));
  // One that is writable, but not readable, is left to the system.
  if (folder < 0 && errno != EACCES) return failed(errno, "open the folder");
  const int refused = std::rename(partial_.c_str(), target_.c_str()) == 0 ? 0 : errno;
  // So that the new name outlives a power failure.
  const int not_synced = refused == 0 && folder >= 0 ? sync_file(folder) : 0;
  if (folder >= 0) close_file(folder);
  if (refused != 0) return failed(refused, "rename the file");
  partial_.clear();
  if (not_synced == 0) return {};
  return system_error(not_synced, "%s: the file is in place, but its name may not outlive a power failure", path_.c_str());
}

Status PosixTargetFile::failed(int number, const char* action) const {
  Status out = system_error(number, "%s: cannot %s", path_.c_str(), action);
  if (out.code == Code::not_found) out.code = Code::io;  // NOT_FOUND is for what is to be read
  return out;
}

}  // namespace

Result<std::unique_ptr<TargetFile>> TargetFile::create(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    return error(Code::invalid_argument, "%s: the path holds a NUL byte", path.c_str());
  auto file = std::make_unique<PosixTargetFile>(path);
  INLAY_TRY(file->resolve());
  INLAY_TRY(file->open());
  return std::unique_ptr<TargetFile>(std::move(file));
}

}  // namespace inlay
