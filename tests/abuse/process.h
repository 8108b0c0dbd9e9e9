// A process that a case has started.
#pragma once

#include <sys/types.h>
#include <string>

namespace inlay::abuse {

struct Ended {
  int status = 0;     // as waitpid gives it
  bool hung = false;  // it was ended after its time
};

Ended wait_for(pid_t pid, double seconds);

// What was written to a file that is open, at most so many bytes of its beginning.
std::string written_to(int fd, size_t most);

}  // namespace inlay::abuse
