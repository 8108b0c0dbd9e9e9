#include "tests/abuse/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

std::string tail_of(int fd, size_t most) {
  const off_t size = lseek(fd, 0, SEEK_END);
  std::string text(std::min(most, static_cast<size_t>(std::max<off_t>(size, 0))), '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

}  // namespace inlay::abuse
