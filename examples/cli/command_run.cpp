#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <random>
#include <utility>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/interrupt.h"
#include "examples/cli/json_line.h"
#include "examples/cli/sampler_options.h"

namespace inlay::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct RunRequest {
  std::string model, prompt, file, system;
  bool has_prompt = false, has_file = false;
  int32_t n_tokens = 256;
  double temperature = 0.8, top_p = 0.95, min_p = 0.0, repeat_penalty = 1.0;
  int32_t top_k = 40;
  uint64_t seed = 0;
  bool has_seed = false, no_bos = false, special = false, echo = false, quiet = false, no_template = false,
       has_system = false;
  std::vector<std::string> stops, stop_tokens;
  std::vector<int32_t> stop_ids;
  LoadOptions load;
  SamplerOptions sampler;
};

RunRequest parse_request(int argc, char** argv) {
  RunRequest r;
  r.load.max_sessions = 1;
  Options options(
      "run MODEL [options]",
      "Writes text that goes on from a prompt, as it is decoded. Without --prompt and --file the prompt is\n"
      "the standard input; if that is a terminal, each line is a turn of a conversation, until its end.\n"
      "A conversation is written as the chat template in the model's file says, if there is one.");
  options.text("-p --prompt", "TEXT", r.prompt, &r.has_prompt, "the prompt");
  options.text("-f --file", "PATH", r.file, &r.has_file, "take the prompt from a file; - is the standard input");
  options.integer("-n --tokens", r.n_tokens, 0, INT32_MAX, "most tokens to write (256); 0: until the context is full");
  options.real("--temp", r.temperature, 0, 100, "temperature (0.8); 0: always the likeliest token");
  options.integer("--top-k", r.top_k, 0, INT32_MAX, "keep the N likeliest tokens (40); 0: off");
  options.real("--top-p", r.top_p, 0, 1, "keep the likeliest tokens that reach this probability (0.95); 1: off");
  options.real("--min-p", r.min_p, 0, 1, "drop tokens below this part of the likeliest one's probability (0: off)");
  options.real("--repeat-penalty", r.repeat_penalty, 0.01, 100, "make the last 64 tokens less likely (1: off)");
  r.sampler.add_to(options);
  options.seed("--seed", r.seed, r.has_seed, "the same seed draws the same text (one that changes)");
  options.texts("--stop", "TEXT", r.stops, "end where this text would begin; may be given several times");
  options.texts("--stop-token", "ID", r.stop_tokens, "end when this token is drawn; may be given several times");
  options.flag("--no-bos", r.no_bos, "leave out the BOS token that the model asks for");
  options.flag("--special", r.special, "turn control tokens written in the prompt into their ids");
  options.text("--system", "TEXT", r.system, &r.has_system, "begin a conversation with this message of the system");
  options.flag("--no-template", r.no_template, "in a conversation give each line to the model as it was typed");
  options.flag("--echo", r.echo, "write the prompt before the text");
  options.flag("-q --quiet", r.quiet, "no speeds at the end");
  options.integer("--ctx", r.load.n_context, 1, 1 << 30,
                  "tokens of prompt and text together (the trained context, at most 4096)");
  r.load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 1);
  if (rest.empty()) options.usage_error("no model given");
  if (r.has_prompt && r.has_file) options.usage_error("give one of --prompt and --file");
  for (const std::string& text : r.stop_tokens) {
    int32_t id = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (wrong != std::errc() || end != text.data() + text.size())
      options.usage_error("--stop-token is " + text + ", expected a token's id");
    r.stop_ids.push_back(id);
  }
  r.model = rest[0];
  if (!r.has_seed && r.temperature > 0.0) {
    std::random_device device;
    r.seed = device();
  }
  return r;
}

SessionPtr open_session(const inlay_engine* engine, const RunRequest& r) {
  auto sampler = sized<inlay_sampler_params>();
  sampler.temperature = static_cast<float>(r.temperature);
  sampler.top_k = r.top_k;
  sampler.top_p = static_cast<float>(r.top_p);
  sampler.min_p = static_cast<float>(r.min_p);
  sampler.repetition_penalty = static_cast<float>(r.repeat_penalty);
  sampler.seed = r.seed;
  const std::vector<inlay_text> breakers = r.sampler.fill(sampler);
  auto params = sized<inlay_session_params>();
  params.sampler = &sampler;
  params.max_tokens = r.n_tokens;
  params.stop_tokens = r.stop_ids.data();
  params.n_stop_tokens = r.stop_ids.size();
  SessionPtr session = make_session(engine, params);
  std::vector<inlay_text> stops;
  for (const std::string& stop : r.stops) stops.push_back({stop.data(), stop.size()});
  inlay_error error;
  check(inlay_session_set_stop(session.get(), stops.data(), stops.size(), &error), error, "--stop");
  return session;
}

