// Everything that computes passes here: works become a step, the backend gives a ticket for it, and the sequences advance when the step is
// committed. docs/design/step-contract.md
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/backend/backend.h"
#include "src/base/mutex.h"
#include "src/engine/engine_locks.h"
#include "src/engine/sequences.h"
#include "src/engine/work.h"

namespace inlay {

// A step that was begun. Without a ticket there is none.
struct OpenStep {
  std::vector<Work> works;
  std::vector<SampleRow> samples;
  RowValues asked = RowValues::hidden;  // of the works' asked rows
  bool is_timed = false;  // for poll()
  Ticket ticket;
  size_t n_units = 0, n_queued = 0, n_done = 0;  // n_done: and collected
  double seconds = 0;  // that it has taken so far

  size_t n_left() const { return n_units - n_done; }
  void clear();
};

// Calls come from the thread that has the engine's turn, with the engine's mutex.
class StepQueue {
 public:
  StepQueue(Backend& backend, Sequences& sequences, LostDevice& lost, Mutex& mutex);

  // What a step runs.
  enum class Extent : uint8_t { all, units, layers, layer_units };  // units: may be run one at a time; layers: no head and no draws
  // Plans works and samples, covers what they need of the cache, and begins them. UNSUPPORTED: of a step behind another one, that the backend
  // cannot begin it yet.
  Status begin(OpenStep& step, Extent extent) INLAY_NEEDS(engine_turn, engine_mutex);
  // What the host does once a step is queued and before it waits: beside a GPU it takes no time.
  using Meanwhile = std::function<void()>;
  // Runs the next n units, those that are queued at least. The mutex is free meanwhile.
  Status run(OpenStep& step, size_t n_units, const StepResults& results = {}, const Meanwhile& meanwhile = {}) INLAY_NEEDS(engine_turn, engine_mutex);
  // The same in two: queues them, and tells without waiting what has become of them, for who has something else to do until then. Once they are
  // done, run() collects them.
  Status queue(OpenStep& step, size_t n_units, const Meanwhile& meanwhile = {}) INLAY_NEEDS(engine_turn, engine_mutex);
  Result<TicketProgress> poll(OpenStep& step) INLAY_NEEDS(engine_turn, engine_mutex);
  // Queues all of a step, and of another one behind it if there is one, and waits for the first.
  Status run_ahead_of(OpenStep& step, OpenStep& next, const StepResults& results, const Meanwhile& meanwhile = {}) INLAY_NEEDS(engine_turn, engine_mutex);
  // The sequences of a step that has ended advance by its works; or, of each work, by its first so many rows, as if the others had not been run.
  // accepted: (works), or empty.
  void commit(const OpenStep& step, std::span<const int32_t> accepted = {}) INLAY_NEEDS(engine_mutex);
  Status cancel(Ticket ticket) INLAY_NEEDS(engine_mutex);
  // All of it.
  Status run_whole(OpenStep& step, Extent extent, const StepResults& results = {}) INLAY_NEEDS(engine_turn, engine_mutex);

  size_t n_units(Extent extent) const { return units_of(extent).size(); }

 private:
  std::span<const StepUnit> units_of(Extent extent) const;

  Backend& backend_;
  Sequences& sequences_;
  LostDevice& lost_;
  Mutex& mutex_;
  std::vector<StepUnit> units_;       // Extent::units
  size_t n_layer_units_ = 0;          // those of them before the head
  StepUnit all_, layers_, draws_;     // of a step without tokens nothing is left but the draws
  StepLists lists_;
};

}  // namespace inlay
