// An answer as OpenAI's clients read it: one object, or the events of a stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/server/generate_body.h"
#include "examples/server/model.h"

namespace inlay::server {

// What was drawn since it was last written.
struct Piece {
  std::string text;
  std::vector<MessageDelta> deltas;  // of a chat whose answer has parts, in place of the text
  // Members of JSON's arrays, empty unless probabilities are wanted. Of a chat the tokens are objects that have all; of a completion they
  // are texts, and their logprobs and the likeliest are arrays of their own.
  std::string tokens, logprobs, top;
  bool is_empty() const { return text.empty() && deltas.empty() && tokens.empty(); }
};

class Answer {
 public:
  Answer(const Model& model, const AnswerForm& form, uint64_t key);

  // Adds the tokens' probabilities to a piece. `top`: (n, AnswerForm::n_top), of each the likeliest in its place, -1 where there is none.
  void add_tokens(const inlay_token_logprob* tokens, size_t n, const inlay_token_logprob* top, Piece& piece) const;

  std::string whole(const Piece& piece, const inlay_request_event& end) const;
  // Events of a stream.
  std::string beginning() const;
  std::string piece(const Piece& piece);
  std::string ending(const inlay_request_event& end) const;
  static std::string failure(const Refusal& refusal);

 private:
  std::string head(const char* kind) const;
  void add_choice(const char* name, const Json& shown, const Piece* logprobs_of, const char* reason, std::string& out) const;
  void add_logprobs(const Piece& piece, std::string& out) const;
  void add_top_list(const inlay_token_logprob* top, std::string& out) const;
  void add_top_members(const inlay_token_logprob* top, std::string& out) const;
  std::string event(const Json& shown, const Piece* logprobs_of, const char* reason = nullptr) const;
  const char* reason_text(inlay_finish_reason reason, bool has_calls) const;

  const Model& model_;
  AnswerForm form_;
  std::string id_;
  int64_t created_;
  bool has_calls_ = false;  // a stream
};

// The refusal that an end stands for, with the text of its event; false: it is none.
bool failed(const inlay_request_event& end, const std::string& message, Refusal& refusal);

}  // namespace inlay::server
