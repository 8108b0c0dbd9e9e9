#include "examples/server/options.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <vector>

namespace inlay::server {

namespace {

constexpr const char* kUsage =
    "usage: inlay-server MODEL [OPTIONS]\n"
    "Serves a model by OpenAI's protocol: /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models, /health, /metrics, and a page at /.\n\n";

struct Option {
  const char *name, *value, *help;
  std::function<bool(const std::string&)> take;
};

bool read_integer(const std::string& text, int64_t low, int64_t high, int64_t& into) {
  const char* end = text.data() + text.size();
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < low || value > high) return false;
  into = value;
  return true;
}

Option integer(const char* name, int64_t low, int64_t high, int64_t& into, const char* help) {
  return {name, "N", help, [low, high, &into](const std::string& text) { return read_integer(text, low, high, into); }};
}

Option size(const char* name, int64_t low, int64_t high, int64_t unit, size_t& into, const char* help) {
  return {name, "N", help, [low, high, unit, &into](const std::string& text) {
            int64_t value = 0;
            if (!read_integer(text, low, high, value)) return false;
            into = static_cast<size_t>(value * unit);
            return true;
          }};
}

Option text(const char* name, const char* value, std::string& into, const char* help) {
  return {name, value, help, [&into](const std::string& given) {
            into = given;
            return !given.empty();
          }};
}

Option texts(const char* name, const char* value, std::vector<std::string>& into, const char* help) {
  return {name, value, help, [&into](const std::string& given) {
            into.push_back(given);
            return !given.empty();
          }};
}

Option choice(const char* name, const char* names, std::vector<std::string> choices, int32_t& into, const char* help) {
  return {name, names, help, [choices = std::move(choices), &into](const std::string& given) {
            for (size_t i = 0; i < choices.size(); ++i)
              if (choices[i] == given) into = static_cast<int32_t>(i);
            return std::find(choices.begin(), choices.end(), given) != choices.end();
          }};
}

std::vector<Option> all_options(Options& o) {
  return {
      text("--listen", "ADDRESS", o.address, "an address in numbers; beyond this machine only with a key (127.0.0.1)"),
      integer("--port", 0, 65535, o.port, "0: any that is free, which is printed (8080)"),
      text("--key-file", "FILE", o.key_file, "clients must send the key in its first line; or the environment's INLAY_API_KEY"),
      texts("--host-name", "NAME", o.access.hosts, "a name by which clients reach the server, beside localhost and addresses in numbers"),
      texts("--origin", "ORIGIN", o.access.origins, "pages from there may use the server, such as https://example.org"),
      text("--name", "NAME", o.name, "what clients call the model (its file's name)"),
      text("--chat-template-file", "FILE", o.template_file, "a chat template in the place of the model's"),
      text("--chat-format-file", "FILE", o.format_file, "how the model writes reasoning and calls, as JSON (as its template writes them)"),
      choice("--device", "auto|cpu|cuda", {"auto", "cpu", "cuda"}, o.device, "where it runs (auto)"),
      integer("--ctx", 0, INT32_MAX, o.n_context, "longest prompt with its answer, in tokens (what the model was trained for, at most 4096)"),
      integer("--parallel", 1, 1024, o.n_parallel, "answers that are written at a time; others wait (8)"),
      integer("--kv-mib", 0, 1 << 24, o.kv_mib, "memory for keys and values (what the library takes)"),
      integer("--prefix-host-mib", 0, 1 << 24, o.prefix_host_mib, "memory of the host behind it, for what conversations may find again (none)"),
      integer("--threads", 0, 1024, o.n_threads, "that compute (all processors)"),
      choice("--pooling", "default|mean|last|first", {"default", "mean", "last", "first"}, o.pooling, "of embeddings (what the model says)"),
      integer("--queue", 1, 1 << 20, o.n_queue, "requests that wait or run; one more gets status 429 (256)"),
      integer("--max-tokens", 0, INT32_MAX, o.max_tokens, "of an answer, where the client says nothing; 0: no limit but the context (0)"),
      integer("--answer-ms", 0, 1 << 30, o.answer_ms, "for an answer, waiting included; 0: any (600000)"),
      integer("--max-step-ms", 0, 60'000, o.max_step_ms, "bounds the gap that new prompts make in running answers; 0: no bound (100)"),
      size("--connections", 1, 100'000, 1, o.http.n_connections, "that may be open (512)"),
      size("--max-body-kib", 1, 1 << 20, 1024, o.http.limits.body_bytes, "of a request (1024)"),
      integer("--head-ms", 1, 1 << 30, o.http.head_ms, "for the head of a request to come (10000)"),
      integer("--body-ms", 1, 1 << 30, o.http.body_ms, "for its body to come (30000)"),
      integer("--idle-ms", 1, 1 << 30, o.http.idle_ms, "between two requests of a connection (60000)"),
      integer("--write-ms", 1, 1 << 30, o.http.write_ms, "without a byte that the client takes (30000)"),
  };
}

void print_help(const std::vector<Option>& options) {
  std::fputs(kUsage, stdout);
  for (const Option& option : options) std::printf("  %s %s\n      %s\n", option.name, option.value, option.help);
}

int mistake(const std::string& message) {
  std::fprintf(stderr, "inlay-server: %s (inlay-server --help lists the options)\n", message.c_str());
  return 2;
}

int read_arguments(int argc, char** argv, const std::vector<Option>& known, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string given = argv[i];
    if (given == "--help" || given == "-h") {
      print_help(known);
      return 0;
    }
    if (given.empty() || given[0] != '-') {
      if (!options.model.empty()) return mistake("more than one model: " + given);
      options.model = given;
      continue;
    }
    const auto found = std::find_if(known.begin(), known.end(), [&](const Option& option) { return option.name == given; });
    if (found == known.end()) return mistake("there is no option " + given);
    if (++i == argc || !found->take(argv[i])) return mistake(given + " takes " + found->value + ": " + found->help);
  }
  return options.model.empty() ? mistake("no model is named") : -1;
}

bool read_key(const std::string& path, std::string& key) {
  std::ifstream file(path);
  return static_cast<bool>(std::getline(file, key));
}

std::string stem_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  path = path.substr(path.rfind('/') + 1);
  const size_t n = path.size() > 5 && path.compare(path.size() - 5, 5, ".gguf") == 0 ? path.size() - 5 : path.size();
  return path.substr(0, n);
}

}  // namespace

int read_options(int argc, char** argv, Options& options) {
  const int ended = read_arguments(argc, argv, all_options(options), options);
  if (ended >= 0) return ended;
  if (const char* key = std::getenv("INLAY_API_KEY")) options.access.key = key;
  if (!options.key_file.empty() && !read_key(options.key_file, options.access.key)) return mistake("cannot read a key from " + options.key_file);
  for (const char c : options.access.key)
    if (c <= ' ' || c > '~') return mistake("the key has a blank or a character that is not ASCII");
  if (!options.key_file.empty() && options.access.key.empty()) return mistake("the first line of " + options.key_file + " is empty");
  for (const std::string& origin : options.access.origins)
    if (origin.rfind("http", 0) != 0 || origin.back() == '/') return mistake("--origin takes one as https://example.org, not " + origin);
  if (!is_address(options.address)) return mistake("--listen takes an address in numbers");
  if (!is_loopback(options.address) && options.access.key.empty()) return mistake("--listen " + options.address + " needs a key: --key-file FILE");
  options.http.all_body_bytes = std::max(options.http.all_body_bytes, options.http.limits.body_bytes);
  if (options.name.empty()) options.name = stem_of(options.model);
  return -1;
}

}  // namespace inlay::server
