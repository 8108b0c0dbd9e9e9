// Memory and threads that run out: a limit on the process's addresses from tight to ample, and calls of the C library
// that fail from the n-th on. Every call of the library then works or says OUT_OF_MEMORY.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/abuse/failing_calls.h"
#include "tests/abuse/session_calls.h"

namespace inlay::abuse {

namespace {

constexpr const char* kModel = "chat-bpe-qwen3-f32";

void no_end() {}

inlay_load_params two_threads() {
  inlay_load_params params = sized<inlay_load_params>();
  params.device = INLAY_DEVICE_CPU;
  params.n_context = 64;
  params.max_sessions = 2;
  params.n_threads = 2;
  return params;
}

uint64_t address_bytes() {
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  const bool read = file && fscanf(file, "%lu", &pages) == 1;
  if (file) fclose(file);
  return read ? pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// The library is opened by each case: that takes memory, too.
bool nothing(Case&) { return true; }

// An engine's life, from its load to its end. False: the library itself cannot be opened.
bool live(Host& host) {
  std::string why;
  if (!lib.library && !open_library(why)) return false;
  use_and_free(host, load_file(host, model_path(kModel), two_threads()));
  return true;
}

Outcome outcome_of(const Host& host, bool lived) {
  return host.refused() || !lived ? Outcome::refused : Outcome::accepted;
}

void set_limit(Case& the_case, uint64_t room) {
  const rlimit set = {address_bytes() + room, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &set) != 0) the_case.violated("cannot set the limit");
}

// What the host's heap has left is taken: the library finds nothing there but what the limit lets grow.
void fill_heap() {
  for (size_t n = 1 << 16; n >= 32; n /= 2) {
    while (void* block = std::malloc(n)) *static_cast<void* volatile*>(block) = block;
  }
}

// Room is denser where it is tight: some pages at the least, 512 MiB is ample.
void limit_addresses(Case& the_case) {
  const double part = static_cast<double>(the_case.random.below(1 << 20)) / (1 << 20);
  const uint64_t room = static_cast<uint64_t>(part * part * part * (512 << 20)) & ~uint64_t{4095};
  if (the_case.random.one_in(2)) {
    set_limit(the_case, 0);
    fill_heap();
  }
  set_limit(the_case, room);
}

// From the beginning, or from one of the calls on.
Outcome run_limited(Case& the_case) {
  Host host(the_case);
  host.expect_only({INLAY_OUT_OF_MEMORY});
  if (the_case.random.one_in(2)) {
    limit_addresses(the_case);
  } else {
    host.before_call(1 + static_cast<int>(the_case.random.below(90)), limit_addresses);
  }
  const bool lived = live(host);
  const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  return outcome_of(host, lived);
}

#if !INLAY_SANITIZED
// How many calls a life makes is counted in the case before it fails, in the same process: what is made once a process
// is then there. In one of two cases the process is new.
Outcome run_failing(Case& the_case) {
  static constexpr unsigned kKinds[] = {kFailMalloc, kFailMmap, kFailThread, kFailMalloc | kFailMmap};
  const unsigned kinds = the_case.random.of(kKinds);
  const bool fresh = the_case.random.one_in(2), once = the_case.random.one_in(3);
  uint64_t n_calls = 60;
  if (!fresh) {
    Host host(the_case);
    host.expect_only({});
    fail_calls(kinds, 0, 0);
    live(host);
    n_calls = n_counted_calls();
    fail_calls(0, 0, 0);
  }
  Host host(the_case);
  host.expect_only({INLAY_OUT_OF_MEMORY});
  fail_calls(kinds, 1 + the_case.random.below(n_calls + 1), once);
  const bool lived = live(host);
  fail_calls(0, 0, 0);
  return outcome_of(host, lived);
}

// ---- threads whose first call of the library meets the end of memory

// Started while there is memory, each waits for its turn.
class Waiting {
 public:
  template <class Work>
  explicit Waiting(Work work)
      : thread_([this, work] {
          turn_.wait(false);
          work();
        }) {}
  void go() {
    turn_ = true;
    turn_.notify_one();
  }
  void join() {
    go();
    thread_.join();
  }

