#include "src/base/thread.h"

#include <gtest/gtest.h>
#ifndef _WIN32
#include <signal.h>
#endif

#include <cstring>
#include <string>

#include "tests/support/allocation_counter.h"

namespace inlay {
namespace {

#ifndef _WIN32
bool blocks(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(Thread, TakesNoSignalOfTheHost) {
  bool term = false, usr1 = false, rtmin = false, segv = true, prof = true;
  {
    auto thread = Thread::start("inlay-test", [&] {
      term = blocks(SIGTERM), usr1 = blocks(SIGUSR1), rtmin = blocks(SIGRTMIN);
      segv = blocks(SIGSEGV), prof = blocks(SIGPROF);
    });
    ASSERT_TRUE(thread.ok()) << thread.status().message;
  }
  EXPECT_TRUE(term && usr1 && rtmin);
  EXPECT_FALSE(segv || prof);
  EXPECT_FALSE(blocks(SIGTERM)) << "the creator's signals must stay as they were";
}

#endif

// What a new thread asks for may not be there, and what it throws outside of its body ends the host.
TEST(Thread, AllocatesNothingBeforeItsBody) {
  for (const char* name : {"inlay", "inlay-0123456789abcdef"}) {
    int64_t before = -1, after = -1;
    {
      auto thread = Thread::start(name, [&] {
        before = test::allocations_of_this_thread();
        const std::string text(100, 'x');
        after = test::allocations_of_this_thread() + (text.empty() ? 1 : 0);
      });
      ASSERT_TRUE(thread.ok()) << thread.status().message;
    }
    EXPECT_EQ(before, 0) << name;
    EXPECT_EQ(after, 1) << "the control";
  }
}

#if defined(__linux__)
TEST(Thread, HasItsNameAndStack) {
  char name[16] = {};
  size_t stack = 0, guard = 0;
  {
    auto thread = Thread::start("inlay-0123456789abcdef", [&] {
      pthread_getname_np(pthread_self(), name, sizeof name);
      pthread_attr_t attributes;
      pthread_getattr_np(pthread_self(), &attributes);
      pthread_attr_getstacksize(&attributes, &stack);
      pthread_attr_getguardsize(&attributes, &guard);
      pthread_attr_destroy(&attributes);
    });
    ASSERT_TRUE(thread.ok()) << thread.status().message;
  }
  EXPECT_STREQ(name, "inlay-012345678");
  EXPECT_EQ(stack, Thread::kStackBytes);
  EXPECT_GT(guard, 0u);
}
#endif

TEST(Task, GivesItsResultAndItsException) {
  Task<int> good("inlay-test", [] { return 7; });
  EXPECT_EQ(good.get(), 7);
  Task<int> bad("inlay-test", []() -> int { throw std::bad_alloc(); });
  EXPECT_THROW(bad.get(), std::bad_alloc);
}

TEST(Task, EndsBeforeItGoes) {
  int done = 0;
  { const Task<int> task("inlay-test", [&] { return done = 1; }); }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace inlay
