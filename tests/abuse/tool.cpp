// The tool where memory and threads run out: it ends with a status of its own, never by a signal, and it does end.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/abuse/failing_calls.h"
#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

constexpr double kSeconds = 15;
constexpr uint64_t kLeastRoom = 24 << 20;  // with less the program's libraries cannot be mapped

bool nothing(Case&) { return true; }
void no_end() {}

struct Ended {
  int status = 0;
  bool hung = false;
  std::string output;
};

// Runs the tool; `set_up` is called in its process before it begins.
template <class SetUp>
Ended run_tool(const std::vector<std::string>& arguments, SetUp set_up) {
  Ended ended;
  const int output = memfd_create("tool", MFD_CLOEXEC);
  const std::string path = tool_path();
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(output, 1);
    dup2(output, 2);
    const int none = open("/dev/null", O_RDONLY);
    dup2(none, 0);
    set_up();
    execv(argv[0], argv.data());
    _exit(126);
  }
  const auto begin = std::chrono::steady_clock::now();
  while (waitpid(pid, &ended.status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(kSeconds)) continue;
    ended.hung = true;
    kill(pid, SIGKILL);
  }
  char text[600];
  const ssize_t n = pread(output, text, sizeof text, 0);
  ended.output.assign(text, n > 0 ? static_cast<size_t>(n) : 0);
  close(output);
  return ended;
}

Outcome judge(Case& the_case, const Ended& ended, const std::string& how) {
  the_case.count_call();
  const std::string named = how + ", it wrote: " + ended.output;
  if (ended.hung) {
    the_case.hung(named);
  } else if (WIFSIGNALED(ended.status)) {
    the_case.crashed(std::string(strsignal(WTERMSIG(ended.status))) + ", " + named);
  } else if (ended.output.find("ABORT") != std::string::npos || ended.output.find("Fatal") != std::string::npos) {
    the_case.crashed(named);
  } else if (WEXITSTATUS(ended.status) != 0 && ended.output.empty()) {
    the_case.violated("status " + std::to_string(WEXITSTATUS(ended.status)) + " without a word, " + named);
  }
  return ended.status == 0 ? Outcome::accepted : Outcome::refused;
}

std::vector<std::string> some_arguments(Case& the_case) {
  const std::string model = model_path("chat-bpe-qwen3-f32");
  switch (the_case.random.below(4)) {
    case 0:
      return {"run", model, "--prompt", "Once upon a time", "--threads", "2"};
    case 1:
      return {"info", model};
    case 2:
      return {"tokenize", model, "some text"};
    default:
      return {"run", model, "--threads", "3"};  // a conversation whose input ends at once
  }
}

Outcome run_limited(Case& the_case) {
  const double part = static_cast<double>(the_case.random.below(1 << 20)) / (1 << 20);
  const rlim_t limit = (kLeastRoom + static_cast<uint64_t>(part * part * (400 << 20))) & ~uint64_t{4095};
  const Ended ended = run_tool(some_arguments(the_case), [&] {
    const rlimit set = {limit, limit};
    setrlimit(RLIMIT_AS, &set);
  });
  return judge(the_case, ended, "ulimit -v " + std::to_string(limit >> 10));
}

Outcome run_failing(Case& the_case) {
  static constexpr unsigned kKinds[] = {kFailMalloc, kFailMmap, kFailThread, kFailMalloc | kFailMmap};
  const std::string failing =
      std::to_string(the_case.random.of(kKinds)) + ":" + std::to_string(1 + the_case.random.below(1 + the_case.random.below(400)));
  const Ended ended = run_tool(some_arguments(the_case), [&] {
    setenv("LD_PRELOAD", failing_calls_path().c_str(), 1);
    setenv("INLAY_FAILING", failing.c_str(), 1);
  });
  return judge(the_case, ended, "INLAY_FAILING=" + failing);
}

}  // namespace

const Generator kToolLimit = {"tool-limit", "the tool under an address-space limit", 25, 20, nothing, run_limited, no_end, false, false, false};
const Generator kToolCalls = {"tool-calls", "the tool with malloc, mmap and pthread_create that fail", 25, 20, nothing, run_failing, no_end, false, false, false};

}  // namespace inlay::abuse
