// Paths for the calls of Windows that take UTF-16.
#pragma once
#ifdef _WIN32

#include <string>

#include "src/base/status.h"

namespace inlay {

// INVALID_ARGUMENT where the text is not UTF-8.
Result<std::wstring> wide(const std::string& utf8);
std::string utf8(std::wstring_view wide);  // an unpaired surrogate becomes U+FFFD

// The path as calls take it whatever its length: absolute, with \\?\ in front; a relative one, one of the drive's current folder
// ("C:model.gguf") and one of the current drive ("\model.gguf") as they are meant now. A device ("NUL", "\\.\...") stays as it is.
Result<std::wstring> wide_path(const std::string& utf8);

}  // namespace inlay
#endif
