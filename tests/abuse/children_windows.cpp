#include <cstdio>
#include <cstdlib>
#include <new>

#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#include "tests/abuse/children.h"
#include "tests/support/held_windows.h"
// after windows.h
#include <tlhelp32.h>

namespace inlay::abuse {

namespace {

std::wstring wide_text(const std::string& text) { return *wide(text); }

HANDLE inherited(HANDLE handle) {
  SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  return handle;
}

// This program with --child, the batch, and the memory that both see.
class StartedChild final : public Child {
 public:
  ~StartedChild() override {
    if (tally_) UnmapViewOfFile(tally_);
  }
  bool start(const Batch& batch) {
    memory_ = Handle(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, sizeof(Tally), nullptr));
    void* shared = memory_ ? MapViewOfFile(memory_.get(), FILE_MAP_ALL_ACCESS, 0, 0, sizeof(Tally)) : nullptr;
    if (!shared) return false;
    tally_ = new (shared) Tally;
    tally_->case_index = batch.begin;
    const std::wstring path = wide_text(scratch_folder() + "/output");
    output_ = Handle(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                 CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr));
    if (!output_) return false;
    std::fflush(stdout);
    std::wstring program(32768, L'\0');
    program.resize(GetModuleFileNameW(nullptr, program.data(), static_cast<DWORD>(program.size())));
    const auto number = [](uint64_t n) { return L" " + std::to_wstring(n); };
    std::wstring line = L"\"" + program + L"\" --child " + wide_text(batch.generator->name) + number(batch.seed) + number(batch.begin) +
                        number(batch.end) + number(batch.plant) + number(reinterpret_cast<uintptr_t>(inherited(memory_.get()))) + L" \"" +
                        wide_text(scratch_folder()) + L"\" \"" + wide_text(library_path()) + L"\"";
    STARTUPINFOW how{};
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdOutput = how.hStdError = inherited(output_.get());
    PROCESS_INFORMATION made{};
    if (!CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &how, &made)) return false;
    CloseHandle(made.hThread);
    process_ = Handle(made.hProcess);
    return true;
  }

  bool ends_within(int milliseconds) override { return WaitForSingleObject(process_.get(), static_cast<DWORD>(milliseconds)) == WAIT_OBJECT_0; }
  void kill() override {
    TerminateProcess(process_.get(), 1);
    WaitForSingleObject(process_.get(), INFINITE);
  }
  Ending ending() override {
    DWORD code = 1;
    GetExitCodeProcess(process_.get(), &code);
    if (code == 0) return {true, ""};
    char text[64];
    std::snprintf(text, sizeof text, code >= 0x80000000 ? "ended by exception 0x%lx" : "ended with status %lu", code);
    return {false, text};
  }
  std::string output(size_t most) override {
    std::string text(most, '\0');
    OVERLAPPED begin{};
    DWORD n = 0;
    ReadFile(output_.get(), text.data(), static_cast<DWORD>(most), &n, &begin);
    text.resize(n);
    return text;
  }

 private:
  Handle memory_, output_, process_;
};

size_t n_threads() {
  const Handle all(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  size_t n = 0;
  for (BOOL more = Thread32First(all.get(), &entry); more; more = Thread32Next(all.get(), &entry)) n += entry.th32OwnerProcessID == GetCurrentProcessId();
  return n;
}

}  // namespace

std::unique_ptr<Child> Child::start(const Batch& batch, std::string& why) {
  auto child = std::make_unique<StartedChild>();
  if (child->start(batch)) return child;
  why = "error " + std::to_string(GetLastError());
  return nullptr;
}

int be_started_child(int n, char** arguments) {
  if (n != 8) return 2;
  const auto number = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);  // a crash is no window
  void* shared = MapViewOfFile(reinterpret_cast<HANDLE>(number(5)), FILE_MAP_ALL_ACCESS, 0, 0, sizeof(Tally));
  const Generator* generator = find_generator(arguments[0]);
  if (!shared || !generator) return 2;
  set_scratch_folder(arguments[6]);
  set_library(arguments[7]);
  be_child({generator, number(1), number(2), number(3), number(4) != 0}, *static_cast<Tally*>(shared));
}

// Nobody tells how many wait for a processor.
double on_this_machine(double seconds) { return 4 * seconds; }

Held held_by_this_process() {
  const size_t n_running = n_threads();  // before the handles are counted: it needs some the first time
  return {inlay_test_n_handles(), n_running};
}

uint64_t private_bytes() { return inlay_test_private_bytes(); }

void limit_memory(uint64_t bytes) {
  const HANDLE job = CreateJobObjectW(nullptr, nullptr);  // for as long as the process
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
  limits.ProcessMemoryLimit = bytes;
  SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  AssignProcessToJobObject(job, GetCurrentProcess());
}

void keep_a_descriptor() { CreateEventW(nullptr, FALSE, FALSE, nullptr); }

}  // namespace inlay::abuse
