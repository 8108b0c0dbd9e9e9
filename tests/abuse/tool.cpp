// The tool where memory and threads run out: it ends with a status of its own, never by a signal, and it does end.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/abuse/failing_calls.h"
#include "tests/abuse/host.h"
#include "tests/abuse/process.h"

namespace inlay::abuse {

namespace {

constexpr double kSeconds = 15;
constexpr uint64_t kLeastRoom = 24 << 20;  // with less the program's libraries cannot be mapped

bool nothing(Case&) { return true; }
void no_end() {}

struct Run {
  Ended ended;
  std::string output;
};

// Runs the tool; `set_up` is called in its process before it begins.
template <class SetUp>
Run run_tool(Case& the_case, const std::vector<std::string>& arguments, SetUp set_up) {
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
    if (the_case.planted && the_case.index == 4) raise(SIGSEGV);
    set_up();
    execv(argv[0], argv.data());
    _exit(126);
  }
  Run run = {wait_for(pid, kSeconds), written_to(output, 600)};
  close(output);
  return run;
}

Outcome judge(Case& the_case, const Run& run, const std::string& how) {
  the_case.count_call();
  const int status = run.ended.status;
  const std::string named = how + ", it wrote: " + run.output;
  if (run.ended.hung) {
    the_case.hung(named);
  } else if (WIFSIGNALED(status)) {
    the_case.crashed(std::string(strsignal(WTERMSIG(status))) + ", " + named);
  } else if (run.output.find("ABORT") !=
             std::string::npos) {  // the loader's end of a process, with a status of its own
    the_case.crashed(named);
  } else if (WEXITSTATUS(status) != 0 && run.output.empty()) {
    the_case.violated("status " + std::to_string(WEXITSTATUS(status)) + " without a word, " + named);
  }
  return status == 0 ? Outcome::accepted : Outcome::refused;
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
  const Run run = run_tool(the_case, some_arguments(the_case), [&] {
    const rlimit set = {limit, limit};
    setrlimit(RLIMIT_AS, &set);
  });
  return judge(the_case, run, "ulimit -v " + std::to_string(limit >> 10));
}

Outcome run_failing(Case& the_case) {
  static constexpr unsigned kKinds[] = {kFailMalloc, kFailMmap, kFailThread, kFailMalloc | kFailMmap};
  const std::string failing = std::to_string(the_case.random.of(kKinds)) + ":" +
                              std::to_string(1 + the_case.random.below(1 + the_case.random.below(400)));
  const Run run = run_tool(the_case, some_arguments(the_case), [&] {
    setenv("LD_PRELOAD", failing_calls_path().c_str(), 1);
    setenv("INLAY_FAILING", failing.c_str(), 1);
  });
  return judge(the_case, run, "INLAY_FAILING=" + failing);
}

}  // namespace

const Generator kToolLimit = {
    "tool-limit", "the tool under an address-space limit", 25, 20, nothing, run_limited, no_end, true, false, false,
    false};
const Generator kToolCalls = {"tool-calls", "the tool with malloc, mmap and pthread_create that fail",
                              25,           20,
                              nothing,      run_failing,
                              no_end,       true,
                              false,        false,
                              false};

}  // namespace inlay::abuse
