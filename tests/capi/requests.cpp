// Requests through the C interface: wake-ups, threads, frees in any order, fork, and what a client that never reads does to others.
#include <atomic>
#include <chrono>
#include <thread>
#ifndef _WIN32
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "tests/capi/request_client.h"

namespace inlay::test {
namespace {

inlay_session_params up_to(int32_t n) {
  inlay_session_params out = sized<inlay_session_params>();
  out.max_tokens = n;
  out.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  return out;
}

EnginePtr small_engine(int32_t max_sessions = 4, uint64_t kv_budget_bytes = 0) {
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_context = 256;
  params.max_sessions = max_sessions;
  params.n_threads = 1;
  params.kv_budget_bytes = kv_budget_bytes;
  return load(params);
}

// 50 callers, 16 threads, a pool of a quarter of what they need at once: all wait their turn and end whole.
TEST(Requests, ManyCallersAndASmallPoolAllEndWhole) {
  inlay_memory_info plan = sized<inlay_memory_info>();
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_context = 256;
  params.max_sessions = 8;
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &params, &plan, nullptr), INLAY_OK);
  const EnginePtr engine = small_engine(8, plan.kv_bytes / 4);
  const inlay_session_params session = up_to(60);
  const QueuePtr one = new_queue(engine);
  const uint64_t first = submit(one, request_of(Tokens(100, 65), &session));
  const Answer alone = answers_of(engine, one)[first];
  EXPECT_EQ(alone.tokens.size(), 60u);
  give_thread(engine);
  std::atomic<int> n_whole{0};
  std::vector<std::thread> hosts;
  for (int t = 0; t < 16; ++t) {
    hosts.emplace_back([&, t] {
      const QueuePtr queue = new_queue(engine);
      const int n = t < 2 ? 4 : 3;
      for (int i = 0; i < n; ++i) submit(queue, request_of(Tokens(100, 65), &session));
      Answers answers;
      collect(queue.get(), answers, static_cast<size_t>(n));
      for (const auto& [id, answer] : answers) n_whole += answer.tokens == alone.tokens && answer.text == alone.text && answer.n_ends == 1;
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(n_whole, 50);
}

// Two prompts that have no room for both: what goes to the host's memory and comes back, in the plan and in the figures.
TEST(Requests, BlocksGoToTheHostAndComeBack) {
  inlay_memory_info plan = sized<inlay_memory_info>();
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_context = 256;
  params.max_sessions = 1;
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &params, &plan, nullptr), INLAY_OK);
  EXPECT_EQ(plan.prefix_cache_host_bytes, 0u);
  const uint64_t block = plan.kv_bytes / 8, total = plan.total_bytes;
  params.prefix_cache_host_bytes = 6 * block + 1;
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &params, &plan, nullptr), INLAY_OK);
  EXPECT_EQ(plan.prefix_cache_host_bytes, 6 * block);
  EXPECT_EQ(plan.total_bytes, total) << "it is not of the device";
  params.kv_budget_bytes = 4 * block;
  const EnginePtr engine = load(params);
  inlay_stats stats = sized<inlay_stats>();
  while (stats.prefix_cache_host_bytes_taken == 0) ASSERT_EQ(inlay_engine_get_stats(engine.get(), &stats, nullptr), INLAY_OK);  // a thread takes it
  EXPECT_EQ(stats.prefix_cache_host_bytes_taken, 6 * block) << "less than a chunk";
  const inlay_session_params session = up_to(4);
  const QueuePtr queue = new_queue(engine);
  Answer first;
  for (const int32_t token : {65, 66, 65}) {
    const uint64_t id = submit(queue, request_of(Tokens(100, token), &session));
    Answer answer = answers_of(engine, queue)[id];
    const bool again = token == 65 && !first.tokens.empty();
    EXPECT_EQ(answer.n_cached, again ? 96 : 0);
    if (again) {
      EXPECT_EQ(answer.tokens, first.tokens);
    } else if (token == 65) {
      first = std::move(answer);
    }
  }
  ASSERT_EQ(inlay_engine_get_stats(engine.get(), &stats, nullptr), INLAY_OK);
  EXPECT_EQ(stats.n_kv_blocks_to_host, 6u);
  EXPECT_EQ(stats.n_kv_blocks_from_host, 3u);
  EXPECT_EQ(stats.n_kv_blocks_on_host, 3);
  EXPECT_EQ(stats.n_kv_blocks_host_dropped, 0u);
  EXPECT_EQ(stats.n_kv_blocks_used, 0);
  EXPECT_EQ(stats.n_kv_blocks, 4);
}

