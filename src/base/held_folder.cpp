#include "src/base/held_folder.h"

#include <cerrno>
#include <string_view>

#include "src/base/files.h"
#ifdef _WIN32
#include "src/base/wide_path.h"
#else
#include <fcntl.h>
#include <unistd.h>

#include "src/base/descriptor.h"
#endif

namespace inlay {
namespace {

// Here alone, as Pulse's.
thread_local const HeldFolder* held = nullptr;

#ifdef _WIN32

bool is_separator(char c) { return c == '/' || c == '\\'; }
bool is_from_root(std::string_view path) { return !path.empty() && (is_separator(path[0]) || path.find(':') == 1); }

Handle open_folder(const std::string& path) {
  constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const Result<std::wstring> name = wide_path(path);
  if (!name.ok()) return Handle();
  Handle folder(CreateFileW(name->c_str(), 0, kShared, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  BY_HANDLE_FILE_INFORMATION info;
  if (folder && GetFileInformationByHandle(folder.get(), &info) && info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) return folder;
  return Handle();
}

// Without the links of its path; empty where the system does not say.
std::string place_of_folder(const Handle& folder) {
  std::wstring place(32768, L'\0');
  const DWORD n = GetFinalPathNameByHandleW(folder.get(), place.data(), static_cast<DWORD>(place.size()), FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
  if (n == 0 || n >= place.size()) return {};
  place.resize(n);
  const std::string all = utf8(place);
  constexpr std::string_view kLong = "\\\\?\\", kLongNetwork = "\\\\?\\UNC\\";
  if (all.starts_with(kLongNetwork)) return "\\\\" + all.substr(kLongNetwork.size());
  return all.starts_with(kLong) ? all.substr(kLong.size()) : all;
}

#else

bool is_separator(char c) { return c == '/'; }
bool is_from_root(std::string_view path) { return path.starts_with('/'); }

#ifdef O_PATH
constexpr int kToSearch = O_PATH;  // asks for no right to read the folder
#else
constexpr int kToSearch = O_RDONLY;
#endif

int open_folder(const std::string& path) {
  for (;;) {
    const int fd = above_standard_streams(::open(path.c_str(), kToSearch | O_DIRECTORY | O_CLOEXEC));
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

#endif

// Without "./" in front: a file's folder is "" where a folder's own path may be ".".
std::string_view plain(std::string_view path) {
  while (path.size() > 1 && path[0] == '.' && is_separator(path[1])) {
    path.remove_prefix(1);
    while (!path.empty() && is_separator(path[0])) path.remove_prefix(1);
  }
  return path == "." ? std::string_view() : path;
}

std::string_view without_end(std::string_view path) {
  while (path.size() > 1 && is_separator(path.back())) path.remove_suffix(1);
  return path;
}

}  // namespace

HeldFolder::Use::Use(const HeldFolder* folder) : before_(held) { held = folder; }
HeldFolder::Use::~Use() { held = before_; }
const HeldFolder* HeldFolder::used() { return held; }

HeldFolder::HeldFolder(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return;
  const auto hold = [this](const std::string& folder) {
    path_ = plain(without_end(folder));
    folder_ = open_folder(folder.empty() ? "." : folder);
#ifdef _WIN32
    if (folder_) place_ = place_of_folder(folder_);
    return !place_.empty();
#else
    return folder_ >= 0;
#endif
  };
  if (!hold(path)) (void)hold(folder_part(path));
}

#ifndef _WIN32
HeldFolder::~HeldFolder() {
  if (folder_ >= 0) ::close(folder_);
}
#endif

bool HeldFolder::has(const std::string& path, std::string& rest) const {
  std::string_view behind = plain(path);
  if (!path_.empty()) {
    if (!behind.starts_with(path_)) return false;
    behind.remove_prefix(path_.size());
    if (!behind.empty() && !is_separator(behind[0]) && !is_separator(path_.back())) return false;
    while (!behind.empty() && is_separator(behind[0])) behind.remove_prefix(1);
  } else if (is_from_root(behind)) {
    return false;
  }
  rest = behind.empty() ? "." : behind;
  return true;
}

#ifdef _WIN32

std::string HeldFolder::place_of(const std::string& path) {
  std::string rest;
  if (!held || held->place_.empty() || !held->has(path, rest)) return path;
  return rest == "." ? held->place_ : held->place_ + (is_separator(held->place_.back()) ? "" : "\\") + rest;
}

#else

HeldFolder::Place HeldFolder::place_of(const std::string& path) {
  std::string rest;
  if (!held || held->folder_ < 0 || !held->has(path, rest)) return {AT_FDCWD, path};
  return {held->folder_, rest};
}

#endif

}  // namespace inlay
