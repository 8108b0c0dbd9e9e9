// File descriptors of this system, as the library opens them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace inlay {

// The same file with a number above those of the standard streams: where the host has closed these, what it prints would go into the file. A
// negative number, which is what open() gives on an error, stays; errno then is that of the failure.
inline int above_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), number = errno;
  ::close(fd);
  errno = number;
  return moved;
}

}  // namespace inlay
