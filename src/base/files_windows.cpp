#include "src/base/files.h"

#include <optional>

#include "src/base/held_folder.h"
#include "src/base/system_error.h"
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"

namespace inlay {
namespace {

constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

bool is_absent(DWORD number) {
  return number == ERROR_FILE_NOT_FOUND || number == ERROR_PATH_NOT_FOUND || number == ERROR_INVALID_NAME || number == ERROR_DIRECTORY;
}

// None where there is nothing.
Result<std::optional<BY_HANDLE_FILE_INFORMATION>> look_at(const std::string& path) {
  INLAY_ASSIGN(const std::wstring name, wide_path(HeldFolder::place_of(path)));
  // Asks for no right to read, and takes folders.
  const Handle file(CreateFileW(name.c_str(), 0, kShared, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  BY_HANDLE_FILE_INFORMATION info;
  if (file && GetFileInformationByHandle(file.get(), &info)) return std::optional(info);
  const DWORD number = GetLastError();
  if (!file && is_absent(number)) return std::optional<BY_HANDLE_FILE_INFORMATION>();
  return windows_error(number, "%s: cannot open the file", path.c_str());
}

struct Search {
  HANDLE handle;
  ~Search() {
    if (handle != INVALID_HANDLE_VALUE) FindClose(handle);
  }
};

}  // namespace

Result<PathKind> kind_of_path(const std::string& path) {
  INLAY_ASSIGN(const std::wstring name, wide_path(HeldFolder::place_of(path)));
  const DWORD attributes = GetFileAttributesW(name.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    const DWORD number = GetLastError();
    if (is_absent(number)) return PathKind::absent;
    return windows_error(number, "%s: cannot open the file", path.c_str());
  }
  if (attributes & FILE_ATTRIBUTE_REPARSE_POINT) {  // of what a link names
    INLAY_ASSIGN(const std::optional<BY_HANDLE_FILE_INFORMATION> info, look_at(path));
    if (!info) return PathKind::absent;
    return info->dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? PathKind::folder : PathKind::file;
  }
  return attributes & FILE_ATTRIBUTE_DIRECTORY ? PathKind::folder : attributes & FILE_ATTRIBUTE_DEVICE ? PathKind::other : PathKind::file;
}

Result<std::string> full_path(const std::string& path) {
  INLAY_ASSIGN(const std::wstring full, wide_path(path));
  const size_t end = full.find_last_not_of(L'\\');
  return utf8(std::wstring_view(full).substr(0, end + 1));
}

std::string last_part(const std::string& path) { return path.substr(path.find_last_of("/\\:") + 1); }  // npos + 1 is 0

std::string folder_part(const std::string& path) {
  const size_t at = path.find_last_of("/\\:");
  if (at == std::string::npos) return {};
  const bool is_root = at == 0 || path[at] == ':' || path[at - 1] == ':';
  return path.substr(0, is_root ? at + 1 : at);
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  INLAY_ASSIGN(std::wstring pattern, wide_path(HeldFolder::place_of(folder)));
  pattern += pattern.ends_with(L'\\') ? L"*" : L"\\*";
  WIN32_FIND_DATAW found;
  const Search search{FindFirstFileW(pattern.c_str(), &found)};
  if (search.handle == INVALID_HANDLE_VALUE) {
    const DWORD number = GetLastError();
    if (is_absent(number)) return names;
    return windows_error(number, "%s: cannot read the folder", folder.c_str());
  }
  do {
    const std::string name = utf8(found.cFileName);
    if (name != "." && name != "..") names.push_back(name);
  } while (FindNextFileW(search.handle, &found));
  if (const DWORD number = GetLastError(); number != ERROR_NO_MORE_FILES)
    return windows_error(number, "%s: cannot read the folder", folder.c_str());
  return names;
}

Result<bool> is_same_file(const std::string& a, const std::string& b) {
  INLAY_ASSIGN(const std::optional<BY_HANDLE_FILE_INFORMATION> first, look_at(a));
  INLAY_ASSIGN(const std::optional<BY_HANDLE_FILE_INFORMATION> second, look_at(b));
  return first && second && first->dwVolumeSerialNumber == second->dwVolumeSerialNumber && first->nFileIndexHigh == second->nFileIndexHigh &&
         first->nFileIndexLow == second->nFileIndexLow;
}

}  // namespace inlay
