// What requests tell, and how the rows of several share a step that is cut into units.
#include <gtest/gtest.h>

#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

class EngineRequestParts : public test::EngineRequests {};
INLAY_ON_CPU_AND_CUDA(EngineRequestParts);

// A chunk has room for all of the first prompt and one token of the second. In units these two kinds of rows come one after the other.
TEST_P(EngineRequestParts, AChunkOfOneTokenRunsInUnits) {
  std::vector<std::vector<int32_t>> prompts = {prompt(15), prompt(40, 50), prompt(33, 90)};  // before anything was measured a chunk has 16
  std::vector<uint64_t> ids;
  for (const auto& tokens : prompts) ids.push_back(submit(tokens));
  run_all(10'000'000);
  for (size_t i = 0; i < ids.size(); ++i) expect_near_alone(collected_[ids[i]], alone(*engine_, prompts[i], plain(12).session), "request " + std::to_string(i));
}

// The second one has priority and waits for what the first one computes: it must not take the chunks that the first one needs for that.
TEST_P(EngineRequestParts, WhoWaitsForAPrefixLeavesItsChunksToWhoComputesIt) {
  std::vector<int32_t> more = prompt(100);
  more.push_back(5);
  const uint64_t first = submit(prompt(100), plain(4));
  ASSERT_TRUE(engine_->requests().run({.us = 1}).ok());
  RequestOptions important = plain(4);
  important.priority = kTopLevel;
  const uint64_t second = submit(more, important);
  for (int i = 0; i < 5'000 && collected_[first].n_ends + collected_[second].n_ends < 2; ++i) {
    ASSERT_TRUE(engine_->requests().run({.us = 1}).ok());
    poll();
  }
  ASSERT_EQ(collected_[first].n_ends + collected_[second].n_ends, 2) << "they stand still";
  EXPECT_EQ(collected_[second].end.n_cached, 96);
  expect_near_alone(collected_[first], alone(*engine_, prompt(100), plain(4).session), "first");
  expect_near_alone(collected_[second], alone(*engine_, more, plain(4).session), "second");
}

// 3 blocks of their beginning and 1 of each fit 4 times into 7, if those of the beginning count once.
TEST_P(EngineRequestParts, SharedBlocksAreWantedOnce) {
  std::vector<uint64_t> n_steps;
  for (const bool cached : {true, false}) {
    EngineOptions options = with_blocks(7);
    options.no_prefix_cache = !cached;
    load_with(options);
    collected_.clear();
    std::vector<std::vector<int32_t>> prompts(4, prompt(96));
    std::vector<uint64_t> ids;
    for (int32_t i = 0; i < 4; ++i) {
      prompts[static_cast<size_t>(i)].push_back(200 + i);
      ids.push_back(submit(prompts[static_cast<size_t>(i)]));
    }
    run_all();
    n_steps.push_back(engine_->stats().n_decode_steps);
    for (size_t i = 0; i < 4; ++i) expect_near_alone(collected_[ids[i]], alone(*engine_, prompts[i], plain(12).session), std::to_string(i));
  }
  EXPECT_LE(n_steps[0], 14u);
  EXPECT_EQ(n_steps[1], 48u) << "negative control: one at a time";
}

// Nor may what is between the two in importance keep the first one from computing it.
TEST_P(EngineRequestParts, WhoComputesWhatAnotherOneWaitsForHasItsLevel) {
  load_with({.n_context = 512, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32});
  engine_->requests().live().set_hooks({.now = [] { return int64_t{0}; }});  // no level rises
  std::vector<int32_t> more = prompt(64);
  for (int32_t k = 0; k < 5; ++k) more.push_back(200 + k);
  const auto of_priority = [](int32_t priority) {
    RequestOptions out = plain(4);
    out.priority = priority;
    return out;
  };
  const uint64_t between = submit(prompt(300, 90), of_priority(4)), low = submit(prompt(64), of_priority(0));
  ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  ASSERT_EQ(engine_->stats().n_prefill_tokens, 32u);
  const uint64_t high = submit(more, of_priority(kTopLevel));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  poll();
  EXPECT_GE(collected_[high].tokens.size(), 1u);
  EXPECT_EQ(collected_[between].tokens.size(), 0u);
  run_all();
  EXPECT_EQ(collected_[high].end.n_cached, 64);
  EXPECT_EQ(collected_[low].tokens.size(), 4u);
}

// Each of many prompts that wait for their next chunk does so from its last one on: one of importance comes behind one chunk of each at most.
TEST_P(EngineRequestParts, PromptsThatWaitedLongDoNotRunToTheirEnds) {
  const auto clock = std::make_shared<int64_t>(0);
  load_with({.n_context = 512, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32});
  engine_->requests().live().set_hooks({.now = [clock] { return *clock; }});
  const uint64_t one = submit(prompt(400, 5), plain(4)), two = submit(prompt(400, 90), plain(4));
  *clock += 10'000'000;
  RequestOptions important = plain(4);
  important.priority = kTopLevel;
  const uint64_t high = submit(prompt(20, 40), important);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
    *clock += 10'000;
  }
  poll();
  EXPECT_GE(collected_[high].tokens.size(), 1u);
  EXPECT_EQ(collected_[one].tokens.size() + collected_[two].tokens.size(), 0u);
  run_all();
  EXPECT_EQ(collected_[one].tokens.size() + collected_[two].tokens.size(), 8u);
}

