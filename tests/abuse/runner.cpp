#include "tests/abuse/runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>

#include "tests/abuse/host.h"
#include "tests/abuse/process.h"

namespace inlay::abuse {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kEndSeconds = 30;           // for the end of a child's process
constexpr uint64_t kGrowthBytes = 24 << 20;  // of a process when it runs its cases again

constexpr size_t kPlantedBytes = 64 << 20;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// ---- what a process holds

size_t entries_of(const char* folder) {
  DIR* open = opendir(folder);
  size_t n = 0;
  while (open && readdir(open)) ++n;
  if (open) closedir(open);
  return n;
}

struct Held {
  size_t n_descriptors = entries_of("/proc/self/fd"), n_threads = entries_of("/proc/self/task");
};

uint64_t anonymous_bytes() {
  malloc_trim(0);
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long size = 0, resident = 0, shared = 0;
  const bool read = file && fscanf(file, "%lu %lu %lu", &size, &resident, &shared) == 3;
  if (file) fclose(file);
  return read ? (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// A joined thread is in the list for a moment longer.
void check_held(Case& the_case, Held& before, Tally& tally) {
  Held after;
  for (int i = 0; i < 200 && after.n_threads > before.n_threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    after = Held();
  }
  if (after.n_descriptors > before.n_descriptors) {
    ++tally.n_leaked;
    the_case.say("leaked: " + std::to_string(after.n_descriptors - before.n_descriptors) + " descriptors");
  }
  if (after.n_threads > before.n_threads) {
    ++tally.n_leaked;
    the_case.say("leaked: " + std::to_string(after.n_threads - before.n_threads) + " threads");
  }
  before = after;  // each is counted once
}

// ---- faults of the program's own: a generator that counts none of them would count none of the library's

void plant(Case& the_case) {
  switch (the_case.index) {
    case 1:
      std::abort();
    case 3:
      for (;;) pause();
    case 5:
      if (dup(0) < 0) the_case.violated("cannot plant a descriptor");
      break;
    case 7:
      std::thread([] {
        for (;;) pause();
      }).detach();
      break;
    case 8: {
      static char* volatile leaked;
      leaked = new char[kPlantedBytes];
      std::memset(leaked, 1, kPlantedBytes);
      leaked = nullptr;
      break;
    }
    case 9:
      the_case.violated("planted");
      break;
    default:
      break;
  }
}

// ---- the child

[[noreturn]] void be_child(const Generator& generator, const Options& options, Tally& tally, uint64_t begin,
                           uint64_t end) {
  Case before(tally, options.seed, begin);
  std::string why;
  if (generator.opens_library && !open_library(why)) before.violated(why);
  if (!generator.prepare(before)) {
    before.violated("cannot begin");
    _exit(3);
  }
  Held held;
  const auto run_all = [&] {
    for (uint64_t i = begin; i < end; ++i) {
      tally.case_index = i;
      Case the_case(tally, options.seed, i);
      the_case.planted = options.plant;
      if (options.plant) plant(the_case);
      (generator.run(the_case) == Outcome::refused ? tally.n_refused : tally.n_accepted)++;
      check_held(the_case, held, tally);
      ++tally.n_cases;
    }
  };
  const uint64_t fresh = anonymous_bytes();
  run_all();
  if (generator.measures_memory && !INLAY_SANITIZED && end - begin > 1 && anonymous_bytes() > fresh + kGrowthBytes) {
    // The same cases once more: what an allocator keeps for the largest of them does not grow again, what is lost does.
    const Tally counted = tally;
    const uint64_t once = anonymous_bytes();
    run_all();
    const uint64_t twice = anonymous_bytes();
    tally = counted;
    if (twice > once + kGrowthBytes) {
      ++tally.n_leaked;
      before.say("leaked: " + std::to_string((twice - once) >> 20) + " MiB up to case " + std::to_string(end - 1));
    }
  }
  generator.finish();
  tally.ended = true;
  std::exit(0);  // a sanitizer looks for what was not freed
}

// ---- the parent

struct Child {
  pid_t pid = 0;
  int output = -1;  // what it writes
  Tally* tally = nullptr;
};

Child start(const Generator& generator, const Options& options, uint64_t begin, uint64_t end) {
  Child child;
  void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return child;
  child.tally = new (shared) Tally;
  child.tally->case_index = begin;
  child.output = memfd_create("output", MFD_CLOEXEC);
  fflush(stdout);
  child.pid = fork();
  if (child.pid != 0) return child;
  dup2(child.output, 1);
  dup2(child.output, 2);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  be_child(generator, options, *child.tally, begin, end);
}

// The child's status; -1: it hung and was ended.
int wait_for_child(const Child& child, double limit_s) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  uint64_t seen = child.tally->case_index;
  bool at_end = false;
  Clock::time_point begin = Clock::now();
  for (;;) {
    int status = 0;
    if (waitpid(child.pid, &status, WNOHANG) == child.pid) return status;
    const volatile Tally& tally = *child.tally;
    if (tally.case_index != seen || tally.ended != at_end) {
      seen = tally.case_index;
      at_end = tally.ended;
      begin = Clock::now();
    }
    if (since(begin) > on_this_machine(at_end ? kEndSeconds : limit_s)) {
      kill(child.pid, SIGKILL);
      waitpid(child.pid, &status, 0);
      return -1;
    }
    const timespec turn = {0, 50'000'000};
    sigtimedwait(&ended, nullptr, &turn);
  }
}

void print_fault(const Generator& generator, const Options& options, uint64_t index, const std::string& what,
                 const std::string& output, const std::string& program) {
  std::printf("%s case %llu: %s\n  again: %s %s --seed %llu --only %llu%s%s\n", generator.name,
              static_cast<unsigned long long>(index), what.c_str(), program.c_str(), generator.name,
              static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(index),
              options.library.empty() ? "" : " --library ", options.library.c_str());
  if (!output.empty()) std::printf("  it wrote: %s\n", output.c_str());
}

// How a child ended, in the totals; the number of the case to go on with.
uint64_t conclude(const Generator& generator, const Options& options, const Child& child, int status, uint64_t end,
                  Totals& totals, const std::string& program) {
  const Tally& tally = *child.tally;
  const std::string output = written_to(child.output, 4000);
  if (tally.n_said > 0) std::printf("%.*s", static_cast<int>(tally.n_said), tally.said);
  totals.n_cases += tally.n_cases;
  totals.n_calls += tally.n_calls;
  totals.n_refused += tally.n_refused;
  totals.n_accepted += tally.n_accepted;
  totals.n_crashed += tally.n_crashed;
  totals.n_hung += tally.n_hung;
  totals.n_leaked += tally.n_leaked;
  totals.n_other += tally.n_other;
  if (status == 0) {
    if (!output.empty()) {
      ++totals.n_other;
      print_fault(generator, options, tally.case_index, "wrote to the host's output, in this case or one before",
                  output, program);
    }
    return end;
  }
  if (!tally.ended) ++totals.n_cases;
  std::string what = "ended with status " + std::to_string(WEXITSTATUS(status));
  if (status == -1) {
    ++totals.n_hung;
    what = tally.ended ? "the process does not end" : "hung";
  } else if (WIFSIGNALED(status)) {
    ++totals.n_crashed;
    what = std::string("ended by ") + strsignal(WTERMSIG(status));
  } else if (output.find("LeakSanitizer") != std::string::npos) {
    ++totals.n_leaked;
  } else {
    ++totals.n_crashed;
  }
  print_fault(generator, options, tally.case_index, what, output, program);
  return tally.ended ? end : tally.case_index + 1;
}

}  // namespace

void Case::say(const std::string& line) {
  const std::string text = "case " + std::to_string(index) + ": " + line + "\n";
  if (text.size() > sizeof tally_.said - tally_.n_said) return;
  std::memcpy(tally_.said + tally_.n_said, text.data(), text.size());
  tally_.n_said += static_cast<uint32_t>(text.size());
}

Totals run(const Generator& generator, const Options& options, const std::string& program) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, nullptr);
  Totals totals;
  const double limit_s = options.limit_s > 0 ? options.limit_s : generator.limit_s;
  const Clock::time_point begin = Clock::now();
  const uint64_t first = options.only < 0 ? 0 : static_cast<uint64_t>(options.only);
  const uint64_t last = options.only < 0 ? options.count : first + 1;
  for (uint64_t at = first; at < last && (options.seconds == 0 || since(begin) < options.seconds);) {
    const uint64_t end = std::min(last, (at / generator.per_batch + 1) * generator.per_batch);
    const Child child = start(generator, options, at, end);
    if (child.pid <= 0) {
      std::printf("%s: cannot make a child process: %s\n", generator.name, std::strerror(errno));
      ++totals.n_other;
      break;
    }
    at = conclude(generator, options, child, wait_for_child(child, limit_s), end, totals, program);
    close(child.output);
    munmap(child.tally, sizeof(Tally));
    std::error_code ignored;
    std::filesystem::remove_all(scratch_folder(), ignored);
  }
  return totals;
}

}  // namespace inlay::abuse
