// Decode steps: whole, in slices, and begun before the host asks for them. docs/design/decode-slices.md, docs/design/run-ahead.md
#pragma once

#include <span>
#include <vector>

#include "src/engine/step_queue.h"

namespace inlay {

class Engine;
class Session;
struct StepEvent;
enum class FinishReason : int32_t;

// Calls come with the engine's mutex; those of steps from the thread that has the turn.
class Decoder {
 public:
  explicit Decoder(Engine& engine);

  // A status other than OK is the step's own: then no session changed. Each event has that of its session.
  Status step(std::span<Session* const> sessions, std::span<StepEvent> events) INLAY_NEEDS(engine_turn, engine_mutex);
  Status slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events, int32_t& units_left) INLAY_NEEDS(engine_turn, engine_mutex);
  Status abandon(std::span<Session* const> sessions) INLAY_NEEDS(engine_mutex);

  bool is_idle() const INLAY_NEEDS(engine_mutex) { return !step_.is_pending; }
  Status check_idle() const INLAY_NEEDS(engine_mutex);  // that no step in slices is pending
  void end_slices() INLAY_NEEDS(engine_mutex);          // of the step that is pending
  size_t n_ahead() const INLAY_NEEDS(engine_mutex) { return ahead_.sessions.size(); }
  void leave_ahead(const Session& session) INLAY_NEEDS(engine_mutex);  // nobody will ask for the step that was begun, if the session takes part in it
  Status drop_left() INLAY_NEEDS(engine_turn, engine_mutex);  // in turn: waits until the device is done with steps that nobody will ask for

  // OUT_OF_MEMORY: nothing has changed; the same token is drawn again.
  Status finish_draw(Session& session, StepEvent& event) INLAY_NEEDS(engine_mutex);
  void end_without_token(Session& session, StepEvent& event, FinishReason reason) INLAY_NEEDS(engine_mutex);

 private:
  // A step that draws: first what its sessions have left to be run before their last tokens, chunk by chunk, then one token of each.
  struct DrawingStep {
    std::vector<Session*> sessions;
    std::vector<StepEvent> events;
    size_t n_prepared = 0;    // sessions of which nothing but the last token is left to be run
    bool has_room = false;    // of the next one: its blocks were taken
    bool is_pending = false;  // in slices
    bool draws = false;       // `open` is the step itself, else a chunk
    OpenStep open;
  };
  // Nobody has asked for it yet. Without sessions there is none.
  struct AheadStep {
    std::vector<Session*> sessions;
    OpenStep open;
  };

  Status check_step(std::span<Session* const> sessions) const INLAY_NEEDS(engine_mutex);
  Status check_slices_of(std::span<Session* const> sessions) const INLAY_NEEDS(engine_mutex);
  void start(std::span<Session* const> sessions) INLAY_NEEDS(engine_turn, engine_mutex);
  void admit(Session& session, StepEvent& event) INLAY_NEEDS(engine_turn, engine_mutex);
  bool end_if_cancelled(Session& session, StepEvent& event) INLAY_NEEDS(engine_turn, engine_mutex);
  Status advance(size_t n_units) INLAY_NEEDS(engine_turn, engine_mutex);
  Status prepare() INLAY_NEEDS(engine_turn, engine_mutex);
  bool begin_chunk(Session& session, StepEvent& event) INLAY_NEEDS(engine_turn, engine_mutex);
  void end_chunk(Status status) INLAY_NEEDS(engine_turn, engine_mutex);
  void gather() INLAY_NEEDS(engine_turn, engine_mutex);
  Status finish(Status status) INLAY_NEEDS(engine_turn, engine_mutex);
  void make_masks() INLAY_NEEDS(engine_turn);  // of sessions with a constraint that take part
  void append(Session& session, StepEvent& event) INLAY_NEEDS(engine_mutex);
  void take_draw(Session& session, StepEvent& event, Draw& draw) INLAY_NEEDS(engine_turn, engine_mutex);
  size_t n_units_left() const INLAY_NEEDS(engine_mutex);
  bool take_ahead() INLAY_NEEDS(engine_turn, engine_mutex);
  void plan_ahead() INLAY_NEEDS(engine_turn, engine_mutex);
  void leave_ahead() INLAY_NEEDS(engine_mutex);

  Engine& engine_;
  DrawingStep step_;
  AheadStep ahead_;
  std::vector<Ticket> left_;  // to be cancelled
  std::vector<Draw> draws_;
};

}  // namespace inlay
