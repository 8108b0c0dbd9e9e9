// Recursion on a host's thread, whose stack may be small: beyond a budget it goes on on a thread of the library.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "src/base/thread.h"

namespace inlay {

class StackBudget {
 public:
  static constexpr ptrdiff_t kOnHostThreads = ptrdiff_t{48} << 10;
  static constexpr ptrdiff_t kOnOwnThreads = ptrdiff_t{512} << 10;
  static_assert(static_cast<size_t>(kOnOwnThreads) <= Thread::kStackBytes / 2);

  // The budget counts from where this is made.
  StackBudget() : begin_(here()) {}

  bool is_spent() const {
    const ptrdiff_t used = begin_ - here();
    return used > limit_ || used < -limit_;
  }

  // What `work` returns, a Status or a Result, from a thread with a budget of its own; or the error of a system that gives
  // no thread.
  template <class Work>
  auto go_on(const Work& work) -> decltype(work()) {
    std::optional<decltype(work())> out;
    std::exception_ptr failure;
    const StackBudget outer = *this;
    Result<Thread> thread = Thread::start("inlay-deep", [&] {
      *this = StackBudget();
      limit_ = kOnOwnThreads;
      try {
        out.emplace(work());
      } catch (...) {
        failure = std::current_exception();
      }
    });
    if (!thread.ok()) return std::move(thread).status();
    thread->join();
    *this = outer;
    if (failure) std::rethrow_exception(failure);
    return *std::move(out);
  }

 private:
  static const char* here() { return static_cast<const char*>(__builtin_frame_address(0)); }

  const char* begin_;
  ptrdiff_t limit_ = kOnHostThreads;
};

}  // namespace inlay
