// What a session may write: a compiled constraint, shared by sessions and threads, and each session's place in it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/status.h"
#include "src/constraint/automaton.h"
#include "src/constraint/masks.h"
#include "src/constraint/token_trie.h"

namespace inlay::constraint {

// Grows when a source means another constraint than before: when a schema, a grammar, an expression or a demand on a message lets through other
// texts. Where a text is gone on with that was written by another version, it may lead nowhere.
inline constexpr uint32_t kCompilerVersion = 2;

struct ConstraintLimits {
  size_t compile_bytes = size_t{64} << 20;
  uint64_t compile_steps = uint64_t{1} << 26;
  AutomatonLimits automaton;
  size_t mask_bytes = size_t{8} << 20;  // of masks that are kept
};

// Immutable to its users. Its automaton grows while it is used, under a lock; where it passes its limit it is dropped, and
// each state reads its text again.
class Constraint {
 public:
  // Code::unsupported where the grammar needs more than the limits, with what it needs in the message.
  // `origin`: whatever its maker wants to know of it again.
  static Result<std::shared_ptr<const Constraint>> make(Grammar grammar, std::shared_ptr<const TokenTrie> tokens,
                                                        const ConstraintLimits& limits = {}, std::string origin = {});

  const TokenTrie& tokens() const { return *tokens_; }
  const std::string& origin() const { return origin_; }
  size_t memory() const;  // bytes, without the vocabulary's

 private:
  friend class ConstraintState;
  Constraint(Grammar grammar, std::shared_ptr<const TokenTrie> tokens, const ConstraintLimits& limits);

  std::shared_ptr<const TokenTrie> tokens_;
  std::string origin_;
  mutable Mutex mutex_;
  mutable Automaton automaton_ INLAY_GUARDED_BY(mutex_);
  mutable MaskMaker masks_ INLAY_GUARDED_BY(mutex_);
  mutable uint64_t generation_ INLAY_GUARDED_BY(mutex_) = 1;  // of the automaton
  mutable bool is_torn_ INLAY_GUARDED_BY(mutex_) = false;     // it is being changed, or memory ran out in the midst of that
};

// A place in a text under a constraint. Copies are independent. One thread at a time uses a state; states of one constraint
// may be used by many.
class ConstraintState {
 public:
  explicit ConstraintState(std::shared_ptr<const Constraint> constraint);

  // Goes on by a token, or by bytes whatever tokens they are of. What the constraint does not allow makes the state dead. An
  // error (Code::unsupported: a limit) leaves the state as it was.
  Status accept_token(int32_t token);
  Status accept_bytes(std::string_view bytes);
  // Takes back the last n calls of the two.
  Status roll_back(size_t n);
  size_t n_accepted() const { return places_.size() - 1; }
  // The calls of the two, for a state that is to be made again.
  struct Accepted {
    int32_t token = -1;  // -1: bytes
    std::string bytes;
    template <class Archive>
    void archive(Archive& a) {
      a(token, bytes);
    }
  };
  std::vector<Accepted> accepted() const;
  std::string_view text() const { return text_; }  // the bytes that were accepted, without control tokens

  bool is_dead() const { return places_.back().is_dead; }
  bool is_complete() const { return places_.back().is_complete; }  // the text may end here
  // Sets bit t % 32 of word t / 32 for each token t that may come next, and clears all others; tokens().mask_words() words.
  // Tokens that end a text are allowed where it may end.
  Status mask(std::span<uint32_t> words);
  size_t n_mask_words() const { return constraint_->tokens().mask_words(); }
  // The bytes that must follow, up to max_bytes of them.
  Result<std::string> forced_bytes(size_t max_bytes);

 private:
  struct Place {
    ConfigId config;
    uint32_t n_bytes;  // of text_
    int32_t token;     // -1: bytes
    uint32_t left;     // tokens of the text that is limited
    bool is_dead, is_complete;
  };
  // Runs work(automaton) under the lock; where a limit is passed, once more with a new automaton.
  template <class Work>
  Status with_automaton(Work&& work);
  static void renew(const Constraint& shared) INLAY_NEEDS(shared.mutex_);
  void add(Place place, std::string_view bytes);
  bool read_again(Automaton& automaton);
  ConfigId after_token(Automaton& automaton, ConfigId config, int32_t token) const;
  // Where a call led that began at `before`, and ended the text that is limited if that has no tokens left.
  static ConfigId counted(Automaton& automaton, const Place& before, bool is_token, ConfigId config, uint32_t& left);

  std::shared_ptr<const Constraint> constraint_;
  uint64_t generation_ = 0;
  std::string text_;
  std::vector<Place> places_;
};

}  // namespace inlay::constraint
