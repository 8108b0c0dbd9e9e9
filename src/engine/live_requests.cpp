#include "src/engine/live_requests.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "src/engine/request_queue.h"
#include "src/engine/text_group.h"

namespace inlay {

int64_t LiveRequests::now() const {
  if (hooks_.now) return hooks_.now();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int32_t n_most_tokens(int32_t n, int32_t max_tokens, int32_t n_context) {
  return max_tokens > 0 && max_tokens < n_context - n ? n + max_tokens : n_context;
}

LiveRequests::LiveRequests(Engine& engine, RequestSessions& sessions, bool keeps)
    : engine_(engine),
      sessions_(sessions),
      keeps_(keeps),
      n_store_chunks_(engine.backend_->cuts_change_bits() ? engine.sequences_.chunks().n_most_stored() : 0) {}

const KvPools& LiveRequests::pools() const { return engine_.sequences_.pools(); }

static Status check_times(const RequestOptions& options) {
  if (options.priority < 0 || options.priority > kTopLevel)
    return error(Code::invalid_argument, "the priority is %d, expected 0 to %d", options.priority, kTopLevel);
  if (options.deadline_us < 0 || options.timeout_us < 0) return error(Code::invalid_argument, "a time is negative");
  return {};
}

static Status check_pool(const KvPools& pools, const char* what, int32_t n_positions, int32_t n_at_once) {
  for (size_t g = 0; g < pools.groups().size(); ++g) {
    const int32_t window = pools.groups()[g].window, n_blocks = pools.pool(g).n_blocks();
    const int32_t n_all = kv_blocks_for(n_positions);
    const int32_t n = window > 0 ? std::min(n_all, kv_blocks_of_window(window, n_at_once)) : n_all;
    if (n <= n_blocks) continue;
    Status full = error(Code::kv_full, "%s %d blocks of %d tokens, the whole KV pool has %d", what, n, kKvBlockTokens, n_blocks);
    full.required = static_cast<uint64_t>(n);
    full.available = static_cast<uint64_t>(n_blocks);
    return full;
  }
  return {};
}

static Status check_vector(const Engine& engine, const KvPools& pools, std::span<const int32_t> text, const RequestOptions& options) {
  if (options.continues) return error(Code::invalid_argument, "a request of kind EMBED continues no session");
  if (options.embed.progress) return error(Code::invalid_argument, "a request of kind EMBED tells no progress");
  INLAY_TRY(check_times(options));
  INLAY_TRY(check_text(engine, text));
  return check_pool(pools, "the text needs", static_cast<int32_t>(text.size()), engine.prefill_chunk());
}

// What would be found out later otherwise.
Status LiveRequests::check(std::span<const int32_t> prompt, const RequestOptions& options) const {
  if (options.kind == RequestKind::embed) return check_vector(engine_, pools(), prompt, options);
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
  const auto n = static_cast<int32_t>(prompt.size());
  const int32_t n_first = std::min(n_most_tokens(n, session.max_tokens, engine_.info_.n_context), n + RoundLimits().min_drawn);
  return check_pool(pools(), "the prompt and its first tokens need", n_first, engine_.prefill_chunk_);
}

Result<std::shared_ptr<Request>> LiveRequests::make(std::shared_ptr<RequestQueue> queue, std::vector<int32_t> prompt, RequestOptions options) const {
  INLAY_TRY(check(prompt, options));
  static constinit std::atomic<uint64_t> n_made{0};
  auto request = std::make_shared<Request>();
  request->id = n_made.fetch_add(1, std::memory_order_relaxed) + 1;
  request->user = options.user;
  Request::Run& run = request->run;
  run.n_prompt = static_cast<int32_t>(prompt.size());
  run.prompt = std::move(prompt);
  run.queue = std::move(queue);
  run.options = std::move(options);
  run.options.session.for_requests = false;  // that is of sessions which requests continue
  if (request->embeds()) {
    run.vector = std::make_unique<RequestVector>();
    INLAY_ASSIGN(run.vector->poolings, poolings_of(engine_, run.options.embed));
    run.vector->values.resize(embedding_width(engine_, run.options.embed));
  }
  return request;
}

Status LiveRequests::add(const std::shared_ptr<Request>& request) {
  // Nothing fails once the queue has it, nor when it ends, which leaves two sessions at most.
  if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 8);
  if (const size_t n = left_.size() + 2 * (all_.size() + 1); n > left_.capacity()) left_.reserve(2 * n);
  Request::Run& run = request->run;
  INLAY_TRY(run.queue->add(request));
  run.submitted = run.waiting_since = last_submitted_ = std::max(now(), last_submitted_ + 1);  // one time each, so that there is one order
  if (run.options.deadline_us > 0) run.deadline = run.submitted + run.options.deadline_us;
  if (run.options.timeout_us > 0) run.expires = run.submitted + run.options.timeout_us;
  all_.push_back(request);
  return {};
}

int32_t LiveRequests::n_running() const {
  return static_cast<int32_t>(std::ranges::count_if(all_, [](const auto& request) { return request->run.state == State::running && !request->run.has_ended; }));
}

// At once, or behind the step that it is part of.
void LiveRequests::stop(Request& request, FinishReason reason) {
  if (request.run.has_ended) return;
  if (request.run.in_step) {
    if (request.run.ends_after == FinishReason::none) request.run.ends_after = reason;
  } else {
    end(request, reason);
  }
}

// inlay_session_cancel is for the request that has the session.
void LiveRequests::expire(int64_t now) {
  for (const auto& request : all_) {
    if (now >= request->run.expires) stop(*request, FinishReason::timeout);
    if (request->run.has_session && !request->run.has_ended && request->run.options.continues->take_cancel()) stop(*request, FinishReason::cancelled);
  }
}

void LiveRequests::end(Request& request, FinishReason reason, Status status) {
  Request::Run& run = request.run;
  if (run.has_ended) return;
  run.has_ended = true;
  const int64_t now = this->now(), began = run.began > 0 ? run.began : now, drew = run.drew_first > 0 ? run.drew_first : now;
  RequestEnd out{.status = std::move(status), .reason = reason, .n_prompt = run.n_prompt, .n_cached = run.n_cached, .n_drawn = run.n_drawn,
                 .queued_us = began - run.submitted, .prompt_us = drew - began, .decode_us = now - drew};
  RequestQueue::LastText text;
  if (run.session) text = {.stream = &run.session->text_, .is_cut = run.session->finish_reason_ == FinishReason::none};
  const std::shared_ptr<RequestQueue> queue = std::move(run.queue);
  std::vector<float> values;
  if (reason == FinishReason::embedded) values = std::move(run.vector->values);
  tell(queue, queue->add_end(request, std::move(out), text, std::move(values)));
  run.vector.reset();
  if (run.session) {
    engine_.sequences_.drop(run.stored);
    if (run.options.continues) {
      if (reason == FinishReason::cancelled) run.session->finish_reason_ = reason;
      sessions_.rest(*run.session);
    } else if (run.state == State::running) {
      release(request);
    }
  }
  if (run.has_session) sessions_.leave(request);
  for (std::shared_ptr<Session>* session : {&run.session, &run.options.continues}) {
    if (*session) left_.push_back(std::move(*session));
  }
  has_left_.store(true, std::memory_order_release);
}

void LiveRequests::end_idle(FinishReason reason, const Status& status) {
  for (const auto& request : all_) {
    if (!request->run.in_step) end(*request, reason, status);
  }
}

void LiveRequests::end_all(FinishReason reason, const Status& status) {
  for (const auto& request : all_) end(*request, reason, status);
  sweep();
}

void LiveRequests::sweep() {
  std::erase_if(all_, [](const std::shared_ptr<Request>& request) { return request->run.has_ended; });
}

void LiveRequests::tell(const std::shared_ptr<RequestQueue>& queue, bool wakes) {
  if (!wakes) return;
  if (std::ranges::find(to_wake_, queue) == to_wake_.end()) to_wake_.push_back(queue);
  has_left_.store(true, std::memory_order_release);
}

void LiveRequests::make_room_to_wake(size_t n_queues) { to_wake_.reserve(n_queues); }

void LiveRequests::flush() {
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

// Whether the request needs no session of the host's, or has it: the first of those that wait for one gets it. One that turns out not to fit ends.
bool LiveRequests::has_session(Request& request) {
  Request::Run& run = request.run;
  if (run.has_ended) return false;
  if (!run.options.continues || run.has_session) return true;
  if (!run.options.continues->is_idle()) return false;
  RequestSessions::Turn turn = RequestSessions::turn_of(request);
  RequestOptions checked{.session = std::move(turn.options)};
  Status status = check(turn.prompt, checked);
  if (status.code == Code::context_full && !run.options.replaces) {
    const auto n_context = static_cast<size_t>(engine_.info_.n_context);
    status.message = error(Code::context_full, "the session has %d tokens and the prompt adds %zu; the context of %zu has room for %zu and an answer", turn.n_kept, run.prompt.size(),
                           n_context, n_context - 1).message;
  }
  turn.options = std::move(checked.session);
  if (request.draws()) run.queue->make_room_for_top(request, turn.options.sampler.n_logprobs);
  sessions_.take(request, std::move(turn));
  if (!status.ok()) return end(request, FinishReason::error, std::move(status)), false;
  return true;
}

// What may be found for it: all its tokens but the last.
std::span<const int32_t> LiveRequests::wanted_by(const Request& request) {
  const std::vector<int32_t>& tokens = request.run.session ? request.run.session->seq_.tokens : request.run.prompt;
  return {tokens.data(), tokens.size() - 1};
}

// Whether `other` runs, and `request` may find what it computes.
bool LiveRequests::may_share(const Request& other, const Request& request) const {
  if (other.run.state != State::running || other.run.has_ended || !keeps(other)) return false;
  return other.run.options.cache_salt == request.run.options.cache_salt;
}

// Tokens of whole blocks with which both begin.
static int32_t n_common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<int32_t>(std::ranges::mismatch(a, b).in1 - a.begin()) / kKvBlockTokens * kKvBlockTokens;
}

// Of those that have computed the most of what it wants, the one that is put out last.
LiveRequests::Found LiveRequests::found_of_running(const Request& request) const {
  const Request::Run& run = request.run;
  if (!keeps(request) || !run.stored.is_empty()) return {};
  const std::span<const int32_t> wanted = wanted_by(request);
  const Request* best = nullptr;
  std::tuple<int32_t, bool, int32_t, int64_t> most{};
  for (const auto& other : all_) {
    if (!may_share(*other, request)) continue;
    const Sequence& seq = other->run.session->seq_;
    const int32_t n = std::min(n_common(wanted, seq.tokens), seq.n_computed) / kKvBlockTokens;
    const std::tuple key(n, !other->is_unread(), other->run.options.priority, -other->run.submitted);
    if (n > 0 && (best == nullptr || key > most)) best = other.get(), most = key;
  }
  if (best == nullptr) return {};
  const int32_t n_most = std::get<0>(most);
  const KvHoldings& of_best = best->run.session->seq_.kv;
  const Session* own = run.session ? nullptr : run.options.continues.get();
  const int32_t n_own = own != nullptr ? std::min(own->seq_.n_computed, run.n_kept) : 0;
  const KvPools& pools = engine_.sequences_.pools();
  const bool goes_on = n_own > 0 && pools.find({wanted, run.options.cache_salt}) <= n_own;  // behind its session's own blocks
  if (goes_on) return {.of = best, .n_blocks = std::min({n_most, n_own / kKvBlockTokens, KvPools::n_same(own->seq_.kv, of_best)})};
  return {.of = best, .n_blocks = pools.n_found_of(of_best, {wanted.first(static_cast<size_t>(n_most) * kKvBlockTokens), run.options.cache_salt})};
}

// Whether one that runs is about to compute more of the same prompt than is found now.
const Request* LiveRequests::awaited_by(const Request& request) const {
  if (!keeps(request) || !request.run.stored.is_empty()) return nullptr;
  const std::span<const int32_t> wanted = wanted_by(request);
  const int32_t n_found = engine_.sequences_.pools().find({wanted, request.run.options.cache_salt});
  const auto found = std::ranges::find_if(all_, [&](const auto& other) INLAY_NEEDS(engine_mutex) {
    if (!may_share(*other, request) || other->is_unread()) return false;
    const Sequence& seq = other->run.session->seq_;
    const int32_t n = n_common(wanted, seq.tokens);
    return n > n_found && seq.n_computed < n;
  });
  return found == all_.end() ? nullptr : found->get();
}

// A slot, and blocks for its tokens and the first that it draws; false: there is no room after all.
bool LiveRequests::begin(Request& request) {
  Request::Run& run = request.run;
  const bool is_first = run.began == 0 && run.options.continues;
  if (!run.session && !is_first) {
    std::shared_ptr<Session> made = engine_.session_of_request(run.options.session);  // all of it or nothing
    made->seq_.tokens.assign(run.prompt.begin(), run.prompt.end());
    made->after_rewrite(Session::beginning_of(made->options_));
    run.session = std::move(made);
    run.options.session = {};
    run.prompt = {};
  }
  Session& session = is_first ? *run.options.continues : *run.session;
  session.seq_.salt = run.options.cache_salt;
  Sequence& seq = session.seq_;
  const int32_t n_most = request.draws() ? n_most_tokens(run.n_prompt, (is_first ? run.options.session : session.options_).max_tokens, engine_.info_.n_context) : run.n_prompt;
  if (!engine_.sequences_.take_slot(seq)) return false;
  struct Attempt {  // without room, or where memory runs out, it is as if the request had not begun
    LiveRequests& live;
    Request& request;
    Session& session;
    bool is_first, has_begun = false, begins = false;
    ~Attempt() INLAY_NEEDS(engine_mutex) {
      if (begins) return;
      try {
        live.sessions_.stop_resting(session);
        if (is_first) {
          has_begun ? live.sessions_.undo(request) : live.sessions_.rest(session);
        } else {
          live.release(request);
        }
      } catch (const std::bad_alloc&) {  // still: then only its slot and its blocks go back
        live.engine_.sequences_.release(session.seq_);
        session.seq_.n_computed = 0;
      }
    }
  } attempt{*this, request, session, is_first};
  return attempt.begins = begin_in_slot(request, session, is_first, n_most, attempt.has_begun);
}

bool LiveRequests::begin_in_slot(Request& request, Session& session, bool is_first, int32_t n_most, bool& has_begun) {
  Request::Run& run = request.run;
  Sequence& seq = session.seq_;
  if (is_first) sessions_.begin(request);
  has_begun = is_first;
  const int32_t whole_pool = pools().pool(KvPools::kCountedGroup).n_blocks() * kKvBlockTokens;
  const int32_t end = std::max(seq.n_tokens(), std::min({n_most, seq.n_tokens() + RoundLimits().min_drawn, whole_pool}));
  const int32_t n_there = run.stored.is_empty() ? 0 : engine_.sequences_.lay_out(run.stored, seq);
  if (run.stored.is_empty()) find_computed(request, seq);
  sessions_.stop_resting(session);
  Status reserved = reserve(seq, end);
  if (reserved.code == Code::kv_full && run.stored.is_empty() && seq.n_computed % kKvBlockTokens != 0) {
    // The block within which it goes on may be shared. Its copy was not counted.
    engine_.sequences_.go_back(seq, seq.n_computed / kKvBlockTokens * kKvBlockTokens);
    if (run.began == 0) run.n_cached = seq.n_computed;
    reserved = reserve(seq, end);
  }
  if (!reserved.ok() || !come_back(request, n_there)) return false;
  if (is_first) session.begin_request(run.options.session, run.options.has_options);  // a copy: it may fail
  if (is_first) run.session = run.options.continues;
  engine_.sequences_.hold(seq);
  if (run.vector && seq.n_computed == 0) run.vector->made.emplace(engine_, run.options.embed, run.vector->poolings);
  run.state = State::running;
  run.n_drawn_since = 0;
  if (run.began == 0) run.began = now();
  return true;
}

// From the host's memory, where it is there: false, if that has failed, and it is to be computed again.
bool LiveRequests::come_back(Request& request, int32_t n_there) {
  Request::Run& run = request.run;
  if (run.stored.is_empty()) return true;
  const int32_t n = run.stored.n_computed;
  if (!engine_.sequences_.bring_back(run.stored, run.session->seq_, n_there).ok()) return run.n_lost = n, false;
  counts_.n_copied_back += static_cast<uint64_t>(n - n_there);
  return true;
}

void LiveRequests::find_computed(Request& request, Sequence& seq) {
  Request::Run& run = request.run;
  // A session may have had this conversation before the one that it has now.
  if (keeps(request) && seq.n_computed > 0 && pools().find(seq.prefix(seq.tokens.size() - 1)) > seq.n_computed) engine_.sequences_.go_back(seq, 0);
  const int32_t n = seq.n_computed == 0 && keeps(request) ? engine_.sequences_.find_computed(seq) : seq.n_computed;
  if (run.began == 0) run.n_cached = n;
  counts_.n_computed_again += static_cast<uint64_t>(std::max(0, run.n_lost - n));
  run.n_lost = 0;
}

void LiveRequests::release(Request& request) {
  Sequence& seq = request.run.session->seq_;
  if (keeps(request)) engine_.sequences_.keep_computed(seq);
  engine_.sequences_.release(seq);
  seq.n_computed = 0;
  seq.has_logits = seq.logits_readable = false;
}

void LiveRequests::put_out(Request& request) {
  ++counts_.n_put_out;
  const Sequence& seq = request.run.session->seq_;
  if (keeps(request)) engine_.sequences_.keep_computed(seq);  // so that blocks are known by their numbers
  const bool is_stored = engine_.sequences_.store(seq, n_store_chunks_, request.run.stored);
  if (is_stored) ++counts_.n_stored;
  request.run.n_lost = is_stored ? 0 : seq.n_computed;
  release(request);
  request.run.state = State::resting;
  request.run.waiting_since = now();
  request.run.n_drawn_since = 0;
}

// The one of the lowest priority, and of these the latest.
bool LiveRequests::give_slot() {
  Request* last = nullptr;
  for (const auto& request : all_) {
    const Request::Run& run = request->run;
    if (run.state != State::running || run.in_step || run.has_ended) continue;
    if (last == nullptr || std::pair(-run.options.priority, run.submitted) >= std::pair(-last->run.options.priority, last->run.submitted)) last = request.get();
  }
  if (last == nullptr) return false;
  put_out(*last);
  return true;
}

// Puts out a request other than that of the sequence that draws no more until it is polled, and is in no step; false: there is none.
bool LiveRequests::take_from_unread(const Sequence& sequence) {
  for (const auto& request : all_) {
    const Request::Run& run = request->run;
    if (run.state != State::running || run.in_step || run.has_ended || &run.session->seq_ == &sequence || !request->is_unread()) continue;
    put_out(*request);
    return true;
  }
  return false;
}

// As Sequences::reserve(), with the blocks of sessions that rest, and of requests that nobody polls: the planner does not count blocks of windows.
Status LiveRequests::reserve(Sequence& sequence, int32_t end) {
  Status status = engine_.sequences_.reserve(sequence, end, engine_.prefill_chunk_);
  while (status.code == Code::kv_full && (sessions_.give_blocks() || take_from_unread(sequence))) status = engine_.sequences_.reserve(sequence, end, engine_.prefill_chunk_);
  return status;
}

}  // namespace inlay
