// One handle in several calls at once, against what its documentation asks for: a session takes one call, the others are
// BUSY; freeing waits for nobody and takes nothing from a call that is under way; after fork() the child's calls are refused.
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/capi/client.h"

namespace inlay::test {
namespace {

using Call = std::function<inlay_status(inlay_session*)>;
constexpr int32_t kContext = 1024;

// Functions that have a session for themselves; but for the one that frees it.
std::set<std::string> that_claim_a_session() {
  std::set<std::string> out;
  const auto api = nlohmann::json::parse(std::ifstream(INLAY_SOURCE_DIR "/bindings/api/inlay.json"));
  for (const auto& function : api.at("functions")) {
    const std::string thread = function.at("thread");
    if (thread.starts_with("exclusive(session")) out.insert(function.at("name"));
  }
  out.erase("inlay_session_free");
  return out;
}

const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> table = {
      {"inlay_prefill",
       [](inlay_session* s) { return inlay_prefill(s, kPlain.data(), kPlain.size(), nullptr, nullptr); }},
      {"inlay_decode_step",
       [](inlay_session* s) {
         inlay_event event = {};
         return inlay_decode_step(&s, 1, &event, sizeof event, nullptr);
       }},
      {"inlay_decode_slice",
       [](inlay_session* s) {
         inlay_event event = {};
         int32_t left = 0;
         return inlay_decode_slice(&s, 1, 2, &event, sizeof event, &left, nullptr);
       }},
      {"inlay_decode_abandon", [](inlay_session* s) { return inlay_decode_abandon(&s, 1, nullptr); }},
      {"inlay_session_take_text",
       [](inlay_session* s) {
         char text[64];
         size_t n = 0;
         return inlay_session_take_text(s, text, sizeof text, &n, nullptr);
       }},
      {"inlay_session_fork",
       [](inlay_session* s) {
         inlay_session* child = nullptr;
         const inlay_status status = inlay_session_fork(s, &child, nullptr);
         EXPECT_EQ(child != nullptr, status == INLAY_OK);
         inlay_session_free(child);
         return status;
       }},
      {"inlay_session_truncate", [](inlay_session* s) { return inlay_session_truncate(s, 3, nullptr); }},
      {"inlay_session_shift", [](inlay_session* s) { return inlay_session_shift(s, 1, 1, nullptr); }},
      {"inlay_session_set_constraint", [](inlay_session* s) { return inlay_session_set_constraint(s, nullptr, nullptr, 0, nullptr); }},
      {"inlay_session_get_forced_text", [](inlay_session* s) { return inlay_session_get_forced_text(s, nullptr, 0, nullptr, nullptr); }},
      {"inlay_session_save",
       [](inlay_session* s) {
         size_t n = 0;
         return inlay_session_save(s, nullptr, 0, &n, nullptr);
       }},
      {"inlay_session_save_to",
       [](inlay_session* s) {
         inlay_state_writer writer = sized<inlay_state_writer>();
         writer.write = [](void*, const void*, uint64_t) { return int32_t{0}; };
         return inlay_session_save_to(s, &writer, nullptr);
       }},
      {"inlay_session_accept",
       [](inlay_session* s) {
         size_t n = 0;
         return inlay_session_accept(s, kPlain.data(), 1, &n, nullptr);
       }},
      {"inlay_session_get_tokens",
       [](inlay_session* s) {
         size_t n = 0;
         return inlay_session_get_tokens(s, 0, nullptr, 0, &n, nullptr);
       }},
      {"inlay_session_set_sampler",
       [](inlay_session* s) {
         const auto params = sized<inlay_sampler_params>();
         return inlay_session_set_sampler(s, &params, nullptr);
       }},
      {"inlay_session_set_stop",
       [](inlay_session* s) {
         const inlay_text stop = {"unlikely", 8};
         return inlay_session_set_stop(s, &stop, 1, nullptr);
       }},
      {"inlay_session_set_stop_tokens",
       [](inlay_session* s) {
         const int32_t token = 300;
         return inlay_session_set_stop_tokens(s, &token, 1, nullptr);
       }},
      {"inlay_session_set_max_tokens", [](inlay_session* s) { return inlay_session_set_max_tokens(s, 1000, nullptr); }},
      {"inlay_session_copy_logits",
       [](inlay_session* s) {
         std::vector<float> logits(kVocab);
         return inlay_session_copy_logits(s, logits.data(), logits.size(), nullptr, nullptr);
       }},
      {"inlay_session_view_logits",
       [](inlay_session* s) {
         auto view = sized<inlay_logits>();
         return inlay_session_view_logits(s, &view, nullptr);
       }}};
  return table;
}

class SharedHandles : public OnEachDevice {
 protected:
  EnginePtr engine_of(int32_t n_threads = 1) const {
    inlay_load_params p = on(GetParam());
    p.n_context = p.prefill_chunk = kContext;
    p.max_sessions = 8;
    p.n_threads = n_threads;
    return load(p);
  }
};
INLAY_ON_EACH_DEVICE(SharedHandles);

TEST(SharedHandles, TheTableHasEveryFunctionThatClaimsASession) {
  std::set<std::string> names;
  for (const auto& [name, call] : calls()) names.insert(name);
  EXPECT_EQ(names, that_claim_a_session());
}

// A prompt that begins again until it is told to stop.
class EndlessPrompt {
 public:
  explicit EndlessPrompt(inlay_session* session) : thread_([this, session] { run(session); }) {
    while (n_begun_.load() == 0) std::this_thread::yield();
  }
  ~EndlessPrompt() {
    stop_.store(true);
    thread_.join();
  }

