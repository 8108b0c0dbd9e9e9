#include <algorithm>
#include <new>

#include "src/base/format.h"
#include "src/engine/engine.h"
#include "src/engine/requests.h"
#include "src/engine/turn.h"
#include "src/tokenizer/utf8.h"

namespace inlay {

Session::Session(std::shared_ptr<Engine> engine, const SessionOptions& options)
    : engine_(std::move(engine)), for_requests_(options.for_requests), options_(options) {
  seq_ = engine_->sequences_.empty();
  if (has_dry(options_.sampler)) dry_.reserve(static_cast<size_t>(engine_->info_.n_context));
  publish();
}

// One that has nothing to return takes no lock: where memory runs out as it is made, its maker has that lock.
Session::~Session() {
  const bool has_blocks = std::ranges::any_of(seq_.kv, [](const KvHolding& holding) { return holding.n_blocks() > 0; });
  if (seq_.slot >= 0 || has_blocks || for_requests_ || in_slices_) engine_->return_slot(*this);
}

SessionInfo Session::info() const {
  const Lock lock(info_mutex_);
  return info_;
}

void Session::publish() {
  int32_t n_kv_blocks = 0;
  for (const KvHolding& of_group : seq_.kv) n_kv_blocks += of_group.n_blocks();
  const Lock lock(info_mutex_);
  info_ = {.n_tokens = seq_.n_tokens(),
           .n_context = engine_->info_.n_context,
           .n_drawn = n_drawn_,
           .n_kv_blocks = n_kv_blocks,
           .finish_reason = finish_reason_,
           .n_pending_text = text_.n_ready(),
           .generation = generation_};
  if (constraint_) {
    info_.constraint = constraint_->is_dead() ? ConstraintStand::dead : constraint_->is_complete() ? ConstraintStand::complete : ConstraintStand::incomplete;
  }
}

void Session::cancel_generation(uint64_t number) {
  uint64_t known = cancelled_generation_.load(std::memory_order_relaxed);
  while (known < number && !cancelled_generation_.compare_exchange_weak(known, number, std::memory_order_seq_cst)) {
  }
}

bool Session::take_cancel() {
  if (cancelled_.exchange(false, std::memory_order_relaxed)) return true;
  uint64_t number = generation_;
  return number > 0 && cancelled_generation_.compare_exchange_strong(number, 0, std::memory_order_relaxed);
}

bool Session::is_cancelled() const {
  return cancelled_.load(std::memory_order_relaxed) || (generation_ > 0 && cancelled_generation_.load(std::memory_order_relaxed) == generation_);
}

void Session::begin_generation() {
  const Lock lock(info_mutex_);
  info_.generation = ++generation_;
}

void Session::after_rewrite(std::optional<ConstrainedText> beginning) {
  n_drawn_ = 0;
  sampler_state_ = {};
  finish_reason_ = FinishReason::none;
  text_.clear();
  text_.begin_behind(last_bytes());
  restart_constraint(std::move(beginning));
}

std::optional<ConstrainedText> Session::beginning_of(const SessionOptions& options) {
  std::optional<ConstrainedText> out;
  if (options.constraint) out.emplace(options.constraint);
  return out;
}

void Session::restart_constraint(std::optional<ConstrainedText> beginning) {
  constrained_from_ = seq_.tokens.size();
  taken_out_.clear();
  constraint_ = std::move(beginning);
}

void Session::accept_constrained(int32_t token) {
  if (constraint_) constraint_->accept_token(token);
}

FinishReason Session::end_of_constraint() const { return constraint_->is_complete() ? FinishReason::constraint_end : FinishReason::dead_end; }

Result<std::string> Session::forced_text() {
  constexpr size_t kMost = 4096;
  if (!constraint_) return std::string();
  INLAY_ASSIGN(std::string out, constraint_->forced(kMost));
  size_t n = 0;  // bytes of whole characters
  while (n < out.size()) {
    const Utf8Sequence next = first_sequence(std::string_view(out).substr(n));
    if (next.incomplete) break;
    n += next.n_bytes;
  }
  out.resize(n);
  return out;
}

Status Session::set_constraint(std::shared_ptr<const constraint::Constraint> constraint, std::string_view written) {
  INLAY_TRY(check_not_in_slices());
  SessionOptions changed = {.ignore_end_of_generation = options_.ignore_end_of_generation, .constraint = std::move(constraint)};
  INLAY_TRY(engine_->check_constraint(changed));
  std::optional<ConstrainedText> state;
  if (changed.constraint) {
    state.emplace(changed.constraint);
    if (!written.empty()) INLAY_TRY(state->accept_bytes(written));
    if (state->is_dead()) return error(Code::invalid_argument, "the constraint does not allow what was written");
  }
  const EngineLock lock(engine_->mutex_);
  engine_->decoder_.leave_ahead(*this);
  options_.constraint = std::move(changed.constraint);
  restart_constraint(std::move(state));
  publish();
  return {};
}

DrawContext Session::draw_context() {
  DrawContext context = {.state = sampler_state_, .spared = engine_->end_tokens_};
  if (!has_dry(options_.sampler)) return context;
  const Tokenizer* tokenizer = engine_->tokenizer();
  TokenText text;
  if (tokenizer) text = [tokenizer](int32_t token) { return tokenizer->piece(token); };
  context.bias_and_dry = dry_.merge(options_.sampler, seq_.tokens, text);
  return context;
}

// The last bytes of the sequence's text, enough to hold any character that it ends inside of.
std::string Session::last_bytes() const {
  const Tokenizer* tokenizer = engine_->tokenizer();
  constexpr size_t kMost = 3;
  std::string out;
  for (size_t i = seq_.tokens.size(); tokenizer && i > 0 && out.size() < kMost; --i) {
    const int32_t token = seq_.tokens[i - 1];
    if (token >= tokenizer->n_tokens()) break;
    const TokenKind kind = tokenizer->kind(token);
    if (kind == TokenKind::control || kind == TokenKind::unused) break;
    const std::string_view piece = tokenizer->piece(token);
    out.insert(0, piece.substr(piece.size() - std::min(piece.size(), kMost)));  // short: it takes no memory
  }
  return out;
}

Status Session::check_room(size_t n_new_tokens) const {
  const size_t n_context = static_cast<size_t>(engine_->info_.n_context);
  if (seq_.tokens.size() + n_new_tokens <= n_context) return {};
  const size_t n_left = n_context - seq_.tokens.size();
  const std::string context = "context of " + counted(n_context, "token");
  Status full;
  if (seq_.tokens.empty()) {
    full = error(Code::context_full, "the prompt has %zu tokens, too many for the %s", n_new_tokens, context.c_str());
  } else if (n_left == 0) {
    full = error(Code::context_full, "the %s is full", context.c_str());
  } else {
    full = error(Code::context_full, "the sequence has %s, and the %s has room for %zu more, not for %zu",
                 counted(seq_.tokens.size(), "token").c_str(), context.c_str(), n_left, n_new_tokens);
  }
  full.required = seq_.tokens.size() + n_new_tokens;
  full.available = n_context;
  return full;
}

// Positions whose blocks a prefill takes that ends at n_tokens.
int32_t Session::n_reserved(int32_t n_tokens) const {
  if (!options_.reserve) return n_tokens;
  const int32_t n_context = engine_->info_.n_context, most = options_.max_tokens;
  return most > 0 && most < n_context - n_tokens ? n_tokens + most : n_context;
}

Status Session::prefill(std::span<const int32_t> tokens, size_t& n_done) {
  n_done = 0;
  INLAY_TRY(check_steps_itself());
  if (tokens.empty()) return error(Code::invalid_argument, "prefill was given no tokens");
  INLAY_TRY(engine_->check_tokens(tokens));
  INLAY_TRY(check_room(tokens.size()));
  const size_t n_before = seq_.tokens.size();
  INLAY_TRY(engine_->check_not_in_slices());
  std::optional<ConstrainedText> beginning = beginning_of(options_);
  {
    const Engine::Turn turn(*engine_);
    INLAY_TRY(engine_->decoder_.drop_left());  // before the blocks are taken, some of which it would give back
    Sequences& sequences = engine_->sequences_;
    sequences.let_go(seq_);
    INLAY_TRY(engine_->reserve(seq_, n_reserved(static_cast<int32_t>(n_before + tokens.size())), engine_->prefill_chunk_));
    if (options_.reserve) sequences.hold(seq_);
  }
  seq_.tokens.insert(seq_.tokens.end(), tokens.begin(), tokens.end());
  begin_generation();

  Status status;
  while (status.ok() && seq_.n_computed < seq_.n_tokens()) {
    if (take_cancel()) {
      status = error(Code::cancelled, "prefill was cancelled");
    } else {
      try {
        status = prefill_chunk();
      } catch (const std::bad_alloc&) {
        status = out_of_memory();
      }
    }
  }
  end_prefill(n_before, status.ok());
  n_done = seq_.tokens.size() - n_before;
  if (n_done > 0) {
    after_rewrite(std::move(beginning));
    const EngineLock lock(engine_->mutex_);
    publish();
  }
  return status;
}

// Nothing where a request to cancel came while it waited.
Status Session::prefill_chunk() {
  const Engine::LongTurn turn(*engine_, [this] { return is_cancelled(); });
  if (!turn.is_idle()) return {};
  OpenStep& step = engine_->step_;
  step.clear();
  step.works.push_back(work_of(seq_, seq_.n_computed, std::min(seq_.n_tokens(), seq_.n_computed + engine_->prefill_chunk_)));
  const bool is_last = step.works[0].end == seq_.n_tokens();
  if (is_last) step.works[0].slot = seq_.slot;
  INLAY_TRY(engine_->run_whole(step, is_last ? StepQueue::Extent::all : StepQueue::Extent::layers));
  engine_->queue_.commit(step);
  engine_->stats_.n_prefill_tokens += static_cast<uint64_t>(step.works[0].n_rows());
  engine_->stats_.prefill_seconds += step.seconds;
  return {};
}

// Of an incomplete one what whole chunks have computed stays. The last token kept is run again later, for its logits.
void Session::end_prefill(size_t n_tokens_before, bool complete) {
  const EngineLock lock(engine_->mutex_);
  Sequences& sequences = engine_->sequences_;
  if (!complete) {
    sequences.let_go(seq_);
    seq_.tokens.resize(std::max(n_tokens_before, static_cast<size_t>(seq_.n_computed)));
    if (!seq_.has_logits) sequences.forget_logits(seq_);  // else it was stopped before the first chunk, and nothing has changed
  }
  sequences.cut(seq_);
  publish();
}

Status Session::enter_call() {
  if (!for_requests_) return {};
  const EngineLock lock(engine_->mutex_);
  if (request_ != nullptr) return error(Code::busy, "a request has the session; its END gives it back");
  if (in_call_) return error(Code::busy, "another thread is in a call on the session");
  in_call_ = true;
  return {};
}

void Session::leave_call() {
  if (!for_requests_) return;
  const EngineLock lock(engine_->mutex_);
  in_call_ = false;
}

Status Session::check_steps_itself() const {
  if (!for_requests_) return {};
  return error(Code::invalid_state, "the session was made for requests (INLAY_SESSION_FOR_REQUESTS): inlay_submit runs prompts and draws tokens on it");
}

void Session::begin_request(SessionOptions options, bool has_stops) {
  if (has_dry(options.sampler)) dry_.reserve(static_cast<size_t>(engine_->info_.n_context));
  std::optional<ConstrainedText> beginning = beginning_of(options);
  options_ = std::move(options);
  after_rewrite(std::move(beginning));
  if (has_stops) (void)text_.set_stops(std::move(options_.stops));  // were checked when it was submitted
  publish();
}

Status Session::check_not_in_slices() const {
  if (!in_slices_) return {};
  return error(Code::invalid_state, "the session takes part in a decode step in slices: finish or abandon that first");
}

Result<std::shared_ptr<Session>> Session::fork() {
  INLAY_TRY(check_not_in_slices());
  SessionOptions options = options_;
  options.for_requests = for_requests_;
  INLAY_ASSIGN(std::shared_ptr<Session> child, engine_->create_session(options));
  {
    const EngineLock lock(engine_->mutex_);
    engine_->decoder_.leave_ahead(*this);
    INLAY_TRY(engine_->sequences_.fork(seq_, child->seq_));
  }
  child->n_drawn_ = n_drawn_;
  child->sampler_state_ = sampler_state_;
  child->generation_ = generation_;
  child->finish_reason_ = finish_reason_;
  child->text_ = text_;
  child->constraint_ = constraint_;
  child->constrained_from_ = constrained_from_;
  child->taken_out_ = taken_out_;
  const EngineLock lock(engine_->mutex_);
  child->publish();
  return child;
}

Status Session::truncate(int32_t n_tokens) {
  INLAY_TRY(check_not_in_slices());
  const int32_t n_now = seq_.n_tokens();
  if (n_tokens < 0 || n_tokens > n_now) {
    return error(Code::invalid_argument, "n_tokens is %d, expected 0 to %d, the tokens of the sequence", n_tokens, n_now);
  }
  std::optional<ConstrainedText> beginning = beginning_of(options_);
  if (n_tokens < n_now) {
    const EngineLock lock(engine_->mutex_);
    engine_->decoder_.leave_ahead(*this);
    engine_->sequences_.let_go(seq_);
    seq_.tokens.resize(static_cast<size_t>(n_tokens));
    engine_->sequences_.forget_logits(seq_);
  }
  begin_generation();
  auto state = std::move(constraint_);
  const size_t from = constrained_from_;
  std::vector<TakenOut> taken_out = std::move(taken_out_);
  after_rewrite(std::move(beginning));
  if (state && seq_.tokens.size() >= from) {  // inside of what was written under it
    auto n_back = static_cast<size_t>(n_now - n_tokens);
    for (const TakenOut& gap : taken_out) n_back += gap.at > seq_.tokens.size() ? static_cast<size_t>(gap.n) : 0;
    std::erase_if(taken_out, [&](const TakenOut& gap) { return gap.at > seq_.tokens.size(); });
    INLAY_TRY(state->roll_back(n_back));
    constraint_ = std::move(state);
    constrained_from_ = from;
    taken_out_ = std::move(taken_out);
  }
  const EngineLock lock(engine_->mutex_);
  publish();
  return {};
}

Status Session::shift(size_t first, size_t n) {
  INLAY_TRY(check_not_in_slices());
  const size_t n_now = seq_.tokens.size();
  if (first > n_now || n > n_now - first) {
    return error(Code::invalid_argument, "first is %zu and n_tokens %zu, but the sequence has %s", first, n,
                 counted(n_now, "token").c_str());
  }
  if (n == 0) return {};
  if (first + n == n_now) return truncate(static_cast<int32_t>(first));
  if (for_requests_)
    return error(Code::invalid_state, "the session was made for requests: what is cached of it may be computed again from its tokens, which would undo the shift");
  const Engine::Turn turn(*engine_);
  INLAY_TRY(engine_->check_idle());
  INLAY_TRY(engine_->decoder_.drop_left());
  taken_out_.reserve(taken_out_.size() + 1);
  INLAY_TRY(engine_->sequences_.shift(seq_, static_cast<int32_t>(first), static_cast<int32_t>(n)));
  const auto from = seq_.tokens.begin() + static_cast<std::ptrdiff_t>(first);
  seq_.tokens.erase(from, from + static_cast<std::ptrdiff_t>(n));
  const auto moved = [&](uint64_t at) { return at - std::min<uint64_t>(n, at - std::min<uint64_t>(first, at)); };
  for (TakenOut& gap : taken_out_) gap.at = moved(gap.at);
  if (constraint_ && first > constrained_from_) taken_out_.push_back({first, n});
  constrained_from_ = moved(constrained_from_);
  if (finish_reason_ == FinishReason::context_full) finish_reason_ = FinishReason::none;
  publish();
  return {};
}

Status Session::accept(std::span<const int32_t> tokens, size_t& n_accepted) {
  n_accepted = 0;
  INLAY_TRY(check_not_in_slices());
  if (finish_reason_ != FinishReason::none)
    return error(Code::invalid_state, "the sequence has ended; prefill or truncate it to go on");
  if (seq_.tokens.empty()) return error(Code::invalid_state, "the sequence has no tokens: prefill it first");
  INLAY_TRY(engine_->check_tokens(tokens));
  if (tokens.empty()) return {};
  const EngineLock lock(engine_->mutex_);
  engine_->decoder_.leave_ahead(*this);
  if (seq_.tokens.size() == static_cast<size_t>(engine_->info_.n_context)) {
    StepEvent end;
    engine_->decoder_.end_without_token(*this, end, FinishReason::context_full);
    return {};
  }
  const SamplerState averages = sampler_state_;  // of tokens that the sampler drew
  Status status;
  for (; n_accepted < tokens.size() && finish_reason_ == FinishReason::none; ++n_accepted) {
    StepEvent event;
    event.sample.token = tokens[n_accepted];
    status = engine_->decoder_.finish_draw(*this, event);
    if (!status.ok()) break;
  }
  sampler_state_ = averages;
  return status;
}

Status Session::set_sampler(const SamplerParams& params) {
  INLAY_TRY(check_not_in_slices());
  INLAY_TRY(validate(params, engine_->spec().n_vocab));
  const EngineLock lock(engine_->mutex_);
  engine_->decoder_.leave_ahead(*this);
  if (has_dry(params)) dry_.reserve(static_cast<size_t>(engine_->info_.n_context));
  SamplerParams own = params;  // a copy may find no memory
  options_.sampler = std::move(own);
  return {};
}

size_t Session::take_text(char* out, size_t n) {
  const size_t n_taken = text_.take(out, n);
  const Lock lock(info_mutex_);
  info_.n_pending_text = text_.n_ready();
  return n_taken;
}

Status Session::set_stop(std::vector<std::string> stops) { return text_.set_stops(std::move(stops)); }

Status validate_stop_tokens(std::span<const int32_t> tokens, int32_t n_vocab) {
  if (tokens.size() > kMaxStopTokens)
    return error(Code::invalid_argument, "there are %zu stop tokens, expected at most %zu", tokens.size(), kMaxStopTokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= n_vocab)
      return error(Code::invalid_argument, "stop token %zu is %d, expected 0 to %d", i, tokens[i], n_vocab - 1);
  }
  return {};
}

