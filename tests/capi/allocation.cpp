// A decode step takes no memory from the heap, from the caller's array of sessions to its array of events.
#include "tests/capi/client.h"
#include "tests/support/allocation_counter.h"

namespace inlay::test {
namespace {

class Allocation : public OnEachDevice {};
// The reference interpreter is written to be read and allocates in its ops.
INSTANTIATE_TEST_SUITE_P(Devices, Allocation, ::testing::Values(INLAY_DEVICE_CPU, INLAY_DEVICE_CUDA), device_name);

TEST_P(Allocation, StepTakesNone) {
  const EnginePtr engine = load(params());
  inlay_session_params endless = sized<inlay_session_params>();
  endless.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  std::vector<SessionPtr> owned;
  std::vector<inlay_session*> sessions;
  for (size_t i = 0; i < 4; ++i) {
    owned.push_back(new_session(engine, &endless));
    sessions.push_back(owned.back().get());
    prefill(owned.back(), Tokens(kChat.begin(), kChat.begin() + 10 + 3 * static_cast<ptrdiff_t>(i)));
  }
  std::vector<inlay_event> events(sessions.size());
  inlay_error err;
  inlay_status worst = INLAY_OK;
  const auto run = [&](int n_steps) {
    for (int i = 0; i < n_steps; ++i) {
      const inlay_status s =
          inlay_decode_step(sessions.data(), sessions.size(), events.data(), sizeof(inlay_event), &err);
      if (s != INLAY_OK) worst = s;
    }
  };
  run(3);
  const int64_t before = allocation_count();
  run(60);  // crosses into new KV blocks
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(worst, INLAY_OK);
  // The counter sees what the library allocates: an error has a message.
  sessions[1] = sessions[0];
  run(1);
  EXPECT_EQ(worst, INLAY_INVALID_ARGUMENT);
  EXPECT_GT(allocation_count(), before);
}

}  // namespace
}  // namespace inlay::test
