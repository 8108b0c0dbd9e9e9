// Handles where they should not be used: in two threads at once, and in the child of a fork. The first is BUSY or one
// call after the other, the second INVALID_STATE, and the engine is whole afterwards.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/abuse/process.h"
#include "tests/abuse/session_calls.h"

namespace inlay::abuse {

namespace {

constexpr const char* kModel = "chat-bpe-qwen3-f32";
constexpr int kEpochs = 6, kRounds = 8;
constexpr double kSideSeconds = 0.02;
constexpr double kChildSeconds = 3;
const std::vector<int32_t> kPrompt = {5, 6, 7, 8, 9};

bool nothing(Case&) { return true; }
void no_end() {}

inlay_load_params params_of(fuzz::Random& random) {
  inlay_load_params params = sized<inlay_load_params>();
  params.device = INLAY_DEVICE_CPU;
  params.n_context = 64;
  params.max_sessions = 6;
  params.n_threads = 1 + static_cast<int32_t>(random.below(2));
  return params;
}

// An engine and a session that has drawn a token.
bool make_handles(Host& host, Handles& h) {
  h.engine = load_file(host, model_path(kModel), params_of(host.random()));
  if (!h.engine) return false;
  inlay_error err;
  inlay_engine_info info = sized<inlay_engine_info>();
  host.check("inlay_engine_get_info", lib.inlay_engine_get_info(h.engine, &info, &err), err);
  h.n_vocab = info.n_vocab;
  inlay_session_params params = sized<inlay_session_params>();
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  if (!host.check("inlay_session_create", lib.inlay_session_create(h.engine, &params, &h.session, &err), err,
                  h.session))
    return false;
  size_t n_done = 0;
  inlay_event event;
  return host.check("inlay_prefill", lib.inlay_prefill(h.session, kPrompt.data(), kPrompt.size(), &n_done, &err),
                    err) &&
         host.check("inlay_decode_step", lib.inlay_decode_step(&h.session, 1, &event, sizeof event, &err), err);
}

// What the engine draws in a session of its own: the same before and after what a case does with another session.
std::vector<int32_t> look(Case& the_case, const Handles& h) {
  Host host(the_case);
  host.expect_only({});
  inlay_error err;
  lib.inlay_decode_abandon(&h.session, 1, &err);  // a pending step of a case would keep other sessions out
  return draw(host, h.engine, kPrompt, 4);
}

// ---- two threads in one session

// What may come of a call in company: what is between its arguments and the session's state, or BUSY.
bool may_return(inlay_status status) {
  switch (status) {
    case INLAY_OK:
    case INLAY_BUSY:
    case INLAY_INVALID_STATE:
    case INLAY_CONTEXT_FULL:
    case INLAY_KV_FULL:
    case INLAY_CANCELLED:
    case INLAY_NOT_FOUND:
    case INLAY_SESSION_LIMIT:
    case INLAY_BUFFER_TOO_SMALL:
    case INLAY_INVALID_ARGUMENT:
      return true;
    default:
      return false;
  }
}

struct Pair {
  const HandleCall* calls[2];
  std::atomic<int> n_ready = 0, n_done = 0;
  std::atomic<int> wrong = 0;  // a status
};

void run_side(Pair& pair, int side, const Handles& h) {
  inlay_error err;
  pair.n_ready.fetch_add(1);
  while (pair.n_ready.load() < 2) {
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(kSideSeconds)) break;
    const inlay_status status = pair.calls[side]->run(h, &err);
    if (!may_return(status)) pair.wrong = status;
  }
  // A long call of the other side waits for a step in slices that this one has left.
  pair.n_done.fetch_add(1);
  while (pair.n_done.load() < 2) {
    lib.inlay_decode_abandon(&h.session, 1, &err);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// A run of as many cases as there are pairs has all of them; a shorter one has some of all functions.
Outcome run_pair(Case& the_case) {
  const std::span<const HandleCall> calls = handle_calls();
  const size_t n = calls.size();
  const auto n_sessions = static_cast<size_t>(std::ranges::count(calls, true, &HandleCall::of_session));
  const size_t number = the_case.index * 7919 % (n * n_sessions);
  Pair pair = {{&calls[number % n_sessions], &calls[number / n_sessions]}};
  Host host(the_case);
  host.expect_only({});
  Handles h;
  if (make_handles(host, h)) {
    inlay_error err;
    const bool is_slow = pair.calls[0]->slow || pair.calls[1]->slow;
    const std::vector<int32_t> before = look(the_case, h);
    for (int epoch = 0; epoch < (is_slow ? 1 : kEpochs); ++epoch) {
      pair.n_ready = pair.n_done = 0;
      std::thread other([&] { run_side(pair, 1, h); });
      run_side(pair, 0, h);
      other.join();
      lib.inlay_decode_abandon(&h.session, 1, &err);
      host.check("inlay_session_truncate", lib.inlay_session_truncate(h.session, 0, &err), err);
      size_t n_done = 0;
      host.check("inlay_prefill", lib.inlay_prefill(h.session, kPrompt.data(), kPrompt.size(), &n_done, &err), err);
    }
    for (int i = 0; i < 2 * kEpochs * kRounds; ++i) the_case.count_call();
    const std::string named = std::string(pair.calls[0]->name) + " beside " + pair.calls[1]->name;
    if (pair.wrong != 0) the_case.violated(named + ": " + lib.inlay_status_name(pair.wrong));
    if (look(the_case, h) != before) the_case.violated("the engine draws other tokens than before " + named);
  }
  lib.inlay_session_free(h.session);
  lib.inlay_free(h.engine);
  return host.refused() ? Outcome::refused : Outcome::accepted;
}

// ---- the child of a fork

// Runs in the child: every call on what it inherited. It writes the calls one by one, with what they gave if it is
// wrong.
[[noreturn]] void be_forked(Case& the_case, const Handles& h, const std::vector<int32_t>& before, int out) {
  const size_t first = the_case.random.below(handle_calls().size());
  const std::span<const HandleCall> calls = handle_calls();
  inlay_error err;
  for (size_t i = 0; i < calls.size(); ++i) {
    const HandleCall& call = calls[(first + i) % calls.size()];
    dprintf(out, "<%s", call.name);
    const inlay_status status = call.run(h, &err);
    if (status != INLAY_INVALID_STATE) dprintf(out, " gives %s", lib.inlay_status_name(status));
    dprintf(out, ">");
  }
  dprintf(out, "<inlay_session_cancel");
  lib.inlay_session_cancel(h.session);
  dprintf(out, "><inlay_session_free");
  lib.inlay_session_free(h.session);
  dprintf(out, "><inlay_free");
  lib.inlay_free(h.engine);
  dprintf(out, "><its own engine");
  Host host(the_case);
  host.expect_only({});
  inlay_engine* own = load_file(host, model_path(kModel), params_of(the_case.random));
  if (own && draw(host, own, kPrompt, 4) != before)
    the_case.violated("in the child of a fork: its own engine draws other tokens");
  lib.inlay_free(own);
  dprintf(out, ">");
  _exit(0);
}

void judge_forked(Case& the_case, pid_t pid, int from) {
  const Ended ended = wait_for(pid, kChildSeconds);
  std::string text(8192, '\0');
  const ssize_t n = read(from, text.data(), text.size());
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  const std::string last = text.substr(text.rfind('<') == std::string::npos ? 0 : text.rfind('<'));
  if (ended.hung)
    the_case.hung("in the child of a fork: " + last);
  else if (ended.status != 0)
    the_case.crashed("in the child of a fork: " + last);
  size_t n_wrong = 0;
  std::string first;
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; ++at) {
    const std::string one = text.substr(at + 1, text.find_first_of("<>", at + 1) - at - 1);
    if (one.find(" gives ") == std::string::npos) continue;
    if (n_wrong++ == 0) first = one;
  }
  if (n_wrong > 0)
    the_case.violated("in the child of a fork: " + first + ", and " + std::to_string(n_wrong - 1) + " more");
}

// The host forks while another of its threads may be in a step.
Outcome run_fork(Case& the_case) {
  Host host(the_case);
  host.expect_only({});
  Handles h;
  if (!make_handles(host, h)) return Outcome::refused;
  inlay_session* busy = nullptr;
  inlay_error err;
  std::atomic<bool> stop = false;
  std::thread other;
  if (the_case.random.one_in(2)) {
    host.check("inlay_session_create", lib.inlay_session_create(h.engine, nullptr, &busy, &err), err, busy);
    other = std::thread([&] {
      inlay_error own;
      size_t n_done = 0;
      while (!stop) {
        lib.inlay_prefill(busy, kPrompt.data(), kPrompt.size(), &n_done, &own);
        lib.inlay_session_truncate(busy, 0, &own);
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(the_case.random.below(2000)));
  }
  const std::vector<int32_t> before = look(the_case, h);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) the_case.violated("no pipe");
  const pid_t pid = fork();
  if (pid == 0 && the_case.planted && the_case.index == 4) abort();
  if (pid == 0) be_forked(the_case, h, before, ends[1]);
  close(ends[1]);
  judge_forked(the_case, pid, ends[0]);
  close(ends[0]);
  stop = true;
  if (other.joinable()) other.join();
  lib.inlay_session_free(busy);
  if (look(the_case, h) != before) the_case.violated("the engine draws other tokens than before the fork");
  lib.inlay_session_free(h.session);
  lib.inlay_free(h.engine);
  return host.refused() ? Outcome::refused : Outcome::accepted;
}

}  // namespace

const Generator kPairs = {
    "pairs", "two threads in one session, every pair of functions", 15, 20, nothing, run_pair, no_end, false};
const Generator kForks = {
    "forks", "every function in the child of a fork, while another thread computes", 20, 20, nothing, run_fork, no_end,
    false};

}  // namespace inlay::abuse
