#include "src/constraint/constraint.h"

#include <utility>

namespace inlay::constraint {

Result<std::shared_ptr<const Constraint>> Constraint::make(Grammar grammar, std::shared_ptr<const TokenTrie> tokens,
                                                           const ConstraintLimits& limits, std::string origin) {
  const auto too_large = [&] {
    return error(Code::unsupported, "the constraint is too large: it takes more than %zu bytes or %llu steps to compile",
                 limits.compile_bytes, static_cast<unsigned long long>(limits.compile_steps));
  };
  grammar.regexes.set_limit(limits.compile_bytes);
  grammar.regexes.allow_steps(limits.compile_steps);
  INLAY_TRY(grammar.finish());
  if (grammar.regexes.is_full() || grammar.memory() > limits.compile_bytes) return too_large();
  std::shared_ptr<Constraint> out(new Constraint(std::move(grammar), std::move(tokens), limits));
  out->origin_ = std::move(origin);
  {
    const Lock lock(out->mutex_);
    out->automaton_.allow_steps();
    (void)out->automaton_.start();
    if (!out->automaton_.is_within_limits()) return too_large();
  }
  return std::shared_ptr<const Constraint>(std::move(out));
}

Constraint::Constraint(Grammar grammar, std::shared_ptr<const TokenTrie> tokens, const ConstraintLimits& limits)
    : tokens_(std::move(tokens)), automaton_(std::move(grammar), limits.automaton), masks_(*tokens_, limits.mask_bytes) {}

size_t Constraint::memory() const {
  const Lock lock(mutex_);
  return automaton_.grammar().memory() + automaton_.memory() + masks_.memory();
}

ConstraintState::ConstraintState(std::shared_ptr<const Constraint> constraint) : constraint_(std::move(constraint)) {
  places_.push_back({kDead, 0, -1, kUnbounded, false, false});
  (void)with_automaton([&](Automaton& automaton) { places_[0].is_complete = automaton.is_complete(places_[0].config); });
}

std::vector<ConstraintState::Accepted> ConstraintState::accepted() const {
  std::vector<Accepted> out;
  for (size_t i = 1; i < places_.size(); ++i) {
    const size_t first = places_[i - 1].n_bytes;
    out.push_back({places_[i].token, places_[i].token >= 0 ? std::string() : text_.substr(first, places_[i].n_bytes - first)});
  }
  return out;
}

template <class Work>
Status ConstraintState::with_automaton(Work&& work) {
  const Constraint& shared = *constraint_;
  const Lock lock(shared.mutex_);
  if (std::exchange(shared.is_torn_, true)) renew(shared);
  for (int attempt = 0; attempt < 2; ++attempt) {
    shared.automaton_.allow_steps();
    if ((generation_ == shared.generation_ || read_again(shared.automaton_)) && shared.automaton_.is_within_limits()) {
      generation_ = shared.generation_;
      work(shared.automaton_);
      if (shared.automaton_.is_within_limits()) {
        shared.is_torn_ = false;
        return {};
      }
    }
    renew(shared);
  }
  shared.is_torn_ = false;
  return error(Code::unsupported, "the constraint needs more than its limits of memory and steps at byte %zu of the text",
               text_.size());
}

// Each state reads its text again.
void ConstraintState::renew(const Constraint& shared) {
  ++shared.generation_;
  shared.automaton_.reset();
  shared.masks_.reset();
}

// The configurations of all places, in a new automaton.
bool ConstraintState::read_again(Automaton& automaton) {
  ConfigId config = automaton.start();
  places_[0].left = automaton.max_limited();
  if (places_[0].left == 0 && automaton.is_limited(config)) config = automaton.closing(config);
  places_[0].config = config;
  for (size_t i = 1; i < places_.size(); ++i) {
    Place& place = places_[i];
    automaton.allow_steps();
    if (place.token >= 0) {
      config = after_token(automaton, config, place.token);
    } else {
      for (uint32_t at = places_[i - 1].n_bytes; at < place.n_bytes && config != kDead; ++at)
        config = automaton.step(config, static_cast<uint8_t>(text_[at]));
    }
    config = counted(automaton, places_[i - 1], place.token >= 0, config, place.left);
    if (!automaton.is_within_limits()) return false;
    place.config = config;
  }
  return true;
}

ConfigId ConstraintState::after_token(Automaton& automaton, ConfigId config, int32_t token) const {
  ConfigId by_bytes = kDead;
  const std::string_view bytes = constraint_->tokens().bytes(token);
  if (!bytes.empty()) {
    by_bytes = config;
    for (size_t i = 0; i < bytes.size() && by_bytes != kDead; ++i) by_bytes = automaton.step(by_bytes, static_cast<uint8_t>(bytes[i]));
  }
  if (!automaton.has_token_items(config)) return by_bytes;
  const PieceKind kind = constraint_->tokens().kind(token);
  return automaton.merge(by_bytes, automaton.step_token(config, token, kind == PieceKind::end || kind == PieceKind::unused));
}

// A token counts if the text was there before it and goes on behind it. Bytes are of unknown tokens, and count as none.
ConfigId ConstraintState::counted(Automaton& automaton, const Place& before, bool is_token, ConfigId config, uint32_t& left) {
  left = before.left;
  if (!automaton.is_limited(config)) return config;
  if (automaton.is_limited(before.config)) {
    if (!is_token || left == 0 || left == kUnbounded) return config;
    --left;
  }
  return left == 0 ? automaton.closing(config) : config;
}

Status ConstraintState::accept_token(int32_t token) {
  const TokenTrie& tokens = constraint_->tokens();
  if (token < 0 || token >= tokens.n_tokens())
    return error(Code::invalid_argument, "token %d is not in the vocabulary of %d tokens", token, tokens.n_tokens());
  const bool ends = tokens.kind(token) == PieceKind::end && is_complete();
  Place next{kDead, 0, token, kUnbounded, true, false};
  INLAY_TRY(with_automaton([&](Automaton& automaton) {
    next.config = counted(automaton, places_.back(), true, after_token(automaton, places_.back().config, token), next.left);
    next.is_dead = next.config == kDead;
    next.is_complete = automaton.is_complete(next.config);
  }));
  if (next.is_dead && ends) {
    next.is_dead = false;
    next.is_complete = true;
  }
  add(next, tokens.bytes(token));
  return {};
}

// All of it or, where memory runs out, nothing.
void ConstraintState::add(Place place, std::string_view bytes) {
  if (places_.size() == places_.capacity()) places_.reserve(2 * places_.size());
  text_ += bytes;
  place.n_bytes = static_cast<uint32_t>(text_.size());
  places_.push_back(place);
}

Status ConstraintState::accept_bytes(std::string_view bytes) {
  Place next{kDead, 0, -1, kUnbounded, true, false};
  INLAY_TRY(with_automaton([&](Automaton& automaton) {
    ConfigId config = places_.back().config;
    for (size_t i = 0; i < bytes.size() && config != kDead; ++i) {
      automaton.allow_steps();
      config = automaton.step(config, static_cast<uint8_t>(bytes[i]));
    }
    next.config = counted(automaton, places_.back(), false, config, next.left);
    next.is_dead = next.config == kDead;
    next.is_complete = automaton.is_complete(next.config);
  }));
  add(next, bytes);
  return {};
}

Status ConstraintState::roll_back(size_t n) {
  if (n > n_accepted())
    return error(Code::invalid_argument, "%zu steps are to be taken back, but only %zu were taken", n, n_accepted());
  places_.resize(places_.size() - n);
  text_.resize(places_.back().n_bytes);
  return {};
}

Status ConstraintState::mask(std::span<uint32_t> words) {
  if (words.size() != constraint_->tokens().mask_words())
    return error(Code::invalid_argument, "a mask of %zu words was given; the vocabulary's have %zu", words.size(),
                 constraint_->tokens().mask_words());
  return with_automaton(
      [&](Automaton& automaton) INLAY_UNCHECKED { constraint_->masks_.make(automaton, places_.back().config, words); });
}

Result<std::string> ConstraintState::forced_bytes(size_t max_bytes) {
  std::string out;
  INLAY_TRY(with_automaton([&](Automaton& automaton) {
    out.clear();
    ConfigId config = places_.back().config;
    while (out.size() < max_bytes && !automaton.is_complete(config) && !automaton.has_token_items(config)) {
      ConfigId next = kDead;
      uint8_t forced = 0;
      uint32_t n = 0;
      for (uint32_t byte = 0; byte < 256 && n < 2; ++byte) {
        const ConfigId reached = automaton.step(config, static_cast<uint8_t>(byte));
        if (reached == kDead) continue;
        ++n;
        next = reached;
        forced = static_cast<uint8_t>(byte);
      }
      if (n != 1) break;
      out.push_back(static_cast<char>(forced));
      config = next;
    }
  }));
  return out;
}

}  // namespace inlay::constraint
