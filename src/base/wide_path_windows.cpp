#include "src/base/wide_path.h"

#include "src/base/system_error.h"
#include "src/base/windows_api.h"

namespace inlay {
namespace {

constexpr std::wstring_view kVerbatim = L"\\\\?\\", kDevice = L"\\\\.\\", kNetwork = L"\\\\";

}  // namespace

Result<std::wstring> wide(const std::string& text) {
  const int n_bytes = static_cast<int>(text.size());
  if (n_bytes == 0) return std::wstring();
  const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), n_bytes, nullptr, 0);
  if (n <= 0) return error(Code::invalid_argument, "%s: it is not UTF-8", text.c_str());
  std::wstring out(static_cast<size_t>(n), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), n_bytes, out.data(), n);
  return out;
}

std::string utf8(std::wstring_view text) {
  const int n_units = static_cast<int>(text.size());
  if (n_units == 0) return {};
  const int n = WideCharToMultiByte(CP_UTF8, 0, text.data(), n_units, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<size_t>(n), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), n_units, out.data(), n, nullptr, nullptr);
  return out;
}

Result<std::wstring> wide_path(const std::string& path) {
  INLAY_ASSIGN(const std::wstring given, wide(path));
  if (given.empty() || given.starts_with(kVerbatim)) return given;
  std::wstring full(MAX_PATH, L'\0');
  for (;;) {
    const DWORD n = GetFullPathNameW(given.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
    if (n == 0) return windows_error(GetLastError(), "%s: cannot read the path", path.c_str());
    const bool fits = n < full.size();
    full.resize(n);
    if (fits) break;
  }
  if (full.starts_with(kDevice)) return full;
  if (full.starts_with(kNetwork)) return L"\\\\?\\UNC\\" + full.substr(kNetwork.size());
  return std::wstring(kVerbatim) + full;
}

}  // namespace inlay
