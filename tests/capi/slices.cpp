// Decode steps in slices through the shared library: the frames of a host that has other work, too.
#include "tests/capi/client.h"

namespace inlay::test {
namespace {

class Slices : public OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) engine_ = load(params());
  }

  // One frame: units left, or -1 after an error that was not wanted.
  static int32_t frame(const std::vector<inlay_session*>& sessions, int32_t max_units, std::vector<inlay_event>& events,
                       inlay_status want = INLAY_OK) {
    int32_t left = 99;
    inlay_error err;
    const inlay_status status = inlay_decode_slice(sessions.data(), sessions.size(), max_units, events.data(),
                                                   sizeof(inlay_event), &left, &err);
    EXPECT_EQ(status, want) << err.message;
    return left;
  }

  EnginePtr engine_;
};
INLAY_ON_EACH_DEVICE(Slices);

TEST_P(Slices, DrawWhatTheFixturesSay) {
  const SessionPtr plain = new_session(engine_), chat = new_session(engine_);
  prefill(plain, kPlain);
  prefill(chat, kChat);
  const std::vector<inlay_session*> both = {plain.get(), chat.get()};
  std::vector<inlay_event> events(2);
  Tokens plain_reply, chat_reply;
  int n_frames = 0;
  for (size_t i = 0; i < kPlainReply.size(); ++i) {
    for (int32_t left = 1; left > 0; ++n_frames) left = frame(both, 1, events);
    EXPECT_EQ(events[1].session_index, 1);
    plain_reply.push_back(events[0].token);
    chat_reply.push_back(events[1].token);
  }
  EXPECT_EQ(plain_reply, kPlainReply);
  EXPECT_EQ(chat_reply, kChatReply);
  EXPECT_GE(n_frames, 3 * static_cast<int>(kPlainReply.size() - 1))
      << "two layers and the head, and a draw alone at first";
  EXPECT_EQ(stats_of(engine_).n_decode_steps, kPlainReply.size());
}

TEST_P(Slices, EventsComeWithTheLastOne) {
  const SessionPtr session = new_session(engine_);
  prefill(session, kPlain);
  step(session);
  const std::vector<inlay_session*> one = {session.get()};
  std::vector<inlay_event> events(1);
  events[0].token = 77;
  events[0].kind = INLAY_EVENT_FINISHED;
  const int32_t all = frame(one, 0, events);
  EXPECT_GE(all, 3);
  EXPECT_EQ(frame(one, all - 1, events), 1);
  EXPECT_EQ(events[0].token, 77);
  EXPECT_EQ(events[0].kind, INLAY_EVENT_FINISHED);
  EXPECT_EQ(frame(one, 1, events), 0);
  EXPECT_EQ(events[0].token, kPlainReply[1]);
  EXPECT_EQ(events[0].kind, INLAY_EVENT_TOKEN);
  EXPECT_EQ(events[0].n_tokens, 1);
}

TEST_P(Slices, PendingStepsRefuseAndAreAbandoned) {
  const SessionPtr session = new_session(engine_), other = new_session(engine_);
  prefill(session, kPlain);
  prefill(other, kPlain);
  step(session);
  const std::vector<inlay_session*> one = {session.get()}, another = {other.get()};
  std::vector<inlay_event> events(1);
  EXPECT_GT(frame(one, 1, events), 0);
  inlay_error err;
  EXPECT_EQ(inlay_prefill(other.get(), kPlain.data(), kPlain.size(), nullptr, &err), INLAY_INVALID_STATE);
  EXPECT_NE(std::string(err.message).find("in slices"), std::string::npos) << err.message;
  EXPECT_EQ(frame(another, 1, events, INLAY_INVALID_STATE), 0);
  EXPECT_EQ(events[0].status, INLAY_INVALID_STATE);
  step(other, INLAY_INVALID_STATE);
  inlay_session* child = nullptr;
  EXPECT_EQ(inlay_session_fork(session.get(), &child, &err), INLAY_INVALID_STATE);
  EXPECT_EQ(child, nullptr);
  EXPECT_EQ(inlay_decode_abandon(another.data(), 1, &err), INLAY_INVALID_STATE);
  ASSERT_EQ(inlay_decode_abandon(one.data(), 1, &err), INLAY_OK) << err.message;
  EXPECT_EQ(greedy(session, kPlainReply.size() - 1), Tokens(kPlainReply.begin() + 1, kPlainReply.end()));
  EXPECT_EQ(greedy(other, kPlainReply.size()), kPlainReply);
}

TEST_P(Slices, EveryOrderOfFreesIsFine) {
  for (const bool engine_first : {true, false}) {
    EnginePtr engine = load(params());
    SessionPtr session = new_session(engine), other = new_session(engine);
    prefill(session, kPlain);
    prefill(other, kPlain);
    step(session);
    std::vector<inlay_event> events(2);
    EXPECT_GT(frame({session.get(), other.get()}, 1, events), 0);
    if (engine_first) engine.reset();
    other.reset();
    EXPECT_EQ(step(session).token, kPlainReply[1]) << "as if nothing had been begun";
    EXPECT_GT(frame({session.get()}, 1, events), 0);
    session.reset();
  }
}

}  // namespace
}  // namespace inlay::test
