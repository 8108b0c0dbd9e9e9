// fork() beside the library's calls: the child loads an engine of its own, whatever the threads of its parent held.
//
// INLAY_TEST_FORKS: how many children each test makes, instead of 48.
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/capi/client.h"

namespace inlay::test {
namespace {

constexpr unsigned kPatience = 60;  // seconds, for what takes one
constexpr const char* kTemplate = "{{ strftime_now('%d %b %Y') }}{{ messages[0].content }}";
constexpr const char* kMessages = R"([{"role": "user", "content": "It's 12345 o'clock, said the dog"}])";

int n_children() {
  const char* given = std::getenv("INLAY_TEST_FORKS");
  return given ? std::atoi(given) : 48;
}

EnginePtr load_one() {
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_threads = 2, params.n_context = 64, params.log_level = INLAY_LOG_OFF;
  inlay_engine* engine = nullptr;
  inlay_load(model_file(kModel).c_str(), SIZE_MAX, &params, &engine, nullptr);
  return EnginePtr(engine);
}

bool write_one(const EnginePtr& engine) {
  const inlay_chat_params form = written_by(kTemplate);
  std::vector<int32_t> tokens(200);
  size_t n = 0;
  return inlay_chat_tokenize(engine.get(), kMessages, SIZE_MAX, &form, tokens.data(), tokens.size(), &n, nullptr) == INLAY_OK && n > 0;
}

bool answer_one(const EnginePtr& engine) {
  inlay_session* made = nullptr;
  if (inlay_session_create(engine.get(), nullptr, &made, nullptr) != INLAY_OK) return false;
  const SessionPtr session(made);
  const Tokens prompt = {72, 105, 33};
  inlay_event event;
  return inlay_prefill(session.get(), prompt.data(), prompt.size(), nullptr, nullptr) == INLAY_OK &&
         inlay_decode_step(&made, 1, &event, sizeof event, nullptr) == INLAY_OK;
}

// The whole life of an engine; in a child without gtest, whose state is the parent's.
bool live() {
  const EnginePtr engine = load_one();
  return engine && write_one(engine) && answer_one(engine);
}

struct Count {
  int n_done = 0, n_stuck = 0, n_failed = 0;
};

// A child that does `work`. One that is not done in a minute is stuck, and dies of its alarm.
template <class Work>
pid_t child_of(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(kPatience);
  ::_exit(work() ? 0 : 1);
}

void wait_for(pid_t child, Count& count) {
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ++count.n_done;
  count.n_stuck += WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM;
  count.n_failed += !(WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM) && how != 0;
}

void expect_all(const Count& count, int n) {
  EXPECT_EQ(count.n_done, n);
  EXPECT_EQ(count.n_stuck, 0);
  EXPECT_EQ(count.n_failed, 0);
}

// Each process is in its first load, of which the children see another moment each.
TEST(Forks, BesideTheFirstLoadOfAProcess) {
  constexpr int kOfOne = 12;
  Count processes;
  const int n = (n_children() + kOfOne - 1) / kOfOne;
  for (int i = 0; i < n; ++i) {
    const pid_t process = child_of([i] {
      std::atomic<bool> begins{false};
      std::thread first([&] { begins = true, live(); });
      while (!begins) {}
      std::vector<pid_t> children;
      for (int k = 0; k < kOfOne; ++k) {
        const timespec pause = {0, k == 0 ? 20000L + i * 37000L % 900000L : 60000L};
        ::nanosleep(&pause, nullptr);
        children.push_back(child_of(live));
      }
      Count count;
      for (const pid_t child : children) wait_for(child, count);
      first.join();
      return count.n_done == kOfOne && count.n_stuck == 0 && count.n_failed == 0;
    });
    wait_for(process, processes);
  }
  expect_all(processes, n);
}

// Long after the first load: threads write conversations, answer, load.
template <class Work>
void fork_beside(Work work) {
  const EnginePtr engine = load_one();
  ASSERT_TRUE(engine && write_one(engine));
  std::atomic<bool> stop{false};
  std::atomic<int> n_done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!stop) work(engine), ++n_done;
    });
  while (n_done < 4) std::this_thread::yield();
  Count count;
  for (int i = 0; i < n_children(); ++i) wait_for(child_of(live), count);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  expect_all(count, n_children());
}

TEST(Forks, BesideConversations) { fork_beside(write_one); }
TEST(Forks, BesideAnswers) { fork_beside(answer_one); }
TEST(Forks, BesideLoads) {
  fork_beside([](const EnginePtr&) { live(); });
}
TEST(Forks, BesideErrors) {
  fork_beside([](const EnginePtr&) {
    inlay_engine* engine = nullptr;
    inlay_error err;
    inlay_load("/nowhere/model.gguf", SIZE_MAX, nullptr, &engine, &err);
  });
}

// What the counts are worth: a child that waits for a lock of its parent's thread is stuck, one that fails is counted.
TEST(Forks, AStuckChildIsSeen) {
  Count count;
  wait_for(child_of([] {
             ::alarm(1);
             ::pause();
             return true;
           }),
           count);
  EXPECT_EQ(count.n_stuck, 1);
  wait_for(child_of([] { return false; }), count);
  EXPECT_EQ(count.n_failed, 1);
}

}  // namespace
}  // namespace inlay::test