// A chat in turns: texts behind one another, then a conversation in their place. What is there is not computed again.
TEST(Requests, ContinueASession) {
  inlay_load_params load_params = on(INLAY_DEVICE_CPU);
  load_params.n_context = 256;
  load_params.max_sessions = 1;
  load_params.flags = INLAY_LOAD_NO_PREFIX_CACHE;
  const EnginePtr engine = load(load_params, "chat-spm-llama-f32");
  const QueuePtr queue = new_queue(engine);
  inlay_session_params params = up_to(5);
  params.flags |= INLAY_SESSION_FOR_REQUESTS;
  inlay_session* made = nullptr;
  inlay_error err;
  ASSERT_EQ(inlay_session_create(engine.get(), &params, &made, &err), INLAY_OK) << err.message;
  const SessionPtr session(made);
  const auto tokens_of = [&] {
    Tokens out(256);
    size_t n = 0;
    EXPECT_EQ(inlay_session_get_tokens(session.get(), 0, out.data(), out.size(), &n, nullptr), INLAY_OK);
    out.resize(n);
    return out;
  };
  const auto tokenized = [&](const char* text, uint32_t flags) {
    Tokens out(64);
    size_t n = 0;
    EXPECT_EQ(inlay_tokenize(engine.get(), text, SIZE_MAX, flags, out.data(), out.size(), &n, nullptr), INLAY_OK);
    out.resize(n);
    return out;
  };
  const auto submit_text = [&](const char* text) {
    inlay_request request = sized<inlay_request>();
    request.text = text;
    request.text_len = SIZE_MAX;
    request.continues = session.get();
    return submit(queue, request);
  };
  // Both at once: the second is no beginning, though nothing is there yet.
  const uint64_t first = submit_text("Once upon a time"), second = submit_text("and then");
  Answers answers = answers_of(engine, queue);
  Tokens wanted = tokenized("Once upon a time", 0);
  const size_t n_first = wanted.size();
  wanted.insert(wanted.end(), answers[first].tokens.begin(), answers[first].tokens.end());
  const Tokens more = tokenized("and then", INLAY_TOKENIZE_NO_BOS_EOS);
  wanted.insert(wanted.end(), more.begin(), more.end());
  EXPECT_EQ(answers[second].n_prompt, static_cast<int32_t>(wanted.size()));
  wanted.insert(wanted.end(), answers[second].tokens.begin(), answers[second].tokens.end());
  EXPECT_EQ(tokens_of(), wanted);
  EXPECT_EQ(answers[first].tokens.size(), 5u);
  EXPECT_GT(n_first, 1u);

  inlay_request talk = sized<inlay_request>();
  talk.conversation = R"([{"role": "user", "content": "Hello"}])";
  talk.conversation_len = SIZE_MAX;
  talk.continues = session.get();
  const uint64_t third = submit(queue, talk);
  answers = answers_of(engine, queue);
  Tokens rendered(256);
  size_t n = 0;
  inlay_chat_params chat = sized<inlay_chat_params>();
  chat.flags = INLAY_CHAT_ADD_GENERATION_PROMPT;
  ASSERT_EQ(inlay_chat_tokenize(engine.get(), talk.conversation, SIZE_MAX, &chat, rendered.data(), rendered.size(), &n, &err), INLAY_OK) << err.message;
  rendered.resize(n);
  rendered.insert(rendered.end(), answers[third].tokens.begin(), answers[third].tokens.end());
  EXPECT_EQ(tokens_of(), rendered);
}

