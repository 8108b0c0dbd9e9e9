#include <algorithm>

#include "src/base/format.h"
#include "src/engine/engine.h"
#include "src/engine/long_run.h"
#include "src/engine/turn.h"

namespace inlay {

Session::Session(std::shared_ptr<Engine> engine, const SessionOptions& options)
    : engine_(std::move(engine)), options_(options) {
  const auto n_context = static_cast<size_t>(engine_->info_.n_context);
  tokens_.reserve(n_context);
  if (has_dry(options_.sampler)) dry_.reserve(n_context);
  kv_ = engine_->kv_.no_blocks();
  publish();
}

Session::~Session() { engine_->return_slot(*this); }

SessionInfo Session::info() const {
  const std::lock_guard lock(info_mutex_);
  return info_;
}

void Session::publish() {
  int32_t n_kv_blocks = 0;
  for (const KvHolding& of_group : kv_) n_kv_blocks += of_group.n_blocks();
  const std::lock_guard lock(info_mutex_);
  info_ = {.n_tokens = static_cast<int32_t>(tokens_.size()),
           .n_context = engine_->info_.n_context,
           .n_drawn = n_drawn_,
           .n_kv_blocks = n_kv_blocks,
           .finish_reason = finish_reason_,
           .n_pending_text = text_.n_ready(),
           .generation = generation_};
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

void Session::begin_generation() {
  const std::lock_guard lock(info_mutex_);
  info_.generation = ++generation_;
}

void Session::after_rewrite() {
  n_drawn_ = 0;
  sampler_state_ = {};
  finish_reason_ = FinishReason::none;
  text_.clear();
  text_.begin_behind(last_bytes());
}

DrawContext Session::draw_context() {
  DrawContext context = {.state = sampler_state_};
  if (!has_dry(options_.sampler)) return context;
  const Tokenizer* tokenizer = engine_->tokenizer();
  TokenText text;
  if (tokenizer) text = [tokenizer](int32_t token) { return tokenizer->piece(token); };
  context.bias_and_dry = dry_.merge(options_.sampler, tokens_, text);
  return context;
}

// The last bytes of the sequence's text, enough to hold any character that it ends inside of.
std::string Session::last_bytes() const {
  const Tokenizer* tokenizer = engine_->tokenizer();
  std::string out;
  for (size_t i = tokens_.size(); tokenizer && i > 0 && out.size() < 3; --i) {
    const int32_t token = tokens_[i - 1];
    if (token >= tokenizer->n_tokens()) break;
    const TokenKind kind = tokenizer->kind(token);
    if (kind == TokenKind::control || kind == TokenKind::unused) break;
    out.insert(0, tokenizer->piece(token));
  }
  return out;
}

Status Session::check_room(size_t n_new_tokens) const {
  const size_t n_context = static_cast<size_t>(engine_->info_.n_context);
  if (tokens_.size() + n_new_tokens <= n_context) return {};
  const size_t n_left = n_context - tokens_.size();
  const std::string context = "context of " + counted(n_context, "token");
  Status full;
  if (tokens_.empty()) {
    full = error(Code::context_full, "the prompt has %zu tokens, too many for the %s", n_new_tokens, context.c_str());
  } else if (n_left == 0) {
    full = error(Code::context_full, "the %s is full", context.c_str());
  } else {
    full = error(Code::context_full, "the sequence has %s, and the %s has room for %zu more, not for %zu",
                 counted(tokens_.size(), "token").c_str(), context.c_str(), n_left, n_new_tokens);
  }
  full.required = tokens_.size() + n_new_tokens;
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
  if (tokens.empty()) return error(Code::invalid_argument, "prefill was given no tokens");
  INLAY_TRY(engine_->check_tokens(tokens));
  INLAY_TRY(check_room(tokens.size()));
  const size_t n_before = tokens_.size();
  const Engine::LongRun run(*engine_);
  INLAY_TRY(run.status());
  {
    const Engine::Turn turn(*engine_);
    INLAY_TRY(engine_->drop_ahead());  // before the blocks are taken, some of which it would give back
    engine_->kv_.let_go(kv_);
    INLAY_TRY(engine_->reserve_blocks(*this, n_reserved(static_cast<int32_t>(n_before + tokens.size())), engine_->prefill_chunk_));
    if (options_.reserve) engine_->kv_.hold(kv_);
  }
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  begin_generation();

  Status status;
  while (status.ok() && n_computed_ < static_cast<int32_t>(tokens_.size())) {
    if (take_cancel()) {
      status = error(Code::cancelled, "prefill was cancelled");
    } else {
      status = engine_->run_prefill_chunk(*this);
    }
  }
  engine_->end_prefill(*this, n_before, status.ok());
  n_done = tokens_.size() - n_before;
  if (n_done > 0) {
    after_rewrite();
    const std::lock_guard lock(engine_->mutex_);
    publish();
  }
  return status;
}

Status Session::check_not_in_slices() const {
  if (!in_slices_) return {};
  return error(Code::invalid_state, "the session takes part in a decode step in slices: finish or abandon that first");
}

Result<std::shared_ptr<Session>> Session::fork() {
  INLAY_TRY(check_not_in_slices());
  INLAY_ASSIGN(std::shared_ptr<Session> child, engine_->create_session(options_));
  {
    const std::lock_guard lock(engine_->mutex_);
    engine_->leave_ahead(*this);
    if (logits_readable_) INLAY_TRY(engine_->noted(engine_->backend_->duplicate_logits(slot_, child->slot_)));
    engine_->kv_.share(kv_, child->kv_);
  }
  child->tokens_.assign(tokens_.begin(), tokens_.end());
  child->n_computed_ = n_computed_;
  child->has_logits_ = has_logits_;
  child->logits_readable_ = logits_readable_;
  child->n_drawn_ = n_drawn_;
  child->sampler_state_ = sampler_state_;
  child->generation_ = generation_;
  child->finish_reason_ = finish_reason_;
  child->text_ = text_;
  const std::lock_guard lock(engine_->mutex_);
  child->publish();
  return child;
}

Status Session::truncate(int32_t n_tokens) {
  INLAY_TRY(check_not_in_slices());
  const auto n_now = static_cast<int32_t>(tokens_.size());
  if (n_tokens < 0 || n_tokens > n_now) {
    return error(Code::invalid_argument, "n_tokens is %d, expected 0 to %d, the tokens of the sequence", n_tokens, n_now);
  }
  if (n_tokens < n_now) {
    const std::lock_guard lock(engine_->mutex_);
    engine_->leave_ahead(*this);
    engine_->kv_.let_go(kv_);
    tokens_.resize(static_cast<size_t>(n_tokens));
    engine_->forget_logits(*this);
  }
  begin_generation();
  after_rewrite();
  const std::lock_guard lock(engine_->mutex_);
  publish();
  return {};
}

Status Session::shift(size_t first, size_t n) {
  INLAY_TRY(check_not_in_slices());
  const size_t n_now = tokens_.size();
  if (first > n_now || n > n_now - first) {
    return error(Code::invalid_argument, "first is %zu and n_tokens %zu, but the sequence has %s", first, n,
                 counted(n_now, "token").c_str());
  }
  if (n == 0) return {};
  if (first + n == n_now) return truncate(static_cast<int32_t>(first));
  const Engine::Turn turn(*engine_);
  INLAY_TRY(engine_->check_idle());
  INLAY_TRY(engine_->drop_ahead());
  INLAY_TRY(engine_->shift_cached(
      *this, {.first = static_cast<int32_t>(first), .n = static_cast<int32_t>(n), .n_cached = n_computed_}));
  const auto from = tokens_.begin() + static_cast<std::ptrdiff_t>(first);
  tokens_.erase(from, from + static_cast<std::ptrdiff_t>(n));
  if (finish_reason_ == FinishReason::context_full) finish_reason_ = FinishReason::none;
  publish();
  return {};
}

Status Session::accept(std::span<const int32_t> tokens, size_t& n_accepted) {
  n_accepted = 0;
  INLAY_TRY(check_not_in_slices());
  if (finish_reason_ != FinishReason::none)
    return error(Code::invalid_state, "the sequence has ended; prefill or truncate it to go on");
  if (tokens_.empty()) return error(Code::invalid_state, "the sequence has no tokens: prefill it first");
  INLAY_TRY(engine_->check_tokens(tokens));
  if (tokens.empty()) return {};
  const std::lock_guard lock(engine_->mutex_);
  engine_->leave_ahead(*this);
  if (tokens_.size() == static_cast<size_t>(engine_->info_.n_context)) {
    StepEvent end;
    engine_->end_without_token(*this, end, FinishReason::context_full);
    return {};
  }
  const SamplerState averages = sampler_state_;  // of tokens that the sampler drew
  for (; n_accepted < tokens.size() && finish_reason_ == FinishReason::none; ++n_accepted) {
    StepEvent event;
    event.sample.token = tokens[n_accepted];
    engine_->finish_draw(*this, event);
  }
  sampler_state_ = averages;
  return {};
}

Status Session::set_sampler(const SamplerParams& params) {
  INLAY_TRY(check_not_in_slices());
  INLAY_TRY(validate(params, engine_->spec().n_vocab));
  const std::lock_guard lock(engine_->mutex_);
  engine_->leave_ahead(*this);
  if (has_dry(params)) dry_.reserve(static_cast<size_t>(engine_->info_.n_context));
  options_.sampler = params;
  return {};
}

size_t Session::take_text(char* out, size_t n) {
  const size_t n_taken = text_.take(out, n);
  const std::lock_guard lock(info_mutex_);
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
  const std::lock_guard lock(engine_->mutex_);
  if (std::ranges::none_of(kv_, [](const KvHolding& holding) { return holding.n_held > 0; })) return {};
  const int64_t n_context = engine_->info_.n_context, n_now = static_cast<int64_t>(tokens_.size());
  const int64_t n_more = max_tokens == 0 ? n_context : std::max(1, max_tokens - n_drawn_);
  INLAY_TRY(engine_->kv_.reserve(kv_,
                                 {.first = kv_blocks_for(engine_->info_.n_context) * kKvBlockTokens,
                                  .end = static_cast<int32_t>(std::min(n_context, n_now + n_more)),
                                  .most = engine_->prefill_chunk_},
                                 {}));
  engine_->kv_.hold(kv_);
  engine_->stats_.n_kv_blocks_peak = std::max(engine_->stats_.n_kv_blocks_peak, engine_->kv_.n_used());
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
  if (!logits_readable_) return error(Code::invalid_state, "there are no logits: no token was run since the sequence was made or cut");
  {
    const std::lock_guard lock(engine_->mutex_);
    INLAY_TRY(engine_->check_device());
  }
  // The slot is this session's: whatever computes for others does not touch it.
  const Result<Backend::Logits> logits = engine_->backend_->logits(slot_);
  if (!logits.ok()) {
    const std::lock_guard lock(engine_->mutex_);
    return engine_->noted(logits.status());
  }
  if (!logits->are_checked) INLAY_TRY(check_logits(logits->values));
  return logits->values;
}

}  // namespace inlay
