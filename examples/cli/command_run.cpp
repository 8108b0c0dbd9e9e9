#include <algorithm>
#include <charconv>
#include <cstdio>
#include <random>

#include "examples/cli/commands.h"
#include "examples/cli/conversation.h"
#include "examples/cli/converse.h"
#include "examples/cli/engine.h"
#include "examples/cli/generate.h"
#include "examples/cli/sampler_options.h"
#include "examples/cli/system.h"
#include "examples/cli/words.h"

namespace inlay::cli {
namespace {

constexpr size_t kMostWords = 10000;  // on the command line

struct RunRequest {
  std::string model, prompt, file, system, begun;
  bool has_prompt = false, has_file = false;
  int32_t n_tokens = 256;
  double temperature = 0.8, top_p = 0.95, min_p = 0.0, repeat_penalty = 1.0;
  int32_t top_k = 40;
  uint64_t seed = 0;
  bool has_seed = false, no_bos = false, special = false, echo = false, quiet = false, raw = false, has_system = false, has_begun = false;
  std::vector<std::string> stops, stop_tokens;
  std::vector<int32_t> stop_ids;
  LoadOptions load;
  SamplerOptions sampler;
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
  options.text("-f --file", "PATH", r.file, &r.has_file, "take the prompt from a file; - is the standard input");
  options.integer("-n --tokens", r.n_tokens, -1, INT32_MAX,
                  "most tokens to write (256); 0 or -1: until the context is full");
  options.real("--temp", r.temperature, 0, 100, "temperature (0.8); 0: always the likeliest token");
  options.integer("--top-k", r.top_k, 0, INT32_MAX, "keep the N likeliest tokens (40); 0: off");
  options.real("--top-p", r.top_p, 0, 1, "keep the likeliest tokens that reach this probability (0.95); 1: off");
  options.real("--min-p", r.min_p, 0, 1, "drop tokens below this part of the likeliest one's probability (0: off)");
  options.real("--repeat-penalty", r.repeat_penalty, 0.01, 100, "make the last 64 tokens less likely (1: off)");
  r.sampler.add_to(options);
  options.seed("-s --seed", r.seed, r.has_seed, "the same seed draws the same text (one that changes)");
  options.texts("--stop", "TEXT", r.stops, "end where this text would begin; may be given several times");
  options.texts("--stop-token", "ID", r.stop_tokens, "end when this token is drawn; may be given several times");
  options.flag("--no-bos", r.no_bos, "leave out the BOS token that the model asks for");
  options.flag("--special", r.special, "turn control tokens written in the prompt into their ids");
  options.text("--system -sys", "TEXT", r.system, &r.has_system, "begin with this message of the system");
  options.text("--answer", "TEXT", r.begun, &r.has_begun, "the answer begins with this text, and the model goes on with it");
  options.flag("--raw", r.raw, "give the model the text as it stands, without the chat template in its file");
  options.flag("--echo", r.echo, "write the prompt before the text");
  options.flag("-q --quiet", r.quiet, "no speeds at the end");
  options.integer("-c --ctx", r.load.n_context, 1, 1 << 30,
                  "tokens of prompt and text together (the trained context, at most 4096)");
  r.load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, kMostWords);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");
  if (rest.size() > 1)
    options.usage_error("unexpected argument '" + rest[1] + "': a prompt is given with -p, in quotes if it has blanks");
  if (r.has_prompt && r.has_file) options.usage_error("give one of --prompt and --file");
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
  check(inlay_session_set_stop(session.get(), stops.data(), stops.size(), &error), error, "cannot take --stop");
  return session;
}

// Behind the number of tokens: why there are no more, where that was not the model's decision.
const char* ending(const Turn& turn) {
  return turn.interrupted    ? ", interrupted"
         : turn.context_full ? ", the context is full"
         : turn.at_most      ? ", as many as -n allows"
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
  form.has_template = !r.raw && has_chat_template(engine);
  if (r.has_system && !form.has_template) {
    fail(kExitFailed, r.raw ? "--system needs the chat template, which --raw leaves out"
                            : "--system needs a chat template, and the model's file has none");
  }
  if (form.has_template && (r.special || r.no_bos)) {
    fail(kExitFailed, std::string(r.special ? "--special" : "--no-bos") +
                          " is for text as it stands: give --raw with it, or leave it to the model's chat template");
  }
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

int answer_prompt(const inlay_engine* engine, inlay_session* session, const RunRequest& r, const std::string& prompt) {
  Conversation conversation(engine, session, form_of(engine, r));
  const std::vector<int32_t> tokens = conversation.prompt_of(prompt);
  if (tokens.empty()) fail(kExitFailed, "the prompt is empty, and the model has no BOS token to begin with");
  check_room(engine, tokens.size());
  TextOutput out;
  if (r.echo) out.write(prompt.data(), prompt.size());
  out.write(r.begun.data(), r.begun.size());
  const Turn turn = generate(session, tokens, out);
  if (r.quiet && turn.context_full) std::fprintf(stderr, "inlay: the text ends here: the context is full\n");
  print_speeds(turn, r);
  return turn.interrupted ? kExitInterrupted : 0;
}

}  // namespace

int run_command(int argc, char** argv) {
  const RunRequest r = parse_run_request(argc, argv);
  const bool conversation = !r.has_prompt && !r.has_file && is_terminal(stdin);
  if (conversation && r.has_begun) fail(kExitUsage, "--answer is for one prompt, given with -p or -f");
  const std::string prompt = conversation ? "" : r.has_prompt ? r.prompt : read_file(r.has_file ? r.file : "-");
  const EnginePtr engine = load_file(r.model, r.load);
  const SessionPtr session = open_session(engine.get(), r);
  if (!conversation) return answer_prompt(engine.get(), session.get(), r, prompt);
  Conversation talk(engine.get(), session.get(), form_of(engine.get(), r));
  return converse(talk, [&](const Turn& turn) { print_speeds(turn, r); });
}

}  // namespace inlay::cli
