#include "src/base/files.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "src/base/system_error.h"

namespace inlay {
namespace {

bool is_absent(int number) { return number == ENOENT || number == ENOTDIR; }

// None where there is nothing.
Result<std::optional<struct stat>> look_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return std::optional(info);
  if (is_absent(errno)) return std::optional<struct stat>();
  return system_error(errno, "%s: cannot open the file", path.c_str());
}

}  // namespace

Result<PathKind> kind_of_path(const std::string& path) {
  INLAY_ASSIGN(const std::optional<struct stat> info, look_at(path));
  if (!info) return PathKind::absent;
  return S_ISDIR(info->st_mode) ? PathKind::folder : S_ISREG(info->st_mode) ? PathKind::file : PathKind::other;
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened(::opendir(folder.c_str()), close);
  if (!opened) {
    if (is_absent(errno)) return names;
    return system_error(errno, "%s: cannot read the folder", folder.c_str());
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (!entry) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return system_error(errno, "%s: cannot read the folder", folder.c_str());
  return names;
}

Result<bool> is_same_file(const std::string& a, const std::string& b) {
  INLAY_ASSIGN(const std::optional<struct stat> first, look_at(a));
  INLAY_ASSIGN(const std::optional<struct stat> second, look_at(b));
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

}  // namespace inlay
