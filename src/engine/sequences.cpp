#include "src/engine/sequences.h"

#include <algorithm>

#include "src/engine/computing.h"

namespace inlay {

Sequences::Sequences(Backend& backend, LostDevice& lost, Mutex& mutex, int32_t max_sequences, bool ahead, uint64_t host_bytes)
    : backend_(backend),
      lost_(lost),
      mutex_(mutex),
      max_sequences_(max_sequences),
      ahead_(ahead),
      host_(host_bytes > 0 ? std::make_unique<HostBlocks>(backend, lost, 0, host_bytes) : nullptr),
      kv_(backend.plan().kv.groups, backend.config(), host_.get()),
      chunks_(backend) {
  for (int32_t slot = max_sequences - 1; slot >= 0; --slot) free_slots_.push_back(slot);
}

Sequence Sequences::empty() const {
  Sequence out;
  out.tokens.reserve(static_cast<size_t>(backend_.config().n_context));
  out.kv = kv_.no_blocks();
  return out;
}

bool Sequences::take_slot(Sequence& sequence) {
  if (free_slots_.empty()) return false;
  sequence.slot = free_slots_.back();
  if (ahead_) sequence.ahead_slot = sequence.slot + max_sequences_;
  free_slots_.pop_back();
  return true;
}

void Sequences::release(Sequence& sequence) {
  kv_.let_go(sequence.kv);
  kv_.cut(sequence.kv, 0);
  release_slot(sequence);
}

void Sequences::release_slot(Sequence& sequence) {
  if (sequence.slot >= 0) free_slots_.push_back(sequence.slot % max_sequences_);
  sequence.slot = sequence.ahead_slot = -1;
}

Status Sequences::copy_block(int32_t group, int32_t from, int32_t to) { return lost_.noted(backend_.duplicate_kv_block(group, from, to)); }

void Sequences::note_peak() { n_blocks_peak_ = std::max(n_blocks_peak_, kv_.n_used()); }

Status Sequences::reserve(Sequence& sequence, int32_t n_positions, int32_t n_at_once) {
  INLAY_TRY(lost_.status());
  const Status status = kv_.reserve(sequence.kv, {.first = sequence.n_computed, .end = n_positions, .most = n_at_once},
                                    [this](int32_t group, int32_t from, int32_t to) { return copy_block(group, from, to); });
  note_peak();
  return status;
}

int32_t Sequences::find_computed(Sequence& sequence) {
  if (sequence.tokens.empty()) return 0;
  sequence.n_computed = kv_.take(sequence.prefix(sequence.tokens.size() - 1), sequence.kv,
                                 [this](int32_t group, int32_t from, int32_t to) { return copy_block(group, from, to); });
  note_peak();
  return sequence.n_computed;
}

void Sequences::keep_computed(const Sequence& sequence) {
  kv_.keep(sequence.prefix(static_cast<size_t>(sequence.n_computed)), sequence.kv);
}

Status Sequences::reserve_more(Sequence& sequence, int32_t end, int32_t n_at_once) {
  if (std::ranges::none_of(sequence.kv, [](const KvHolding& holding) { return holding.n_held > 0; })) return {};
  const int32_t nothing = kv_blocks_for(backend_.config().n_context) * kKvBlockTokens;  // no block is written
  INLAY_TRY(kv_.reserve(sequence.kv, {.first = nothing, .end = end, .most = n_at_once}, {}));
  kv_.hold(sequence.kv);
  note_peak();
  return {};
}

void Sequences::advance(Sequence& sequence, int32_t end, bool logits) {
  sequence.n_computed = end;
  kv_.slide(sequence.kv, end);
  sequence.has_logits = sequence.logits_readable = logits;
}

void Sequences::go_back(Sequence& sequence, int32_t n) {
  sequence.n_computed = std::min(sequence.n_computed, n);
  if (!KvPools::can_go_on(kv_.groups(), sequence.kv, sequence.n_computed)) sequence.n_computed = 0;
  sequence.has_logits = sequence.logits_readable = false;
  cut(sequence);
}

Status Sequences::fork(const Sequence& from, Sequence& to) {
  if (from.logits_readable) INLAY_TRY(lost_.noted(backend_.duplicate_logits(from.slot, to.slot)));
  kv_.share(from.kv, to.kv);
  to.tokens.assign(from.tokens.begin(), from.tokens.end());
  to.n_computed = from.n_computed;
  to.has_logits = from.has_logits;
  to.logits_readable = from.logits_readable;
  return {};
}

Status Sequences::shift(Sequence& sequence, int32_t first, int32_t n) {
  const KvPools::Shift shift{.first = first, .n = n, .n_cached = sequence.n_computed};
  if (shift.n_cached <= first) return {};
  const bool keeps_last = first + n < shift.n_cached, moves = keeps_last && kv_.can_shift(sequence.kv, shift);
  if (moves) INLAY_TRY(kv_.check_room_to_shift(sequence.kv, shift));

  const bool had_logits = sequence.has_logits, had_readable_logits = sequence.logits_readable;
  sequence.has_logits = sequence.logits_readable = false;
  sequence.n_computed = !keeps_last && KvPools::can_go_on(kv_.groups(), sequence.kv, first) ? first : 0;
  struct Cut {  // whatever happens on the way
    Sequences& sequences;
    Sequence& sequence;
    int32_t n_untouched = 0;  // that are cached as before, if nothing was moved
    bool had_logits = false, had_readable_logits = false;
    ~Cut() {
      if (n_untouched > 0) {
        sequence.n_computed = n_untouched;
        sequence.has_logits = had_logits;
        sequence.logits_readable = had_readable_logits;
      }
      sequences.cut(sequence);
    }
  } cut{*this, sequence, 0, had_logits, had_readable_logits};
  if (!moves) return {};
  if (kv_.groups().size() == 1 && kv_.groups()[0].window == 0) cut.n_untouched = shift.n_cached;
  INLAY_TRY(kv_.shift(
      sequence.kv, shift, [this](int32_t group, int32_t from, int32_t to) { return copy_block(group, from, to); },
      [this, &cut](const Backend::KvMove& move) INLAY_NEEDS(engine_mutex) {
        Status status;
        {
          const Computing computing(mutex_);
          status = backend_.move_kv(move);
        }
        cut.n_untouched = 0;
        return lost_.noted(std::move(status));
      }));
  sequence.n_computed = shift.n_cached - n;
  sequence.has_logits = had_logits;
  sequence.logits_readable = had_readable_logits;
  note_peak();
  return {};
}

}  // namespace inlay