Status Session::set_stop_tokens(std::vector<int32_t> tokens) {
  INLAY_TRY(validate_stop_tokens(tokens, engine_->spec().n_vocab));
  options_.stop_tokens = std::move(tokens);
  return {};
}

Status Session::set_max_tokens(int32_t max_tokens) {
  if (max_tokens < 0) return error(Code::invalid_argument, "max_tokens is %d, expected 0 or more", max_tokens);
  INLAY_TRY(reserve_more(max_tokens));
  options_.max_tokens = max_tokens;
  return {};
}

// The blocks of a generation whose blocks are reserved, up to a new limit. What it has stays; shared blocks are not copied.
Status Session::reserve_more(int32_t max_tokens) {
  const EngineLock lock(engine_->mutex_);
  const int64_t n_context = engine_->info_.n_context, n_now = seq_.n_tokens();
  const int64_t n_more = max_tokens == 0 ? n_context : std::max(1, max_tokens - n_drawn_);
  const auto end = static_cast<int32_t>(std::min(n_context, n_now + n_more));
  Status status = engine_->sequences_.reserve_more(seq_, end, engine_->prefill_chunk_);
  while (status.code == Code::kv_full && engine_->requests_->live().give_way()) status = engine_->sequences_.reserve_more(seq_, end, engine_->prefill_chunk_);
  INLAY_TRY(std::move(status));
  publish();
  return {};
}

Status Session::copy_logits(std::span<float> out) {
  const auto n_vocab = static_cast<size_t>(engine_->spec().n_vocab);
  if (out.size() < n_vocab) {
    Status small = error(Code::buffer_too_small, "the logits are %zu floats, the buffer has room for %zu", n_vocab, out.size());
    small.required = n_vocab;
    small.available = out.size();
    return small;
  }
  INLAY_ASSIGN(const std::span<const float> logits, view_logits());
  std::ranges::copy(logits, out.begin());
  return {};
}

Result<std::span<const float>> Session::view_logits() {
  if (!seq_.logits_readable) return error(Code::invalid_state, "there are no logits: no token was run since the sequence was made or cut");
  {
    const EngineLock lock(engine_->mutex_);
    INLAY_TRY(engine_->lost_.status());
  }
  // The slot is this session's: whatever computes for others does not touch it.
  const Result<Backend::Logits> logits = engine_->backend_->logits(seq_.slot);
  if (!logits.ok()) {
    const EngineLock lock(engine_->mutex_);
    return engine_->lost_.noted(logits.status());
  }
  if (!logits->are_checked) INLAY_TRY(check_logits(logits->values));
  return logits->values;
}

}  // namespace inlay
