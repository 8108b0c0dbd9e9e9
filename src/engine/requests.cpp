#include "src/engine/requests.h"

#include <algorithm>
#include <chrono>

#include "src/engine/request_queue.h"
#include "src/engine/text_group.h"
#include "src/engine/turn.h"

namespace inlay {

// How long the thread sleeps where no request can go on. What ends that without a word: a session that gives blocks back, a timeout.
static constexpr auto kNothingToDo = std::chrono::milliseconds(20);

int64_t Requests::now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Requests::Requests(Engine& engine, bool keeps)
    : engine_(engine),
      times_(engine.queue_.n_units(StepQueue::Extent::units)),
      keeps_(keeps && engine.sequences_.pools().has_cache()),
      n_store_chunks_(engine.backend_->cuts_change_bits() ? engine.sequences_.chunks().n_most_stored() : 0) {
  const auto most = static_cast<size_t>(engine.info_.max_sessions);
  open_.works.reserve(most);
  open_.samples.reserve(most);
  stepping_.reserve(most);
  working_.reserve(most);
  drawing_.reserve(most);
  draws_.resize(most);
}

Requests::~Requests() { close(); }

std::shared_ptr<RequestQueue> Requests::add_queue(const std::shared_ptr<Engine>& engine, const QueueLimits& limits) {
  auto queue = std::make_shared<RequestQueue>(engine, limits);
  const EngineLock lock(engine_.mutex_);
  std::erase_if(queues_, [](const std::weak_ptr<RequestQueue>& old) { return old.expired(); });
  queues_.push_back(queue);
  return queue;
}

Status Requests::check_times(const RequestOptions& options) const {
  if (options.priority < 0 || options.priority > kTopLevel)
    return error(Code::invalid_argument, "the priority is %d, expected 0 to %d", options.priority, kTopLevel);
  if (options.deadline_us < 0 || options.timeout_us < 0) return error(Code::invalid_argument, "a time is negative");
  return {};
}

Status Requests::check_text_of(std::span<const int32_t> text, const RequestOptions& options) const {
  if (options.continues) return error(Code::invalid_argument, "a request of kind EMBED continues no session");
  if (options.embed.progress) return error(Code::invalid_argument, "a request of kind EMBED tells no progress");
  INLAY_TRY(check_times(options));
  INLAY_TRY(check_text(engine_, text));
  return check_pool("the text needs", static_cast<int32_t>(text.size()));
}

// What would be found out later otherwise.
Status Requests::check(std::span<const int32_t> prompt, const RequestOptions& options) const {
  if (options.kind == RequestKind::embed) return check_text_of(prompt, options);
  const SessionOptions& session = options.session;
  INLAY_TRY(engine_.check_writes());
  INLAY_TRY(validate(session.sampler, engine_.spec().n_vocab));
  INLAY_TRY(validate_stop_tokens(session.stop_tokens, engine_.spec().n_vocab));
  TextStream stops;
  INLAY_TRY(stops.set_stops(session.stops));
  INLAY_TRY(engine_.check_constraint(session));
  if (const Session* continued = options.continues.get()) {
    if (&continued->engine() != &engine_) return error(Code::invalid_argument, "the session is of another engine");
    if (!continued->is_for_requests()) return error(Code::invalid_argument, "the session was not made for requests (INLAY_SESSION_FOR_REQUESTS)");
  }
  if (session.max_tokens < 0) return error(Code::invalid_argument, "max_tokens is %d, expected 0 or more", session.max_tokens);
  INLAY_TRY(check_times(options));
  if (prompt.empty()) return error(Code::invalid_argument, "the prompt has no tokens");
  INLAY_TRY(engine_.check_tokens(prompt));
  const auto n_context = static_cast<size_t>(engine_.info_.n_context);
  if (prompt.size() >= n_context) {
    Status full = error(Code::context_full, "the prompt has %zu tokens; the context of %zu has room for %zu and an answer", prompt.size(), n_context, n_context - 1);
    full.required = prompt.size() + 1;
    full.available = n_context;
    return full;
  }
  return check_pool("the prompt and its first tokens need", n_first_positions(static_cast<int32_t>(prompt.size()), session));
}

// The session's options are its own, once it has taken them.
const SessionOptions& Requests::options_of(const Request& request) const {
  return request.run.session ? request.run.session->options_ : request.run.options;
}

// What is left of a prompt from which nothing is drawn: its last token is run by who draws behind it.
bool Requests::is_prefilled(const Request& request) {
  const Sequence& seq = request.run.session->seq_;
  return request.run.kind == RequestKind::prefill && seq.n_computed + 1 >= seq.n_tokens();
}

// Positions that a request has blocks for when it begins.
int32_t Requests::n_first_positions(int32_t n_tokens, const SessionOptions& options) const {
  const int32_t most = n_most(n_tokens, options);
  return std::min(most, n_tokens + RoundLimits().min_drawn);
}

// Tokens that a sequence of which n are there can come to have.
int32_t Requests::n_most(int32_t n_tokens, const SessionOptions& options) const {
  const int32_t n_context = engine_.info_.n_context;
  return options.max_tokens > 0 && options.max_tokens < n_context - n_tokens ? n_tokens + options.max_tokens : n_context;
}

Status Requests::check_pool(const char* what, int32_t n_positions) const {
  const KvPools& pools = engine_.sequences_.pools();
  for (size_t g = 0; g < pools.groups().size(); ++g) {
    const int32_t window = pools.groups()[g].window, n_blocks = pools.pool(g).n_blocks();
    const int32_t n_all = kv_blocks_for(n_positions);
    const int32_t n = window > 0 ? std::min(n_all, kv_blocks_of_window(window, engine_.prefill_chunk_)) : n_all;
    if (n <= n_blocks) continue;
    Status full = error(Code::kv_full, "%s %d blocks of %d tokens, the whole KV pool has %d", what, n, kKvBlockTokens, n_blocks);
    full.required = static_cast<uint64_t>(n);
    full.available = static_cast<uint64_t>(n_blocks);
    return full;
  }
  return {};
}

Status Requests::submit(const std::shared_ptr<RequestQueue>& queue, std::vector<int32_t> prompt, RequestOptions options, uint64_t& id) {
  INLAY_TRY(check(prompt, options));
  static constinit std::atomic<uint64_t> n_made{0};
  auto request = std::make_shared<Request>();
  request->id = n_made.fetch_add(1, std::memory_order_relaxed) + 1;
  request->user = options.user;
  Request::Run& run = request->run;
  run.n_prompt = static_cast<int32_t>(prompt.size());
  run.prompt = std::move(prompt);
  run.queue = queue;
  run.kind = options.kind;
  if (embeds(*request)) {
    run.vector = std::make_unique<RequestVector>();
    INLAY_ASSIGN(run.vector->poolings, poolings_of(engine_, options.embed));
    run.vector->values.resize(embedding_width(engine_, options.embed));
    run.vector->options = std::move(options.embed);
  }
  run.options = std::move(options.session);
  run.continues = std::move(options.continues);
  run.replaces = options.replaces;
  run.has_options = options.has_options;
  run.priority = options.priority;
  const EngineLock lock(engine_.mutex_);
  INLAY_TRY(engine_.lost_.status());
  if (is_closed_) return error(Code::invalid_state, "the engine was freed");
  if (live_.size() == live_.capacity()) live_.reserve(2 * live_.size() + 8);  // nothing fails once the queue has it
  INLAY_TRY(queue->add(request));
  run.submitted = run.waiting_since = last_submitted_ = std::max(now_us(), last_submitted_ + 1);  // one time each, so that there is one order
  if (options.deadline_us > 0) run.deadline = run.submitted + options.deadline_us;
  if (options.timeout_us > 0) run.expires = run.submitted + options.timeout_us;
  id = request->id;
  live_.push_back(std::move(request));
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
    stop(request, FinishReason::cancelled);
    sweep();
  }
  flush();
}

