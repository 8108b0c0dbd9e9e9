#include "tests/abuse/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/abuse/children.h"

namespace inlay::abuse {

double on_this_machine(double seconds) {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return seconds;
  const long n_processors = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  return seconds * std::max(1.0, 2 * load / static_cast<double>(n_processors));
}

Ended wait_for(pid_t pid, double seconds) {
  Ended ended;
  const auto begin = std::chrono::steady_clock::now();
  while (waitpid(pid, &ended.status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ended.hung || std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(on_this_machine(seconds))) continue;
    ended.hung = true;
    kill(pid, SIGKILL);
  }
  return ended;
}

std::string written_to(int fd, size_t most) {
  std::string text(most, '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

}  // namespace inlay::abuse
