// Sessions that requests continue: which request has one, how it begins, and what rests of it afterwards. docs/design/requests.md
#pragma once

#include <vector>

#include "src/engine/engine.h"
#include "src/engine/request.h"

namespace inlay {

// Calls come with the engine's mutex.
class RequestSessions {
 public:
  RequestSessions(Sequences& sequences, bool keeps) : sequences_(sequences), keeps_(keeps) {}  // keeps: as of LiveRequests

  void add(Session& session) INLAY_NEEDS(engine_mutex);
  void remove(Session& session) INLAY_NEEDS(engine_mutex) { std::erase(all_, &session); }  // it is to be freed
  // What the request is to have before it draws, and by which options, once it has its session.
  struct Turn {
    std::vector<int32_t> prompt;
    SessionOptions options;
    int32_t n_kept = 0;
  };
  static Turn turn_of(const Request& request) INLAY_NEEDS(engine_mutex);
  void take(Request& request, Turn turn) INLAY_NEEDS(engine_mutex);
  void leave(Request& request) INLAY_NEEDS(engine_mutex);
  void stop_resting(Session& session) INLAY_NEEDS(engine_mutex);
  void begin(Request& request) INLAY_NEEDS(engine_mutex);
  void undo(Request& request) INLAY_NEEDS(engine_mutex);
  void rest(Session& session) INLAY_NEEDS(engine_mutex);
  bool give_blocks() INLAY_NEEDS(engine_mutex);
  int32_t n_blocks() const INLAY_NEEDS(engine_mutex);

 private:
  Sequences& sequences_;
  const bool keeps_;
  std::vector<Session*> all_ INLAY_GUARDED_BY(engine_mutex);
  uint64_t n_rests_ INLAY_GUARDED_BY(engine_mutex) = 0;  // how often one has begun to rest
  std::vector<int32_t> own_tokens_ INLAY_GUARDED_BY(engine_mutex);  // scratch: of a session, while a request of it begins
};

}  // namespace inlay
