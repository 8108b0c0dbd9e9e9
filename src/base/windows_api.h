// windows.h without its macros min and max.
#pragma once

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

namespace inlay {

// A handle that is closed.
class Handle {
 public:
  explicit Handle(HANDLE handle = nullptr) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    close();
    handle_ = other.release();
    return *this;
  }
  ~Handle() { close(); }

  explicit operator bool() const { return handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  HANDLE release() {
    HANDLE out = handle_;
    handle_ = nullptr;
    return out;
  }
  bool close() {
    HANDLE handle = release();
    return !handle || CloseHandle(handle);
  }

 private:
  HANDLE handle_;
};

}  // namespace inlay
