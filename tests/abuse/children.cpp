#include "tests/abuse/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "tests/abuse/process.h"

namespace inlay::abuse {

namespace {

sigset_t end_of_child() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGCHLD);
  return out;
}

class ForkedChild final : public Child {
 public:
  ~ForkedChild() override {
    if (output_ >= 0) close(output_);
    if (tally_) munmap(tally_, sizeof(Tally));
  }
  bool start(const Batch& batch) {
    const sigset_t ended = end_of_child();
    sigprocmask(SIG_BLOCK, &ended, nullptr);
    void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return false;
    tally_ = new (shared) Tally;
    tally_->case_index = batch.begin;
    output_ = memfd_create("output", MFD_CLOEXEC);
    fflush(stdout);
    pid_ = fork();
    if (pid_ != 0) return pid_ > 0;
    dup2(output_, 1);
    dup2(output_, 2);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    be_child(batch, *tally_);
  }

  bool ends_within(int milliseconds) override {
    if (waitpid(pid_, &status_, WNOHANG) == pid_) return true;
    const sigset_t ended = end_of_child();
    const timespec turn = {0, milliseconds * 1'000'000L};
    sigtimedwait(&ended, nullptr, &turn);
    return waitpid(pid_, &status_, WNOHANG) == pid_;
  }
  void kill() override {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  Ending ending() override {
    if (status_ == 0) return {true, ""};
    if (WIFSIGNALED(status_)) return {false, std::string("ended by ") + strsignal(WTERMSIG(status_))};
    return {false, "ended with status " + std::to_string(WEXITSTATUS(status_))};
  }
  std::string output(size_t most) override { return written_to(output_, most); }

 private:
  pid_t pid_ = 0;
  int output_ = -1, status_ = 0;
};

size_t entries_of(const char* folder) {
  DIR* open = opendir(folder);
  size_t n = 0;
  while (open && readdir(open)) ++n;
  if (open) closedir(open);
  return n;
}

}  // namespace

std::unique_ptr<Child> Child::start(const Batch& batch, std::string& why) {
  auto child = std::make_unique<ForkedChild>();
  if (child->start(batch)) return child;
  why = std::strerror(errno);
  return nullptr;
}

Held held_by_this_process() { return {entries_of("/proc/self/fd"), entries_of("/proc/self/task")}; }

uint64_t private_bytes() {
  malloc_trim(0);
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long size = 0, resident = 0, shared = 0;
  const bool read = file && fscanf(file, "%lu %lu %lu", &size, &resident, &shared) == 3;
  if (file) fclose(file);
  return read ? (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void limit_memory(uint64_t bytes) {
  const rlimit limit = {bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

void keep_a_descriptor() { (void)!dup(0); }

}  // namespace inlay::abuse
