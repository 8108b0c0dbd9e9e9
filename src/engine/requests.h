// The requests of an engine: in which order they are computed, by inlay_run or by a thread of the engine's own. docs/design/requests.md
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/thread.h"
#include "src/engine/request.h"
#include "src/engine/request_queue.h"
#include "src/engine/step_queue.h"
#include "src/engine/unit_times.h"

namespace inlay {

// How much of the time the engine's own thread computes: at most busy_us of each period. Without a period all of it.
struct ThreadShare {
  int64_t busy_us = 0, period_us = 0;
  int64_t max_step_us = 0;  // of a step, as far as the chunks of prompts decide; 0: no bound
};

// How long a call of run() may compute.
struct RunBudget {
  int64_t us = 0;           // as far as it can be foretold; 0: until nothing can be computed
  int64_t max_step_us = 0;  // as in ThreadShare
  bool one_step = false;    // one step at most
  bool no_wait = false;     // of a device that computes by itself, what it has computed is collected, and more is queued: us is the device's time
};

// What it came to.
struct RunResult {
  int32_t n_tokens = 0;     // drawn
  int32_t n_requests = 0;   // that have not ended
  bool has_work = false;    // another call at once would compute
};

// Since the engine was loaded.
struct RequestCounts {
  uint64_t n_put_out = 0, n_computed_again = 0;  // requests; tokens that were computed for a second time
  uint64_t n_stored = 0, n_copied_back = 0;      // requests that went to the host's memory; tokens that came from there
};

// Guarded by the engine's mutex, but for what its turn guards: the step at hand.
class Requests {
 public:
  Requests(Engine& engine, bool keeps);  // keeps: blocks of requests that are gone, for those that begin alike
  ~Requests();

  // From any thread, without locks.
  std::shared_ptr<RequestQueue> add_queue(const std::shared_ptr<Engine>& engine, const QueueLimits& limits);
  Status submit(const std::shared_ptr<RequestQueue>& queue, std::vector<int32_t> prompt, RequestOptions options, uint64_t& id);
  void cancel(Request& request);
  void end_expired();      // requests whose time is over
  void note_polled();      // one that had too many unread tokens may go on
  bool can_wait() const;   // whether anybody will tell: the engine's own thread, a host that has called run(), or close()

  // BUSY while another thread is in it, INVALID_STATE where the engine has a thread, and while a step in slices is pending.
  Result<RunResult> run(const RunBudget& budget);
  RequestCounts counts() const;
  // Requests that are put out go to the host's memory, to so many of HostChunks, instead of being computed again. Set where cuts of prompts change
  // bits, and in tests.
  void store_put_outs(size_t n_chunks) { n_store_chunks_ = n_chunks; }
  Status set_thread(const std::optional<ThreadShare>& share);  // none: the thread ends
  // All requests end, and none is taken any more. The thread is joined.
  void close();
  void flush();  // frees and tells what has piled up

  // Sessions for requests: one that was made; locked: one that is to be freed.
  Status add_session(Session& session);
  void remove_session(Session& session) INLAY_NEEDS(engine_mutex);
  // Whether it has no tokens and none are on their way; ends the requests that continue it.
  bool is_fresh(const Session& session) const;
  void cancel_of(const Session& session);

  // For other calls. In turn: ends the step that run() has left pending.
  void finish_pending() INLAY_NEEDS(engine_turn, engine_mutex);
  // Locked: gives back a slot and blocks by putting out a request that is in no step; false: there is none.
  bool give_slot() INLAY_NEEDS(engine_mutex);
  // The same for blocks: what sessions have that rest comes first.
  bool give_way() INLAY_NEEDS(engine_mutex) { return take_from_resting() || give_slot(); }
  int32_t n_running() const INLAY_NEEDS(engine_mutex);  // locked

 private:
  using State = PlannedRequest::State;
  struct Compute {
    int64_t until = 0, max_step_us = 0;
    bool in_units = false, one_step = false, only_queues = false;
  };