// What one prompt and the text after it took.
struct Turn {
  size_t n_prompt = 0;
  double prompt_seconds = 0.0;
  int32_t n_drawn = 0;
  double draw_seconds = 0.0;  // without the first token, whose logits the prompt left behind
  std::vector<int32_t> drawn;
  bool interrupted = false;
  bool context_full = false;
};

// Writes the text of events at once, and knows whether the line was ended.
class TextOutput {
 public:
  void write(const char* text, size_t n) {
    if (n == 0) return;
    std::fwrite(text, 1, n, stdout);
    std::fflush(stdout);
    written_.append(text, n);
    line_ended_ = text[n - 1] == '\n';
  }
  void take_rest(inlay_session* session) {
    char text[512];
    inlay_error error;
    for (size_t n = 1; n > 0;) {
      check(inlay_session_take_text(session, text, sizeof text, &n, &error), error, "no text");
      write(text, n);
    }
  }
  void end_line() {
    if (!std::exchange(line_ended_, true)) std::fputc('\n', stdout), std::fflush(stdout);
  }
  std::string take_written() { return std::exchange(written_, {}); }  // since the last call

 private:
  std::string written_;
  bool line_ended_ = true;
};

// False if Ctrl-C came first; then `n_done` tokens were run.
bool run_prompt(inlay_session* session, const std::vector<int32_t>& tokens, size_t& n_done) {
  inlay_error error;
  const inlay_status status = inlay_prefill(session, tokens.data(), tokens.size(), &n_done, &error);
  if (status == INLAY_CANCELLED) return false;
  check(status, error, "cannot run the prompt of " + std::to_string(tokens.size()) + " tokens");
  return true;
}

Turn generate(inlay_session* session, const std::vector<int32_t>& prompt, TextOutput& out) {
  const InterruptScope scope(session);
  Turn turn;
  Clock::time_point start = Clock::now();
  turn.interrupted = !run_prompt(session, prompt, turn.n_prompt);
  turn.prompt_seconds = seconds_since(start);
  if (turn.interrupted) return turn;

  inlay_error error;
  inlay_event event = {};
  while (event.finish_reason == INLAY_FINISH_NONE) {
    const inlay_status status = inlay_decode_step(&session, 1, &event, sizeof event, &error);
    turn.context_full = event.finish_reason == INLAY_FINISH_CONTEXT_FULL || status == INLAY_KV_FULL;
    if (status == INLAY_KV_FULL) break;
    check(status, error, "cannot decode");
    if (event.kind == INLAY_EVENT_TOKEN) {
      if (turn.n_drawn++ == 0) start = Clock::now();
      turn.drawn.push_back(event.token);
    }
    out.write(event.text, event.text_bytes);
    if (event.text_pending > 0) out.take_rest(session);
  }
  turn.draw_seconds = turn.n_drawn > 0 ? seconds_since(start) : 0.0;
  turn.interrupted = event.finish_reason == INLAY_FINISH_CANCELLED;
  out.end_line();
  return turn;
}

void print_speeds(const Turn& turn, const RunRequest& r) {
  if (turn.context_full) std::fprintf(stderr, "inlay: the context is full\n");
  if (r.quiet) return;
  const auto rate = [](double n, double seconds) { return seconds > 0.0 ? n / seconds : 0.0; };
  std::fprintf(stderr, "prompt: %zu tokens in %.3f s, %.1f tokens/s\n", turn.n_prompt, turn.prompt_seconds,
               rate(static_cast<double>(turn.n_prompt), turn.prompt_seconds));
  std::fprintf(stderr, "text: %d tokens in %.3f s, %.1f tokens/s", turn.n_drawn, turn.draw_seconds,
               rate(turn.n_drawn - 1, turn.draw_seconds));
  if (r.temperature > 0.0) std::fprintf(stderr, ", seed %llu", static_cast<unsigned long long>(r.seed));
  std::fprintf(stderr, "%s\n", turn.interrupted ? ", interrupted" : "");
}

// The turns of a conversation with a model that has a template. Each turn renders the whole conversation; what the
// session holds already, up to the first token that differs, is not run again.
class Conversation {
 public:
  Conversation(const inlay_engine* engine, inlay_session* session, const RunRequest& r)
      : engine_(engine), session_(session) {
    if (r.has_system) add("system", r.system);
  }

