// Steps of requests: planned as a round, run whole or in units, and what they drew told to the queues.
#include <algorithm>
#include <array>
#include <new>

#include "src/engine/computing.h"
#include "src/engine/request_queue.h"
#include "src/engine/requests.h"
#include "src/engine/turn.h"

namespace inlay {

// Step by step until the time is over, or nothing can be computed. What is pending then goes on at the next call.
Status Requests::compute(const Compute& asked, RunResult& result) {
  bool ran = false;
  for (bool goes_on = true; goes_on;) {
    {
      const Engine::LongTurn turn(engine_, [this]() INLAY_NEEDS(engine_mutex) { return ends_thread_ || !asked_by_thread(); }, Engine::Turn::kKeepsPending);
      if (!turn.is_idle()) return engine_.decoder_.check_idle();
      n_drawn_ = 0;
      try {
        if (asked.only_queues) {
          goes_on = false;
          result.has_work = queue_step(asked);
        } else {
          goes_on = step(asked, ran, result.has_work);
        }
      } catch (const std::bad_alloc&) {
        fail_step(error(Code::out_of_memory, "out of host memory"));
        goes_on = false;
      }
      result.n_tokens += n_drawn_;
    }
    flush();
    if (asked.one_step || (asked.in_units && now_us() >= asked.until)) goes_on = false;
  }
  const EngineLock lock(engine_.mutex_);
  result.has_work = result.has_work && !live_.empty();
  return engine_.lost_.status();
}

// A thread of the engine waits for the end of a host's step in slices; a host's own call tells it.
bool Requests::asked_by_thread() const { return share_.has_value(); }

// One step, or units of it; false: nothing more can be done now. `ran`: this call has run a unit.
bool Requests::step(const Compute& asked, bool& ran, bool& has_work) {
  has_work = false;
  if (!open_.ticket && !begin_step(asked)) return false;
  has_work = true;
  while (open_.n_left() > 0) {
    const bool in_units = open_.n_units > 1;
    if (in_units && asked.in_units && ran) {
      const auto wanted = static_cast<int64_t>(times_.expect(open_.n_done, n_rows_));
      if (now_us() + wanted > asked.until) return false;
    }
    ran = true;
    const Status status = run_units(in_units && asked.in_units ? 1 : open_.n_left());
    if (!status.ok()) return fail_step(status), true;
  }
  finish_step();
  return true;
}

Status Requests::run_units(size_t n) {
  const size_t first = open_.n_done;
  const int64_t began = now_us();
  INLAY_TRY(engine_.queue_.run(open_, n, results_of_step(), [this]() INLAY_NEEDS(engine_turn) { make_masks(); }));
  if (n == 1 && open_.n_units > 1) times_.note(first, n_rows_, static_cast<double>(now_us() - began));
  return {};
}

StepResults Requests::results_of_step() { return {.draws = std::span(draws_).first(drawing_.size()), .rows = rows_}; }

void Requests::make_masks() {
  for (const Request* request : drawing_) request->run.session->make_mask();
}

// What the device has computed since is collected, and more is queued, without waiting for the device. False: nothing is left to be done.
bool Requests::queue_step(const Compute& asked) {
  if (open_.ticket && open_.n_queued > open_.n_done) {
    const Result<TicketProgress> progress = engine_.queue_.poll(open_);
    if (progress.ok() && !progress->is_done) return true;
    const Status status = progress.ok() ? collect(progress->seconds) : progress.status();
    if (!status.ok()) return fail_step(status), true;
    if (open_.n_left() == 0) finish_step();
  }
  if (!open_.ticket && !begin_step(asked)) return false;
  const auto left = static_cast<double>(asked.until - now_us());
  const Status status = engine_.queue_.queue(open_, asked.in_units ? n_units_within(left) : open_.n_left(), [this]() INLAY_NEEDS(engine_turn) { make_masks(); });
  if (!status.ok()) fail_step(status);
  return true;
}

// Of the units that are done, which took so long together.
Status Requests::collect(double seconds) {
  const size_t first = open_.n_done, end = open_.n_queued;
  const double before = open_.seconds;
  INLAY_TRY(engine_.queue_.run(open_, 0, results_of_step()));
  open_.seconds = before;  // poll() has added the device's time; collecting it is none
  if (open_.n_units == 1 || seconds == 0) return {};
  double expected = 0;
  for (size_t unit = first; unit < end; ++unit) expected += times_.expect(unit, n_rows_);
  for (size_t unit = first; unit < end; ++unit) {
    const double part = expected > 0 ? times_.expect(unit, n_rows_) / expected : 1 / static_cast<double>(end - first);
    if (part > 0) times_.note(unit, n_rows_, seconds * 1e6 * part);
  }
  return {};
}

// The next units that the device is expected to do in so many microseconds, one at least.
size_t Requests::n_units_within(double us) const {
  double expected = 0;
  size_t n = 0;
  for (; n < open_.n_left(); ++n) {
    const double known = times_.expect(open_.n_done + n, n_rows_), wanted = known > 0 ? known : times_.longest(n_rows_);
    expected += wanted;
    if (n > 0 && (wanted == 0 || expected > us)) break;
  }
  return n;
}

RoundLimits Requests::limits(const Compute& asked) const {
  const BackendConfig& config = engine_.backend_->config();
  const KvPools& pools = engine_.sequences_.pools();
  const size_t group = counted_group();
  RoundLimits out;
  out.max_sequences = std::min(config.max_sequences, n_running() + engine_.info_.max_sessions - engine_.sequences_.n_taken());
  if (asked.in_units) out.max_sequences = std::min(out.max_sequences, engine_.backend_->max_sequences_in_units());
  out.max_step_tokens = config.max_step_tokens;
  out.max_prompt_tokens = engine_.prefill_chunk_;
  if (asked.max_step_us > 0) out.max_prompt_tokens = std::min(out.max_prompt_tokens, times_.rows_of_step(static_cast<double>(asked.max_step_us)));
  if (asked.in_units) {
    const auto left = static_cast<double>(std::max<int64_t>(0, asked.until - now_us()));
    out.max_prompt_tokens = std::min(out.max_prompt_tokens, times_.rows_of_units(left / 2));
  }
  out.block_tokens = kKvBlockTokens;
  out.n_blocks = pools.pool(group).n_blocks();
  out.n_free = pools.pool(group).n_free() + pools.pool(group).n_idle() + n_resting_blocks();
  return out;
}

// The group of the cache whose blocks are counted out: one without a window, if there is one. Of the others a sequence needs few.
size_t Requests::counted_group() const {
  const std::span<const KvGroup> groups = engine_.sequences_.pools().groups();
  const auto found = std::ranges::find(groups, 0, &KvGroup::window);
  return found == groups.end() ? 0 : static_cast<size_t>(found - groups.begin());
}

PlannedRequest Requests::view_of(const Request& request) const {
  const Request::Run& run = request.run;
  PlannedRequest out{.state = run.state,
                     .priority = run.priority,
                     .submitted = run.submitted,
                     .waiting_since = run.waiting_since,
                     .deadline = run.deadline,
                     .n_tokens = run.n_prompt,
                     .n_most = draws(request) ? n_most(run.n_prompt, options_of(request)) : run.n_prompt,
                     .n_drawn = run.n_drawn_since,
                     .is_whole = embeds(request) && !engine_.spec().causal,
                     .is_unread = is_unread(request)};
  if (run.has_session && !run.session) out.n_cached = std::min({run.continues->seq_.n_computed, run.n_kept, run.n_prompt - 1});
  if (!run.session) return out;
  const Sequence& seq = run.session->seq_;
  out.n_tokens = seq.n_tokens();
  out.n_cached = std::min(std::max(seq.n_computed, run.stored.n_computed), seq.n_tokens() - 1);
  if (run.state != State::running) return out;
  out.n_blocks = seq.kv[counted_group()].n_blocks();
  out.n_shared = engine_.sequences_.pools().n_shared(seq.kv, counted_group());
  return out;
}

bool Requests::is_unread(const Request& request) const {
  return request.n_unread.load(std::memory_order_relaxed) >= request.run.queue->limits().unread_tokens;
}

// False: no request has anything to be computed.
bool Requests::begin_step(const Compute& asked) {
  if (!engine_.lost_.status().ok()) return end_all(FinishReason::error, engine_.lost_.status()), false;
  const int64_t now = now_us();
  expire(now);
  sweep();
  if (live_.empty()) return false;
  if (const Status status = engine_.decoder_.drop_left(); !status.ok()) return fail_step(status), false;
  for (;;) {
    const RoundLimits limits = this->limits(asked);
    gather_views(now, limits);
    do planner_.plan(views_, limits, now, round_);
    while (leave_out_those_that_wait());
    apply_round(asked.in_units);
    if (!stepping_.empty()) break;
    const size_t n_live = live_.size();
    sweep();
    if (live_.size() < n_live) continue;  // what ended so may let others begin
    // Blocks that sessions share with one another were not counted.
    const bool lacks_blocks = n_running() < limits.max_sequences && std::ranges::any_of(views_, [](const PlannedRequest& view) { return !view.is_unread; });
    if (!lacks_blocks || !take_from_resting()) return end_what_is_stuck(limits), false;
  }
  const bool draws = !open_.samples.empty();
  open_.is_timed = asked.only_queues || asked.in_units;  // the rest of a step in units may be left to a call that only queues
  // One that the device is expected to do in time is queued as a whole, which takes the host less.
  const double whole = times_.expect_step(n_rows_);
  const bool in_units = asked.in_units && !(asked.only_queues && whole > 0 && whole <= static_cast<double>(asked.until - now_us()));
  const StepQueue::Extent extent = in_units ? (draws ? StepQueue::Extent::units : StepQueue::Extent::layer_units)
                                                  : (draws ? StepQueue::Extent::all : StepQueue::Extent::layers);
  if (const Status status = engine_.queue_.begin(open_, extent); !status.ok()) return fail_step(status), true;
  return true;
}

// Of all that run, and of as many that wait as could begin at most.
void Requests::gather_views(int64_t now, const RoundLimits& limits) {
  views_.clear();
  viewed_.clear();
  waiting_.clear();
  for (const auto& request : live_) {
    if (!has_session(*request)) continue;
    if (request->run.state == State::running) {
      views_.push_back(view_of(*request));
      viewed_.push_back(request.get());
    } else if (request->run.state == State::waiting || !is_unread(*request)) {
      waiting_.push_back({view_of(*request), request.get()});
    }
  }
  const auto n = std::min(waiting_.size(), static_cast<size_t>(engine_.info_.max_sessions) + 1);
  const auto is_before = [&](const Waiting& a, const Waiting& b) { return begins_before(a.view, b.view, now, limits.age); };
  if (n < waiting_.size()) std::nth_element(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n), waiting_.end(), is_before);
  for (const Waiting& one : std::span(waiting_).first(n)) {
    views_.push_back(one.view);
    viewed_.push_back(one.request);
  }
}