// What is found when a request begins makes its prompt short: it takes no more of the step than that, and draws behind it.
TEST_P(EngineRequestParts, PromptsThatWereComputedShareAStepAndDrawInIt) {
  load_with({.n_context = 128, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 32});
  submit(prompt(100), plain(1));
  run_all();
  std::vector<std::vector<int32_t>> prompts;
  std::vector<uint64_t> ids;
  for (const int32_t n_more : {4, 9, 1}) {
    prompts.push_back(prompt(96));
    for (int32_t k = 0; k < n_more; ++k) prompts.back().push_back(200 + 10 * n_more + k);
    ids.push_back(submit(prompts.back(), plain(3)));
  }
  ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  poll();
  for (const uint64_t id : ids) EXPECT_EQ(collected_[id].tokens.size(), 1u) << id;
  run_all();
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(collected_[ids[i]].end.n_cached, 96);
    expect_near_alone(collected_[ids[i]], alone(*other, prompts[i], plain(3).session), std::to_string(i));
  }
}

// Also with an end that is not the text's: here the engine's.
TEST_P(EngineRequestParts, TheTextThatIsHeldBackComesBeforeTheEnd) {
  const std::vector<int32_t> tokens = prompt(20);
  const std::string text = alone(*engine_, tokens, plain(6).session).text;
  ASSERT_FALSE(text.empty());
  RequestOptions options = plain(40);
  options.session.stops = {text + " and never this"};
  const uint64_t id = submit(tokens, options);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  poll();
  EXPECT_EQ(collected_[id].tokens.size(), 6u);
  EXPECT_EQ(collected_[id].text, "") << "it may be where the stop string begins";
  engine_->requests().close();
  poll();
  EXPECT_EQ(collected_[id].end.reason, FinishReason::cancelled);
  EXPECT_EQ(collected_[id].text, text);
}

// Whatever room there is: those of a session's events, in their order, and none of a request beside it that asks for none.
TEST_P(EngineRequestParts, TheLikeliestTokensComeAlong) {
  const std::vector<int32_t> tokens = prompt(30);
  RequestOptions asks = plain(12);
  asks.session.sampler = {.temperature = 1, .seed = 3, .n_logprobs = 5};
  std::vector<TokenLogprob> want;
  {
    const auto s = session(asks.session);
    ASSERT_TRUE(prefill(*s, tokens).ok());
    for (int i = 0; i < 12; ++i) {
      const StepEvent event = step(*s);
      ASSERT_EQ(event.sample.n_logprobs, 5);
      want.insert(want.end(), event.sample.top, event.sample.top + 5);
    }
  }
  for (const size_t n_room : {6u, 7u, 13u, 200u}) {
    uint64_t id = 0;
    ASSERT_TRUE(engine_->requests().submit(queue_, tokens, asks, id).ok());
    const uint64_t beside = submit(tokens, plain(9));
    run_once_through();
    std::vector<TokenLogprob> room(n_room), got;
    std::string text(64, '\0');
    size_t n_ends = 0, n_beside = 0;
    while (n_ends < 2) {
      const auto polled = queue_->poll({.n_events = 4, .tokens = room, .text = text}, [&](size_t, const RequestEvent& event) {
        n_ends += event.is_end;
        EXPECT_EQ(event.n_top, event.request == id && !event.is_end ? 5 : 0);
        if (event.request == beside) n_beside += event.n_tokens;
        const std::span<const TokenLogprob> top = std::span(room).subspan(event.first_token + event.n_tokens, event.n_tokens * static_cast<size_t>(event.n_top));
        got.insert(got.end(), top.begin(), top.end());
      });
      ASSERT_TRUE(polled.ok()) << polled.status().message;
    }
    EXPECT_EQ(n_beside, 9u);
    ASSERT_EQ(got.size(), want.size()) << n_room;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].token, want[i].token);
      EXPECT_NEAR(got[i].logprob, want[i].logprob, GetParam() == DeviceKind::cuda ? 1e-3 : 0);
    }
  }
  uint64_t id = 0;
  ASSERT_TRUE(engine_->requests().submit(queue_, tokens, asks, id).ok());
  run_once_through();
  std::vector<TokenLogprob> room(5);
  EXPECT_EQ(queue_->poll({.n_events = 4, .tokens = room, .text = {}}, [](size_t, const RequestEvent&) {}).status().code, Code::buffer_too_small);
}

// What is not wanted is dropped with what is taken, and not before that has room.
TEST_P(EngineRequestParts, UnwantedTokensStayUntilTheTextHasRoom) {
  load_with({.n_context = 128, .max_sessions = 1, .n_threads = 1, .prefill_chunk = 32});
  uint64_t id = 0;
  ASSERT_TRUE(engine_->requests().submit(queue_, prompt(20, 1), plain(8), id).ok());
  run_once_through();
  std::vector<TokenLogprob> tokens(16);
  std::string text(256, '\0');
  const auto polled = [&](EventRoom room, size_t& n_tokens) {
    n_tokens = 0;
    return queue_->poll(room, [&](size_t, const RequestEvent& event) { n_tokens += event.n_tokens; });
  };
  size_t n_tokens = 0;
  EXPECT_EQ(polled({.n_events = 1, .tokens = {}, .text = std::span(text).first(0)}, n_tokens).status().code, Code::buffer_too_small);
  ASSERT_EQ(*polled({.n_events = 1, .tokens = tokens, .text = text}, n_tokens), 1u);
  EXPECT_EQ(n_tokens, 8u);
}

}  // namespace
}  // namespace inlay