// From its submission to its end a request has the session; other calls say so. Freeing it ends them.
TEST(Requests, HaveTheirSessionToThemselves) {
  const EnginePtr engine = small_engine(1);
  const QueuePtr queue = new_queue(engine);
  inlay_session_params params = up_to(50);
  params.flags |= INLAY_SESSION_FOR_REQUESTS;
  inlay_session* session = nullptr;
  ASSERT_EQ(inlay_session_create(engine.get(), &params, &session, nullptr), INLAY_OK);
  inlay_request request = request_of(kPlain);
  request.continues = session;
  const uint64_t first = submit(queue, request), second = submit(queue, request);
  EXPECT_EQ(inlay_session_truncate(session, 0, nullptr), INLAY_OK) << "none has begun";
  inlay_run_params step = sized<inlay_run_params>();
  step.flags = INLAY_RUN_ONE_STEP;
  inlay_run_info info = sized<inlay_run_info>();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(inlay_run(engine.get(), &step, &info, nullptr), INLAY_OK);
  inlay_error err;
  EXPECT_EQ(inlay_session_truncate(session, 0, &err), INLAY_BUSY);
  EXPECT_NE(std::string(err.message).find("a request has the session"), std::string::npos) << err.message;
  inlay_session_info now = sized<inlay_session_info>();
  EXPECT_EQ(inlay_session_get_info(session, &now, nullptr), INLAY_OK) << "it only looks";
  EXPECT_GT(now.n_tokens, 0);
  inlay_session_free(session);
  const Answers answers = answers_of(engine, queue);
  EXPECT_EQ(answers.at(first).reason, INLAY_FINISH_CANCELLED);
  EXPECT_GT(answers.at(first).tokens.size(), 0u);
  EXPECT_EQ(answers.at(second).reason, INLAY_FINISH_CANCELLED);
  EXPECT_EQ(answers.at(second).tokens.size(), 0u);
}

TEST(Requests, AClientThatNeverReadsHarmsNobody) {
  const EnginePtr engine = small_engine(1);
  give_thread(engine);
  inlay_queue_params params = sized<inlay_queue_params>();
  params.max_unread_tokens = 3;
  const QueuePtr deaf = new_queue(engine, &params), reads = new_queue(engine);
  const inlay_session_params session = up_to(30);
  for (int i = 0; i < 5; ++i) submit(deaf, request_of(kPlain, &session));
  for (int i = 0; i < 5; ++i) submit(reads, request_of(kPlain, &session));
  Answers answers;
  collect(reads.get(), answers, 5);
  for (const auto& [id, answer] : answers) EXPECT_EQ(answer.tokens.size(), 30u);
}

