// Sessions that leave for the host's bytes, and sessions that are made of these. docs/design/session-state.md
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "src/engine/session_rows.h"
#include "src/engine/session_state.h"

namespace inlay {

using StateSink = std::function<Status(std::span<const std::byte>)>;
using StateSource = std::function<Status(std::span<std::byte>)>;  // fills all of it

// A session on its way out. No other call is in the session meanwhile; other sessions go on, as no turn is taken, and copies delay them by a few chunks.
class SavedSession {
 public:
  static Result<SavedSession> of(Session& session);
  uint64_t n_bytes() const { return header_.n_bytes; }
  Status write(const StateSink& sink);
  Status write(std::span<std::byte> state);  // n_bytes(): rows go to their place at once

 private:
  explicit SavedSession(Session& session) : session_(&session) {}
  Status write();
  Status put(std::span<const std::byte> bytes);
  Status put_rows(SessionRows& rows);
  Status put_logits();

  Session* session_;
  StateHeader header_;
  SessionState state_;
  std::string description_;
  KvHoldings holdings_;  // as they were
  StateSink sink_;             // none: to left_
  std::span<std::byte> left_;  // of the memory that is written to
  StateHash hash_;
};

// A new session of the engine that goes on as the saved one would have.
Result<std::shared_ptr<Session>> restore_session(const std::shared_ptr<Engine>& engine, const StateSource& source);
Result<std::shared_ptr<Session>> restore_session(const std::shared_ptr<Engine>& engine, std::span<const std::byte> bytes);  // of all of these

}  // namespace inlay