 private:
  void run(inlay_session* session) {
    const Tokens prompt(kContext, kPlain[0]);
    while (!stop_.load()) {
      ++n_begun_;
      const inlay_status cut = inlay_session_truncate(session, 0, nullptr);
      EXPECT_TRUE(cut == INLAY_OK || cut == INLAY_BUSY || cut == INLAY_INVALID_STATE) << cut;
      const inlay_status status = inlay_prefill(session, prompt.data(), prompt.size(), nullptr, nullptr);
      EXPECT_TRUE(status == INLAY_OK || status == INLAY_BUSY || status == INLAY_INVALID_STATE || status == INLAY_CONTEXT_FULL) << status;
    }
  }
  std::atomic<bool> stop_{false};
  std::atomic<int> n_begun_{0};
  std::thread thread_;
};

TEST_P(SharedHandles, ASecondCallIsBusyAndTheFirstGoesOn) {
  const EnginePtr engine = engine_of();
  const SessionPtr session = new_session(engine);
  for (const auto& [name, call] : calls()) {
    const EndlessPrompt prompt(session.get());
    bool was_busy = false;
    const auto begin = std::chrono::steady_clock::now();
    while (!was_busy && std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) was_busy = call(session.get()) == INLAY_BUSY;
    EXPECT_TRUE(was_busy) << name;
  }
  // The engine and the session are what they were.
  (void)inlay_decode_abandon(std::array{session.get()}.data(), 1, nullptr);
  ASSERT_EQ(inlay_session_truncate(session.get(), 0, nullptr), INLAY_OK);
  prefill(session, kPlain);
  EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply);
}

// What may be asked of a session at any time is answered in the middle of a call, too.
TEST_P(SharedHandles, CallsOfAnyThreadAreNeverBusy) {
  const EnginePtr engine = engine_of();
  const SessionPtr session = new_session(engine);
  const EndlessPrompt prompt(session.get());
  for (int i = 0; i < 2000; ++i) {
    auto info = sized<inlay_session_info>();
    ASSERT_EQ(inlay_session_get_info(session.get(), &info, nullptr), INLAY_OK);
    ASSERT_EQ(inlay_session_cancel_generation(session.get(), UINT64_MAX, nullptr), INLAY_OK);
  }
}

