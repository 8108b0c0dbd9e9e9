#include "src/engine/request_steps.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "src/engine/computing.h"
#include "src/engine/request_queue.h"

namespace inlay {

RequestSteps::RequestSteps(Engine& engine, LiveRequests& live, RequestSessions& sessions)
    : engine_(engine), live_(live), sessions_(sessions), times_(engine.queue_.n_units(StepQueue::Extent::units)),
      launch_times_(engine.queue_.n_units(StepQueue::Extent::units)), begin_times_(1) {
  const auto most = static_cast<size_t>(engine.info_.max_sessions);
  open_.works.reserve(most);
  open_.samples.reserve(most);
  stepping_.reserve(most);
  working_.reserve(most);
  drawing_.reserve(most);
  draws_.resize(most);
}

bool RequestSteps::go_on(const StepBudget& budget, RunResult& result) {
  n_drawn_ = 0;
  bool goes_on = false;
  try {
    if (budget.only_queues) {
      result.has_work = queue_step(budget);
    } else {
      goes_on = step(budget, result);
    }
  } catch (const std::bad_alloc&) {
    fail_step(out_of_memory());
    result.has_work = true;
  }
  result.n_tokens += static_cast<uint64_t>(n_drawn_);
  return goes_on;
}

bool RequestSteps::step(const StepBudget& budget, RunResult& result) {
  result.has_work = false;
  if (!open_.ticket && !begin_step(budget)) return false;
  result.has_work = true;
  while (open_.n_left() > 0) {
    size_t n = open_.n_left();
    if (open_.n_units > 1 && budget.in_units) {
      const double left = left_of(budget);
      if (result.ran && times_.expect(open_.n_done, n_rows_) > left) return false;
      n = n_units_within(left / 2, std::numeric_limits<double>::infinity());
    }
    result.ran = true;
    const Status status = run_units(n);
    if (!status.ok()) return fail_step(status), true;
  }
  finish_step();
  return true;
}

Status RequestSteps::run_units(size_t n) {
  const size_t first = open_.n_done;
  const int64_t began = live_.now();
  const double before = open_.seconds;
  INLAY_TRY(engine_.queue_.run(open_, n, results_of_step(), [this]() INLAY_NEEDS(engine_turn) { make_masks(); }));
  const auto us = static_cast<double>(live_.now() - began);
  open_.seconds = before + us * 1e-6;  // by the requests' clock, which tests own
  // Units that run together take less than each alone, which is what the end of a call has to expect.
  if (open_.n_units > 1 && (n == 1 || us > times_.expect(first, first + n, n_rows_))) times_.note(first, first + n, n_rows_, us);
  return {};
}

StepResults RequestSteps::results_of_step() { return {.draws = std::span(draws_).first(drawing_.size()), .rows = rows_}; }

void RequestSteps::make_masks() {
  for (const Request* request : drawing_) request->run.session->make_mask();
}

// What the device has computed since is collected, and more is queued, without waiting for the device. False: nothing is left to be done. Of what
// the host has to do here the first always goes; what is not expected to fit into its time is left to the next call.
bool RequestSteps::queue_step(const StepBudget& budget) {
  const double host_us = left_of_host(budget);
  if (open_.ticket && open_.n_queued > open_.n_done) {
    const Result<TicketProgress> progress = engine_.queue_.poll(open_);
    if (progress.ok() && !progress->is_done) return true;
    const int32_t n_rows = n_rows_;
    const Status status = progress.ok() ? collect(progress->seconds) : progress.status();
    if (!status.ok()) return fail_step(status), true;
    if (open_.n_left() == 0) finish_step();
    const double next = open_.ticket ? launch_times_.expect_any(open_.n_done, n_rows_) : begin_times_.expect(0, n_rows) + launch_of_step(budget, host_us, n_rows);
    if (next > left_of_host(budget)) return true;
  }
  if (!open_.ticket) {
    const int64_t began = live_.now();
    if (!begin_step(budget)) return false;
    if (open_.ticket) begin_times_.note(0, n_rows_, static_cast<double>(live_.now() - began));
  }
  const Status status = queue_units(budget);
  if (!status.ok()) fail_step(status);
  return true;
}

// What the first launch of such a step takes: of all of it, where a call that begins with it would have the time.
double RequestSteps::launch_of_step(const StepBudget& budget, double host_us, int32_t n_rows) const {
  const double whole = times_.expect_step(n_rows), launch = launch_times_.expect_any_step(n_rows);
  return whole > 0 && whole <= left_of(budget) && launch <= host_us ? launch : launch_times_.expect_any(0, n_rows);
}

Status RequestSteps::queue_units(const StepBudget& budget) {
  const size_t first = open_.n_done, n = budget.in_units ? n_units_within(left_of(budget), left_of_host(budget)) : open_.n_left();
  const int64_t began = live_.now();
  INLAY_TRY(engine_.queue_.queue(open_, n, [this]() INLAY_NEEDS(engine_turn) { make_masks(); }));
  const auto us = static_cast<double>(live_.now() - began);
  if (open_.n_units > 1) {
    launch_times_.note(first, first + n, n_rows_, us);
  } else {
    launch_times_.note_step(n_rows_, us);
  }
  return {};
}

// Of the units that are done, which took so long together.
Status RequestSteps::collect(double seconds) {
  const size_t first = open_.n_done, end = open_.n_queued;
  const double before = open_.seconds;
  INLAY_TRY(engine_.queue_.run(open_, 0, results_of_step()));
  open_.seconds = before;  // poll() has added the device's time; collecting it is none
  if (open_.n_units > 1 && seconds > 0) times_.note(first, end, n_rows_, seconds * 1e6);
  return {};
}

// The next units that the device is expected to do in so many microseconds, and the host to launch, one at least.
size_t RequestSteps::n_units_within(double us, double host_us) const {
  double expected = 0, launching = 0;
  size_t n = 0;
  for (; n < open_.n_left(); ++n) {
    const double wanted = times_.expect_any(open_.n_done + n, n_rows_);
    expected += wanted;
    launching += launch_times_.expect_any(open_.n_done + n, n_rows_);
    if (n > 0 && (wanted == 0 || expected > us || launching > host_us)) break;
  }
  return n;
}

// Microseconds that may be computed, or queued.
double RequestSteps::left_of(const StepBudget& budget) const {
  return static_cast<double>(std::max<int64_t>(0, budget.only_queues ? budget.queued_us : budget.until - live_.now()));
}

// That a call which only queues may take of its thread.
double RequestSteps::left_of_host(const StepBudget& budget) const { return static_cast<double>(budget.until - live_.now()); }

RoundLimits RequestSteps::limits(const StepBudget& budget) const {
  const BackendConfig& config = engine_.backend_->config();
  const KvPools& pools = engine_.sequences_.pools();
  const KvPool& pool = pools.pool(KvPools::kCountedGroup);
  RoundLimits out;
  out.max_sequences = std::min(config.max_sequences, live_.n_running() + engine_.info_.max_sessions - engine_.sequences_.n_taken());
  if (budget.in_units) out.max_sequences = std::min(out.max_sequences, engine_.backend_->max_sequences_in_units());
  out.max_step_tokens = config.max_step_tokens;
  out.max_prompt_tokens = engine_.prefill_chunk_;
  // A step in units has single tokens or prompts, not both.
  if (budget.max_step_us > 0) (budget.in_units ? out.max_prompt_tokens : out.max_timed_tokens) = times_.rows_of_step(static_cast<double>(budget.max_step_us));
  out.max_prompt_tokens = std::min(out.max_prompt_tokens, engine_.prefill_chunk_);
  out.least_chunk = UnitTimes::kFewest;
  if (budget.in_units) out.max_prompt_tokens = std::min(out.max_prompt_tokens, times_.rows_of_units(left_of(budget) / 2));
  out.block_tokens = kKvBlockTokens;
  out.n_blocks = pool.n_blocks();
  out.n_free = pool.n_free() + pool.n_idle() + sessions_.n_blocks();
  return out;
}

// What is left of a prompt from which nothing is drawn: its last token is run by who draws behind it.
bool RequestSteps::is_prefilled(const Request& request) {
  const Sequence& seq = request.run.session->seq_;
  return request.run.options.kind == RequestKind::prefill && seq.n_computed + 1 >= seq.n_tokens();
}

PlannedRequest RequestSteps::view_of(const Request& request) const {
  const Request::Run& run = request.run;
  const SessionOptions& options = run.session ? run.session->options_ : run.options.session;  // its own, once it has taken them
  PlannedRequest out{.state = run.state,
                     .priority = run.options.priority,
                     .submitted = run.submitted,
                     .waiting_since = run.waiting_since,
                     .deadline = run.deadline,
                     .n_tokens = run.n_prompt,
                     .n_most = request.draws() ? n_most_tokens(run.n_prompt, options.max_tokens, engine_.info_.n_context) : run.n_prompt,
                     .n_found = run.state == State::running || !live_.keeps(request) ? 0 : PlannedRequest::kNotLookedFor,
                     .n_drawn = run.n_drawn_since,
                     .is_whole = request.embeds() && !engine_.spec().causal,
                     .is_unread = request.is_unread()};
  if (run.has_session && !run.session) out.n_cached = std::min({run.options.continues->seq_.n_computed, run.n_kept, run.n_prompt - 1});
  if (!run.session) return out;
  const Sequence& seq = run.session->seq_;
  out.n_tokens = seq.n_tokens();
  out.n_cached = std::min(std::max(seq.n_computed, run.stored.n_computed), seq.n_tokens() - 1);
  if (run.state != State::running) return out;
  const KvPools& pools = engine_.sequences_.pools();
  out.n_blocks = seq.kv[KvPools::kCountedGroup].n_blocks();
  out.n_shared = pools.n_shared(seq.kv, KvPools::kCountedGroup);
  return out;
}

// False: no request has anything to be computed.
bool RequestSteps::begin_step(const StepBudget& budget) {
  const int64_t now = live_.now();
  live_.expire(now);
  live_.sweep();
  if (live_.all().empty()) return false;
  if (const Status status = engine_.decoder_.drop_left(); !status.ok()) return fail_step(status), false;
  bool may_begin = true;
  for (;;) {
    if (!engine_.lost_.status().ok()) return live_.end_all(FinishReason::error, engine_.lost_.status()), false;
    const RoundLimits limits = this->limits(budget);
    gather_views(now, limits, may_begin);
    do planner_.plan(views_, limits, now, round_);
    while (look_for_asked() || leave_out_those_that_wait(now, limits.age));
    const Begun begun = begin_as_planned();
    may_begin = may_begin && begun != Begun::without_room;
    if (begun != Begun::as_planned) {
      live_.sweep();
      continue;
    }
    apply_round(budget.in_units);
    if (!stepping_.empty()) break;
    const size_t n_live = live_.all().size();
    live_.sweep();
    const bool found_no_room = !std::exchange(may_begin, true);
    if (live_.all().size() < n_live) continue;  // what ended so may let others begin
    // Blocks that sessions share with one another were not counted.
    const bool wants_blocks = found_no_room || std::ranges::any_of(views_, [](const PlannedRequest& view) { return !view.is_unread; });
    const bool lacks_blocks = live_.n_running() < limits.max_sequences && wants_blocks;
    if (!lacks_blocks || !sessions_.give_blocks()) return end_what_is_stuck(limits), false;
  }
  const bool draws = !open_.samples.empty();
  open_.is_timed = budget.only_queues || budget.in_units;  // the rest of a step in units may be left to a call that only queues
  // One that the device is expected to do in time is run as a whole, which takes the host less; where the call waits for it, in half of the time.
  const double whole = times_.expect_step(n_rows_) * (budget.only_queues ? 1 : 2);
  const bool fits = whole > 0 && whole <= left_of(budget) && launch_times_.expect_any_step(n_rows_) <= left_of_host(budget);
  const bool in_units = budget.in_units && !fits;
  const StepQueue::Extent extent = in_units ? (draws ? StepQueue::Extent::units : StepQueue::Extent::layer_units)
                                                  : (draws ? StepQueue::Extent::all : StepQueue::Extent::layers);
  if (const Status status = engine_.queue_.begin(open_, extent); !status.ok()) return fail_step(status), true;
  return true;
}

// Of all that run, and, where some may begin, of as many that wait as could at most.
void RequestSteps::gather_views(int64_t now, const RoundLimits& limits, bool may_begin) {
  views_.clear();
  viewed_.clear();
  waiting_.clear();
  for (const auto& request : live_.all()) {
    if (!live_.has_session(*request)) continue;
    if (request->run.state == State::running) {
      views_.push_back(view_of(*request));
      viewed_.push_back(request.get());
    } else if (may_begin && (request->run.state == State::waiting || !request->is_unread())) {
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

// What a waiting request finds of running ones is looked for where room is short. True: the round is to be planned anew.
bool RequestSteps::look_for_asked() {
  if (round_.asks == Round::kNone) return false;
  PlannedRequest& view = views_[round_.asks];
  const LiveRequests::Found found = live_.found_of_running(*viewed_[round_.asks]);
  view.n_found = found.n_blocks;
  view.found_at = static_cast<size_t>(std::ranges::find(viewed_, found.of) - viewed_.begin());  // the views of those that run never change places
  return true;
}

// Those that wait for what another one computes must not take that one's part of the step, but give it their level. True: there were some, and the round
// is to be planned anew.
bool RequestSteps::leave_out_those_that_wait(int64_t now, int64_t age) {
  for (const size_t i : round_.begun) {
    const Request* awaited = live_.awaited_by(*viewed_[i]);
    if (awaited == nullptr) continue;
    if (const auto found = std::ranges::find(viewed_, awaited); found != viewed_.end()) {
      PlannedRequest& view = views_[static_cast<size_t>(found - viewed_.begin())];
      if (const int32_t level = level_of(views_[i], now, age); level > aged_level_of(view, now, age)) view.priority = level, view.waiting_since = now;
      view.deadline = std::min(view.deadline, views_[i].deadline);
    }
    viewed_[i] = nullptr;
  }
  size_t n = 0;
  for (size_t i = 0; i < viewed_.size(); ++i) {
    if (viewed_[i] == nullptr) continue;
    views_[n] = views_[i];
    viewed_[n++] = viewed_[i];
  }
  if (n == viewed_.size()) return false;
  views_.resize(n);
  viewed_.resize(n);
  return true;
}

// Some backends cannot cut a step that has both single tokens and prompts, and some let single tokens keep their bits only where no rows are asked
// for: then a step has one class of parts, and the next step the next one.
RequestSteps::PartKind RequestSteps::kind_of(const Round::Part& part) const {
  const int32_t n_rows = n_rows_of(part);
  if (n_rows == 0) return PartKind::none;  // a draw alone goes with any
  if (n_rows > 1) return PartKind::prompts;
  return viewed_[part.request]->embeds() ? PartKind::asked_singles : PartKind::singles;
}

// The one that comes into the step; none: all do.
RequestSteps::PartKind RequestSteps::choose_kind(bool in_units) {
  std::array<bool, kPartKinds> is_there{};
  bool asks = false;
  for (const Round::Part& part : round_.parts) {
    is_there[static_cast<size_t>(kind_of(part))] = true;
    asks = asks || viewed_[part.request]->embeds();
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

RequestSteps::Begun RequestSteps::begin_as_planned() {
  Begun out = Begun::as_planned;
  bool has_begun = false;  // somebody, whom others may await now
  for (const size_t i : round_.put_out) live_.put_out(*viewed_[i]);
  for (const size_t i : round_.begun) {
    Request& request = *viewed_[i];
    if (has_begun && live_.awaited_by(request) != nullptr) {
      out = Begun::otherwise;
      continue;
    }
    if (!live_.begin(request)) return Begun::without_room;
    has_begun = true;
    if (request.run.session->seq_.n_computed > views_[i].n_cached) out = Begun::otherwise;
    if (is_prefilled(request)) live_.end(request, FinishReason::prefilled);
  }
  return out;
}

void RequestSteps::apply_round(bool in_units) {
  clear();
  std::erase_if(round_.parts, [this](const Round::Part& part) INLAY_NEEDS(engine_turn) { return viewed_[part.request]->run.has_ended; });
  for (Round::Part& part : round_.parts) part.draws = part.draws && viewed_[part.request]->draws();
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
int32_t RequestSteps::end_of(const Round::Part& part) const {
  const Sequence& seq = viewed_[part.request]->run.session->seq_;
  const int32_t end = std::min(seq.n_tokens(), seq.n_computed + part.n_tokens);
  const bool keeps_last = !part.draws && !seq.has_logits && !viewed_[part.request]->embeds();
  return keeps_last && end == seq.n_tokens() ? end - 1 : end;
}

// That the part has in the step: what was found when the request began is none, and a request that has logits has only its draw.
int32_t RequestSteps::n_rows_of(const Round::Part& part) const {
  const Request& request = *viewed_[part.request];
  if (request.run.state != State::running || request.run.session->seq_.has_logits) return 0;
  return std::max(0, end_of(part) - request.run.session->seq_.n_computed);
}

void RequestSteps::add_work(Request& request, const Round::Part& part) {
  Session& session = *request.run.session;
  Sequence& seq = session.seq_;
  const int32_t end = end_of(part);
  const bool draws = part.draws && (seq.has_logits || end == seq.n_tokens());
  if (!draws && end <= seq.n_computed) return;
  if (!live_.reserve(seq, end).ok()) return;
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
void RequestSteps::end_what_is_stuck(const RoundLimits& limits) {
  for (const auto& request : live_.all()) {
    if (request->run.state != State::running || request->run.has_ended || request->is_unread()) continue;
    const int32_t n_own = request->run.session->seq_.kv[KvPools::kCountedGroup].n_blocks(), n_all = limits.n_blocks;
    if (n_own < n_all) continue;
    live_.end(*request, FinishReason::error, error(Code::kv_full, "the sequence needs more than the %d blocks of the whole KV pool", n_all));
  }
  live_.sweep();
}

// The step has ended with an error: so have the requests that took part in it, and all if the device is lost.
void RequestSteps::fail_step(const Status& status) {
  if (open_.ticket) (void)engine_.queue_.cancel(open_.ticket);
  for (Request* request : stepping_) {
    request->run.in_step = false;
    live_.end(*request, FinishReason::error, status);
  }
  clear();
  if (status.code == Code::device_lost) live_.end_all(FinishReason::error, status);
  live_.sweep();
}

// The engine's mutex is free meanwhile, as while the device computes: nobody else touches requests that have a part in the step.
void RequestSteps::pool_rows() {
  if (std::ranges::none_of(working_, [](const Request* request) { return request->embeds(); })) return;
  const Computing computing(engine_.mutex_);
  const float* next = rows_.data();
  for (size_t i = 0; i < working_.size(); ++i) {
    RequestVector* vector = working_[i]->run.vector.get();
    if (vector == nullptr) continue;
    vector->made->add(next, vector->asked.n_rows);
    next += static_cast<size_t>(vector->asked.n_rows) * engine_.output_norm_.size();
    const Work& work = open_.works[i];
    if (work.end < work.sequence->n_tokens()) continue;
    try {
      vector->status = vector->made->finish(vector->values);
    } catch (const std::bad_alloc&) {  // the others of the step go on
      vector->status = out_of_memory();
    }
  }
}

void RequestSteps::finish_step() {
  pool_rows();
  engine_.queue_.commit(open_);
  EngineStats& stats = engine_.stats_;
  for (size_t i = 0; i < open_.works.size(); ++i) {
    const Work& work = open_.works[i];
    engine_.sequences_.settle(*work.sequence);
    if (live_.keeps(*working_[i]) && (work.n_rows() > 1 || work.end % kKvBlockTokens == 0)) engine_.sequences_.keep_computed(*work.sequence);
  }
  stats.n_prefill_tokens += static_cast<uint64_t>(n_prompt_rows_);
  times_.note_step(n_rows_, open_.seconds * 1e6);
  (n_prompt_rows_ == 0 ? stats.decode_seconds : stats.prefill_seconds) += open_.seconds;
  if (!drawing_.empty()) ++stats.n_decode_steps;
  for (size_t i = 0; i < drawing_.size(); ++i) {
    try {
      finish_draw(*drawing_[i], draws_[i]);
    } catch (const std::bad_alloc&) {  // the others of the step go on
      live_.end(*drawing_[i], FinishReason::error, out_of_memory());
    }
  }
  for (Request* request : stepping_) {
    Request::Run& run = request->run;
    run.in_step = false;
    run.waiting_since = live_.now();  // for its next chunk
    if (run.ends_after != FinishReason::none) {
      live_.end(*request, run.ends_after);
    } else if (!run.has_ended && is_prefilled(*request)) {
      live_.end(*request, FinishReason::prefilled);
    } else if (!run.has_ended && request->embeds() && run.session->seq_.n_computed == run.session->seq_.n_tokens()) {
      Status status = std::move(run.vector->status);
      const FinishReason reason = status.ok() ? FinishReason::embedded : FinishReason::error;
      live_.end(*request, reason, std::move(status));
    }
  }
  clear();
  live_.sweep();
}

void RequestSteps::finish_draw(Request& request, Draw& draw) {
  Request::Run& run = request.run;
  if (run.ends_after != FinishReason::none) return;
  if (!draw.status.ok()) return live_.end(request, FinishReason::error, std::move(draw.status));
  Session& session = *run.session;
  if (draw.result.token < 0) return live_.end(request, session.end_of_constraint());
  StepEvent event;
  event.sample = draw.result;
  if (live_.hooks().drew) live_.hooks().drew(request, session.seq_.slot);
  if (Status status = engine_.decoder_.finish_draw(session, event); !status.ok()) return live_.end(request, FinishReason::error, std::move(status));
  ++engine_.stats_.n_decode_tokens;
  ++run.n_drawn;
  ++run.n_drawn_since;
  ++n_drawn_;
  if (run.drew_first == 0) run.drew_first = live_.now();
  live_.tell(run.queue, run.queue->add_token(request, event.sample, session.text_));
  if (event.finish_reason != FinishReason::none) live_.end(request, event.finish_reason);
}

void RequestSteps::clear() {
  open_.clear();
  stepping_.clear();
  working_.clear();
  drawing_.clear();
  n_rows_ = n_prompt_rows_ = 0;
}

void RequestSteps::drop_pending() {
  if (open_.ticket) (void)engine_.queue_.cancel(open_.ticket);
  for (Request* request : stepping_) request->run.in_step = false;
  clear();
}

void RequestSteps::finish_pending() {
  if (!open_.ticket) return;
  try {
    const Status status = run_units(open_.n_left());
    status.ok() ? finish_step() : fail_step(status);
  } catch (const std::bad_alloc&) {  // of the requests alone, not of the call that has the turn
    fail_step(out_of_memory());
  }
}

}  // namespace inlay
