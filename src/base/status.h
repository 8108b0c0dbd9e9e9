// Errors as values. A Status says what failed and where in its message; nothing in the engine throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "src/base/printf_format.h"

namespace inlay {

// The numbers are those of inlay_status in the C API and never change (src/capi asserts it).
enum class Code : int32_t {
  ok = 0,
  invalid_argument = 1,
  not_found = 2,
  io = 3,
  format = 4,
  unsupported = 5,
  out_of_memory = 6,
  device_out_of_memory = 7,
  context_full = 8,
  kv_full = 9,
  buffer_too_small = 10,
  cancelled = 11,
  busy = 12,
  no_device = 13,
  device_lost = 14,
  internal = 15,
  session_limit = 16,
  invalid_state = 17,
  queue_full = 18,
};

struct [[nodiscard]] Status {
  Code code = Code::ok;
  int32_t native_code = 0;  // errno or driver error, 0 if none
  uint64_t required = 0;    // bytes, tokens or blocks, as the message says
  uint64_t available = 0;
  std::string message;

  bool ok() const { return code == Code::ok; }
};

INLAY_PRINTF(2, 3)
Status error(Code code, const char* format, ...);
inline Status out_of_memory() { return error(Code::out_of_memory, "out of memory"); }  // so short that it takes none

// A value or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {         // NOLINT
    if (status_.ok()) status_ = error(Code::internal, "a result without a value was reported as success");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

// Returns the error of an expression that is a Status.
#define INLAY_TRY(expression)                                   \
  do {                                                          \
    if (auto inlay_status_ = (expression); !inlay_status_.ok()) \
      return inlay_status_;                                     \
  } while (false)

#define INLAY_CONCAT_(a, b) a##b
#define INLAY_CONCAT(a, b) INLAY_CONCAT_(a, b)

// Binds the value of a Result to `target`, or returns its error: INLAY_ASSIGN(auto file, open(path));
#define INLAY_ASSIGN(target, expression) INLAY_ASSIGN_(target, expression, INLAY_CONCAT(inlay_result_, __LINE__))
#define INLAY_ASSIGN_(target, expression, name)    \
  auto name = (expression);                        \
  if (!name.ok()) return std::move(name).status(); \
  target = *std::move(name)

}  // namespace inlay