// At once, or behind the step that it is part of.
void Requests::stop(Request& request, FinishReason reason) {
  if (request.run.has_ended) return;
  if (request.run.in_step) {
    if (request.run.ends_after == FinishReason::none) request.run.ends_after = reason;
  } else {
    end(request, reason);
  }
}

void Requests::end_expired() {
  {
    const EngineLock lock(engine_.mutex_);
    expire(now_us());
    sweep();
  }
  flush();
}

void Requests::note_polled() {
  const EngineLock lock(engine_.mutex_);
  changed();
}

bool Requests::can_wait() const {
  const EngineLock lock(engine_.mutex_);
  return share_.has_value() || was_run_ || is_closed_;
}

// inlay_session_cancel is for the request that has the session.
void Requests::expire(int64_t now) {
  for (const auto& request : live_) {
    if (now >= request->run.expires) stop(*request, FinishReason::timeout);
    if (request->run.has_session && !request->run.has_ended && request->run.continues->take_cancel()) stop(*request, FinishReason::cancelled);
  }
}

void Requests::release(Request& request) {
  Sequence& seq = request.run.session->seq_;
  if (keeps(request)) engine_.sequences_.keep_computed(seq);
  engine_.sequences_.release(seq);
  seq.n_computed = 0;
  seq.has_logits = seq.logits_readable = false;
}

