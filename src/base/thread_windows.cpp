#include <algorithm>
#include <bit>
#include <string>

#include "src/base/float_environment.h"
#include "src/base/system_error.h"
#include "src/base/thread.h"
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"

namespace inlay {
namespace {

struct Start {
  std::wstring name;  // made by who starts the thread: what throws in it, outside of its body, ends the process
  std::function<void()> body;
};

// Windows 10 of 2016 and later.
void set_name(const std::wstring& name) {
  using SetDescription = HRESULT(WINAPI*)(HANDLE, PCWSTR);
  const FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription");
  if (found && !name.empty()) reinterpret_cast<SetDescription>(reinterpret_cast<void*>(found))(GetCurrentThread(), name.c_str());
}

DWORD WINAPI run(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  set_name(start->name);
  const FloatEnvironment environment;
  try {
    start->body();
  } catch (...) {  // out of memory: what a body was to do is then not done, which who waits for it finds
  }
  return 0;
}

// A new thread has the process's priority and processors; ours has those of who starts it.
void inherit(HANDLE thread) {
  const int priority = GetThreadPriority(GetCurrentThread());
  if (priority != THREAD_PRIORITY_ERROR_RETURN && priority != THREAD_PRIORITY_NORMAL) SetThreadPriority(thread, priority);
  GROUP_AFFINITY own{};
  if (!GetThreadGroupAffinity(GetCurrentThread(), &own)) return;
  const DWORD n_of_group = GetActiveProcessorCount(own.Group);
  if (static_cast<DWORD>(std::popcount(own.Mask)) < n_of_group) SetThreadGroupAffinity(thread, &own, nullptr);
}

}  // namespace

Result<Thread> Thread::start(const char* name, std::function<void()> body) {
  const Result<std::wstring> wide_name = wide(std::string(name).substr(0, 15));
  auto start = std::make_unique<Start>(Start{wide_name.ok() ? *wide_name : std::wstring(), std::move(body)});
  HANDLE thread = CreateThread(nullptr, kStackBytes, run, start.get(), CREATE_SUSPENDED | STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  if (!thread) return thread_error(static_cast<int>(GetLastError()), "the system gives no thread");
  inherit(thread);
  (void)start.release();  // the thread's now
  ResumeThread(thread);
  return Thread(thread);
}

void Thread::pause(std::chrono::microseconds time) { Sleep(static_cast<DWORD>(std::max<int64_t>(1, time.count() / 1000))); }

void Thread::join() {
  if (!handle_) return;
  const Handle thread(*std::exchange(handle_, std::nullopt));
  WaitForSingleObject(thread.get(), INFINITE);
}

}  // namespace inlay