// Every pair of functions from two threads; ThreadSanitizer runs it, too.
TEST_P(SharedHandles, EveryPairOfCalls) {
  const char* given = std::getenv("INLAY_TEST_ROUNDS");
  const int n_rounds = given ? std::atoi(given) : 1;
  const EnginePtr engine = engine_of();
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  const std::set<inlay_status> allowed = {INLAY_OK, INLAY_BUSY, INLAY_INVALID_STATE, INLAY_CONTEXT_FULL, INLAY_SESSION_LIMIT, INLAY_INVALID_ARGUMENT};
  for (const auto& [name_a, a] : calls()) {
    for (const auto& [name_b, b] : calls()) {
      std::atomic<int> n_ready{0};
      const auto repeat = [&](const std::string& name, const Call& call) {
        n_ready.fetch_add(1);
        while (n_ready.load() < 2) std::this_thread::yield();
        for (int i = 0; i < 20 * n_rounds; ++i) {
          const inlay_status status = call(session.get());
          EXPECT_TRUE(allowed.contains(status)) << name << " of " << name_a << " and " << name_b << ": " << status;
        }
      };
      std::thread other([&] { repeat(name_b, b); });
      repeat(name_a, a);
      other.join();
      (void)inlay_decode_abandon(std::array{session.get()}.data(), 1, nullptr);
      (void)inlay_session_truncate(session.get(), 3, nullptr);
    }
  }
  ASSERT_EQ(inlay_session_truncate(session.get(), 0, nullptr), INLAY_OK);
  prefill(session, kPlain);
  EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply);
}

TEST_P(SharedHandles, ABusySessionRefusesNoOther) {
  const EnginePtr engine = engine_of();
  const SessionPtr busy = new_session(engine), free_one = new_session(engine);
  prefill(free_one, kPlain);
  const EndlessPrompt prompt(busy.get());
  int n_busy = 0;
  Tokens reply;
  for (int i = 0; i < 10'000 && (n_busy == 0 || reply.size() < kPlainReply.size()); ++i) {
    inlay_session* both[] = {busy.get(), free_one.get()};
    inlay_event events[2] = {};
    const inlay_status status = inlay_decode_step(both, 2, events, sizeof *events, nullptr);
    if (events[0].status == INLAY_BUSY) {
      ++n_busy;
      EXPECT_EQ(status, INLAY_BUSY);
      EXPECT_EQ(events[0].token, -1);
      EXPECT_EQ(events[0].kind, INLAY_EVENT_NONE);
    }
    EXPECT_EQ(events[1].session_index, 1);
    ASSERT_EQ(events[1].status, INLAY_OK);
    if (reply.size() < kPlainReply.size()) reply.push_back(events[1].token);
    if (reply.size() == kPlainReply.size() && n_busy == 0) {
      ASSERT_EQ(inlay_session_truncate(free_one.get(), kPlain.size(), nullptr), INLAY_OK);
    }
  }
  EXPECT_GT(n_busy, 0);
  EXPECT_EQ(reply, kPlainReply);
}

TEST_P(SharedHandles, ASessionGivenTwiceIsAnError) {
  const EnginePtr engine = engine_of();
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  inlay_session* twice[] = {session.get(), session.get()};
  inlay_event events[2] = {};
  inlay_error err;
  EXPECT_EQ(inlay_decode_step(twice, 2, events, sizeof *events, &err), INLAY_INVALID_ARGUMENT);
  EXPECT_STREQ(err.message, "session 1 is given twice");
  EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply);
}

TEST_P(SharedHandles, FreeingASessionInTheMiddleOfItsPrompt) {
  const EnginePtr engine = engine_of();
  double least_ms = 1e9;
  for (int i = 0; i < 20; ++i) {
    inlay_session* session = new_session(engine).release();
    std::atomic<bool> began{false};
    inlay_status status = INLAY_INTERNAL;
    std::thread prompt([&] {
      const Tokens tokens(kContext, kPlain[0]);
      began.store(true);
      status = inlay_prefill(session, tokens.data(), tokens.size(), nullptr, nullptr);
    });
    while (!began.load()) std::this_thread::yield();
    auto stats = sized<inlay_stats>();
    do {
      ASSERT_EQ(inlay_engine_get_stats(engine.get(), &stats, nullptr), INLAY_OK);
    } while (stats.n_kv_blocks_used == 0);  // the prompt is under way
    const auto start = std::chrono::steady_clock::now();
    inlay_session_free(session);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    prompt.join();
    EXPECT_EQ(status, INLAY_OK);
    least_ms = std::min(least_ms, took.count());
    EXPECT_EQ(stats_of(engine).n_sessions, 0);
    EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 0);
  }
  if (GetParam() == INLAY_DEVICE_CPU) {
    EXPECT_LT(least_ms, 5) << "freeing waits for the prompt";
  }
}

