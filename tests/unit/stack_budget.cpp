#include "src/base/stack_budget.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <thread>

#include "src/tokenizer/regex.h"

namespace inlay {
namespace {

// Takes at least 1 KiB a level. `n_threads`: how many it went on on.
Result<int> descend(StackBudget& stack, int levels, int& n_threads) {
  if (stack.is_spent()) {
    ++n_threads;
    return stack.go_on([&] { return descend(stack, levels, n_threads); });
  }
  volatile char frame[1024];
  frame[0] = static_cast<char>(levels);
  if (levels == 0) throw std::runtime_error("the bottom");
  INLAY_ASSIGN(const int below, descend(stack, levels - 1, n_threads));
  return below + (frame[0] == static_cast<char>(levels));
}

// On a thread whose stack is as small as some hosts' are.
void on_small_stack(size_t bytes, const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_t thread;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  const auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(StackBudget, RecursionGoesOnOnThreadsOfItsOwn) {
  on_small_stack(256 << 10, [] {
    StackBudget stack;
    int n_threads = 0;
    EXPECT_THROW(static_cast<void>(descend(stack, 2000, n_threads)), std::runtime_error);
    EXPECT_GE(n_threads, 4) << "2 MB in pieces of at most 512 KiB";
    EXPECT_FALSE(stack.is_spent()) << "the caller's budget is back";
  });
}

TEST(StackBudget, WhatIsShallowStaysOnTheCallersThread) {
  StackBudget stack;
  int n_threads = 0;
  EXPECT_THROW(static_cast<void>(descend(stack, 10, n_threads)), std::runtime_error);
  EXPECT_EQ(n_threads, 0);
}

TEST(StackBudget, ResultsAndErrorsComeBack) {
  StackBudget stack;
  const auto caller = std::this_thread::get_id();
  const Result<bool> other = stack.go_on([&]() -> Result<bool> { return std::this_thread::get_id() != caller; });
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(*other);
  const Status failed = stack.go_on([]() -> Status { return error(Code::format, "wrong"); });
  EXPECT_EQ(failed.message, "wrong");
}

std::string nested(int n, const char* open, const char* close) {
  std::string out;
  for (int i = 0; i < n; ++i) out += open;
  out += "a";
  for (int i = 0; i < n; ++i) out += close;
  return out;
}

// The address sanitizer's frames are several times as large.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kSmall = 512 << 10;
#else
constexpr size_t kSmall = 128 << 10;
#endif

TEST(StackBudget, DeepPatternsCompileOnASmallStack) {
  on_small_stack(kSmall, [] {
    for (const auto& [open, close] : {std::pair{"(", ")"}, {"(?:", "|b)+"}, {"(?=", ")"}, {"[a[", "]]"}, {"(?i:", ")?"}, {"(", ")**"}}) {
      EXPECT_TRUE(Regex::compile(nested(1, open, close)).ok()) << open;
      for (const int n : {20, 45, 49, 50, 51, 5000}) (void)Regex::compile(nested(n, open, close));
    }
  });
}

}  // namespace
}  // namespace inlay
