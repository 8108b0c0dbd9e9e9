#include <algorithm>
#include <charconv>
#include <cstdio>
#include <random>

#include "examples/cli/commands.h"
#include "examples/cli/constraint.h"
#include "examples/cli/conversation.h"
#include "examples/cli/converse.h"
#include "examples/cli/engine.h"
#include "examples/cli/generate.h"
#include "examples/cli/json_line.h"
#include "examples/cli/messages.h"
#include "examples/cli/sampler_options.h"
#include "examples/cli/state_file.h"
#include "examples/cli/system.h"
#include "examples/cli/words.h"

namespace inlay::cli {
namespace {

constexpr size_t kMostWords = 10000;  // on the command line

struct RunRequest {
  std::string model, prompt, file, system, begun, chat_template, template_file, variables, load_state, save_state;
  bool has_prompt = false, has_file = false;
  int32_t n_tokens = 256;
  double temperature = 0.8, top_p = 0.95, min_p = 0.0;
  int32_t top_k = 40, n_logprobs = -1;  // -1: text
  uint64_t seed = 0;
  bool has_seed = false, no_bos = false, special = false, echo = false, quiet = false, raw = false, has_system = false, has_begun = false;
  bool ignore_ends = false;
  std::vector<std::string> stops, stop_tokens;
  std::vector<int32_t> stop_ids;
  LoadOptions load;
  SamplerOptions sampler;
  ConstraintOptions constraint;
};

RunRequest parse_run_request(int argc, char** argv) {
  RunRequest r;
  r.load.max_sessions = 1;
  Options options(
      "run MODEL [options]",
      "Writes the text that follows a prompt, as it is decoded. Without --prompt and --file the prompt is the\n"
      "standard input; if that is a terminal, each line is a turn of a conversation; /help there lists commands.\n"
      "If the model's file has a chat template, the prompt is a message and the text its answer; --raw: the\n"
      "text goes on from the prompt.");
  options.text("-p --prompt", "TEXT", r.prompt, &r.has_prompt, "the prompt");
  options.text("-f --file", "PATH", r.file, &r.has_file, "the prompt from a file, behind that of -p on a line of its own; - is the standard input");
  options.integer("-n --tokens --predict --n-predict", r.n_tokens, -1, INT32_MAX,
                  "most tokens to write (256); 0 or -1: until the context is full");
  options.real("--temp --temperature", r.temperature, 0, 100, "temperature (0.8); 0: always the likeliest token");
  options.integer("--top-k", r.top_k, 0, INT32_MAX, "keep the N likeliest tokens (40); 0: off");
  options.real("--top-p", r.top_p, 0, 1, "keep the likeliest tokens that reach this probability (0.95); 1: off");
  options.real("--min-p", r.min_p, 0, 1, "drop tokens below this part of the likeliest one's probability (0: off)");
  r.sampler.add_to(options);
  options.seed("-s --seed", r.seed, r.has_seed, "the same seed draws the same text (one that changes)");
  options.texts("--stop -r --reverse-prompt", "TEXT", r.stops, "end where this text would begin; may be given several times");
  options.texts("--stop-token", "ID", r.stop_tokens, "end when this token is drawn; may be given several times");
  r.constraint.add_to(options);
  options.flag("--no-bos", r.no_bos, "leave out the BOS token that the model asks for");
  options.flag("--special", r.special, "turn control tokens written in the prompt into their ids");
  options.text("-sys --system --system-prompt", "TEXT", r.system, &r.has_system, "begin with this message of the system");
  options.text("--answer", "TEXT", r.begun, &r.has_begun, "the answer begins with this text, and the model goes on with it");
  options.text("--chat-template", "TEXT", r.chat_template, nullptr, "a chat template in the place of the model's, in Jinja");
  options.text("--chat-template-file", "PATH", r.template_file, nullptr, "the same from a file");
  options.text("--chat-template-kwargs", "JSON", r.variables, nullptr, "variables of the chat template, an object as {\"enable_thinking\":false}");
  options.text("--save-state", "FILE", r.save_state, nullptr, "write what the model has read and written to FILE at the end, for --load-state");
  options.text("--load-state", "FILE", r.load_state, nullptr,
               "go on with what --save-state wrote, of this model, which is not computed again; with --raw the text goes on from there");
  options.flag("--ignore-eos", r.ignore_ends, "draw end tokens like others");
  options.integer("--logprobs", r.n_logprobs, 0, INLAY_MAX_LOGPROBS,
                  "in the place of the text a line of JSON for each token: its logarithm of probability, and the N likeliest");
  options.flag("--raw", r.raw, "give the model the text as it stands, without the chat template in its file");
  options.flag("--echo", r.echo, "write the prompt before the text");
  options.flag("-q --quiet", r.quiet, "no speeds at the end");
  options.integer("-c --ctx --ctx-size", r.load.n_context, 1, 1 << 30,
                  "tokens of prompt and text together (the trained context, at most 4096)");
  r.load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, kMostWords);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");
  if (rest.size() > 1)
    options.usage_error("unexpected argument '" + rest[1] + "': a prompt is given with -p, in quotes if it has blanks");
  r.constraint.check(options);
  if (!r.chat_template.empty() && !r.template_file.empty()) options.usage_error("give one of --chat-template and --chat-template-file");
  if (r.raw && !(r.chat_template + r.template_file + r.variables).empty()) options.usage_error("--raw leaves out the chat template, and what is said of it");
  const size_t first = r.variables.find_first_not_of(" \n\t\r"), last = r.variables.find_last_not_of(" \n\t\r");
  if (!r.variables.empty() && (first >= last || r.variables[first] != '{' || r.variables[last] != '}'))
    options.usage_error("--chat-template-kwargs is expected to be a JSON object, as {\"enable_thinking\":false}, not '" + r.variables + "'");
  if (r.n_logprobs >= 0 && !r.save_state.empty()) options.usage_error("--logprobs has no text that --save-state could keep");
  if (r.ignore_ends && !r.load_state.empty()) options.usage_error("--ignore-eos is as it was when --save-state wrote the state");
  if (r.has_system && !r.load_state.empty()) options.usage_error("--system is for a new conversation: that of --load-state has begun");
  if (r.n_logprobs >= 0 && r.echo) options.usage_error("--logprobs has no text that --echo could stand before");
  for (const std::string& text : r.stop_tokens) {
    int32_t id = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (wrong != std::errc() || end != text.data() + text.size())
      options.usage_error("--stop-token is expected to be a token's id, a whole number; it is '" + text + "'");
    r.stop_ids.push_back(id);
  }
  r.model = rest[0];
  r.n_tokens = std::max(r.n_tokens, 0);
  if (!r.has_seed && r.temperature > 0.0) {
    std::random_device device;
    r.seed = device();
  }
  return r;
}

// `breakers` is what the parameters point to.
inlay_sampler_params sampler_of(const RunRequest& r, std::vector<inlay_text>& breakers) {
  auto sampler = sized<inlay_sampler_params>();
  sampler.temperature = static_cast<float>(r.temperature);
  sampler.top_k = r.top_k;
  sampler.top_p = static_cast<float>(r.top_p);
  sampler.min_p = static_cast<float>(r.min_p);
  sampler.n_logprobs = std::max(r.n_logprobs, 0);
  sampler.seed = r.seed;
  breakers = r.sampler.fill(sampler);
  return sampler;
}

void set_sampler(inlay_session* session, const RunRequest& r) {
  std::vector<inlay_text> breakers;
  const inlay_sampler_params sampler = sampler_of(r, breakers);
  inlay_error error;
  check(inlay_session_set_sampler(session, &sampler, &error), error, "cannot set the sampler");
}

void set_stops(inlay_session* session, const RunRequest& r) {
  std::vector<inlay_text> stops;
  for (const std::string& stop : r.stops) stops.push_back({stop.data(), stop.size()});
  inlay_error error;
  check(inlay_session_set_stop(session, stops.data(), stops.size(), &error), error, "cannot take --stop");
}

SessionPtr open_session(const inlay_engine* engine, const RunRequest& r) {
  std::vector<inlay_text> breakers;
  const inlay_sampler_params sampler = sampler_of(r, breakers);
  auto params = sized<inlay_session_params>();
  params.sampler = &sampler;
  params.max_tokens = r.n_tokens;
  params.flags = r.ignore_ends ? INLAY_SESSION_IGNORE_END_OF_GENERATION : 0;
  params.stop_tokens = r.stop_ids.data();
  params.n_stop_tokens = r.stop_ids.size();
  const ConstraintPtr constraint = r.constraint.make(engine);
  params.constraint = constraint.get();
  SessionPtr session = make_session(engine, params);
  set_stops(session.get(), r);
  return session;
}

// Of what was saved only the text stays, and whether end tokens end it: all else is as this command line says.
SavedState restored_session(const inlay_engine* engine, const RunRequest& r) {
  SavedState state = load_state(engine, r.load_state);
  inlay_session* session = state.session.get();
  set_sampler(session, r);
  set_stops(session, r);
  const ConstraintPtr constraint = r.constraint.make(engine);
  inlay_error error;
  check(inlay_session_set_max_tokens(session, r.n_tokens, &error), error, "cannot take -n");
  check(inlay_session_set_stop_tokens(session, r.stop_ids.data(), r.stop_ids.size(), &error), error, "cannot take --stop-token");
  check(inlay_session_set_constraint(session, constraint.get(), "", 0, &error), error, "cannot take the constraint");
  return state;
}

std::vector<int32_t> tokens_of(inlay_session* session) {
  size_t n = 0;
  inlay_error error;
  check(inlay_session_get_tokens(session, 0, nullptr, 0, &n, &error), error, "cannot read the state's tokens");
  std::vector<int32_t> tokens(n);
  check(inlay_session_get_tokens(session, 0, tokens.data(), n, &n, &error), error, "cannot read the state's tokens");
  return tokens;
}

void go_on(Conversation& conversation, const SavedState& state, const RunRequest& r) {
  Messages said;
  std::string reason;
  if (conversation.form().has_template) {
    if (state.said.empty()) fail(kExitFailed, "the state in " + r.load_state + " is of text without a chat template: --raw goes on with it");
    if (!read_messages(state.said, said, reason)) fail(kExitFailed, "cannot go on with the conversation behind the state in " + r.load_state + ": " + reason);
  }
  conversation.go_on(tokens_of(state.session.get()), said);
}

// Behind the number of tokens: why there are no more, where that was not the model's decision.
const char* ending(const Turn& turn) {
  return turn.interrupted     ? ", interrupted"
         : turn.context_full  ? ", the context is full"
         : turn.at_most       ? ", as many as -n allows"
         : turn.at_stop_text  ? ", at a text of --stop"
         : turn.at_stop_token ? ", at a --stop-token"
         : turn.at_dead_end   ? ", where nothing that is allowed could follow"
                              : "";
}

void print_speeds(const Turn& turn, const RunRequest& r) {
  if (r.quiet) return;
  const auto rate = [](double n, double seconds) { return seconds > 0.0 ? n / seconds : 0.0; };
  std::fprintf(stderr, "prompt: %s in %.3f s, %.1f tokens/s\n", counted(turn.n_prompt, "token").c_str(),
               turn.prompt_seconds, rate(static_cast<double>(turn.n_prompt), turn.prompt_seconds));
  std::fprintf(stderr, "text: %s", counted(static_cast<uint64_t>(turn.n_drawn), "token").c_str());
  if (turn.n_drawn > 1)
    std::fprintf(stderr, " in %.3f s, %.1f tokens/s", turn.draw_seconds, rate(turn.n_drawn - 1, turn.draw_seconds));
  if (r.temperature > 0.0) std::fprintf(stderr, ", seed %llu", static_cast<unsigned long long>(r.seed));
  std::fprintf(stderr, "%s\n", ending(turn));
}

ConversationForm form_of(const inlay_engine* engine, const RunRequest& r) {
  ConversationForm form;
  form.chat_template = r.template_file.empty() ? r.chat_template : read_file(r.template_file);
  form.variables = r.variables;
  form.has_template = !r.raw && (!form.chat_template.empty() || has_chat_template(engine));
  if (!r.variables.empty() && !form.has_template) fail(kExitUsage, "--chat-template-kwargs needs a chat template, and the model's file has none");
  if (r.has_system && !form.has_template) {
    fail(kExitUsage, r.raw ? "--system needs the chat template, which --raw leaves out"
                            : "--system needs a chat template, and the model's file has none");
  }
  if (form.has_template && (r.special || r.no_bos)) {
    fail(kExitUsage, std::string(r.special ? "--special" : "--no-bos") +
                          " is for text as it stands: give --raw with it, or leave it to the model's chat template");
  }
  if (!r.raw && !form.has_template && !r.quiet)
    std::fprintf(stderr, "inlay: the model has no chat template: its text goes on from the prompt as it stands, as with --raw\n");
  form.no_bos = r.no_bos, form.special = r.special;
  if (r.has_begun && !form.has_template) {
    fail(kExitFailed, r.raw ? "--answer needs the chat template, which --raw leaves out" : "--answer needs a chat template, and the model's file has none");
  }
  form.system = r.system;
  form.begun = r.begun;
  form.n_most = r.n_tokens;
  return form;
}

void check_room(const inlay_engine* engine, size_t n_prompt) {
  const inlay_engine_info info = info_of(engine);
  if (n_prompt < static_cast<size_t>(info.n_context)) return;
  std::string message = "the prompt is " + counted(n_prompt, "token") + ", and a context of " +
                        std::to_string(info.n_context) + " has no room for it and a text";
  if (info.n_context < info.n_context_train)
    message +=
        "; --ctx N makes it longer, up to the " + std::to_string(info.n_context_train) + " of the model's training";
  fail(kExitFailed, message);
}

JsonLine token_of(const inlay_engine* engine, int32_t id, float logprob) {
  JsonLine line;
  line.integer("id", static_cast<uint64_t>(id));
  line.text("piece", piece_of(engine, id));
  line.number("logprob", logprob, 6);
  return line;
}

void print_token(const inlay_engine* engine, const inlay_event& event) {
  JsonLine line = token_of(engine, event.token, event.logprob);
  std::vector<std::string> top;
  for (int32_t i = 0; i < event.n_logprobs; ++i) top.push_back(token_of(engine, event.top[i].token, event.top[i].logprob).finished());
  line.list("top", top);
  std::printf("%s\n", line.finished().c_str());
  check_output();
}

int answer_prompt(const inlay_engine* engine, Conversation& conversation, const RunRequest& r, const std::string& prompt) {
  const std::vector<int32_t> tokens = conversation.prompt_of(prompt);
  if (tokens.empty()) fail(kExitFailed, "the prompt is empty, and the model has no BOS token to begin with");
  check_room(engine, tokens.size());
  TextOutput out;
  if (r.echo) out.write(prompt.data(), prompt.size());
  if (r.n_logprobs < 0) out.write(r.begun.data(), r.begun.size());
  const auto print_logprobs = [&](const inlay_event& event) { print_token(engine, event); };
  const Turn turn = r.n_logprobs < 0 ? conversation.answer(out) : conversation.answer(out, print_logprobs);
  if (r.quiet && turn.context_full) std::fprintf(stderr, "inlay: the text ends here: the context is full\n");
  print_speeds(turn, r);
  return turn.interrupted ? kExitInterrupted : 0;
}

// Of -p, -f, or the standard input.
std::string given_prompt(const RunRequest& r) {
  if (!r.has_file) return r.has_prompt ? r.prompt : read_file("-");
  return (r.has_prompt ? r.prompt + "\n" : "") + read_file(r.file);
}

}  // namespace

