// What escapes from the library becomes a status, and an engine that broke an invariant answers nothing else any more.
#include <stdexcept>

#include "src/capi/handles.h"
#include "tests/capi/client.h"

namespace inlay::test {
namespace {

TEST(Guard, ExceptionsBecomeStatuses) {
  inlay_error err;
  EXPECT_EQ(capi::guarded(&err, []() -> Status { throw std::bad_alloc(); }), INLAY_OUT_OF_MEMORY);
  EXPECT_EQ(err.status, INLAY_OUT_OF_MEMORY);
  EXPECT_STRNE(err.message, "");
  EXPECT_EQ(capi::guarded(&err, []() -> Status { throw std::runtime_error("x"); }), INLAY_INTERNAL);
  EXPECT_EQ(capi::guarded(&err, []() -> Status { throw 1; }), INLAY_INTERNAL);
  EXPECT_EQ(capi::guarded(nullptr, []() -> Status { throw 1; }), INLAY_INTERNAL);
  EXPECT_EQ(capi::guarded(&err, []() -> Status { return {}; }), INLAY_OK);
  EXPECT_STREQ(err.message, "");
}

TEST(Guard, DetailsArriveWhole) {
  inlay_error err;
  EXPECT_EQ(capi::guarded(&err,
                          [] {
                            Status s = error(Code::kv_full, "%s", "no room");
                            s.native_code = 12, s.required = 7, s.available = 3;
                            return s;
                          }),
            INLAY_KV_FULL);
  EXPECT_EQ(err.native_code, 12);
  EXPECT_EQ(err.required, 7u);
  EXPECT_EQ(err.available, 3u);
  EXPECT_STREQ(err.message, "no room");
  EXPECT_EQ(err.message_len, 7u);
}

class Broken : public OnEachDevice {};
INLAY_ON_EACH_DEVICE(Broken);

TEST_P(Broken, EngineCanOnlyBeFreed) {
  const EnginePtr engine = load(params()), other = load(params());
  const SessionPtr session = new_session(engine), stranger = new_session(other);
  prefill(session, kPlain);
  prefill(stranger, kPlain);
  inlay_error err;
  EXPECT_EQ(capi::guarded<inlay_session>(&err, [&](auto& use) -> Status { INLAY_TRY(use.begin(session.get(), "session")); return error(Code::kv_full, "passes"); }),
            INLAY_KV_FULL);
  step(session);
  EXPECT_EQ(capi::guarded<inlay_session>(&err, [&](auto& use) -> Status { INLAY_TRY(use.begin(session.get(), "session")); throw 1; }), INLAY_INTERNAL);

  inlay_session* one = session.get();
  inlay_event event;
  inlay_session_info info = sized<inlay_session_info>();
  inlay_stats stats = sized<inlay_stats>();
  EXPECT_EQ(inlay_decode_step(&one, 1, &event, sizeof event, &err), INLAY_INTERNAL);
  EXPECT_NE(std::string(err.message).find("can only be freed"), std::string::npos) << err.message;
  EXPECT_EQ(inlay_session_get_info(session.get(), &info, nullptr), INLAY_INTERNAL);
  EXPECT_EQ(inlay_engine_get_stats(engine.get(), &stats, nullptr), INLAY_INTERNAL);
  inlay_session_cancel(session.get());
  EXPECT_EQ(step(stranger).token, kPlainReply[0]);  // another engine's is not concerned
}

TEST(Guard, LostDeviceStaysLost) {
  const EnginePtr engine = load(on(INLAY_DEVICE_REFERENCE)), other = load(on(INLAY_DEVICE_REFERENCE));
  const SessionPtr session = new_session(engine), stranger = new_session(other);
  prefill(session, kPlain);
  prefill(stranger, kPlain);
  inlay_error err;
  EXPECT_EQ(capi::guarded<inlay_session>(&err, [&](auto& use) -> Status { INLAY_TRY(use.begin(session.get(), "session")); return error(Code::device_lost, "an illegal address"); }),
            INLAY_DEVICE_LOST);
  inlay_session* one = session.get();
  inlay_session* child = nullptr;
  inlay_event event;
  size_t n_done = 0;
  const int32_t token = 1;
  EXPECT_EQ(inlay_decode_step(&one, 1, &event, sizeof event, &err), INLAY_DEVICE_LOST);
  EXPECT_EQ(inlay_prefill(one, &token, 1, &n_done, &err), INLAY_DEVICE_LOST);
  EXPECT_EQ(inlay_session_fork(one, &child, &err), INLAY_DEVICE_LOST);
  EXPECT_EQ(inlay_session_create(engine.get(), nullptr, &child, &err), INLAY_DEVICE_LOST);
  EXPECT_EQ(inlay_profile_step(engine.get(), nullptr, &err), INLAY_DEVICE_LOST);
  EXPECT_EQ(step(stranger).token, kPlainReply[0]);  // another engine's is not concerned
}

}  // namespace
}  // namespace inlay::test