  Turn take_turn(const std::string& line, TextOutput& out) {
    const size_t n_before = messages_.size();
    add("user", line);
    const std::vector<int32_t> tokens = tokenize_chat(engine_, "[" + messages_ + "]");
    const size_t n_kept = keep_common_part(tokens);
    (void)out.take_written();
    Turn turn = generate(session_, {tokens.begin() + static_cast<std::ptrdiff_t>(n_kept), tokens.end()}, out);
    sequence_ = tokens;
    sequence_.insert(sequence_.end(), turn.drawn.begin(), turn.drawn.end());
    auto info = sized<inlay_session_info>();
    inlay_error error;
    check(inlay_session_get_info(session_, &info, &error), error, "no facts about the session");
    sequence_.resize(std::min(sequence_.size(), static_cast<size_t>(info.n_tokens)));
    if (turn.n_drawn > 0)
      add("assistant", out.take_written());
    else
      messages_.resize(n_before);  // as if it had not been said
    return turn;
  }

 private:
  void add(const char* role, const std::string& content) {
    JsonLine message;
    message.text("role", role);
    message.text("content", content);
    messages_ += (messages_.empty() ? "" : ",") + message.finished();
  }

  // Cuts the session back to what it shares with `tokens`, of which one at least is left to run.
  size_t keep_common_part(const std::vector<int32_t>& tokens) {
    if (tokens.empty()) fail(kExitFailed, "the model's template writes nothing");
    const size_t most = std::min(sequence_.size(), tokens.size() - 1);
    const auto differ =
        std::mismatch(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(most), sequence_.begin());
    const auto n = static_cast<size_t>(differ.first - tokens.begin());
    inlay_error error;
    check(inlay_session_truncate(session_, n, &error), error, "cannot cut the session back");
    return n;
  }

  const inlay_engine* engine_;
  inlay_session* session_;
  std::string messages_;           // JSON, without the brackets around all
  std::vector<int32_t> sequence_;  // what the session holds
};

// A line is a turn. Without a template it is given to the model as it was typed; a line end divides it from the text
// before it.
int converse(const inlay_engine* engine, inlay_session* session, const RunRequest& r) {
  std::fprintf(stderr, "A line is a turn; Ctrl-C ends an answer, Ctrl-D the conversation.\n");
  const bool has_template = !r.no_template && has_chat_template(engine);
  if (r.has_system && !has_template) fail(kExitFailed, "--system needs the chat template of the model, which has none");
  Conversation conversation(engine, session, r);
  TextOutput out;
  std::string line;
  for (bool first = true; std::fputs("> ", stdout), std::fflush(stdout), std::getline(std::cin, line);) {
    if (line.empty()) continue;
    const inlay_tokenize_flags flags =
        (first && !r.no_bos ? 0 : INLAY_TOKENIZE_NO_BOS_EOS) | (r.special ? INLAY_TOKENIZE_PARSE_SPECIAL : 0);
    const Turn turn = has_template ? conversation.take_turn(line, out)
                                   : generate(session, tokenize(engine, (first ? "" : "\n") + line, flags), out);
    print_speeds(turn, r);
    if (turn.context_full) return 0;
    first = false;
  }
  std::fputc('\n', stdout);
  return 0;
}

}  // namespace

int run_command(int argc, char** argv) {
  const RunRequest r = parse_request(argc, argv);
  const bool conversation = !r.has_prompt && !r.has_file && isatty(STDIN_FILENO) != 0;
  const std::string prompt = conversation ? "" : r.has_prompt ? r.prompt : read_file(r.has_file ? r.file : "-");
  const EnginePtr engine = load_file(r.model, r.load);
  const SessionPtr session = open_session(engine.get(), r);
  if (conversation) return converse(engine.get(), session.get(), r);

  const inlay_tokenize_flags flags =
      (r.no_bos ? INLAY_TOKENIZE_NO_BOS_EOS : 0) | (r.special ? INLAY_TOKENIZE_PARSE_SPECIAL : 0);
  const std::vector<int32_t> tokens = tokenize(engine.get(), prompt, flags);
  if (tokens.empty()) fail(kExitFailed, "the prompt is empty, and the model has no BOS token to begin with");
  TextOutput out;
  if (r.echo) out.write(prompt.data(), prompt.size());
  const Turn turn = generate(session.get(), tokens, out);
  print_speeds(turn, r);
  return turn.interrupted ? kExitInterrupted : 0;
}

}  // namespace inlay::cli
