// Memory that runs out for a moment while requests are computed: each has its one end, and nothing that they held is lost.
#include <gtest/gtest.h>

#include <array>
#include <new>

#include "src/engine/requests.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using test::Collected;

class RequestMemory : public test::EngineRequests {
 protected:
  std::vector<uint64_t> submit_all(const std::shared_ptr<Session>& session) {
    std::vector<uint64_t> ids;
    RequestOptions own = plain(6);
    own.continues = session;
    for (int turn = 0; turn < 2; ++turn) ids.push_back(submit(prompt(10, turn), own));
    RequestOptions stops = plain(40);
    stops.session.stops = {std::string(200, 'x'), "never"};
    ids.push_back(submit(prompt(40, 7), stops));
    ids.push_back(submit(prompt(40, 7), plain(20)));
    return ids;
  }
};
INSTANTIATE_TEST_SUITE_P(Host, RequestMemory, ::testing::Values(DeviceKind::cpu), ::inlay::test::device_of);

TEST_P(RequestMemory, EachAllocationMayFail) {
  int64_t n = 0;
  int n_failed = 0;
  for (bool fails = true; fails; ++n) {
    SCOPED_TRACE(n);
    load_with({.n_context = 128, .max_sessions = 3, .n_threads = 1, .prefill_chunk = 32});
    collected_.clear();
    const auto created = engine_->create_session({.ignore_end_of_generation = true, .for_requests = true});
    ASSERT_TRUE(created.ok());
    const std::vector<uint64_t> ids = submit_all(*created);
    const int64_t before = test::allocations_of_this_thread();
    test::fail_allocation(n + 1);
    for (int i = 0; i < 200; ++i) {
      try {
        if (const auto result = engine_->requests().run({.one_step = true}); result.ok() && result->n_requests == 0) break;
      } catch (const std::bad_alloc&) {
        // of the call, not of the requests
      }
    }
    fails = test::allocations_of_this_thread() - before > n;
    test::fail_allocation(0);
    run_all();
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(collected_[ids[i]].n_ends, 1) << "request " << i;
      constexpr std::array<size_t, 4> kDrawn{6, 6, 40, 20};
      const Collected& own = collected_[ids[i]];
      EXPECT_TRUE(own.end.reason == FinishReason::error || own.tokens.size() == kDrawn[i]) << "request " << i << " drew " << own.tokens.size();
      n_failed += collected_[ids[i]].end.reason == FinishReason::error;
    }
    std::vector<std::shared_ptr<Session>> all;
    for (int i = 0; i < 3; ++i) {
      auto one = engine_->create_session({});
      EXPECT_TRUE(one.ok()) << "a slot is lost";
      if (one.ok()) all.push_back(*one);
    }
    all.clear();
  }
  EXPECT_GT(n, 5);
  std::printf("%lld allocations, %d requests ended with an error\n", static_cast<long long>(n), n_failed);
}

}  // namespace
}  // namespace inlay
