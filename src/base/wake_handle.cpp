#include "src/base/wake_handle.h"

#include <cerrno>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

#include "src/base/system_error.h"

namespace inlay {

#ifdef __linux__

Result<WakeHandle> WakeHandle::make() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return system_error(errno, "an eventfd");
  return WakeHandle(fd);
}

void WakeHandle::set() {
  const uint64_t one = 1;
  (void)!write(static_cast<int>(system_), &one, sizeof one);
}

void WakeHandle::clear() {
  uint64_t count = 0;
  (void)!read(static_cast<int>(system_), &count, sizeof count);
}

#else

Result<WakeHandle> WakeHandle::make() { return error(Code::unsupported, "this system has no eventfd"); }
void WakeHandle::set() {}
void WakeHandle::clear() {}

#endif

WakeHandle::~WakeHandle() {
  if (system_ != kNone) close(static_cast<int>(system_));
}

}  // namespace inlay