TEST_P(SharedHandles, FreeingAnEngineInTheMiddleOfACall) {
  const Tokens text(kContext - 1, kPlain[0]);
  const inlay_embed_input input = {text.data(), text.size(), nullptr, 0};
  auto params = sized<inlay_embed_params>();
  params.pooling = INLAY_POOLING_MEAN;
  for (int i = 0; i < 5; ++i) {
    inlay_engine* engine = engine_of().release();
    inlay_status status = INLAY_INTERNAL;
    std::thread call([&] {
      std::vector<float> vector(4096);
      size_t needed = 0;
      status = inlay_embed(engine, &input, 1, sizeof input, &params, vector.data(), vector.size(), &needed, nullptr);
    });
    auto stats = sized<inlay_stats>();
    do {
      ASSERT_EQ(inlay_engine_get_stats(engine, &stats, nullptr), INLAY_OK);
    } while (stats.n_sessions == 0 && stats.n_prefill_tokens == 0);  // the call is under way
    inlay_free(engine);
    call.join();
    EXPECT_EQ(status, INLAY_OK);
  }
}

// ---- fork()

#ifndef _WIN32

// What the child found: 0, or the number of its first check that failed. A child that hangs is killed.
int in_child(const std::function<int()>& checks) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(checks());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_P(SharedHandles, AChildOfForkIsRefusedAtOnce) {
  EnginePtr engine = engine_of(2);
  SessionPtr session = new_session(engine), busy = new_session(engine);
  prefill(session, kPlain);
  const EndlessPrompt prompt(busy.get());  // holds the engine's locks at most forks
  for (int i = 0; i < 10; ++i) {
    const int failed = in_child([&] {
      int check = 0;
      for (const auto& [name, call] : calls()) {
        ++check;
        if (call(session.get()) != INLAY_INVALID_STATE) return check;
      }
      auto info = sized<inlay_session_info>();
      auto stats = sized<inlay_stats>();
      inlay_session* made = nullptr;
      inlay_error err;
      if (inlay_session_get_info(busy.get(), &info, nullptr) != INLAY_INVALID_STATE) return 101;
      if (inlay_session_cancel_generation(busy.get(), 1, nullptr) != INLAY_INVALID_STATE) return 102;
      inlay_session_cancel(busy.get());
      if (inlay_engine_get_stats(engine.get(), &stats, &err) != INLAY_INVALID_STATE) return 103;
      if (std::string(err.message).find("fork()") == std::string::npos) return 104;
      if (inlay_session_create(engine.get(), nullptr, &made, nullptr) != INLAY_INVALID_STATE || made) return 105;
      inlay_session_free(session.release());
      inlay_session_free(busy.release());
      inlay_free(engine.release());
      return 0;
    });
    EXPECT_EQ(failed, 0) << "check of the child";
  }
  EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply) << "the parent's is what it was";
}

TEST(SharedHandles, AChildOfForkLoadsItsOwn) {
  const auto runs = [] {
    inlay_load_params p = on(INLAY_DEVICE_CPU);
    p.n_threads = 2;
    inlay_engine* engine = nullptr;
    if (inlay_load(model_file(kModel).c_str(), SIZE_MAX, &p, &engine, nullptr) != INLAY_OK) return 1;
    inlay_session* session = nullptr;
    if (inlay_session_create(engine, nullptr, &session, nullptr) != INLAY_OK) return 2;
    if (inlay_prefill(session, kPlain.data(), kPlain.size(), nullptr, nullptr) != INLAY_OK) return 3;
    inlay_event event = {};
    if (inlay_decode_step(&session, 1, &event, sizeof event, nullptr) != INLAY_OK || event.token != kPlainReply[0]) return 4;
    inlay_session_free(session);
    inlay_free(engine);
    return 0;
  };
  EXPECT_EQ(runs(), 0);
  EXPECT_EQ(in_child([&] { return runs() != 0 ? 1 : in_child(runs); }), 0) << "a child, and its own child";
}
#endif

}  // namespace
}  // namespace inlay::test
