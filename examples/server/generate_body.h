// The body of /v1/chat/completions and /v1/completions as a request of the library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/server/json.h"
#include "examples/server/message_reader.h"
#include "examples/server/model.h"
#include "examples/server/refusal.h"

namespace inlay::server {

// How the answer is to be written.
struct AnswerForm {
  bool is_chat = false;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  int32_t n_top = 0;       // likeliest tokens beside each, with logprobs
  bool has_parts = false;  // reasoning, content and calls of a chat
};

struct GenerateBody {
  AnswerForm form;
  std::string conversation, text;  // one of them, or tokens
  std::string tools;               // of a chat: JSON, or empty
  std::vector<int32_t> tokens;
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  std::vector<inlay_logit_bias> biases;
  std::vector<std::string> stops;
  std::string demand;  // what the answer is to be, as INLAY_CONSTRAINT_MESSAGE has it; empty: anything
  int64_t max_tokens = 0;
};

// `form.is_chat` says which of the two it is.
std::optional<Refusal> read_generate_body(std::string_view json, const Model& model, GenerateBody& body);

// A body's `model`, which must be the one that is served.
class FieldReader;
void read_model(FieldReader& fields, const Model& model);
// Fields of OpenAI's that change nothing here.
void ignore_common(FieldReader& fields);

struct SubmittedRequest {
  uint64_t id = 0;
  std::shared_ptr<MessageReader> reader;  // of a chat whose answer has parts
};
// Submits it. `user` comes back in its events.
std::optional<Refusal> submit(const GenerateBody& body, const Model& model, uint64_t user, SubmittedRequest& out);

// What a status of the library is to a client.
Refusal refusal_of(const inlay_error& error);

}  // namespace inlay::server
