#include "examples/cli/system.h"

#include <fcntl.h>
#include <io.h>

#include <cerrno>
#include <cstdlib>

#include "examples/cli/interrupt.h"
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
// after windows.h
#include <shellapi.h>

namespace inlay::cli {
namespace {

HANDLE handle_of(std::FILE* stream) { return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(stream))); }

struct Console {  // as it was, put back at the end
  UINT output_page = 0;
  HANDLE handle = nullptr;
  DWORD mode = 0;
};
Console before;

void restore_console() {
  if (before.output_page) SetConsoleOutputCP(before.output_page);
  if (before.handle) SetConsoleMode(before.handle, before.mode);
}

// Texts are UTF-8, and a few escapes move the cursor.
void prepare_console() {
  for (std::FILE* stream : {stdout, stderr}) {
    DWORD mode = 0;
    if (!GetConsoleMode(handle_of(stream), &mode)) continue;
    if (!before.handle) before = {GetConsoleOutputCP(), handle_of(stream), mode};
    SetConsoleOutputCP(CP_UTF8);
    SetConsoleMode(handle_of(stream), mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
  std::atexit(restore_console);
  before_end_by_signal(restore_console);
}

// Of the console in UTF-16; the C library would give it in the input's code page.
bool read_console_line(HANDLE console, std::string& line) {
  std::wstring text;
  for (wchar_t c = 0;;) {
    DWORD n = 0;
    if (!ReadConsoleW(console, &c, 1, &n, nullptr)) break;
    if (n == 0 && GetLastError() == ERROR_OPERATION_ABORTED) continue;  // Ctrl-C, which interrupt.h sees
    constexpr wchar_t kEnd = 26;                                         // Ctrl-Z
    if (n == 0 || (text.empty() && c == kEnd)) break;
    if (c == L'\n') {
      if (!text.empty() && text.back() == L'\r') text.pop_back();
      line = utf8(text);
      return true;
    }
    text.push_back(c);
  }
  line = utf8(text);
  return !line.empty();
}

double seconds(const FILETIME& time) { return 1e-7 * static_cast<double>(uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime); }

}  // namespace

std::vector<std::string> begin_program(int argc, char** argv) {
  for (std::FILE* stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  prepare_console();
  std::vector<std::string> arguments;
  int n = 0;
  wchar_t** wide_arguments = CommandLineToArgvW(GetCommandLineW(), &n);
  if (!wide_arguments) return {argv, argv + argc};
  for (int i = 0; i < n; ++i) arguments.push_back(utf8(wide_arguments[i]));
  LocalFree(wide_arguments);
  return arguments;
}

bool is_terminal(std::FILE* stream) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(stream), &mode);
}

int terminal_columns(std::FILE* stream) {
  CONSOLE_SCREEN_BUFFER_INFO facts;
  return GetConsoleScreenBufferInfo(handle_of(stream), &facts) ? facts.srWindow.Right - facts.srWindow.Left + 1 : 80;
}

bool input_waits() {
  DWORD n = 0;
  return PeekNamedPipe(handle_of(stdin), nullptr, 0, nullptr, &n, nullptr) && n > 0;
}

std::FILE* open_file(const std::string& path, char mode) {
  const Result<std::wstring> name = wide_path(path);
  if (!name.ok()) {
    errno = EINVAL;
    return nullptr;
  }
  constexpr int kNew = _O_WRONLY | _O_CREAT;
  const int flags = mode == 'r' ? _O_RDONLY : mode == 'w' ? kNew | _O_TRUNC : kNew | _O_EXCL;
  const int fd = _wopen(name->c_str(), flags | _O_BINARY | _O_NOINHERIT, 0666);
  return fd < 0 ? nullptr : _fdopen(fd, mode == 'r' ? "rb" : "wb");
}

bool replace_file(const std::string& from, const std::string& to) {
  const Result<std::wstring> old_name = wide_path(from), new_name = wide_path(to);
  if (old_name.ok() && new_name.ok() && MoveFileExW(old_name->c_str(), new_name->c_str(), MOVEFILE_REPLACE_EXISTING) != 0) return true;
  errno = EACCES;
  return false;
}

void remove_file(const std::string& path) {
  const Result<std::wstring> name = wide_path(path);
  if (name.ok()) (void)_wremove(name->c_str());
}

bool read_line(std::string& line) {
  line.clear();
  if (is_terminal(stdin)) return read_console_line(handle_of(stdin), line);
  int c = 0;
  while ((c = std::getc(stdin)) != EOF && c != '\n') line.push_back(static_cast<char>(c));
  const bool taken = c == '\n' || !line.empty();
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return taken;
}

void write_error(const char* text, size_t n) {
  DWORD n_written = 0;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, static_cast<DWORD>(n), &n_written, nullptr);
}

double seconds_of_others() {
  FILETIME idle, kernel, user, begin, end, own_kernel, own_user;
  if (!GetSystemTimes(&idle, &kernel, &user) || !GetProcessTimes(GetCurrentProcess(), &begin, &end, &own_kernel, &own_user)) return -1.0;
  // The kernel's time holds the idle one.
  return seconds(kernel) + seconds(user) - seconds(idle) - seconds(own_kernel) - seconds(own_user);
}

}  // namespace inlay::cli