int run_command(int argc, char** argv) {
  RunRequest r = parse_run_request(argc, argv);
  const bool conversation = !r.has_prompt && !r.has_file && is_terminal(stdin);
  if (conversation && r.n_logprobs >= 0) fail(kExitUsage, "--logprobs is for one prompt, not for a conversation: give -p or -f");
  if (conversation && r.has_begun) fail(kExitUsage, "--answer is for one prompt, given with -p or -f");
  const std::string prompt = conversation ? "" : given_prompt(r);
  if (!r.save_state.empty()) check_writable(r.save_state);
  const EnginePtr engine = load_file(r.model, r.load);
  const SavedState state = r.load_state.empty() ? SavedState{open_session(engine.get(), r), ""} : restored_session(engine.get(), r);
  inlay_session* session = state.session.get();
  if (r.has_prompt && !r.has_file && !r.quiet && input_waits())
    std::fprintf(stderr, "inlay: the standard input is not read, as -p is the prompt; -f - puts it behind that\n");
  Conversation talk(engine.get(), session, form_of(engine.get(), r));
  if (!r.load_state.empty()) go_on(talk, state, r);
  const auto report = [&](const Turn& turn) { print_speeds(turn, r); };
  const auto reseed = [&] {
    ++r.seed;
    set_sampler(session, r);
  };
  const int code = conversation ? converse(talk, report, reseed) : answer_prompt(engine.get(), talk, r, prompt);
  if (!r.save_state.empty()) save_state(session, talk.form().has_template ? talk.as_json() : "", r.save_state);
  return code;
}

}  // namespace inlay::cli
