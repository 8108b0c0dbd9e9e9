#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/json_line.h"
#include "examples/cli/progress.h"
#include "examples/cli/words.h"

namespace inlay::cli {
namespace {

constexpr size_t kMostTexts = 10000;  // on the command line

// An empty line has no vector, and without it those behind it would be counted otherwise than the lines.
std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream stream(read_file(path));
  const std::string name = path == "-" ? "the standard input" : path;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) fail(kExitFailed, name + ": line " + std::to_string(lines.size() + 1) + " is empty, and each line is a text");
    lines.push_back(line);
  }
  if (lines.empty()) fail(kExitFailed, name + " has no texts: it is empty");
  return lines;
}

// (texts, width), row after row.
std::vector<float> embed(const inlay_engine* engine, const std::vector<std::string>& texts,
                         inlay_embed_params params) {
  std::vector<inlay_embed_input> inputs;
  for (const std::string& text : texts) inputs.push_back({nullptr, 0, text.data(), text.size()});
  std::vector<float> out;
  inlay_error error;
  size_t n = 0;
  int interrupted = 0;
  inlay_status status = INLAY_OK;
  {
    Progress progress("embedding " + counted(texts.size(), "text"));
    params.progress = Progress::on_progress;
    params.progress_user = &progress;
    const auto run = [&](float* values, size_t room) {
      return inlay_embed(engine, inputs.data(), inputs.size(), sizeof(inlay_embed_input), &params, values, room, &n, &error);
    };
    status = run(nullptr, 0);
    out.resize(n);
    if (status == INLAY_OK) status = run(out.data(), n);
    if (progress.interrupted()) interrupted = progress.exit_code();
  }
  if (status == INLAY_CANCELLED && interrupted != 0) fail(interrupted, "the embedding was interrupted");
  check(status, error, "cannot embed");
  return out;
}

// The cosine of each text to each: (texts, texts).
std::vector<float> similarities_of(const std::vector<float>& values, size_t width) {
  const size_t n = values.size() / width;
  std::vector<float> cosines;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double product = 0;
      for (size_t k = 0; k < width; ++k) product += double{values[i * width + k]} * values[j * width + k];
      cosines.push_back(static_cast<float>(product));
    }
  }
  return cosines;
}

void print_rows(const std::vector<float>& values, size_t width, const char* form) {
  for (size_t i = 0; i < values.size(); ++i) {
    std::printf(form, static_cast<double>(values[i]));
    std::fputc((i + 1) % width == 0 ? '\n' : ' ', stdout);
  }
}

void print_json(const char* key, const std::vector<float>& values, size_t width) {
  std::vector<std::string> rows;
  for (size_t at = 0; at < values.size(); at += width) rows.push_back(json_numbers(std::span(values).subspan(at, width)));
  JsonLine line;
  line.list(key, rows);
  std::printf("%s\n", line.finished().c_str());
}

}  // namespace

int embed_command(int argc, char** argv) {
  LoadOptions load;
  std::string file;
  int32_t pooling = INLAY_POOLING_DEFAULT;
  bool has_file = false, raw = false, similarities = false, no_prompt = false, json = false;
  Options options("embed MODEL [TEXT...] [options]",
                  "Prints a vector for each text, one a line: its final hidden states, pooled, of length 1.");
  options.text("-f --file", "PATH", file, &has_file, "take the texts from a file, one a line; - is the standard input");
  options.choice("--pooling", {"default", "mean", "last", "first"}, pooling,
                 "how a text's tokens become one vector (default: as the model's metadata say)");
  options.flag("--no-prompt", no_prompt, "texts without the model's default prompt in front");
  options.flag("--raw", raw, "do not scale to length 1");
  options.flag("--similarity", similarities, "print the cosine of each text to each instead");
  options.flag("--json", json, "print one line of JSON: embeddings, or with --similarity the cosines, an array for each text");
  load.add_to(options);
  std::vector<std::string> rest = options.parse(argc, argv, kMostTexts);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");
  if ((rest.size() > 1) == has_file) options.usage_error("give one of TEXT and --file");
  if (raw && similarities) options.usage_error("--similarity takes vectors of length 1, without --raw");

  const std::vector<std::string> texts =
      has_file ? lines_of(file) : std::vector<std::string>(rest.begin() + 1, rest.end());
  const EnginePtr engine = load_file(rest[0], load);
  auto params = sized<inlay_embed_params>();
  params.pooling = pooling;
  params.flags = (raw ? 0 : INLAY_EMBED_NORMALIZE) | (no_prompt ? INLAY_EMBED_NO_PROMPT : 0);
  const std::vector<float> values = embed(engine.get(), texts, params);
  const size_t width = values.size() / texts.size();
  const std::vector<float> shown = similarities ? similarities_of(values, width) : values;
  const size_t n_columns = similarities ? texts.size() : width;
  json           ? print_json(similarities ? "similarities" : "embeddings", shown, n_columns)
  : similarities ? print_rows(shown, n_columns, "%8.4f")
                 : print_rows(shown, n_columns, "%.7g");
  return 0;
}

}  // namespace inlay::cli
