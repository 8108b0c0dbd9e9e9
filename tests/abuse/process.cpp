#include "tests/abuse/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace inlay::abuse {

Ended wait_for(pid_t pid, double seconds) {
  Ended ended;
  const auto begin = std::chrono::steady_clock::now();
  while (waitpid(pid, &ended.status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ended.hung || std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds)) continue;
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