#ifdef __linux__
TEST(Requests, TheHandleIsReadyWhileThereIsSomethingToPoll) {
  const EnginePtr engine = small_engine();
  const QueuePtr queue = new_queue(engine);
  inlay_wait_kind kind = 0;
  int64_t handle = -1;
  ASSERT_EQ(inlay_queue_get_handle(queue.get(), &kind, &handle, nullptr), INLAY_OK);
  EXPECT_EQ(kind, INLAY_WAIT_EVENTFD);
  const auto is_ready = [&](int timeout_ms) {
    pollfd one = {static_cast<int>(handle), POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
  };
  EXPECT_FALSE(is_ready(0));
  const inlay_session_params session = up_to(5);
  submit(queue, request_of(kPlain, &session));
  EXPECT_FALSE(is_ready(0));
  give_thread(engine);
  EXPECT_TRUE(is_ready(60'000));
  EXPECT_TRUE(is_ready(0)) << "it stays so";
  Answers answers;
  collect(queue.get(), answers, 1);
  EXPECT_FALSE(is_ready(0));
  EXPECT_EQ(fcntl(static_cast<int>(handle), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Requests, AWakeLeavesTheHandleAsItIs) {
  const EnginePtr engine = small_engine();
  give_thread(engine);
  const QueuePtr queue = new_queue(engine);
  inlay_wait_kind kind = 0;
  int64_t handle = -1;
  ASSERT_EQ(inlay_queue_get_handle(queue.get(), &kind, &handle, nullptr), INLAY_OK);
  ASSERT_EQ(inlay_queue_wake(queue.get(), nullptr), INLAY_OK);
  pollfd one = {static_cast<int>(handle), POLLIN, 0};
  EXPECT_EQ(::poll(&one, 1, 20), 0);
  inlay_wait_result result = 0;
  EXPECT_EQ(inlay_wait(queue.get(), -1, &result, nullptr), INLAY_OK);
  EXPECT_EQ(result, INLAY_WAIT_RESULT_WOKEN);
}

TEST(Requests, AForkedChildIsToldAndWaitsForNothing) {
  const EnginePtr engine = small_engine();
  give_thread(engine);
  const QueuePtr queue = new_queue(engine);
  const inlay_session_params session = up_to(200);
  submit(queue, request_of(kPlain, &session));
  const pid_t child = ::fork();
  if (child == 0) {
    inlay_wait_result result = 0;
    size_t n = 0;
    inlay_request_event event;
    const bool refused = inlay_wait(queue.get(), -1, &result, nullptr) == INLAY_INVALID_STATE &&
                         inlay_queue_wake(queue.get(), nullptr) == INLAY_INVALID_STATE &&
                         inlay_poll(queue.get(), &event, 1, sizeof event, nullptr, 0, nullptr, 0, &n, nullptr) == INLAY_INVALID_STATE;
    inlay_queue* freed = queue.get();
    inlay_queue_free(freed);
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Answers answers;
  collect(queue.get(), answers, 1);
  EXPECT_EQ(answers.begin()->second.tokens.size(), 200u);
}
#endif

// Requests end with the engine, whoever holds what; the queue tells it and then says that there is no more.
TEST(Requests, QueuesOutliveTheirEngine) {
  EnginePtr engine = small_engine();
  give_thread(engine);
  inlay_queue_params params = sized<inlay_queue_params>();
  params.max_unread_tokens = 3;  // so that it cannot end before
  const QueuePtr queue = new_queue(engine, &params), other = new_queue(engine);
  const inlay_session_params session = up_to(200);
  const uint64_t id = submit(queue, request_of(kPlain, &session));
  const SessionPtr keeps = new_session(engine);
  std::thread waits([&] {
    inlay_wait_result result = 0;
    EXPECT_EQ(inlay_wait(other.get(), -1, &result, nullptr), INLAY_INVALID_STATE);
  });
  engine.reset();
  waits.join();
  Answers answers;
  while (poll(queue.get(), answers) > 0) {
  }
  EXPECT_EQ(answers[id].n_ends, 1);
  EXPECT_EQ(answers[id].reason, INLAY_FINISH_CANCELLED);
  size_t n = 0;
  inlay_request_event event;
  inlay_error err;
  EXPECT_EQ(inlay_poll(queue.get(), &event, 1, sizeof event, nullptr, 0, nullptr, 0, &n, &err), INLAY_INVALID_STATE);
  uint64_t none = 0;
  const inlay_request request = request_of(kPlain);
  EXPECT_EQ(inlay_submit(queue.get(), &request, &none, &err), INLAY_INVALID_STATE) << err.message;
  EXPECT_EQ(inlay_request_cancel(queue.get(), id, &err), INLAY_OK) << err.message;
  EXPECT_EQ(inlay_queue_wake(queue.get(), &err), INLAY_OK) << err.message;
  inlay_wait_result result = 0;
  EXPECT_EQ(inlay_wait(queue.get(), -1, &result, &err), INLAY_INVALID_STATE) << err.message;
  prefill(keeps, kPlain);  // the session lives on
}

// A call that would compute all of them returns soon, and ends them as it leaves.
TEST(Requests, AnEngineIsFreedBesideInlayRun) {
  const inlay_session_params session = up_to(200);
  int n_cancelled = 0;
  for (int round = 0; round < 10 && n_cancelled <= 100; ++round) {  // this thread may be without its CPU until most have ended
    EnginePtr engine = small_engine();
    const QueuePtr queue = new_queue(engine);
    for (int i = 0; i < 200; ++i) submit(queue, request_of(Tokens(40, 65), &session));
    inlay_status ran = INLAY_OK;
    inlay_error why;
    std::thread runs([&, engine = engine.get()] {
      inlay_run_info info = sized<inlay_run_info>();
      ran = inlay_run(engine, nullptr, &info, &why);
    });
    Answers answers;
    while (poll(queue.get(), answers) == 0) std::this_thread::yield();
    engine.reset();
    uint64_t none = 0;
    const inlay_request request = request_of(kPlain);
    EXPECT_EQ(inlay_submit(queue.get(), &request, &none, nullptr), INLAY_INVALID_STATE);
    runs.join();
    while (poll(queue.get(), answers) > 0) {
    }
    EXPECT_EQ(answers.size(), 200u);
    n_cancelled = 0;
    for (const auto& [id, answer] : answers) {
      EXPECT_EQ(answer.n_ends, 1) << id;
      n_cancelled += answer.reason == INLAY_FINISH_CANCELLED;
    }
    EXPECT_EQ(ran, n_cancelled > 0 ? INLAY_INVALID_STATE : INLAY_OK) << why.message;
  }
  EXPECT_GT(n_cancelled, 100);
}

// A host that shows text alone, or counts alone: what it does not want is dropped, and the request goes on.
TEST(Requests, APollWithoutTokensOrWithoutTextGoesOn) {
  const EnginePtr engine = small_engine();
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.n_logprobs = 2;
  inlay_session_params session = up_to(40);
  session.sampler = &sampler;
  inlay_queue_params params = sized<inlay_queue_params>();
  params.max_unread_tokens = 3;
  const auto read = [&](bool wants_tokens, bool wants_text) {
    const QueuePtr queue = new_queue(engine, &params);
    submit(queue, request_of(kPlain, &session));
    inlay_token_logprob tokens[8];
    char text[64];
    Answer got;
    while (got.n_ends == 0) {
      inlay_run_info info = sized<inlay_run_info>();
      inlay_error err;
      EXPECT_EQ(inlay_run(engine.get(), nullptr, &info, &err), INLAY_OK) << err.message;
      inlay_request_event event = {};
      size_t n = 0;
      const inlay_status status = inlay_poll(queue.get(), &event, 1, sizeof event, wants_tokens ? tokens : nullptr, wants_tokens ? std::size(tokens) : 0,
                                             wants_text ? text : nullptr, wants_text ? sizeof text : 0, &n, &err);
      EXPECT_EQ(status, INLAY_OK) << err.message;
      if (status != INLAY_OK) break;
      for (int32_t i = 0; i < event.n_tokens; ++i) got.tokens.push_back(tokens[event.first_token + static_cast<size_t>(i)].token);
      got.text.append(text + event.first_byte, event.text_bytes);
      got.n_ends += event.kind == INLAY_REQUEST_EVENT_END;
      got.n_drawn = event.n_drawn;
      EXPECT_EQ(event.n_top, wants_tokens && event.kind == INLAY_REQUEST_EVENT_TOKENS ? 2 : 0);
    }
    return got;
  };
  const Answer whole = read(true, true);
  EXPECT_EQ(whole.tokens.size(), 40u);
  EXPECT_FALSE(whole.text.empty());
  for (const bool wants_tokens : {false, true}) {
    for (const bool wants_text : {false, true}) {
      const Answer got = read(wants_tokens, wants_text);
      EXPECT_EQ(got.n_drawn, 40);
      EXPECT_EQ(got.tokens, wants_tokens ? whole.tokens : Tokens());
      EXPECT_EQ(got.text, wants_text ? whole.text : "");
    }
  }
}

// A host that stops its collecting thread: it sets a flag and wakes the queue, wherever the thread is. No wake is lost, and no other one is told.
TEST(Requests, AWakeEndsAThreadThatCollects) {
  const EnginePtr engine = small_engine();
  give_thread(engine);
  const QueuePtr queue = new_queue(engine), other = new_queue(engine);
  const inlay_session_params session = up_to(3);
  inlay_wait_result result = 99;
  ASSERT_EQ(inlay_queue_wake(queue.get(), nullptr), INLAY_OK);
  EXPECT_EQ(inlay_wait(queue.get(), 60'000'000, &result, nullptr), INLAY_OK);
  ASSERT_EQ(result, INLAY_WAIT_RESULT_WOKEN) << "the wake was lost";
  for (int round = 0; round < 300; ++round) {
    std::atomic<bool> stop{false};
    std::thread collects([&] {
      Answers answers;
      while (!stop) {
        inlay_wait_result told = 99;
        EXPECT_EQ(inlay_wait(queue.get(), 60'000'000, &told, nullptr), INLAY_OK);
        EXPECT_NE(told, INLAY_WAIT_RESULT_TIME_OVER) << "a wake was lost";
        if (told == INLAY_WAIT_RESULT_TIME_OVER) return;
        if (told == INLAY_WAIT_RESULT_READY) poll(queue.get(), answers);
      }
    });
    if (round % 3 == 0) submit(queue, request_of(kPlain, &session));
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round));
    stop = true;
    ASSERT_EQ(inlay_queue_wake(queue.get(), nullptr), INLAY_OK);
    collects.join();
  }
  EXPECT_EQ(inlay_wait(other.get(), 1000, &result, nullptr), INLAY_OK);
  EXPECT_EQ(result, INLAY_WAIT_RESULT_TIME_OVER);
}

TEST(Requests, AQueueThatIsFreedTakesItsRequestsAlong) {
  const EnginePtr engine = small_engine();
  std::atomic<int> n_woken{0};
  for (int i = 0; i < 200; ++i) {
    give_thread(engine);
    inlay_queue_params params = sized<inlay_queue_params>();
    params.wake = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
    params.wake_user = &n_woken;
    QueuePtr queue = new_queue(engine, &params);
    for (int k = 0; k < 3; ++k) submit(queue, request_of(kPlain));
    queue.reset();
    const int after = n_woken;
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(n_woken, after) << "not called behind its free";
    if (i % 3 == 0) {
      EXPECT_EQ(inlay_engine_set_thread(engine.get(), nullptr, nullptr), INLAY_OK);
    }
  }
  inlay_stats stats = sized<inlay_stats>();
  inlay_run_info info = sized<inlay_run_info>();
  ASSERT_EQ(inlay_engine_set_thread(engine.get(), nullptr, nullptr), INLAY_OK);
  ASSERT_EQ(inlay_run(engine.get(), nullptr, &info, nullptr), INLAY_OK);
  ASSERT_EQ(inlay_engine_get_stats(engine.get(), &stats, nullptr), INLAY_OK);
  EXPECT_EQ(info.n_requests, 0);
  EXPECT_EQ(stats.n_kv_blocks_used, 0);
  EXPECT_EQ(stats.n_sessions, 0);
}

// Sessions and requests beside one another, from threads of their own: both come to what they come to alone.
TEST(Requests, SessionsGoOnBesideThem) {
  const EnginePtr engine = small_engine(3);
  const SessionPtr own = new_session(engine);
  prefill(own, kPlain);
  const QueuePtr queue = new_queue(engine);
  const inlay_session_params session = up_to(40);
  const uint64_t id = submit(queue, request_of(kPlain, &session));
  const Answer alone = answers_of(engine, queue)[id];
  give_thread(engine);
  std::atomic<bool> stop{false};
  std::thread steps([&] {
    while (!stop) {
      const SessionPtr s = new_session(engine);
      prefill(s, kPlain);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(step(s).status, INLAY_OK);
    }
  });
  Answers answers;
  for (int i = 0; i < 20; ++i) submit(queue, request_of(kPlain, &session));
  collect(queue.get(), answers, 20);
  stop = true;
  steps.join();
  for (const auto& [other, answer] : answers) EXPECT_EQ(answer.tokens, alone.tokens) << other;
}

TEST(Requests, RunByTwoThreadsIsBusy) {
  const EnginePtr engine = small_engine();
  const QueuePtr queue = new_queue(engine);
  const inlay_session_params session = up_to(200);
  std::atomic<int> n_busy{0}, n_fine{0};
  for (int i = 0; i < 40; ++i) submit(queue, request_of(Tokens(40, 65), &session));
  std::vector<std::thread> hosts;
  for (int t = 0; t < 4; ++t) {
    hosts.emplace_back([&] {
      inlay_run_params params = sized<inlay_run_params>();
      params.budget_us = 200;
      inlay_run_info info = sized<inlay_run_info>();
      for (int i = 0; i < 50; ++i) {
        const inlay_status status = inlay_run(engine.get(), &params, &info, nullptr);
        (status == INLAY_BUSY ? n_busy : n_fine) += 1;
        EXPECT_TRUE(status == INLAY_OK || status == INLAY_BUSY) << status;
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_GT(n_fine, 0);
  EXPECT_GT(n_busy, 0);
}

}  // namespace
}  // namespace inlay::test