 private:
  std::atomic<bool> turn_ = false;
  std::thread thread_;
};

struct FirstCall {
  const HandleCall* call = nullptr;
  inlay_status status = INLAY_OK;
  inlay_error err = {};
};

constexpr int kFirstCalls = 12;

void let_memory_end(Case& the_case) {
  static constexpr unsigned kKinds[] = {kFailMalloc, kFailMmap, kFailMalloc | kFailMmap | kFailThread};
  if (the_case.random.one_in(3))
    limit_addresses(the_case);
  else
    fail_calls(the_case.random.of(kKinds), 1 + the_case.random.below(40), the_case.random.one_in(4));
}

void let_memory_return() {
  fail_calls(0, 0, 0);
  const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
}

// What a thread stores under a key beyond the first 32 takes memory of its own.
void take_keys() {
  pthread_key_t key;
  for (int i = 0; i < 40; ++i) pthread_key_create(&key, nullptr);
}

// One after the other, or all at once with calls that may be. Two threads free the handles: nothing may keep them from
// it.
Outcome run_new_threads(Case& the_case) {
  const std::vector<int32_t> prompt = {5, 6, 7};
  Host host(the_case);
  host.expect_only({});
  if (the_case.random.one_in(3)) take_keys();
  std::string why;
  if (!open_library(why)) host.violated(why);
  Handles h;
  h.engine = load_file(host, model_path(kModel), two_threads());
  inlay_error err;
  inlay_engine_info info = sized<inlay_engine_info>();
  host.check("inlay_engine_get_info", lib.inlay_engine_get_info(h.engine, &info, &err), err);
  h.n_vocab = info.n_vocab;
  const std::vector<int32_t> before = draw(host, h.engine, prompt, 4);
  host.check("inlay_session_create", lib.inlay_session_create(h.engine, nullptr, &h.session, &err), err, h.session);
  size_t n_done = 0;
  host.check("inlay_prefill", lib.inlay_prefill(h.session, prompt.data(), prompt.size(), &n_done, &err), err);

  const bool at_once = the_case.random.one_in(2);
  FirstCall first[kFirstCalls];
  std::vector<std::unique_ptr<Waiting>> threads;
  for (FirstCall& one : first) {
    do {
      one.call = &handle_calls()[the_case.random.below(handle_calls().size())];
    } while (one.call->slow || (at_once && one.call->of_session));
    threads.push_back(std::make_unique<Waiting>([&one, &h] { one.status = one.call->run(h, &one.err); }));
  }
  Waiting free_session([&h] {
    lib.inlay_session_cancel(h.session);
    lib.inlay_session_free(h.session);
  });
  Waiting free_engine([&h] { lib.inlay_free(h.engine); });
  let_memory_end(the_case);
  for (auto& thread : threads) at_once ? thread->go() : thread->join();
  if (at_once) {
    for (auto& thread : threads) thread->join();
  }
  free_session.join();
  let_memory_return();

  Host judge(the_case);
  // A call before may have left a step half done, and others make sessions; nothing was profiled.
  judge.expect_only({INLAY_OUT_OF_MEMORY, INLAY_INVALID_STATE, INLAY_SESSION_LIMIT, INLAY_NOT_FOUND});
  bool refused = false;
  for (const FirstCall& one : first) {
    judge.check(one.call->name, one.status, one.err);
    refused |= one.status == INLAY_OUT_OF_MEMORY;
  }
  if (draw(host, h.engine, prompt, 4) != before) host.violated("the engine draws other tokens than before");
  let_memory_end(the_case);
  free_engine.join();
  let_memory_return();
  return refused ? Outcome::refused : Outcome::accepted;
}
#else
Outcome run_failing(Case&) { return Outcome::refused; }
Outcome run_new_threads(Case&) { return Outcome::refused; }
#endif

}  // namespace

const Generator kLimit = {"limit", "an address-space limit from tight to ample, over an engine's life",
                          1,       20,
                          nothing, run_limited,
                          no_end,  true,
                          false,   false,
                          false};
const Generator kCalls = {"calls", "malloc, mmap and pthread_create fail from the n-th call on",
                          1,       20,
                          nothing, run_failing,
                          no_end,  true,
                          false,   false,
                          false};

const Generator kNewThreads = {"new-threads",
                               "memory that runs out under threads that call for the first time",
                               1,
                               20,
                               nothing,
                               run_new_threads,
                               no_end,
                               true,
                               false,
                               false,
                               false};

}  // namespace inlay::abuse
