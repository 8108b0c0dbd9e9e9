#include "src/engine/requests.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "src/engine/turn.h"

namespace inlay {

// How long the thread sleeps where no request can go on. What ends that without a word: a session that gives blocks back, a timeout.
static constexpr auto kNothingToDo = std::chrono::milliseconds(20);

Requests::Requests(Engine& engine, bool keeps)
    : engine_(engine), sessions_(engine.sequences_, keeps), live_(engine, sessions_, keeps), steps_(engine, live_, sessions_) {
  const EngineLock lock(engine.mutex_);
  engine.lost_.set_tell([this]() INLAY_NEEDS(engine_mutex) { changed(), end_waits(); });
}

Requests::~Requests() {
  close();
  const EngineLock lock(engine_.mutex_);
  engine_.lost_.set_tell({});
}

std::shared_ptr<RequestQueue> Requests::add_queue(const std::shared_ptr<Engine>& engine, const QueueLimits& limits) {
  auto queue = std::make_shared<RequestQueue>(engine, limits);
  const EngineLock lock(engine_.mutex_);
  std::erase_if(queues_, [](const std::weak_ptr<RequestQueue>& old) { return old.expired(); });
  queues_.push_back(queue);
  live_.make_room_to_wake(queues_.size());
  return queue;
}

Status Requests::submit(std::shared_ptr<RequestQueue> queue, std::vector<int32_t> prompt, RequestOptions options, uint64_t& id) {
  INLAY_ASSIGN(const std::shared_ptr<Request> request, live_.make(std::move(queue), std::move(prompt), std::move(options)));
  const EngineLock lock(engine_.mutex_);
  INLAY_TRY(engine_.lost_.status());
  if (is_closed_) return error(Code::invalid_state, "the engine was freed");
  INLAY_TRY(live_.add(request));
  id = request->id;
  changed();
  return {};
}

void Requests::changed() {
  ++n_changes_;
  changed_.notify_all();
}

void Requests::cancel(Request& request) {
  {
    const EngineLock lock(engine_.mutex_);
    live_.stop(request, FinishReason::cancelled);
    live_.sweep();
  }
  live_.flush();
}

template <class IsOne>
void Requests::cancel_those(const IsOne& is_one) {
  {
    const EngineLock lock(engine_.mutex_);
    for (const auto& request : live_.all()) {
      if (is_one(request->run)) live_.stop(*request, FinishReason::cancelled);
    }
    live_.sweep();
  }
  live_.flush();
}

void Requests::cancel_of(const Session& session) {
  cancel_those([&](const Request::Run& run) { return run.options.continues.get() == &session; });
}

void Requests::cancel_of(const RequestQueue& queue) {
  cancel_those([&](const Request::Run& run) { return run.queue.get() == &queue; });
}

bool Requests::is_fresh(const Session& session) const {
  const EngineLock lock(engine_.mutex_);
  return session.info().n_tokens == 0 && std::ranges::none_of(live_.all(), [&](const auto& request) { return request->run.options.continues.get() == &session; });
}

void Requests::end_expired() {
  {
    const EngineLock lock(engine_.mutex_);
    const Status& lost = engine_.lost_.status();
    lost.ok() ? live_.expire(live_.now()) : live_.end_idle(FinishReason::error, lost);
    live_.sweep();
  }
  live_.flush();
}

void Requests::note_polled() {
  const EngineLock lock(engine_.mutex_);
  changed();
}

Status Requests::check_wait(const RequestQueue& queue) const {
  const EngineLock lock(engine_.mutex_);
  if (!share_ && !was_run_ && !is_closed_)
    return error(Code::invalid_state, "nobody computes: inlay_engine_set_thread gives the engine a thread, or another thread calls inlay_run");
  return queue.has_events() ? Status() : engine_.lost_.status();
}

void Requests::end_waits() {
  for (const auto& weak : queues_) {
    if (const auto queue = weak.lock()) queue->end_waits();
  }
}

void Requests::stop() {
  const EngineLock lock(engine_.mutex_);
  is_closed_ = true;
  changed();
}

void Requests::close() {
  {
    const Lock lock(thread_mutex_);
    stop();
    end_thread();
  }
  {
    const Engine::Turn turn(engine_, Engine::Turn::kKeepsPending);
    steps_.drop_pending();
    live_.end_all(FinishReason::cancelled, {});
    for (const auto& weak : queues_) {
      if (const auto queue = weak.lock()) {
        queue->close(false);
        live_.tell(queue, true);
      }
    }
    queues_.clear();
  }
  live_.flush();
}

RequestCounts Requests::counts() const {
  const EngineLock lock(engine_.mutex_);
  return live_.counts();
}

// Step by step until the time is over, or nothing can be computed. A thread of the engine waits for the end of a host's step in slices; a host's own
// call tells it.
Result<RunResult> Requests::compute(const StepBudget& budget, bool one_step) {
  RunResult result;
  for (bool goes_on = true; goes_on;) {
    {
      const Engine::LongTurn turn(engine_, [this]() INLAY_NEEDS(engine_mutex) { return ends_thread_ || !share_ || is_closed_; }, Engine::Turn::kKeepsPending);
      if (is_closed_) return error(Code::invalid_state, "the engine was freed");
      if (!turn.is_idle()) return engine_.decoder_.check_idle();
      goes_on = steps_.go_on(budget, result);
    }
    live_.flush();
    if (one_step || (budget.in_units && live_.now() >= budget.until)) goes_on = false;
  }
  const EngineLock lock(engine_.mutex_);
  INLAY_TRY(engine_.lost_.status());
  result.n_requests = static_cast<int32_t>(live_.all().size());
  result.has_work = result.has_work && result.n_requests > 0;
  return result;
}

// A step of the engine's thread, which nobody can tell that memory has run out: it tries again.
Result<RunResult> Requests::compute_or_rest(const StepBudget& budget) {
  try {
    return compute(budget, true);
  } catch (const std::bad_alloc&) {
    return RunResult();
  }
}

Result<RunResult> Requests::run(const RunBudget& budget) {
  {
    const EngineLock lock(engine_.mutex_);
    if (in_run_) return error(Code::busy, "another thread is in inlay_run for the engine");
    if (share_) return error(Code::invalid_state, "the engine has a thread of its own, which computes its requests");
    in_run_ = was_run_ = true;  // together: who is told BUSY may wait for events
  }
  struct Leave {
    Requests& requests;
    ~Leave() {
      const EngineLock lock(requests.engine_.mutex_);
      requests.in_run_ = false;
    }
  } leave{*this};
  StepBudget within{.max_step_us = budget.max_step_us, .in_units = budget.us > 0 || budget.host_us > 0};
  within.only_queues = budget.no_wait && engine_.backend_->computes_by_itself();
  const auto given = [](int64_t us) { return us > 0 ? us : INT64_MAX; };
  const int64_t us = given(budget.us), host_us = given(budget.host_us);
  within.queued_us = us;
  const int64_t held = within.only_queues ? host_us : std::min(us, host_us), now = live_.now();  // the thread
  within.until = held < INT64_MAX - now ? now + held : INT64_MAX;
  return compute(within, budget.one_step);
}

Status Requests::set_thread(const std::optional<ThreadShare>& share) {
  const Lock lock(thread_mutex_);
  if (!share) {
    end_thread();
    const EngineLock own(engine_.mutex_);
    if (!was_run_) end_waits();  // nobody would
    return {};
  }
  {
    const EngineLock own(engine_.mutex_);
    INLAY_TRY(engine_.lost_.status());
    if (is_closed_) return error(Code::invalid_state, "the engine was freed");
    share_ = share;
    changed();
    if (thread_) return {};
    ends_thread_ = false;
  }
  Result<Thread> thread = Thread::start("inlay-requests", [this] { thread_body(); });
  if (!thread.ok()) {
    const EngineLock own(engine_.mutex_);
    share_.reset();
    return thread.status();
  }
  thread_.emplace(*std::move(thread));
  return {};
}

void Requests::end_thread() {
  if (!thread_) return;
  {
    const EngineLock lock(engine_.mutex_);
    ends_thread_ = true;
    share_.reset();
    changed();
  }
  thread_.reset();
}

// Until its share of the period is used up; then it sleeps to the period's end. Another share begins a period of its own, also while it sleeps.
void Requests::thread_body() {
  int64_t period_began = live_.now();
  EngineLock lock(engine_.mutex_);
  while (!ends_thread_) {
    if (live_.all().empty()) {
      changed_.wait(lock);
      period_began = live_.now();
      continue;
    }
    const ThreadShare share = share_.value_or(ThreadShare{});
    const uint64_t n_changes = n_changes_;
    const bool in_units = share.period_us > 0;
    const int64_t until = period_began + share.busy_us;
    lock.unlock();
    const Result<RunResult> result = compute_or_rest({.until = until, .max_step_us = share.max_step_us, .in_units = in_units});
    lock.lock();
    const int64_t now = live_.now(), period_ends = period_began + share.period_us;
    if (!result.ok() || !result->has_work) {
      if (n_changes == n_changes_ && !ends_thread_) changed_.wait_for(lock, kNothingToDo);
    } else if (in_units && now >= until) {
      while (!ends_thread_ && share_ == share && live_.now() < period_ends) changed_.wait_for(lock, std::chrono::microseconds(std::max<int64_t>(1, period_ends - live_.now())));
    }
    if (live_.now() >= period_ends || share_ != share) period_began = live_.now();
  }
}

}  // namespace inlay
