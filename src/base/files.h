// What stands at a path, as the system says. Paths are UTF-8.
#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"

namespace inlay {

enum class PathKind { absent, file, folder, other };

// Symbolic links are followed. Absent also where a part of the path is no folder.
Result<PathKind> kind_of_path(const std::string& path);

// Absolute, and without "." and "..", as far as the text tells: links are not followed.
Result<std::string> full_path(const std::string& path);
// What stands behind the last separator, and before it: "" where there is none. Windows has two separators.
std::string last_part(const std::string& path);
std::string folder_part(const std::string& path);

// The names of what is in the folder, in no order; none where there is no such folder.
Result<std::vector<std::string>> names_in(const std::string& folder);

// Whether both name one file or folder; no where one names none.
Result<bool> is_same_file(const std::string& a, const std::string& b);

}  // namespace inlay