// One that waits for what another one computes must not take that one's part of the step. True: there was one, and the round is to be planned anew.
bool Requests::leave_out_those_that_wait() {
  for (const size_t i : round_.begun) {
    if (!waits_for_prefix(*viewed_[i])) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    views_.erase(views_.begin() + at);
    viewed_.erase(viewed_.begin() + at);
    return true;
  }
  return false;
}

// Some backends cannot cut a step that has both single tokens and prompts, and some let single tokens keep their bits only where no rows are asked
// for: then a step has one class of parts, and the next step the next one.
Requests::PartKind Requests::kind_of(const Round::Part& part) const {
  const int32_t n_rows = n_rows_of(part);
  if (n_rows == 0) return PartKind::none;  // a draw alone goes with any
  if (n_rows > 1) return PartKind::prompts;
  return embeds(*viewed_[part.request]) ? PartKind::asked_singles : PartKind::singles;
}

// The one that comes into the step; none: all do.
Requests::PartKind Requests::choose_kind(bool in_units) {
  std::array<bool, kPartKinds> is_there{};
  bool asks = false;
  for (const Round::Part& part : round_.parts) {
    is_there[static_cast<size_t>(kind_of(part))] = true;
    asks = asks || embeds(*viewed_[part.request]);
  }
  is_there[static_cast<size_t>(PartKind::none)] = false;
  const bool are_apart = in_units || (asks && !engine_.backend_->asks_beside_singles());
  if (!are_apart || std::ranges::count(is_there, true) < 2) {
    last_kind_ = PartKind::singles;
    return PartKind::none;
  }
  size_t next = static_cast<size_t>(last_kind_);
  do next = (next + 1) % kPartKinds;
  while (!is_there[next]);
  return last_kind_ = static_cast<PartKind>(next);
}

