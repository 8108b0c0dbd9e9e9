// The turns of a conversation, of which a model is given those that its context has room for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/cli/generate.h"
#include "examples/cli/messages.h"
#include "include/capi/inlay.h"

namespace inlay::cli {

// How a conversation becomes tokens.
struct ConversationForm {
  bool has_template = false;  // otherwise lines as they were typed, a line end between
  bool no_bos = false, special = false;
  std::string chat_template;  // empty: the model's own
  std::string variables;      // of the template, a JSON object; empty: none
  std::string system;         // empty: no message of the system
  std::string begun;          // of the last answer; empty: nothing
  int32_t n_most = 0;  // tokens of an answer; 0: until the context is full
};

class Conversation {
 public:
  Conversation(const inlay_engine* engine, inlay_session* session, ConversationForm form);

  // Takes over a session that was saved: what it holds, and what was said. Without a template that is its text, whatever was said.
  void go_on(std::vector<int32_t> sequence, const Messages& said);
  // The tokens of this line as the only turn, or behind those of a session that was saved; then answer() is for it.
  std::vector<int32_t> prompt_of(const std::string& line);

  struct Admission {
    bool taken = true;                   // false: nothing has changed: the line does not fit into the context, or
    std::string refused = {};            // the model's template refuses it, for this reason
    size_t n_needed = 0, n_context = 0;  // tokens
    size_t n_dropped = 0;                // turns
  };
  // Renders the whole conversation with this line.
  Admission admit(const std::string& line);
  // Of a line that was taken. What the session holds already, up to the first token that differs, is not run again. `take_event`: as of
  // generate().
  Turn answer(TextOutput& out, const std::function<void(const inlay_event&)>& take_event = nullptr);

  // Takes the last turn back: its line, empty where there is none.
  std::string take_back();
  void clear() { turns_.clear(), first_ = 0; }
  const ConversationForm& form() const { return form_; }
  void set_system(const std::string& text) { form_.system = text; }
  // All that was said, dropped turns too: a JSON array of messages, one a line.
  std::string as_json() const;
  // Of what as_json() wrote, in the place of what was said. The answers' tokens are those of their text.
  void set(const Messages& messages);

 private:
  struct Said {
    std::string line;
    std::string answer = {};
    bool answered = false;
    std::vector<int32_t> drawn = {};  // the answer's, as far as the session held it
    const char* before = "\n";        // without a template: between the turn before and this one
    bool has_line = true;             // false: all that a saved session held is in `drawn`
  };
  std::string messages(size_t first, const char* between) const;
  std::vector<int32_t> render(size_t first, std::string& refused) const;
  size_t keep_common_part(const std::vector<int32_t>& tokens);
  inlay_session_info facts() const;

  const inlay_engine* engine_;
  inlay_session* session_;
  ConversationForm form_;
  std::vector<Said> turns_;
  size_t first_ = 0;               // turns before it were dropped
  std::vector<int32_t> prompt_;    // up to where the answer begins
  std::vector<int32_t> sequence_;  // what the session holds
};

}  // namespace inlay::cli
