#include "src/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "src/base/descriptor.h"
#include "src/base/held_folder.h"
#include "src/base/system_error.h"

namespace inlay {
namespace {

bool is_absent(int number) { return number == ENOENT || number == ENOTDIR; }

// None where there is nothing.
Result<std::optional<struct stat>> look_at(const std::string& path) {
  struct stat info {};
  const HeldFolder::Place place = HeldFolder::place_of(path);
  if (::fstatat(place.folder, place.name.c_str(), &info, 0) == 0) return std::optional(info);
  if (is_absent(errno)) return std::optional<struct stat>();
  return system_error(errno, "%s: cannot open the file", path.c_str());
}

}  // namespace

Result<PathKind> kind_of_path(const std::string& path) {
  INLAY_ASSIGN(const std::optional<struct stat> info, look_at(path));
  if (!info) return PathKind::absent;
  return S_ISDIR(info->st_mode) ? PathKind::folder : S_ISREG(info->st_mode) ? PathKind::file : PathKind::other;
}

Result<std::string> full_path(const std::string& path) {
  std::string all = path;
  if (!path.starts_with('/')) {
    const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
    if (!here) return system_error(errno, "%s: there is no current folder", path.c_str());
    all = std::string(here.get()) + "/" + path;
  }
  std::string out;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('/', begin), all.size());
    const std::string_view part = std::string_view(all).substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      out.resize(out.empty() ? 0 : out.rfind('/'));
    } else {
      out.append("/").append(part);
    }
  }
  return out.empty() ? "/" : out;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

std::string folder_part(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, std::max<size_t>(slash, 1));
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const HeldFolder::Place place = HeldFolder::place_of(folder);
  const int fd = above_standard_streams(::openat(place.folder, place.name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, decltype(close)> opened(fd >= 0 ? ::fdopendir(fd) : nullptr, close);
  if (!opened) {
    const int number = errno;
    if (fd >= 0) ::close(fd);
    if (is_absent(number)) return names;
    return system_error(number, "%s: cannot read the folder", folder.c_str());
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