void Requests::apply_round(bool in_units) {
  open_.clear();
  stepping_.clear();
  working_.clear();
  drawing_.clear();
  n_rows_ = n_prompt_rows_ = 0;
  for (const size_t i : round_.put_out) put_out(*viewed_[i]);
  for (const size_t i : round_.begun) {
    if (waits_for_prefix(*viewed_[i])) continue;
    if (!begin(*viewed_[i])) break;
    if (is_prefilled(*viewed_[i])) end(*viewed_[i], FinishReason::prefilled);
  }
  std::erase_if(round_.parts, [this](const Round::Part& part) INLAY_NEEDS(engine_turn) { return viewed_[part.request]->run.has_ended; });
  for (Round::Part& part : round_.parts) part.draws = part.draws && draws(*viewed_[part.request]);
  const PartKind chosen = choose_kind(in_units);
  for (const Round::Part& part : round_.parts) {
    const PartKind of_part = kind_of(part);
    if (chosen != PartKind::none && of_part != PartKind::none && of_part != chosen) continue;
    Request& request = *viewed_[part.request];
    if (request.run.state == State::running) add_work(request, part);
  }
  size_t n_asked = 0;
  for (const Work& work : open_.works) n_asked += inlay::n_rows_of(work.asked);
  rows_.resize(n_asked * engine_.output_norm_.size());
}

