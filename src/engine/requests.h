// The requests of an engine: in which order they are computed, by inlay_run or by a thread of the engine's own. docs/design/requests.md
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/thread.h"
#include "src/engine/live_requests.h"
#include "src/engine/request_queue.h"
#include "src/engine/request_sessions.h"
#include "src/engine/request_steps.h"

namespace inlay {

// How much of the time the engine's own thread computes: at most busy_us of each period. Without a period all of it.
struct ThreadShare {
  int64_t busy_us = 0, period_us = 0;
  int64_t max_step_us = 0;  // as in StepBudget
  bool operator==(const ThreadShare&) const = default;
};

// How long a call of run() may compute.
struct RunBudget {
  int64_t us = 0;           // as far as it can be foretold; 0: until nothing can be computed
  int64_t host_us = 0;      // likewise, that the caller's thread is kept; 0: no bound of its own
  int64_t max_step_us = 0;  // as in StepBudget
  bool one_step = false;    // one step at most
  bool no_wait = false;     // of a device that computes by itself, what it has computed is collected, and more is queued: us is the device's time
};

// Calls come from any thread, without locks.
class Requests {
 public:
  Requests(Engine& engine, bool keeps);  // keeps: as of LiveRequests
  ~Requests();

  // For calls that have the engine's locks.
  RequestSessions& sessions() { return sessions_; }
  LiveRequests& live() { return live_; }
  RequestSteps& steps() { return steps_; }

  std::shared_ptr<RequestQueue> add_queue(const std::shared_ptr<Engine>& engine, const QueueLimits& limits);
  Status submit(std::shared_ptr<RequestQueue> queue, std::vector<int32_t> prompt, RequestOptions options, uint64_t& id);
  void cancel(Request& request);
  // No more are taken, and what computes them returns: close() is to follow.
  void stop();
  void cancel_of(const Session& session);       // those that continue it
  void cancel_of(const RequestQueue& queue);    // those that were submitted there
  bool is_fresh(const Session& session) const;  // whether it has no tokens and none are on their way
  void end_expired();                           // requests whose time is over
  void note_polled();                           // one that had too many unread tokens may go on
  // INVALID_STATE where nobody will tell the queue anything: no thread of the engine, no host that has called run(), no close(). DEVICE_LOST where the
  // device is, and the queue has nothing to poll.
  Status check_wait(const RequestQueue& queue) const;
  RequestCounts counts() const;

  // BUSY while another thread is in it, INVALID_STATE where the engine has a thread, and while a step in slices is pending.
  Result<RunResult> run(const RunBudget& budget);
  Status set_thread(const std::optional<ThreadShare>& share);  // none: the thread ends
  // All requests end, and none is taken any more. The thread is joined.
  void close();

 private:
  template <class IsOne>
  void cancel_those(const IsOne& is_one);
  Result<RunResult> compute_or_rest(const StepBudget& budget);
  Result<RunResult> compute(const StepBudget& budget, bool one_step);
  void changed() INLAY_NEEDS(engine_mutex);
  void end_waits() INLAY_NEEDS(engine_mutex);  // those that are under way
  void thread_body();
  void end_thread() INLAY_NEEDS(thread_mutex_);

  Engine& engine_;
  RequestSessions sessions_;
  LiveRequests live_;
  RequestSteps steps_;
  std::vector<std::weak_ptr<RequestQueue>> queues_ INLAY_GUARDED_BY(engine_mutex);

  bool in_run_ INLAY_GUARDED_BY(engine_mutex) = false, was_run_ INLAY_GUARDED_BY(engine_mutex) = false, is_closed_ INLAY_GUARDED_BY(engine_mutex) = false;
  Condition changed_;  // there is something to compute, or the thread is to do something else
  uint64_t n_changes_ INLAY_GUARDED_BY(engine_mutex) = 0;
  std::optional<ThreadShare> share_ INLAY_GUARDED_BY(engine_mutex);
  bool ends_thread_ INLAY_GUARDED_BY(engine_mutex) = false;
  std::optional<Thread> thread_ INLAY_GUARDED_BY(thread_mutex_);
  Mutex thread_mutex_;  // of set_thread() and close(); before the others
};

}  // namespace inlay
