// Nothing but a status crosses the C boundary.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "src/base/float_environment.h"
#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/base/thread_storage.h"
#include "src/capi/exported.h"

namespace inlay::capi {

inline inlay_status report(Code code, std::string_view message, inlay_error* err,
                           const Status* details = nullptr) noexcept {
  if (err) {
    const size_t n = write_printable(message, err->message, sizeof(err->message) - 1);
    err->status = static_cast<inlay_status>(code);
    err->native_code = details ? details->native_code : 0;
    err->required = details ? details->required : 0;
    err->available = details ? details->available : 0;
    err->message_len = static_cast<uint32_t>(n);
    err->reserved = 0;
    err->message[n] = 0;
  }
  return static_cast<inlay_status>(code);
}

// Runs the body of a fallible call: a callable that returns a Status. Not where the thread has no memory for the library's
// variables, so that what a call promises to set on errors is set before.
template <class Body>
inlay_status guarded(inlay_error* err, Body&& body) noexcept {
  if (!has_thread_storage()) return report(Code::out_of_memory, "out of host memory", err);
  const FloatEnvironment environment;
  try {
    const Status status = std::forward<Body>(body)();
    return report(status.code, status.message, err, &status);
  } catch (const std::bad_alloc&) {
    return report(Code::out_of_memory, "out of host memory", err);
  } catch (...) {
    return report(Code::internal, "an unexpected exception inside of the library", err);
  }
}

}  // namespace inlay::capi