// Where the tokens end that the part computes. Who may not draw keeps the last token for later.
int32_t Requests::end_of(const Round::Part& part) const {
  const Sequence& seq = viewed_[part.request]->run.session->seq_;
  const int32_t end = std::min(seq.n_tokens(), seq.n_computed + part.n_tokens);
  const bool keeps_last = !part.draws && !seq.has_logits && !embeds(*viewed_[part.request]);
  return keeps_last && end == seq.n_tokens() ? end - 1 : end;
}

// That the part has in the step: what was found when the request began is none, and a request that has logits has only its draw.
int32_t Requests::n_rows_of(const Round::Part& part) const {
  const Request& request = *viewed_[part.request];
  if (request.run.state != State::running || request.run.session->seq_.has_logits) return 0;
  return std::max(0, end_of(part) - request.run.session->seq_.n_computed);
}

// A slot, and blocks for its tokens and the first that it draws; false: there is no room after all.
bool Requests::begin(Request& request) {
  Request::Run& run = request.run;
  const bool is_first = run.began == 0 && run.continues;
  if (!run.session && !is_first) {
    run.session = engine_.session_of_request(std::move(run.options));
    run.session->seq_.tokens.assign(run.prompt.begin(), run.prompt.end());
    run.session->after_rewrite();
    run.prompt = {};
  }
  Session& session = is_first ? *run.continues : *run.session;
  Sequence& seq = session.seq_;
  const int32_t whole_pool = engine_.sequences_.pools().pool(counted_group()).n_blocks() * kKvBlockTokens;
  const int32_t n_most_now = draws(request) ? n_most(run.n_prompt, is_first ? run.options : session.options_) : run.n_prompt;
  if (!engine_.sequences_.take_slot(seq)) return false;
  if (is_first) begin_session(request);
  const int32_t end = std::max(seq.n_tokens(), std::min({n_most_now, seq.n_tokens() + RoundLimits().min_drawn, whole_pool}));
  const int32_t n_there = run.stored.is_empty() ? 0 : engine_.sequences_.lay_out(run.stored, seq);
  if (run.stored.is_empty()) find_computed(request, seq);
  std::erase(resting_, &session);
  if (!reserve(seq, end).ok() || !come_back(request, n_there)) {
    is_first ? undo_session(request) : release(request);
    return false;
  }
  if (is_first) session.begin_request(std::move(run.options), run.has_options);
  if (is_first) run.session = run.continues;
  engine_.sequences_.hold(seq);
  if (run.vector && seq.n_computed == 0) run.vector->made.emplace(engine_, run.vector->options, run.vector->poolings);
  run.state = State::running;
  run.n_drawn_since = 0;
  if (run.began == 0) run.began = now_us();
  return true;
}

