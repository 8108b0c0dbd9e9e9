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
  std::vector<MessageDelta> deltas;         // of a chat whose answer has parts, in place of the text
  std::vector<inlay_token_logprob> tokens;  // empty unless their probabilities are wanted
  std::vector<inlay_token_logprob> top;     // (tokens, AnswerForm::n_top): of each the likeliest in its place, -1 where there is none
  bool is_empty() const { return text.empty() && deltas.empty() && tokens.empty(); }
};

class Answer {
 public:
  Answer(const Model& model, const AnswerForm& form, uint64_t key);

  std::string whole(const Piece& piece, const inlay_request_event& end) const;
  // Events of a stream.
  std::string beginning() const;
  std::string piece(const Piece& piece);
  std::string ending(const inlay_request_event& end) const;
  static std::string failure(const Refusal& refusal);

 private:
  Json object(const char* kind) const;
  std::string event(Json choice) const;
  Json choice() const;
  Json logprobs(const Piece& piece) const;
  Json top_logprobs(const Piece& piece, size_t token) const;
  std::string token_text(int32_t token) const;
  std::string part(Json delta, Json logprobs) const;
  const char* reason_text(inlay_finish_reason reason, bool has_calls) const;

  const Model& model_;
  AnswerForm form_;
  std::string id_;
  int64_t created_;
  bool has_calls_ = false;  // a stream
};

// The refusal that an end stands for, with the text of its event; false: it is none.
bool failed(const inlay_request_event& end, const std::string& message, Refusal& refusal);

// Tokens that end a generation have no place among those that are shown.
bool ends_generation(const Model& model, int32_t token);

}  // namespace inlay::server