void Requests::put_out(Request& request) {
  ++counts_.n_put_out;
  const Sequence& seq = request.run.session->seq_;
  if (keeps(request)) engine_.sequences_.keep_computed(seq);  // so that blocks are known by their numbers
  const bool is_stored = engine_.sequences_.store(seq, n_store_chunks_, request.run.stored);
  if (is_stored) ++counts_.n_stored;
  request.run.n_lost = is_stored ? 0 : seq.n_computed;
  release(request);
  request.run.state = State::resting;
  request.run.waiting_since = now_us();
  request.run.n_drawn_since = 0;
}

// It stays in live_ until sweep().
void Requests::end(Request& request, FinishReason reason, Status status) {
  Request::Run& run = request.run;
  if (run.has_ended) return;
  run.has_ended = true;
  const int64_t now = now_us(), began = run.began > 0 ? run.began : now, drew = run.drew_first > 0 ? run.drew_first : now;
  RequestEnd out{.status = std::move(status), .reason = reason, .n_prompt = run.n_prompt, .n_cached = run.n_cached, .n_drawn = run.n_drawn};
  out.queued_us = began - run.submitted;
  out.prompt_us = drew - began;
  out.decode_us = now - drew;
  TextStream* text = nullptr;
  if (run.session) {
    if (run.session->finish_reason_ == FinishReason::none) run.session->text_.flush();
    text = &run.session->text_;
  }
  const std::shared_ptr<RequestQueue> queue = std::move(run.queue);
  std::vector<float> values;
  if (reason == FinishReason::embedded) values = std::move(run.vector->values);
  tell(queue, queue->add_end(request, std::move(out), text, std::move(values)));
  run.vector.reset();
  if (run.session) {
    engine_.sequences_.drop(run.stored);
    if (run.continues) {
      if (reason == FinishReason::cancelled) run.session->finish_reason_ = reason;
      rest(*run.session);
    } else if (run.state == State::running) {
      release(request);
    }
  }
  if (run.has_session) leave_session(request);
  for (std::shared_ptr<Session>* session : {&run.session, &run.continues}) {
    if (*session) left_.push_back(std::move(*session));
  }
  has_left_.store(true, std::memory_order_release);
}

void Requests::end_all(FinishReason reason, const Status& status) {
  for (const auto& request : live_) end(*request, reason, status);
  sweep();
}

void Requests::sweep() {
  std::erase_if(live_, [](const std::shared_ptr<Request>& request) { return request->run.has_ended; });
}

void Requests::tell(const std::shared_ptr<RequestQueue>& queue, bool wakes) {
  if (!wakes) return;
  to_wake_.push_back(queue);
  has_left_.store(true, std::memory_order_release);
}

void Requests::flush() {
  if (!has_left_.load(std::memory_order_acquire)) return;
  for (;;) {
    std::shared_ptr<Session> session;
    std::shared_ptr<RequestQueue> queue;
    {
      const EngineLock lock(engine_.mutex_);
      if (!left_.empty()) {
        session = std::move(left_.back());
        left_.pop_back();
      } else if (!to_wake_.empty()) {
        queue = std::move(to_wake_.back());
        to_wake_.pop_back();
      }
      if (left_.empty() && to_wake_.empty()) has_left_.store(false, std::memory_order_relaxed);
    }
    if (queue) queue->wake();
    if (!session && !queue) return;
  }
}

