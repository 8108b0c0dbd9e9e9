// Threads of the library on Windows.
#include <gtest/gtest.h>

#include "src/base/thread.h"
#include "src/base/wide_path.h"
#include "src/base/windows_api.h"

namespace inlay {
namespace {

TEST(Thread, HasItsNameAndStack) {
  using Describe = HRESULT(WINAPI*)(HANDLE, PWSTR*);
  const FARPROC describe = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "GetThreadDescription");
  std::string name;
  size_t stack = 0;
  {
    auto thread = Thread::start("inlay-0123456789abcdef", [&] {
      PWSTR text = nullptr;
      if (describe && SUCCEEDED(reinterpret_cast<Describe>(reinterpret_cast<void*>(describe))(GetCurrentThread(), &text))) name = utf8(text);
      LocalFree(text);
      ULONG_PTR low = 0, high = 0;
      GetCurrentThreadStackLimits(&low, &high);
      stack = high - low;
    });
    ASSERT_TRUE(thread.ok()) << thread.status().message;
  }
  EXPECT_EQ(name, "inlay-012345678");
  EXPECT_EQ(stack, Thread::kStackBytes);
}

TEST(Thread, HasThePriorityAndTheProcessorsOfWhoStartsIt) {
  DWORD_PTR of_process = 0, of_system = 0;
  ASSERT_TRUE(GetProcessAffinityMask(GetCurrentProcess(), &of_process, &of_system));
  const DWORD_PTR one = of_process & (~of_process + 1);
  int priority = 0;
  GROUP_AFFINITY affinity{};
  const auto start = [&] {
    auto thread = Thread::start("inlay-test", [&] {
      priority = GetThreadPriority(GetCurrentThread());
      GetThreadGroupAffinity(GetCurrentThread(), &affinity);
    });
    ASSERT_TRUE(thread.ok()) << thread.status().message;
  };
  start();
  EXPECT_EQ(priority, THREAD_PRIORITY_NORMAL);
  EXPECT_EQ(affinity.Mask, of_process);
  ASSERT_TRUE(SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL));
  ASSERT_NE(SetThreadAffinityMask(GetCurrentThread(), one), 0u);
  start();
  SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL);
  SetThreadAffinityMask(GetCurrentThread(), of_process);
  EXPECT_EQ(priority, THREAD_PRIORITY_BELOW_NORMAL);
  EXPECT_EQ(affinity.Mask, one);
}

}  // namespace
}  // namespace inlay
