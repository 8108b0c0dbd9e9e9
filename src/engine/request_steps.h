// The step of requests at hand: planned as a round, run whole or in units, and what was drawn told to the queues. docs/design/requests.md
#pragma once

#include <vector>

#include "src/engine/live_requests.h"
#include "src/engine/step_queue.h"
#include "src/engine/unit_times.h"

namespace inlay {

// How far a call may compute.
struct StepBudget {
  int64_t until = 0;         // of the engine's clock; for steps in units. With only_queues it bounds what the host does, and else what is computed
  int64_t queued_us = 0;     // with only_queues: of the device's time, that is queued at most
  int64_t max_step_us = 0;   // of a step, as far as the chunks of prompts decide; 0: no bound
  bool in_units = false;
  bool only_queues = false;  // what the device has computed is collected, and more is queued, without waiting for the device
};

// What it came to.
struct RunResult {
  uint64_t n_tokens = 0;   // drawn
  int32_t n_requests = 0;  // that have not ended
  bool has_work = false;   // another call at once would compute
  bool ran = false;        // a unit
};

// Calls come in turn.
class RequestSteps {
 public:
  RequestSteps(Engine& engine, LiveRequests& live, RequestSessions& sessions);

  // One step, or a part of it; false: nothing more can be done now. What is pending then goes on at the next call.
  bool go_on(const StepBudget& budget, RunResult& result) INLAY_NEEDS(engine_turn, engine_mutex);
  void finish_pending() INLAY_NEEDS(engine_turn, engine_mutex);  // the step that go_on() has left
  void drop_pending() INLAY_NEEDS(engine_turn, engine_mutex);    // its requests are as before it

 private:
  using State = PlannedRequest::State;
  // A step has one of these alone where they cannot share one.
  enum class PartKind : uint8_t { none, singles, prompts, asked_singles };
  static constexpr size_t kPartKinds = 4;
  struct Waiting {
    PlannedRequest view;
    Request* request;
  };

  static bool is_prefilled(const Request& request);
  PlannedRequest view_of(const Request& request) const INLAY_NEEDS(engine_mutex);
  RoundLimits limits(const StepBudget& budget) const INLAY_NEEDS(engine_mutex);
  bool step(const StepBudget& budget, RunResult& result) INLAY_NEEDS(engine_turn, engine_mutex);
  bool queue_step(const StepBudget& budget) INLAY_NEEDS(engine_turn, engine_mutex);
  bool begin_step(const StepBudget& budget) INLAY_NEEDS(engine_turn, engine_mutex);
  void gather_views(int64_t now, const RoundLimits& limits, bool may_begin) INLAY_NEEDS(engine_turn, engine_mutex);
  bool look_for_asked() INLAY_NEEDS(engine_turn, engine_mutex);
  bool leave_out_those_that_wait(int64_t now, int64_t age) INLAY_NEEDS(engine_turn, engine_mutex);
  // otherwise: who has begun found more of its prompt than was planned, or computes now what another one wants, so that the step has room for more.
  // without_room: one has not begun, nor those behind it, whose parts of the step are free.
  enum class Begun : uint8_t { as_planned, otherwise, without_room };
  Begun begin_as_planned() INLAY_NEEDS(engine_turn, engine_mutex);
  void apply_round(bool in_units) INLAY_NEEDS(engine_turn, engine_mutex);
  PartKind kind_of(const Round::Part& part) const INLAY_NEEDS(engine_turn);
  PartKind choose_kind(bool in_units) INLAY_NEEDS(engine_turn);
  int32_t end_of(const Round::Part& part) const INLAY_NEEDS(engine_turn);
  int32_t n_rows_of(const Round::Part& part) const INLAY_NEEDS(engine_turn);
  void add_work(Request& request, const Round::Part& part) INLAY_NEEDS(engine_turn, engine_mutex);
  void end_what_is_stuck(const RoundLimits& limits) INLAY_NEEDS(engine_turn, engine_mutex);
  Status run_units(size_t n) INLAY_NEEDS(engine_turn, engine_mutex);
  Status collect(double seconds) INLAY_NEEDS(engine_turn, engine_mutex);
  Status queue_units(const StepBudget& budget) INLAY_NEEDS(engine_turn, engine_mutex);
  size_t n_units_within(double us, double host_us) const INLAY_NEEDS(engine_turn, engine_mutex);
  double launch_of_step(const StepBudget& budget, double host_us, int32_t n_rows) const;
  double left_of(const StepBudget& budget) const;
  double left_of_host(const StepBudget& budget) const;
  StepResults results_of_step() INLAY_NEEDS(engine_turn);
  void make_masks() INLAY_NEEDS(engine_turn);
  void pool_rows() INLAY_NEEDS(engine_turn, engine_mutex);
  void finish_draw(Request& request, Draw& draw) INLAY_NEEDS(engine_turn, engine_mutex);
  void finish_step() INLAY_NEEDS(engine_turn, engine_mutex);
  void fail_step(const Status& status) INLAY_NEEDS(engine_turn, engine_mutex);
  void clear() INLAY_NEEDS(engine_turn);

  Engine& engine_;
  LiveRequests& live_;
  RequestSessions& sessions_;
  UnitTimes times_;
  // What calls that only queue take of the host: to launch units or whole steps, and to begin a step.
  UnitTimes launch_times_, begin_times_;

  // The round.
  std::vector<Waiting> waiting_ INLAY_GUARDED_BY(engine_turn);  // scratch
  std::vector<PlannedRequest> views_ INLAY_GUARDED_BY(engine_turn);
  std::vector<Request*> viewed_ INLAY_GUARDED_BY(engine_turn);  // whose views these are
  RoundPlanner planner_ INLAY_GUARDED_BY(engine_turn);
  Round round_ INLAY_GUARDED_BY(engine_turn);
  PartKind last_kind_ INLAY_GUARDED_BY(engine_turn) = PartKind::singles;  // of the last step that had the choice

  // The step.
  OpenStep open_ INLAY_GUARDED_BY(engine_turn);
  int32_t n_rows_ INLAY_GUARDED_BY(engine_turn) = 0;
  int32_t n_prompt_rows_ INLAY_GUARDED_BY(engine_turn) = 0;       // of these, those that are no drawn tokens of before
  std::vector<Request*> stepping_ INLAY_GUARDED_BY(engine_turn);  // that have a part in it
  std::vector<Request*> working_ INLAY_GUARDED_BY(engine_turn);   // of the works
  std::vector<float> rows_ INLAY_GUARDED_BY(engine_turn);         // that the step is asked for
  std::vector<Request*> drawing_ INLAY_GUARDED_BY(engine_turn);   // of the samples
  std::vector<Draw> draws_ INLAY_GUARDED_BY(engine_turn);
  int32_t n_drawn_ INLAY_GUARDED_BY(engine_turn) = 0;             // since go_on() was called
};

}  // namespace inlay
