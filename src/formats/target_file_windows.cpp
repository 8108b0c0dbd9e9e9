#include <atomic>
#include <chrono>
#include <utility>

#include "src/base/format.h"
#include "src/base/pulse.h"
#include "src/base/system_error.h"
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#include "src/formats/target_file.h"

namespace inlay {
namespace {

constexpr int kMostNames = 100;
constexpr size_t kMostOfName = 200;  // of the target's in the other name: file systems take 255 units
constexpr size_t kPiece = size_t{4} << 20;  // between two beats

// Not secret: CREATE_NEW refuses a name that somebody else has.
std::wstring random_name() {
  static std::atomic<uint64_t> n_made = 0;
  const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  uint64_t x = now ^ uint64_t{GetCurrentProcessId()} << 40 ^ reinterpret_cast<uintptr_t>(&n_made);
  x += n_made.fetch_add(1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;  // every bit of the result depends on every one of x
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  std::wstring out(16, L'0');
  for (size_t i = 0; i < out.size(); ++i) out[i] = L"0123456789abcdef"[x >> (60 - 4 * i) & 15];
  return out;
}

bool is_absent(DWORD number) { return number == ERROR_FILE_NOT_FOUND || number == ERROR_PATH_NOT_FOUND; }

class WindowsTargetFile final : public TargetFile {
 public:
  explicit WindowsTargetFile(std::string path) : path_(std::move(path)) {}
  ~WindowsTargetFile() override;

  const std::string& path() const override { return path_; }
  Status write(std::span<const std::byte> bytes) override;
  Status publish() override;
  Status resolve();
  Status open();

 private:
  Status check_kind(bool& is_there) const;
  Status failed(DWORD number, const char* action) const;

  std::string path_;
  std::wstring target_, partial_;  // links followed; empty: there is no file of this name
  Handle file_;
  uint64_t n_written_ = 0;
};

WindowsTargetFile::~WindowsTargetFile() {
  file_.close();
  if (!partial_.empty()) DeleteFileW(partial_.c_str());
}

// The file that the path names, or the one that it would name.
Status WindowsTargetFile::resolve() {
  INLAY_ASSIGN(target_, wide_path(path_));
  if (target_.empty() || target_.ends_with(L'\\')) return failed(ERROR_PATH_NOT_FOUND, "write the file");
  const DWORD attributes = GetFileAttributesW(target_.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) return {};
  const Handle link(CreateFileW(target_.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!link) return failed(GetLastError(), "follow the link");
  std::wstring to(32768, L'\0');
  const DWORD n = GetFinalPathNameByHandleW(link.get(), to.data(), static_cast<DWORD>(to.size()), FILE_NAME_NORMALIZED);
  if (n == 0 || n >= to.size()) return failed(GetLastError(), "read the link");
  to.resize(n);
  target_ = std::move(to);
  return {};
}

// Whether there is something at the target now that may be replaced.
Status WindowsTargetFile::check_kind(bool& is_there) const {
  is_there = false;
  if (target_.starts_with(L"\\\\.\\"))
    return error(Code::io, "%s: cannot write the file: it is a device, not a regular file", path_.c_str());
  const DWORD attributes = GetFileAttributesW(target_.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    const DWORD number = GetLastError();
    return is_absent(number) ? Status{} : failed(number, "look at the file");
  }
  if (attributes & FILE_ATTRIBUTE_DIRECTORY)
    return error(Code::io, "%s: cannot write the file: it is a folder, not a regular file", path_.c_str());
  if (attributes & FILE_ATTRIBUTE_DEVICE)
    return error(Code::io, "%s: cannot write the file: it is a device, not a regular file", path_.c_str());
  if (attributes & FILE_ATTRIBUTE_READONLY) return error(Code::io, "%s: cannot write the file: it is read-only", path_.c_str());
  is_there = true;
  return {};
}

Status WindowsTargetFile::open() {
  bool replaces = false;
  INLAY_TRY(check_kind(replaces));
  const size_t name_at = target_.rfind(L'\\') + 1;
  const std::wstring start = target_.substr(0, name_at) + target_.substr(name_at, kMostOfName) + L".";
  for (int i = 0; !file_; ++i) {
    std::wstring name = start + random_name() + L".partial";
    // Nobody else writes there; the handle goes to no child.
    file_ = Handle(CreateFileW(name.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (file_) {
      partial_ = std::move(name);
    } else if (const DWORD number = GetLastError(); number != ERROR_FILE_EXISTS || i == kMostNames) {
      return failed(number, "create the file");
    }
  }
  return {};
}

Status WindowsTargetFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    DWORD n = 0;
    const auto most = static_cast<DWORD>(std::min<size_t>(bytes.size(), kPiece - n_written_ % kPiece));
    if (!WriteFile(file_.get(), bytes.data(), most, &n, nullptr)) return failed(GetLastError(), "write the file");
    if (n == 0) return failed(ERROR_DISK_FULL, "write the file");
    bytes = bytes.subspan(n);
    n_written_ += n;
    if (n_written_ % kPiece == 0) INLAY_TRY(Pulse::beat());
  }
  return {};
}

Status WindowsTargetFile::publish() {
  if (!FlushFileBuffers(file_.get())) return failed(GetLastError(), "write the file");
  if (!file_.close()) return failed(GetLastError(), "write the file");
  bool replaces = false;
  INLAY_TRY(check_kind(replaces));  // once more: much time has gone by
  const wchar_t *from = partial_.c_str(), *to = target_.c_str();
  // ReplaceFile keeps what was granted on the file that goes, and does so while somebody reads it.
  BOOL done = replaces && ReplaceFileW(to, from, nullptr, REPLACEFILE_IGNORE_MERGE_ERRORS | REPLACEFILE_IGNORE_ACL_ERRORS, nullptr, nullptr);
  if (!done) done = MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
  if (!done) return failed(GetLastError(), replaces ? "replace the file" : "rename the file");
  partial_.clear();
  return {};
}

Status WindowsTargetFile::failed(DWORD number, const char* action) const {
  Status out = windows_error(number, "%s: cannot %s", path_.c_str(), action);
  if (out.code == Code::not_found) out.code = Code::io;  // NOT_FOUND is for what is to be read
  return out;
}

}  // namespace

Result<std::unique_ptr<TargetFile>> TargetFile::create(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    return error(Code::invalid_argument, "%s: the path holds a NUL byte", path.c_str());
  auto file = std::make_unique<WindowsTargetFile>(path);
  INLAY_TRY(file->resolve());
  INLAY_TRY(file->open());
  return std::unique_ptr<TargetFile>(std::move(file));
}

}  // namespace inlay