int32_t Requests::n_running() const {
  return static_cast<int32_t>(std::ranges::count_if(live_, [](const auto& request) { return request->run.state == State::running && !request->run.has_ended; }));
}

// The one of the lowest priority, and of these the latest.
bool Requests::give_slot() {
  Request* last = nullptr;
  for (const auto& request : live_) {
    const Request::Run& run = request->run;
    if (run.state != State::running || run.in_step || run.has_ended) continue;
    if (last == nullptr || std::pair(-run.priority, run.submitted) >= std::pair(-last->run.priority, last->run.submitted)) last = request.get();
  }
  if (last == nullptr) return false;
  put_out(*last);
  return true;
}

void Requests::close() {
  const Lock lock(thread_mutex_);
  {
    const EngineLock own(engine_.mutex_);
    is_closed_ = true;
  }
  end_thread();
  {
    const Engine::Turn turn(engine_, Engine::Turn::kKeepsPending);
    if (open_.ticket) (void)engine_.queue_.cancel(open_.ticket);
    open_.clear();
    for (Request* request : stepping_) request->run.in_step = false;
    stepping_.clear();
    working_.clear();
    drawing_.clear();
    end_all(FinishReason::cancelled, {});
    for (const auto& weak : queues_) {
      if (const auto queue = weak.lock()) {
        queue->close(false);
        to_wake_.push_back(queue);
      }
    }
    queues_.clear();
    has_left_.store(true, std::memory_order_release);
  }
  flush();
}

RequestCounts Requests::counts() const {
  const EngineLock lock(engine_.mutex_);
  return counts_;
}

Result<RunResult> Requests::run(const RunBudget& budget) {
  if (in_run_.exchange(true, std::memory_order_acquire)) return error(Code::busy, "another thread is in inlay_run for the engine");
  struct Leave {
    std::atomic<bool>& in_run;
    ~Leave() { in_run.store(false, std::memory_order_release); }
  } leave{in_run_};
  {
    const EngineLock lock(engine_.mutex_);
    if (share_) return error(Code::invalid_state, "the engine has a thread of its own, which computes its requests");
    was_run_ = true;
  }
  RunResult result;
  const bool in_units = budget.us > 0;
  const bool only_queues = budget.no_wait && engine_.backend_->computes_by_itself();
  INLAY_TRY(compute({.until = now_us() + budget.us, .max_step_us = budget.max_step_us, .in_units = in_units, .one_step = budget.one_step, .only_queues = only_queues}, result));
  const EngineLock lock(engine_.mutex_);
  result.n_requests = static_cast<int32_t>(live_.size());
  return result;
}

Status Requests::set_thread(const std::optional<ThreadShare>& share) {
  const Lock lock(thread_mutex_);
  if (!share) return end_thread(), Status();
  {
    const EngineLock own(engine_.mutex_);
    INLAY_TRY(engine_.lost_.status());
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

// Until its share of the period is used up; then it sleeps to the period's end.
void Requests::thread_body() {
  int64_t period_began = now_us();
  EngineLock lock(engine_.mutex_);
  while (!ends_thread_) {
    if (live_.empty()) {
      changed_.wait(lock);
      period_began = now_us();
      continue;
    }
    const ThreadShare share = share_.value_or(ThreadShare{});
    const uint64_t n_changes = n_changes_;
    const bool in_units = share.period_us > 0;
    const int64_t until = period_began + share.busy_us;
    RunResult result;
    lock.unlock();
    const Status status = compute({.until = until, .max_step_us = share.max_step_us, .in_units = in_units, .one_step = true}, result);
    lock.lock();
    const int64_t now = now_us(), period_ends = period_began + share.period_us;
    if (!status.ok() || !result.has_work) {
      if (n_changes == n_changes_ && !ends_thread_) changed_.wait_for(lock, kNothingToDo);
    } else if (in_units && now >= until) {
      while (!ends_thread_ && now_us() < period_ends) changed_.wait_for(lock, std::chrono::microseconds(std::max<int64_t>(1, period_ends - now_us())));
    }
    if (now_us() >= period_ends) period_began = now_us();
  }
}

}  // namespace inlay
