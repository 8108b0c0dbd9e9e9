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

  void add(Session& session) INLAY_NEEDS(engine_mutex) { resting_.push_back(&session); }
  void remove(Session& session) INLAY_NEEDS(engine_mutex) { std::erase(resting_, &session); }  // a request begins there, or it is to be freed
  void take(Request& request) INLAY_NEEDS(engine_mutex);
  void leave(Request& request) INLAY_NEEDS(engine_mutex);
  void begin(Request& request) INLAY_NEEDS(engine_mutex);
  void undo(Request& request) INLAY_NEEDS(engine_mutex);
  void rest(Session& session) INLAY_NEEDS(engine_mutex);
  bool give_blocks() INLAY_NEEDS(engine_mutex);
  int32_t n_blocks() const INLAY_NEEDS(engine_mutex);

 private:
  Sequences& sequences_;
  const bool keeps_;
  // Those of which no request runs, the one first that has rested longest: their blocks may be taken.
  std::vector<Session*> resting_ INLAY_GUARDED_BY(engine_mutex);
  std::vector<int32_t> own_tokens_ INLAY_GUARDED_BY(engine_mutex);  // scratch: of a session, while a request of it begins
};

}  // namespace inlay
