// A process that uses the library beside the one that started it.
#include <cstring>

#include "src/base/windows_api.h"
#include "tests/capi/client.h"

namespace inlay::test {
namespace {

struct Child {
  Handle process, thread;

  // This program with one test, suspended. It inherits every handle that can be.
  static Child start(const char* test) {
    std::wstring program(32768, L'\0');
    program.resize(GetModuleFileNameW(nullptr, program.data(), static_cast<DWORD>(program.size())));
    std::wstring line = L"\"" + program + L"\" --gtest_also_run_disabled_tests --gtest_brief=1 --gtest_filter=" + std::wstring(test, test + std::strlen(test));
    STARTUPINFOW how{};
    how.cb = sizeof how;
    PROCESS_INFORMATION made{};
    if (!CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr, nullptr, &how, &made)) return {Handle(), Handle()};
    return {Handle(made.hProcess), Handle(made.hThread)};
  }

  DWORD outcome() {
    ResumeThread(thread.get());
    if (WaitForSingleObject(process.get(), 300'000) != WAIT_OBJECT_0) TerminateProcess(process.get(), 99);
    WaitForSingleObject(process.get(), INFINITE);
    DWORD code = 98;
    GetExitCodeProcess(process.get(), &code);
    return code;
  }
};

Tokens reply(const EnginePtr& engine) {
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  return greedy(session, kPlainReply.size());
}

int32_t default_threads() {
  const EnginePtr engine = load(on(INLAY_DEVICE_CPU));
  inlay_engine_info info = sized<inlay_engine_info>();
  EXPECT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
  return info.n_threads;
}

// What the children run.
TEST(InChild, DISABLED_Generates) { EXPECT_EQ(reply(load(on(INLAY_DEVICE_CPU))), kPlainReply); }
TEST(InChild, DISABLED_Fails) { EXPECT_EQ(reply(load(on(INLAY_DEVICE_CPU))), Tokens()); }
TEST(InChild, DISABLED_HasOneThread) { EXPECT_EQ(default_threads(), 1); }

TEST(Processes, AChildUsesTheLibraryBesideItsParent) {
  const EnginePtr engine = load(on(INLAY_DEVICE_CPU));
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  const Tokens first = greedy(session, 10);
  Child a = Child::start("InChild.DISABLED_Generates"), b = Child::start("InChild.DISABLED_Generates");
  ASSERT_TRUE(a.process && b.process);
  ResumeThread(b.thread.get());
  EXPECT_EQ(a.outcome(), 0u);
  EXPECT_EQ(b.outcome(), 0u);
  EXPECT_EQ(Child::start("InChild.DISABLED_Fails").outcome(), 1u) << "the control";
  Tokens all = first;
  for (const int32_t token : greedy(session, kPlainReply.size() - 10)) all.push_back(token);
  EXPECT_EQ(all, kPlainReply) << "the parent's is what it was";
}

TEST(Processes, AChildHasTheProcessorsThatItIsGiven) {
  Child child = Child::start("InChild.DISABLED_HasOneThread");
  ASSERT_TRUE(child.process);
  ASSERT_TRUE(SetProcessAffinityMask(child.process.get(), 1));
  EXPECT_EQ(child.outcome(), 0u);
  DWORD_PTR own = 0, of_system = 0;
  ASSERT_TRUE(GetProcessAffinityMask(GetCurrentProcess(), &own, &of_system));
  if (own != 1) {
    EXPECT_GT(default_threads(), 1) << "the control";
  }
}

}  // namespace
}  // namespace inlay::test
