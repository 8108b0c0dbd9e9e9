#include "examples/cli/conversation.h"

#include <algorithm>
#include <utility>

#include "examples/cli/engine.h"
#include "examples/cli/failure.h"
#include "examples/cli/first_turn.h"
#include "examples/cli/json_line.h"

namespace inlay::cli {
namespace {

std::string message(const char* role, const std::string& content) {
  JsonLine line;
  line.text("role", role);
  line.text("content", content);
  return line.finished();
}

// The object of a template's variables, with the messages in it.
std::string with_variables(const std::string& variables, const std::string& messages) {
  if (variables.empty()) return messages;
  const size_t begin = variables.find('{') + 1;
  const std::string inside = variables.substr(begin, variables.rfind('}') - begin);
  const bool others = inside.find_first_not_of(" \n\t\r") != std::string::npos;
  return "{" + inside + (others ? "," : "") + "\"messages\":" + messages + "}";
}

}  // namespace

Conversation::Conversation(const inlay_engine* engine, inlay_session* session, ConversationForm form)
    : engine_(engine), session_(session), form_(std::move(form)) {}

std::string Conversation::messages(size_t first, const char* between) const {
  std::string all = "[";
  const auto add = [&](const char* role, const std::string& content) {
    all += (all.size() > 1 ? between : "") + message(role, content);
  };
  if (!form_.system.empty()) add("system", form_.system);
  for (size_t i = first; i < turns_.size(); ++i) {
    add("user", turns_[i].line);
    if (turns_[i].answered) add("assistant", turns_[i].answer);
  }
  return all + "]";
}

std::string Conversation::as_json() const { return messages(0, ",\n ") + "\n"; }

void Conversation::set(const Messages& messages) {
  clear();
  form_.system = messages.system;
  for (const Messages::Turn& turn : messages.turns) {
    Said said = {.line = turn.line, .answer = turn.answer, .answered = true};
    if (!form_.has_template) said.drawn = tokenize(engine_, turn.answer, INLAY_TOKENIZE_NO_BOS_EOS);
    turns_.push_back(std::move(said));
  }
}

// `refused`: set where the template refuses the messages; then there are no tokens.
std::vector<int32_t> Conversation::render(size_t first, std::string& refused) const {
  std::vector<int32_t> tokens;
  if (form_.has_template) {
    inlay_error error;
    std::string said = messages(first, ",");
    if (!form_.begun.empty()) said.insert(said.size() - 1, "," + message("assistant", form_.begun));
    const inlay_chat_flags end = form_.begun.empty() ? INLAY_CHAT_ADD_GENERATION_PROMPT : INLAY_CHAT_CONTINUE_FINAL_MESSAGE;
    if (tokenize_chat(engine_, with_variables(form_.variables, said), {form_.chat_template, end}, tokens, error) == INLAY_OK) return tokens;
    refused = describe("the model's chat template cannot write this (--raw does without it)", error);
    return {};
  }
  for (size_t i = first; i < turns_.size(); ++i) {
    if (!turns_[i].has_line) {
      tokens = turns_[i].drawn;
      continue;
    }
    const inlay_tokenize_flags flags = (i == first && !form_.no_bos ? 0 : INLAY_TOKENIZE_NO_BOS_EOS) |
                                       (form_.special ? INLAY_TOKENIZE_PARSE_SPECIAL : 0);
    const std::vector<int32_t> line = tokenize(engine_, (i == first ? "" : turns_[i].before) + turns_[i].line, flags);
    tokens.insert(tokens.end(), line.begin(), line.end());
    tokens.insert(tokens.end(), turns_[i].drawn.begin(), turns_[i].drawn.end());
  }
  return tokens;
}

inlay_session_info Conversation::facts() const {
  auto info = sized<inlay_session_info>();
  inlay_error error;
  check(inlay_session_get_info(session_, &info, &error), error, "cannot read about the session");
  return info;
}

// Cuts the session back to what it shares with `tokens`, of which one at least is left to run.
size_t Conversation::keep_common_part(const std::vector<int32_t>& tokens) {
  const size_t most = std::min(sequence_.size(), tokens.size() - 1);
  const auto differ =
      std::mismatch(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(most), sequence_.begin());
  const auto n = static_cast<size_t>(differ.first - tokens.begin());
  inlay_error error;
  check(inlay_session_truncate(session_, n, &error), error, "cannot cut the session back");
  return n;
}

void Conversation::go_on(std::vector<int32_t> sequence, const Messages& said) {
  if (form_.has_template) {
    set(said);
  } else if (!sequence.empty()) {
    turns_ = {{.answer = detokenize(engine_, sequence, 0), .answered = true, .drawn = sequence, .has_line = false}};
  }
  sequence_ = std::move(sequence);
}

std::vector<int32_t> Conversation::prompt_of(const std::string& line) {
  turns_.push_back({.line = line, .before = ""});
  std::string refused;
  prompt_ = render(0, refused);
  if (!refused.empty()) fail(kExitFailed, refused);
  return prompt_;
}

Conversation::Admission Conversation::admit(const std::string& line) {
  Admission found;
  found.n_context = static_cast<size_t>(facts().n_context);
  turns_.push_back({.line = line});
  // Longer answers than a quarter of the context end where it is full.
  const size_t quarter = std::max<size_t>(1, found.n_context / 4);
  const size_t n_answer = form_.n_most > 0 ? std::min(static_cast<size_t>(form_.n_most), quarter) : quarter;
  const size_t first = first_turn_that_stays(first_, turns_.size(), found.n_context, n_answer,
                                             [&](size_t i) { return render(i, found.refused).size(); });
  found.refused.clear();  // what counts is whether it takes those turns that stay
  std::vector<int32_t> prompt = render(first, found.refused);
  if (prompt.empty() && found.refused.empty()) found.refused = "the model's chat template writes nothing for this; --raw does without it";
  found.n_needed = prompt.size();
  found.taken = found.refused.empty() && prompt.size() < found.n_context;
  if (!found.taken) {
    turns_.pop_back();
    return found;
  }
  prompt_ = std::move(prompt);
  found.n_dropped = first - std::exchange(first_, first);
  return found;
}

std::string Conversation::take_back() {
  if (turns_.empty() || !turns_.back().has_line) return "";
  std::string line = std::move(turns_.back().line);
  turns_.pop_back();
  first_ = std::min(first_, turns_.size());
  return line;
}

Turn Conversation::answer(TextOutput& out, const std::function<void(const inlay_event&)>& take_event) {
  const auto n_kept = static_cast<std::ptrdiff_t>(keep_common_part(prompt_));
  (void)out.take_written();
  const bool on_host = info_of(engine_).device != INLAY_DEVICE_CUDA;
  Turn turn = generate(session_, {prompt_.begin() + n_kept, prompt_.end()}, out, on_host, take_event);
  sequence_ = prompt_;
  sequence_.insert(sequence_.end(), turn.drawn.begin(), turn.drawn.end());
  sequence_.resize(std::min(sequence_.size(), static_cast<size_t>(facts().n_tokens)));
  if (turn.n_drawn == 0) {
    turns_.pop_back();  // as if it had not been said
    return turn;
  }
  Said& said = turns_.back();
  said.answered = true;
  said.answer = form_.begun + out.take_written();
  if (sequence_.size() > prompt_.size())
    said.drawn.assign(sequence_.begin() + static_cast<std::ptrdiff_t>(prompt_.size()), sequence_.end());
  return turn;
}

}  // namespace inlay::cli
