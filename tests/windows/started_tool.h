// The tool as a program of its own: words of its command line in UTF-8, pipes, a console that no other program is at.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/base/wide_path.h"
#include "src/base/windows_api.h"

namespace inlay::test {

// A word as CommandLineToArgvW reads it.
inline std::wstring quoted(const std::wstring& word) {
  std::wstring out = L"\"";
  size_t n_slashes = 0;
  for (const wchar_t c : word) {
    if (c == L'"') out.append(n_slashes + 1, L'\\');
    n_slashes = c == L'\\' ? n_slashes + 1 : 0;
    out.push_back(c);
  }
  return out.append(n_slashes, L'\\') + L"\"";
}

// Without a window, which no display is needed for.
class Console {
 public:
  Console() {
    HANDLE from = nullptr, to = nullptr;
    if (!CreatePipe(&from, &to, nullptr, 0)) return;
    const Handle input(from);
    keys_ = Handle(to);
    if (!CreatePipe(&from, &to, nullptr, 1 << 20)) return;
    const Handle output(to);
    screen_ = Handle(from);
    if (FAILED(CreatePseudoConsole({80, 25}, input.get(), output.get(), 0, &console_))) console_ = nullptr;
  }
  ~Console() {
    if (attached_) FreeConsole();
    close();
  }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  explicit operator bool() const { return console_ != nullptr; }
  HPCON get() const { return console_; }
  void close() {  // as a user closes its window
    if (console_) ClosePseudoConsole(std::exchange(console_, nullptr));
  }
  // Ctrl-C for every program at the console that `process` is at. This one is, too, from now on; it takes no notice.
  bool press_ctrl_c(DWORD process) {
    FreeConsole();
    attached_ = AttachConsole(process) && SetConsoleCtrlHandler([](DWORD) -> BOOL { return TRUE; }, TRUE);
    return attached_ && GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
  }

 private:
  HPCON console_ = nullptr;
  Handle keys_, screen_;
  bool attached_ = false;
};

struct Ended {
  DWORD code = 0;
  std::string out, said;
};

class StartedTool {
 public:
  explicit StartedTool(const std::vector<std::wstring>& words, const Console* console = nullptr) {
    Handle input, output, error;
    if (!pipe(input, to_input_) || !pipe(from_output_, output) || !pipe(from_error_, error)) return;
    for (const Handle* end : {&input, &output, &error}) SetHandleInformation(end->get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    std::wstring line = quoted(*wide_path(INLAY_TOOL));
    for (const std::wstring& word : words) line += L" " + quoted(word);
    STARTUPINFOEXW how{};
    how.StartupInfo.cb = sizeof how;
    how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    how.StartupInfo.hStdInput = input.get(), how.StartupInfo.hStdOutput = output.get(), how.StartupInfo.hStdError = error.get();
    SIZE_T n_bytes = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &n_bytes);
    std::vector<char> attributes(n_bytes);
    how.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(attributes.data());
    if (!InitializeProcThreadAttributeList(how.lpAttributeList, 1, 0, &n_bytes)) return;
    if (console) UpdateProcThreadAttribute(how.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, console->get(), sizeof(HPCON), nullptr, nullptr);
    PROCESS_INFORMATION made{};
    if (CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, console ? EXTENDED_STARTUPINFO_PRESENT : 0, nullptr, nullptr, &how.StartupInfo, &made)) {
      CloseHandle(made.hThread);
      process_ = Handle(made.hProcess);
      id_ = made.dwProcessId;
    }
    DeleteProcThreadAttributeList(how.lpAttributeList);
  }
  ~StartedTool() {
    if (process_) TerminateProcess(process_.get(), 99);
  }

  explicit operator bool() const { return static_cast<bool>(process_); }
  DWORD id() const { return id_; }
  bool is_running() const { return WaitForSingleObject(process_.get(), 0) == WAIT_TIMEOUT; }

  // The next `n` bytes of its standard output, or fewer at its end.
  std::string read(size_t n) { return read_from(from_output_, n); }
  void let_go_of_output() { from_output_.close(); }
  void write(const std::string& text) {
    DWORD n = 0;
    WriteFile(to_input_.get(), text.data(), static_cast<DWORD>(text.size()), &n, nullptr);
  }
  // What is left of its output, and how it ended. Its input ends now.
  Ended end(bool close_input = true) {
    if (close_input) to_input_.close();
    Ended out;
    if (from_output_) out.out = read_from(from_output_, SIZE_MAX);
    out.said = read_from(from_error_, SIZE_MAX);
    if (WaitForSingleObject(process_.get(), 300'000) != WAIT_OBJECT_0) TerminateProcess(process_.get(), 98);
    WaitForSingleObject(process_.get(), INFINITE);
    GetExitCodeProcess(process_.get(), &out.code);
    return out;
  }

 private:
  static bool pipe(Handle& from, Handle& to) {
    HANDLE a = nullptr, b = nullptr;
    if (!CreatePipe(&a, &b, nullptr, 1 << 16)) return false;
    from = Handle(a), to = Handle(b);
    return true;
  }
  static std::string read_from(const Handle& pipe, size_t n) {
    std::string out;
    char part[4096];
    for (DWORD n_read = 0; out.size() < n; out.append(part, n_read)) {
      if (!ReadFile(pipe.get(), part, static_cast<DWORD>(std::min(n - out.size(), sizeof part)), &n_read, nullptr) || n_read == 0) break;
    }
    return out;
  }

  Handle process_, to_input_, from_output_, from_error_;
  DWORD id_ = 0;
};

}  // namespace inlay::test