// From the host's memory, where it is there: false, if that has failed, and it is to be computed again.
bool Requests::come_back(Request& request, int32_t n_there) {
  Request::Run& run = request.run;
  if (run.stored.is_empty()) return true;
  const int32_t n = run.stored.n_computed;
  if (!engine_.sequences_.bring_back(run.stored, run.session->seq_, n_there).ok()) return run.n_lost = n, false;
  counts_.n_copied_back += static_cast<uint64_t>(n - n_there);
  return true;
}

void Requests::find_computed(Request& request, Sequence& seq) {
  Request::Run& run = request.run;
  const int32_t n = seq.n_computed == 0 && keeps(request) ? engine_.sequences_.find_computed(seq) : seq.n_computed;
  if (run.began == 0) run.n_cached = n;
  counts_.n_computed_again += static_cast<uint64_t>(std::max(0, run.n_lost - n));
  run.n_lost = 0;
}

// Whether one that runs is about to compute more of the same prompt than is found now.
bool Requests::waits_for_prefix(const Request& request) const {
  if (!keeps(request) || !request.run.stored.is_empty()) return false;
  const std::vector<int32_t>& tokens = request.run.session ? request.run.session->seq_.tokens : request.run.prompt;
  const std::span<const int32_t> wanted(tokens.data(), tokens.size() - 1);
  const int32_t n_found = engine_.sequences_.pools().find(wanted);
  return std::ranges::any_of(live_, [&](const auto& other) {
    if (other->run.state != State::running || other->run.has_ended || is_unread(*other) || !keeps(*other)) return false;
    const Sequence& seq = other->run.session->seq_;
    const auto differs = std::ranges::mismatch(wanted, std::span(seq.tokens)).in1;
    const auto n_common = static_cast<int32_t>(differs - wanted.begin()) / kKvBlockTokens * kKvBlockTokens;
    return n_common > n_found && seq.n_computed < n_common;
  });
}

void Requests::add_work(Request& request, const Round::Part& part) {
  Session& session = *request.run.session;
  Sequence& seq = session.seq_;
  const int32_t end = end_of(part);
  const bool draws = part.draws && (seq.has_logits || end == seq.n_tokens());
  if (!draws && end <= seq.n_computed) return;
  if (!reserve(seq, end).ok()) return;
  if (!seq.has_logits) {
    open_.works.push_back(work_of(seq, seq.n_computed, end));
    working_.push_back(&request);
    if (draws) open_.works.back().slot = seq.slot;
    if (RequestVector* vector = request.run.vector.get()) {
      vector->asked = TextVector::rows_of(vector->poolings, seq.n_computed, end - seq.n_computed, end == seq.n_tokens());
      if (vector->asked.n_rows > 0) open_.works.back().asked = {&vector->asked, 1};
    }
    const int32_t n_rows = open_.works.back().n_rows();
    n_rows_ += n_rows;
    if (n_rows > 1 || end <= request.run.n_prompt) n_prompt_rows_ += n_rows;
  }
  request.run.in_step = true;
  stepping_.push_back(&request);
  if (!draws) return;
  drawing_.push_back(&request);
  open_.samples.push_back({.slot = seq.slot,
                           .params = &session.options_.sampler,
                           .history = seq.tokens,
                           .stream = session.options_.stream,
                           .position = static_cast<uint64_t>(seq.n_tokens()),
                           .context = session.draw_context(),
                           .mask = session.mask()});
}

// A request that has the pool for itself and needs more cannot go on; one beside sessions waits for these.
void Requests::end_what_is_stuck(const RoundLimits& limits) {
  const size_t group = counted_group();
  for (const auto& request : live_) {
    if (request->run.state != State::running || request->run.has_ended || is_unread(*request)) continue;
    const int32_t n_own = request->run.session->seq_.kv[group].n_blocks(), n_all = limits.n_blocks;
    if (n_own < n_all) continue;
    end(*request, FinishReason::error, error(Code::kv_full, "the sequence needs more than the %d blocks of the whole KV pool", n_all));
  }
  sweep();
}

