// What a session may write: constraints over an engine's vocabulary, and draws under them. docs/design/constraints.md
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/backend/step_batch.h"
#include "src/base/mutex.h"
#include "src/base/status.h"
#include "src/constraint/constraint.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

struct ConstraintSource {
  enum class Kind : uint8_t { json_schema, any_json, gbnf, regex, choices, message };
  Kind kind = Kind::json_schema;
  std::string text;                          // not of any_json and choices
  std::vector<int32_t> prompt;               // of message: tokens, of which the last ones say what of the answer has begun
  std::optional<std::string> format;         // of message; else that of the template
  std::optional<std::string> chat_template;  // of message: which wrote the prompt; else the model's own
  std::vector<std::string> choices;
  bool compact = false;                      // JSON without whitespace
  bool escapes = false;                      // strings of values may have any escape
  bool lenient = false;                      // a schema's keywords that are not supported are dropped and remarked

  template <class Archive>
  void archive(Archive& a) {
    a(kind, text, prompt, format, chat_template, choices, compact, escapes, lenient);
  }
};

struct MadeConstraint {
  std::shared_ptr<const constraint::Constraint> constraint;
  std::vector<std::string> remarks;
};

// The tokens that a model can draw, as constraints see them; made when the first constraint is. In constraints of messages the markers of the
// format are terminals of their own, also those that are tokens of text.
class DrawnVocabulary {
 public:
  Result<std::shared_ptr<const constraint::TokenTrie>> get(const Tokenizer* tokenizer, int32_t n_vocab, std::span<const int32_t> markers = {});
  bool has(const constraint::Constraint& constraint) const;  // whether it is over this vocabulary

 private:
  static constexpr size_t kKept = 4;  // vocabularies with markers that stay although no constraint has them any more
  void keep(std::span<const int32_t> markers, const std::shared_ptr<const constraint::TokenTrie>& made) INLAY_NEEDS(mutex_);

  mutable Mutex mutex_;
  std::shared_ptr<const constraint::TokenTrie> made_ INLAY_GUARDED_BY(mutex_);
  struct Marked {
    std::vector<int32_t> markers;
    std::weak_ptr<const constraint::TokenTrie> tokens;
    std::shared_ptr<const constraint::TokenTrie> kept;  // of the last few: hosts may bring any number of formats
  };
  std::vector<Marked> marked_ INLAY_GUARDED_BY(mutex_);  // the last one used is the last one
};

class Engine;
// Compiles on a thread of its own, because a deep schema needs more stack than a call may take.
Result<MadeConstraint> make_constraint(Engine& engine, DrawnVocabulary& vocabulary, ConstraintSource source);

// Tokens that a shift took out of the text under a constraint, which has read them: where they were, and how many.
struct TakenOut {
  uint64_t at = 0, n = 0;
  template <class Archive>
  void archive(Archive& a) {
    a(at, n);
  }
};

// A generation's text under its constraint, and the mask of what may follow, once it was made.
class ConstrainedText {
 public:
  explicit ConstrainedText(std::shared_ptr<const constraint::Constraint> constraint) : state_(std::move(constraint)) {}

  Status accept_bytes(std::string_view bytes) { return changed(state_.accept_bytes(bytes)); }
  void accept_token(int32_t token);       // a failure is that of every draw behind it
  Status roll_back(size_t n) { return fault_.ok() ? changed(state_.roll_back(n)) : Status(); }
  std::vector<constraint::ConstraintState::Accepted> accepted() const { return state_.accepted(); }
  bool is_dead() const { return state_.is_dead() || !fault_.ok(); }
  bool is_complete() const { return state_.is_complete(); }
  Result<std::string> forced(size_t most);  // bytes that must follow
  void make_mask();                         // unless it is there
  const TokenMask& mask() const { return mask_; }  // nothing may come until make_mask() has made one

 private:
  void make_words();
  Status changed(Status status) {
    mask_.words.clear();
    return status;
  }

  constraint::ConstraintState state_;
  TokenMask mask_;
  Status fault_;
};

}  // namespace inlay
