#include <cstdio>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "src/base/printable.h"

namespace inlay::cli {
namespace {

constexpr int32_t kDefaultTokens = 17;  // a prompt of 16 and a decode step
constexpr int32_t kNotGiven = -1;

struct CompareRequest {
  std::string path_a, path_b;
  LoadOptions load_a, load_b;
  std::string prompt, file;
  bool has_prompt = false, has_file = false;
  std::vector<int32_t> tokens;
  double limit = 1e-3;
};

CompareRequest parse_compare_request(int argc, char** argv) {
  CompareRequest r;
  int32_t n_threads = 0, device_a = kNotGiven;
  Options options(
      "compare MODEL [MODEL_B] [options]",
      "Runs the same tokens on two devices, or in two files of a model, and prints for every operation how\n"
      "far apart the values are that it leaves behind: cosine, squared error over squares (NMSE), largest\n"
      "difference. The last line names the first operation that differs; then the exit code is 1.");
  add_device_option(options, "--device-a", device_a, "whose values count as right (reference; of two files: auto)");
  add_device_option(options, "--device-b", r.load_b.device, "the other device (auto)");
  add_weights_option(options, "--weights-a", r.load_a.weight_dtype, "type of its weights (the file's)");
  add_weights_option(options, "--weights-b", r.load_b.weight_dtype, "the other device's");
  options.text("-p --prompt", "TEXT", r.prompt, &r.has_prompt, "the text to run; its last token is a step of its own");
  options.text("-f --file", "PATH", r.file, &r.has_file, "the text from a file; - is the standard input");
  options.integers("--tokens", r.tokens, 0, 1 << 24, "token ids in its place (17 fixed ones)");
  options.real("--limit", r.limit, 0, 1e30, "the largest NMSE that is no difference (0.001)");
  options.integer("-t --threads", n_threads, 1, 1024, "threads that compute (all cores)");
  const std::vector<std::string> rest = options.parse(argc, argv, 2);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");
  if (r.has_prompt + r.has_file + !r.tokens.empty() > 1) options.usage_error("give one of --prompt, --file and --tokens");
  r.path_a = rest.front();
  r.path_b = rest.back();
  const bool one_file = rest.size() == 1;
  r.load_a.device = device_a != kNotGiven ? device_a : one_file ? INLAY_DEVICE_REFERENCE : INLAY_DEVICE_AUTO;
  r.load_a.n_threads = r.load_b.n_threads = n_threads;
  r.load_a.max_sessions = r.load_b.max_sessions = 1;
  return r;
}

std::vector<int32_t> tokens_of(const CompareRequest& r, const inlay_engine* engine) {
  if (r.has_prompt || r.has_file) return tokenize(engine, r.has_file ? read_file(r.file) : r.prompt, 0);
  if (!r.tokens.empty()) return r.tokens;
  std::vector<int32_t> tokens;
  for (int64_t i = 1; i <= kDefaultTokens; ++i) {
    tokens.push_back(static_cast<int32_t>(i * 7919 % info_of(engine).n_vocab));
  }
  return tokens;
}

}  // namespace

int compare_command(int argc, char** argv) {
  const CompareRequest r = parse_compare_request(argc, argv);
  const EnginePtr a = load_file(r.path_a, r.load_a), b = load_file(r.path_b, r.load_b);
  const std::vector<int32_t> tokens = tokens_of(r, a.get());
  int32_t first = -1;
  // Every call runs the steps: one with room enough saves the one for the size.
  std::string text(size_t{1} << 20, '\0');
  size_t needed = 0;
  inlay_error error;
  const auto compare = [&] {
    return inlay_compare_text(a.get(), b.get(), tokens.data(), tokens.size(), r.limit, &first, text.data(), text.size(),
                              &needed, &error);
  };
  inlay_status status = compare();
  if (status == INLAY_BUFFER_TOO_SMALL) {
    text.resize(needed);
    status = compare();
  }
  check(status, error, "cannot compare");
  std::printf("a: %s on %s\nb: %s on %s\n", printable(r.path_a).c_str(), device_name(info_of(a.get()).device),
              printable(r.path_b).c_str(), device_name(info_of(b.get()).device));
  std::fwrite(text.data(), 1, needed, stdout);
  return first < 0 ? 0 : kExitFailed;
}

}  // namespace inlay::cli