  static int64_t now_us();
  Status check(std::span<const int32_t> prompt, const RequestOptions& options) const;
  Status check_text_of(std::span<const int32_t> text, const RequestOptions& options) const;  // of kind embed
  Status check_times(const RequestOptions& options) const;
  Status check_pool(const char* what, int32_t n_positions) const INLAY_UNCHECKED;  // of sizes that never change
  int32_t n_first_positions(int32_t n_tokens, const SessionOptions& options) const;
  int32_t n_most(int32_t n_tokens, const SessionOptions& options) const;
  size_t counted_group() const INLAY_NEEDS(engine_mutex);
  bool is_unread(const Request& request) const;
  static bool draws(const Request& request) { return request.run.kind == RequestKind::generate; }
  static bool embeds(const Request& request) { return request.run.kind == RequestKind::embed; }
  // Whether it begins with what others have computed, and leaves what it computes. A vector needs the rows of all its tokens.
  bool keeps(const Request& request) const { return keeps_ && !embeds(request); }
  static bool is_prefilled(const Request& request);
  const SessionOptions& options_of(const Request& request) const;
  PlannedRequest view_of(const Request& request) const INLAY_NEEDS(engine_mutex);
  RoundLimits limits(const Compute& asked) const INLAY_NEEDS(engine_mutex);

  // Without locks.
  Status compute(const Compute& asked, RunResult& result);
  void thread_body();
  void end_thread() INLAY_NEEDS(thread_mutex_);
  bool asked_by_thread() const INLAY_NEEDS(engine_mutex);

  // In turn.
  bool step(const Compute& asked, bool& ran, bool& has_work) INLAY_NEEDS(engine_turn, engine_mutex);
  bool begin_step(const Compute& asked) INLAY_NEEDS(engine_turn, engine_mutex);
  bool queue_step(const Compute& asked) INLAY_NEEDS(engine_turn, engine_mutex);
  Status collect(double seconds) INLAY_NEEDS(engine_turn, engine_mutex);
  size_t n_units_within(double us) const INLAY_NEEDS(engine_turn, engine_mutex);
  void make_masks() INLAY_NEEDS(engine_turn);
  void gather_views(int64_t now, const RoundLimits& limits) INLAY_NEEDS(engine_turn, engine_mutex);
  bool leave_out_those_that_wait() INLAY_NEEDS(engine_turn, engine_mutex);
  void apply_round(bool in_units) INLAY_NEEDS(engine_turn, engine_mutex);
  bool begin(Request& request) INLAY_NEEDS(engine_turn, engine_mutex);
  bool has_session(Request& request) INLAY_NEEDS(engine_turn, engine_mutex);
  Status take_session(Request& request) INLAY_NEEDS(engine_turn, engine_mutex);
  Status reserve(Sequence& sequence, int32_t end) INLAY_NEEDS(engine_turn, engine_mutex);
  void find_computed(Request& request, Sequence& seq) INLAY_NEEDS(engine_turn, engine_mutex);
  void begin_session(Request& request) INLAY_NEEDS(engine_turn, engine_mutex);
  void undo_session(Request& request) INLAY_NEEDS(engine_turn, engine_mutex);
  bool come_back(Request& request, int32_t n_there) INLAY_NEEDS(engine_turn, engine_mutex);
  bool waits_for_prefix(const Request& request) const INLAY_NEEDS(engine_turn, engine_mutex);
  int32_t end_of(const Round::Part& part) const INLAY_NEEDS(engine_turn);
  int32_t n_rows_of(const Round::Part& part) const INLAY_NEEDS(engine_turn);
  // A step has one of these alone where they cannot share one.
  enum class PartKind : uint8_t { none, singles, prompts, asked_singles };
  static constexpr size_t kPartKinds = 4;
  PartKind kind_of(const Round::Part& part) const INLAY_NEEDS(engine_turn);
  PartKind choose_kind(bool in_units) INLAY_NEEDS(engine_turn);
  StepResults results_of_step() INLAY_NEEDS(engine_turn);
  void pool_rows() INLAY_NEEDS(engine_turn, engine_mutex);
  void end_embedded(Request& request) INLAY_NEEDS(engine_mutex);
  void add_work(Request& request, const Round::Part& part) INLAY_NEEDS(engine_turn, engine_mutex);
  Status run_units(size_t n) INLAY_NEEDS(engine_turn, engine_mutex);
  void finish_step() INLAY_NEEDS(engine_turn, engine_mutex);
  void fail_step(const Status& status) INLAY_NEEDS(engine_turn, engine_mutex);
  void finish_draw(Request& request, Draw& draw) INLAY_NEEDS(engine_turn, engine_mutex);
  void end_what_is_stuck(const RoundLimits& limits) INLAY_NEEDS(engine_turn, engine_mutex);

