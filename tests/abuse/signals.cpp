// A host with signals: timers that interrupt every call, children that end, handlers of its own. Every result is the
// same as without.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

constexpr const char* kModel = "chat-bpe-qwen3-f32";
const std::vector<int32_t> kPrompt = {5, 6, 7, 8, 9};

struct Result {
  std::vector<int32_t> tokens;
  std::vector<uint8_t> converted;
  bool operator==(const Result&) const = default;
};

std::atomic<uint64_t> n_handled = 0;
Result calm;
std::string out;

void on_signal(int) { n_handled.fetch_add(1, std::memory_order_relaxed); }
void on_child(int) {
  const int saved = errno;
  n_handled.fetch_add(1, std::memory_order_relaxed);
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  errno = saved;
}

Result live(Host& host) {
  inlay_load_params params = sized<inlay_load_params>();
  params.device = INLAY_DEVICE_CPU;
  params.n_context = 64;
  params.max_sessions = 2;
  params.n_threads = 2;
  Result result;
  inlay_error err;
  inlay_convert_params convert = sized<inlay_convert_params>();
  convert.type = INLAY_CONVERT_Q8_0;
  convert.n_threads = 2;
  const std::string model = model_path(kModel);
  if (host.check("inlay_convert", lib.inlay_convert(model.data(), model.size(), out.data(), out.size(), &convert, &err),
                 err)) {
    result.converted = bytes_of_file(out);
  }
  inlay_engine* engine = load_file(host, out, params);
  if (engine) result.tokens = draw(host, engine, kPrompt, 8);
  use_and_free(host, load_file(host, model, params));
  lib.inlay_free(engine);
  return result;
}

bool look_without(Case& the_case) {
  out = scratch_folder() + "/converted.gguf";
  Host host(the_case);
  host.expect_only({});
  calm = live(host);
  return !host.refused() && calm.tokens.size() == 8;
}

void remove_file() { unlink(out.c_str()); }

// Handlers without SA_RESTART: calls of the system end with EINTR.
void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

// Sends this process, or one of its threads by turns, a signal after each pause, until it is killed.
pid_t send_from_outside(int number, useconds_t pause_us) {
  const pid_t target = getpid(), sender = fork();
  if (sender != 0) return sender;
  for (;;) {
    kill(target, number);
    usleep(pause_us);
  }
}

Outcome run(Case& the_case) {
  fuzz::Random& random = the_case.random;
  Host host(the_case);
  host.expect_only({});
  const uint64_t before = n_handled;
  for (const int number : {SIGALRM, SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGWINCH}) handle(number, on_signal);
  handle(SIGCHLD, on_child);
  static constexpr int kSent[] = {SIGINT, SIGUSR1, SIGHUP, SIGWINCH, SIGTERM};
  const auto pause_us = static_cast<suseconds_t>(40 + random.below(500));
  const itimerval storm = {{0, pause_us}, {0, pause_us}}, none = {};
  setitimer(ITIMER_REAL, &storm, nullptr);
  const pid_t sender = random.one_in(2) ? send_from_outside(random.of(kSent), static_cast<useconds_t>(pause_us)) : 0;
  for (size_t i = random.below(4); i > 0; --i) {  // SIGCHLD
    if (fork() == 0) {
      usleep(static_cast<useconds_t>(100 * i));
      _exit(0);
    }
  }
  const Result result = live(host);
  setitimer(ITIMER_REAL, &none, nullptr);
  if (sender > 0) kill(sender, SIGKILL);
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
  if (result != calm) the_case.violated("another result than without signals");
  if (n_handled == before) the_case.violated("no signal came: nothing was tried");
  return host.refused() ? Outcome::refused : Outcome::accepted;
}

}  // namespace

const Generator kSignals = {"signals", "signals that interrupt every call", 10, 30, look_without, run, remove_file,
                            false};

}  // namespace inlay::abuse
