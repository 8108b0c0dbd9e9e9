// The pulse of a long call: work that may take seconds beats between two pieces of it, so that whoever made the call can tell its
// host how far it is, and end it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "src/base/status.h"

namespace inlay {

// Bytes that are asked of a file or a callback at a time. A slow one (a network drive, a pack that is decrypted) then lets the pulse of the
// call beat often enough.
inline constexpr size_t kReadAtOnce = size_t{4} << 20;

// While one lives, it is what beat() of its thread calls. Of several the one made last.
class Pulse {
 public:
  using Body = std::function<Status(uint64_t n_bytes)>;

  explicit Pulse(Body body);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // `n_bytes`: read since the last one, of what was to be read. An error ends the work. Nothing on a thread without a pulse.
  static Status beat(uint64_t n_bytes = 0);

 private:

  const Body body_;
  Pulse* const outer_;
};

}  // namespace inlay