// The step has ended with an error: so have the requests that took part in it, and all if the device is lost.
void Requests::fail_step(const Status& status) {
  if (open_.ticket) (void)engine_.queue_.cancel(open_.ticket);
  open_.clear();
  for (Request* request : stepping_) {
    request->run.in_step = false;
    end(*request, FinishReason::error, status);
  }
  stepping_.clear();
  working_.clear();
  drawing_.clear();
  if (status.code == Code::device_lost) end_all(FinishReason::error, status);
  sweep();
}

// The engine's mutex is free meanwhile, as while the device computes: nobody else touches requests that have a part in the step.
void Requests::pool_rows() {
  if (std::ranges::none_of(working_, [](const Request* request) { return embeds(*request); })) return;
  const Computing computing(engine_.mutex_);
  const float* next = rows_.data();
  for (size_t i = 0; i < working_.size(); ++i) {
    RequestVector* vector = working_[i]->run.vector.get();
    if (vector == nullptr) continue;
    vector->made->add(next, vector->asked.n_rows);
    next += static_cast<size_t>(vector->asked.n_rows) * engine_.output_norm_.size();
    const Work& work = open_.works[i];
    if (work.end == work.sequence->n_tokens()) vector->status = vector->made->finish(vector->values);
  }
}

void Requests::end_embedded(Request& request) {
  Status status = std::move(request.run.vector->status);
  const FinishReason reason = status.ok() ? FinishReason::embedded : FinishReason::error;
  end(request, reason, std::move(status));
}

void Requests::finish_step() {
  pool_rows();
  engine_.queue_.commit(open_);
  EngineStats& stats = engine_.stats_;
  for (size_t i = 0; i < open_.works.size(); ++i) {
    const Work& work = open_.works[i];
    engine_.sequences_.settle(*work.sequence);
    if (keeps(*working_[i]) && (work.n_rows() > 1 || work.end % kKvBlockTokens == 0)) engine_.sequences_.keep_computed(*work.sequence);
  }
  stats.n_prefill_tokens += static_cast<uint64_t>(n_prompt_rows_);
  times_.note_step(n_rows_, open_.seconds * 1e6);
  (n_prompt_rows_ == 0 ? stats.decode_seconds : stats.prefill_seconds) += open_.seconds;
  if (!drawing_.empty()) ++stats.n_decode_steps;
  for (size_t i = 0; i < drawing_.size(); ++i) finish_draw(*drawing_[i], draws_[i]);
  for (Request* request : stepping_) {
    Request::Run& run = request->run;
    run.in_step = false;
    if (run.ends_after != FinishReason::none) {
      end(*request, run.ends_after);
    } else if (!run.has_ended && is_prefilled(*request)) {
      end(*request, FinishReason::prefilled);
    } else if (!run.has_ended && embeds(*request) && run.session->seq_.n_computed == run.session->seq_.n_tokens()) {
      end_embedded(*request);
    }
  }
  stepping_.clear();
  working_.clear();
  drawing_.clear();
  open_.clear();
  sweep();
}

void Requests::finish_draw(Request& request, Draw& draw) {
  Request::Run& run = request.run;
  if (run.ends_after != FinishReason::none) return;
  if (!draw.status.ok()) return end(request, FinishReason::error, std::move(draw.status));
  Session& session = *run.session;
  if (draw.result.token < 0) return end(request, session.end_of_constraint());
  StepEvent event;
  event.sample = draw.result;
  engine_.decoder_.finish_draw(session, event);
  ++engine_.stats_.n_decode_tokens;
  ++run.n_drawn;
  ++run.n_drawn_since;
  ++n_drawn_;
  if (run.drew_first == 0) run.drew_first = now_us();
  tell(run.queue, run.queue->add_token(request, event.sample, session.text_));
  if (event.finish_reason != FinishReason::none) end(request, event.finish_reason);
}

void Requests::finish_pending() {
  if (!open_.ticket) return;
  try {
    const Status status = run_units(open_.n_left());
    status.ok() ? finish_step() : fail_step(status);
  } catch (const std::bad_alloc&) {  // of the requests alone, not of the call that has the turn
    fail_step(error(Code::out_of_memory, "out of host memory"));
  }
}

}  // namespace inlay
