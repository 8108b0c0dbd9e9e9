#include "src/base/system_error.h"
#include "src/base/wake_handle.h"
#include "src/base/windows_api.h"

namespace inlay {

// Stays ready until it is cleared.
Result<WakeHandle> WakeHandle::make() {
  HANDLE event = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  if (event == nullptr) return windows_error(GetLastError(), "an event");
  return WakeHandle(reinterpret_cast<System>(event));
}

void WakeHandle::set() { SetEvent(reinterpret_cast<HANDLE>(system_)); }
void WakeHandle::clear() { ResetEvent(reinterpret_cast<HANDLE>(system_)); }

WakeHandle::~WakeHandle() {
  if (system_ != kNone) CloseHandle(reinterpret_cast<HANDLE>(system_));
}

}  // namespace inlay
