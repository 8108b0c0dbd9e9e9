#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/json_line.h"
#include "examples/cli/progress.h"
#include "src/base/printable.h"

namespace inlay::cli {
namespace {

constexpr int32_t kDefaultWindow = 512, kSessions = 8;

struct PerplexityRequest {
  std::string path, file, against_path;
  LoadOptions load, load_against;
  int32_t window = kDefaultWindow, stride = 0, n_windows = 0;  // 0: half of each window is scored; all windows
  bool has_against = false, special = false, json = false;
};

// The text cut into windows, which may overlap.
struct Windows {
  std::vector<int32_t> tokens, lengths;
  int32_t n_given = 0;  // of each window
};

PerplexityRequest parse_perplexity_request(int argc, char** argv) {
  PerplexityRequest r;
  Options options("perplexity MODEL FILE [options]",
                  "Measures how well a model foresees a text: the perplexity of its tokens, windows of them at a time. With\n"
                  "--against also how far its distributions are from those of another file of the model, or of the same\n"
                  "file on another device, which count as exact.");
  options.integer("-c --ctx --ctx-size", r.window, 2, 1 << 24, "tokens of a window (512)");
  options.integer("--stride", r.stride, 1, 1 << 24,
                  "tokens from one window to the next, of which each scores its last ones as many (by default windows do not\n"
                  "overlap and score their second half)");
  options.integer("--windows", r.n_windows, 1, 1 << 24, "how many windows, from the beginning of the text (all)");
  options.text("--against", "MODEL_B", r.against_path, &r.has_against, "compare with this model");
  add_device_option(options, "--against-device", r.load_against.device, "its device (auto)");
  add_weights_option(options, "--against-weights", r.load_against.weight_dtype, "type of its weights (the file's)");
  options.flag("--special", r.special, "control tokens in the text become their ids");
  options.flag("--json", r.json, "print one line of JSON");
  r.load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 2);
  if (rest.size() < 2) {
    options.usage_error(rest.empty() ? "no model given: name a GGUF file or a Hugging Face folder"
                                     : "no text given: name a file, or - for the standard input");
  }
  if (r.stride >= r.window) options.usage_error("--stride is expected to be less than --ctx");
  r.path = rest[0];
  r.file = rest[1];
  r.load.n_context = r.load_against.n_context = r.window;
  r.load.max_sessions = r.load_against.max_sessions = kSessions;
  r.load_against.n_threads = r.load.n_threads;
  return r;
}

// As llama.cpp's tool counts them: a window that is no beginning of a text begins with BOS in place of its first token, if the
// model's texts begin with BOS at all.
Windows windows_of(const PerplexityRequest& r, const std::vector<int32_t>& text, bool begins_with_bos) {
  const auto window = static_cast<size_t>(r.window), stride = static_cast<size_t>(r.stride ? r.stride : r.window);
  if (text.size() < window) {
    fail(kExitUsage, r.file + " has " + std::to_string(text.size()) + " tokens, fewer than a window of " + std::to_string(window) +
                         "; --ctx sets that");
  }
  Windows out;
  out.n_given = r.stride ? r.window - r.stride : r.window / 2 + 1;
  const size_t n_all = (text.size() - window) / stride + 1;
  const size_t n = r.n_windows ? std::min(n_all, static_cast<size_t>(r.n_windows)) : n_all;
  for (size_t i = 0; i < n; ++i) {
    const auto first = text.begin() + static_cast<ptrdiff_t>(i * stride);
    out.tokens.insert(out.tokens.end(), first, first + static_cast<ptrdiff_t>(window));
    if (begins_with_bos) out.tokens[i * window] = text[0];
    out.lengths.push_back(r.window);
  }
  return out;
}

bool begins_with_bos(const inlay_engine* engine, const std::vector<int32_t>& text) {
  const std::vector<int32_t> empty = tokenize(engine, "", 0);
  return !empty.empty() && !text.empty() && empty[0] == text[0];
}

std::vector<inlay_token_score> scores_of(const PerplexityRequest& r, const inlay_engine* engine, const inlay_engine* against,
                                         const Windows& windows) {
  std::vector<inlay_token_score> scores(windows.tokens.size());
  auto params = sized<inlay_score_params>();
  params.n_given = windows.n_given;
  inlay_error error;
  inlay_status status = INLAY_OK;
  int interrupted = 0;
  {
    Progress progress("scoring " + r.file);
    params.progress = Progress::on_progress;
    params.progress_user = &progress;
    status = inlay_score(engine, against, windows.tokens.data(), windows.tokens.size(), windows.lengths.data(), windows.lengths.size(),
                         &params, scores.data(), sizeof scores[0], nullptr, 0, &error);
    if (progress.interrupted()) interrupted = progress.exit_code();
  }
  if (status == INLAY_CANCELLED && interrupted != 0) fail(interrupted, "scoring " + r.file + " was interrupted");
  check(status, error, "cannot score", r.file);
  std::erase_if(scores, [](const inlay_token_score& s) { return s.rank < 0; });
  return scores;
}

struct Mean {
  double value = 0, error = 0;  // of the mean: standard deviation over the root of the number
};

template <class Get>
Mean mean_of(const std::vector<inlay_token_score>& scores, const Get& get) {
  double sum = 0, squares = 0;
  for (const inlay_token_score& s : scores) sum += get(s);
  const auto n = static_cast<double>(scores.size());
  const double mean = sum / n;
  for (const inlay_token_score& s : scores) squares += (get(s) - mean) * (get(s) - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : 0};
}

// exp of a mean: a perplexity, or the ratio of two.
Mean exponential(const Mean& m) { return {std::exp(m.value), std::exp(m.value) * m.error}; }

struct Summary {
  Mean perplexity;
  Mean against, ratio, divergence;
  double divergence_p99 = 0, divergence_max = 0, same_best = 0;
};

Summary summary_of(const std::vector<inlay_token_score>& scores, bool has_against) {
  Summary s;
  s.perplexity = exponential(mean_of(scores, [](const inlay_token_score& t) { return -double{t.logprob}; }));
  if (!has_against) return s;
  s.against = exponential(mean_of(scores, [](const inlay_token_score& t) { return -double{t.against_logprob}; }));
  s.ratio = exponential(mean_of(scores, [](const inlay_token_score& t) { return double{t.against_logprob} - t.logprob; }));
  s.divergence = mean_of(scores, [](const inlay_token_score& t) { return double{t.divergence}; });
  s.same_best = mean_of(scores, [](const inlay_token_score& t) { return double(t.same_best); }).value;
  std::vector<float> sorted;
  for (const inlay_token_score& t : scores) sorted.push_back(t.divergence);
  std::ranges::sort(sorted);
  s.divergence_p99 = sorted[std::min(sorted.size() - 1, sorted.size() * 99 / 100)];
  s.divergence_max = sorted.back();
  return s;
}

void print_json(const PerplexityRequest& r, const inlay_engine* engine, const inlay_engine* against, const Windows& windows,
                size_t n_scored, const Summary& s) {
  JsonLine line;
  line.text("model", r.path);
  line.text("file", r.file);
  line.text("device", device_name(info_of(engine).device));
  line.integer("windows", windows.lengths.size());
  line.integer("window", static_cast<uint64_t>(r.window));
  line.integer("scored", n_scored);
  line.number("perplexity", s.perplexity.value, 6);
  line.number("perplexity_error", s.perplexity.error, 6);
  if (against) {
    line.text("against", r.against_path);
    line.text("against_device", device_name(info_of(against).device));
    line.number("against_perplexity", s.against.value, 6);
    line.number("ratio", s.ratio.value, 8);
    line.number("ratio_error", s.ratio.error, 8);
    line.number("kl_mean", s.divergence.value, 10);
    line.number("kl_error", s.divergence.error, 10);
    line.number("kl_p99", s.divergence_p99, 10);
    line.number("kl_max", s.divergence_max, 10);
    line.number("same_best", s.same_best, 6);
  }
  std::printf("%s\n", line.finished().c_str());
}

void print_text(const PerplexityRequest& r, const Windows& windows, size_t n_scored, const Summary& s) {
  const auto shown = [](const std::string& path) { return printable(path, LineEnds::escaped); };
  std::printf("perplexity %.4f +- %.4f: %s, %zu tokens in %zu windows of %d\n", s.perplexity.value, s.perplexity.error,
              shown(r.path).c_str(), n_scored, windows.lengths.size(), r.window);
  if (!r.has_against) return;
  std::printf("perplexity %.4f +- %.4f: %s\n", s.against.value, s.against.error, shown(r.against_path).c_str());
  std::printf("ratio      %.5f +- %.5f\n", s.ratio.value, s.ratio.error);
  std::printf("KL         mean %.3e +- %.1e, p99 %.3e, largest %.3e nats\n", s.divergence.value, s.divergence.error,
              s.divergence_p99, s.divergence_max);
  std::printf("same best  %.2f %% of the tokens\n", 100 * s.same_best);
}

}  // namespace

int perplexity_command(int argc, char** argv) {
  const PerplexityRequest r = parse_perplexity_request(argc, argv);
  const std::string text = read_file(r.file);
  const EnginePtr engine = load_file(r.path, r.load);
  EnginePtr against;
  if (r.has_against) against = load_file(r.against_path, r.load_against);
  const std::vector<int32_t> tokens = tokenize(engine.get(), text, r.special ? INLAY_TOKENIZE_PARSE_SPECIAL : 0);
  const Windows windows = windows_of(r, tokens, begins_with_bos(engine.get(), tokens));
  const std::vector<inlay_token_score> scores = scores_of(r, engine.get(), against.get(), windows);
  const Summary summary = summary_of(scores, r.has_against);
  if (r.json) {
    print_json(r, engine.get(), against.get(), windows, scores.size(), summary);
  } else {
    print_text(r, windows, scores.size(), summary);
  }
  return 0;
}

}  // namespace inlay::cli