  // Locked.
  void changed() INLAY_NEEDS(engine_mutex);
  void stop(Request& request, FinishReason reason) INLAY_NEEDS(engine_mutex);
  void release(Request& request) INLAY_NEEDS(engine_mutex);
  void rest(Session& session) INLAY_NEEDS(engine_mutex);
  void leave_session(Request& request) INLAY_NEEDS(engine_mutex);
  bool take_from_resting() INLAY_NEEDS(engine_mutex);
  bool take_from_unread(const Sequence& sequence) INLAY_NEEDS(engine_mutex);
  int32_t n_resting_blocks() const INLAY_NEEDS(engine_mutex);
  void put_out(Request& request) INLAY_NEEDS(engine_mutex);
  void end(Request& request, FinishReason reason, Status status = {}) INLAY_NEEDS(engine_mutex);
  void end_all(FinishReason reason, const Status& status) INLAY_NEEDS(engine_mutex);
  void expire(int64_t now) INLAY_NEEDS(engine_mutex);
  void sweep() INLAY_NEEDS(engine_mutex);
  void tell(const std::shared_ptr<RequestQueue>& queue, bool wakes) INLAY_NEEDS(engine_mutex);

  Engine& engine_;
  std::vector<std::weak_ptr<RequestQueue>> queues_ INLAY_GUARDED_BY(engine_mutex);
  std::vector<std::shared_ptr<Request>> live_ INLAY_GUARDED_BY(engine_mutex);
  // Sessions for requests of which none runs, the one first that has rested longest: their blocks may be taken.
  std::vector<Session*> resting_ INLAY_GUARDED_BY(engine_mutex);
  int64_t last_submitted_ = 0;

  struct Waiting {
    PlannedRequest view;
    Request* request;
  };
  std::vector<Waiting> waiting_ INLAY_GUARDED_BY(engine_turn);  // scratch
  std::vector<int32_t> own_tokens_ INLAY_GUARDED_BY(engine_turn);  // likewise: of a session, while a request of it begins
  std::vector<PlannedRequest> views_ INLAY_GUARDED_BY(engine_turn);
  std::vector<Request*> viewed_ INLAY_GUARDED_BY(engine_turn);  // whose views these are
  RoundPlanner planner_;
  Round round_ INLAY_GUARDED_BY(engine_turn);
  OpenStep open_ INLAY_GUARDED_BY(engine_turn);
  int32_t n_rows_ = 0;              // of the step at hand
  int32_t n_prompt_rows_ = 0;       // of these, those that are no drawn tokens of before
  std::vector<Request*> stepping_ INLAY_GUARDED_BY(engine_turn);  // that have a part in it
  std::vector<Request*> working_ INLAY_GUARDED_BY(engine_turn);   // of the works
  std::vector<float> rows_ INLAY_GUARDED_BY(engine_turn);         // that the step is asked for
  std::vector<Request*> drawing_ INLAY_GUARDED_BY(engine_turn);   // of the samples
  std::vector<Draw> draws_ INLAY_GUARDED_BY(engine_turn);
  PartKind last_kind_ = PartKind::singles;  // of the last step that had the choice
  UnitTimes times_;
  int32_t n_drawn_ = 0;             // by the step that has ended
  RequestCounts counts_ INLAY_GUARDED_BY(engine_mutex);
  const bool keeps_;
  size_t n_store_chunks_;

  std::vector<std::shared_ptr<Session>> left_ INLAY_GUARDED_BY(engine_mutex);  // to be freed without locks
  std::vector<std::shared_ptr<RequestQueue>> to_wake_ INLAY_GUARDED_BY(engine_mutex);
  std::atomic<bool> has_left_{false};

  std::atomic<bool> in_run_{false};
  bool was_run_ INLAY_GUARDED_BY(engine_mutex) = false, is_closed_ INLAY_GUARDED_BY(engine_mutex) = false;
  Condition changed_;  // there is something to compute, or the thread is to do something else
  uint64_t n_changes_ INLAY_GUARDED_BY(engine_mutex) = 0;
  std::optional<ThreadShare> share_ INLAY_GUARDED_BY(engine_mutex);
  bool ends_thread_ INLAY_GUARDED_BY(engine_mutex) = false;
  std::optional<Thread> thread_ INLAY_GUARDED_BY(thread_mutex_);
  Mutex thread_mutex_;  // of set_thread() and close(); before the others
};

}  // namespace inlay
