#include <algorithm>
#include <cstdio>
#include <sstream>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"

namespace inlay::cli {
namespace {

constexpr size_t kMostTexts = 10000;  // on the command line

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// (texts, width), row after row.
std::vector<float> embed(const inlay_engine* engine, const std::vector<std::string>& texts,
                         const inlay_embed_params& params) {
  std::vector<inlay_embed_input> inputs;
  for (const std::string& text : texts) inputs.push_back({nullptr, 0, text.data(), text.size()});
  std::vector<float> out;
  inlay_error error;
  size_t n = 0;
  const auto run = [&](float* values, size_t room) {
    check(inlay_embed(engine, inputs.data(), inputs.size(), sizeof(inlay_embed_input), &params, values, room, &n, &error),
          error, "cannot embed");
  };
  run(nullptr, 0);
  out.resize(n);
  run(out.data(), n);
  return out;
}

void print_vectors(const std::vector<float>& values, size_t width) {
  for (size_t i = 0; i < values.size(); ++i) std::printf("%.7g%c", values[i], (i + 1) % width == 0 ? '\n' : ' ');
}

// The cosine of each text to each.
void print_similarities(const std::vector<float>& values, size_t width) {
  const size_t n = values.size() / width;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double product = 0;
      for (size_t k = 0; k < width; ++k) product += double{values[i * width + k]} * values[j * width + k];
      std::printf("%8.4f%c", product, j + 1 == n ? '\n' : ' ');
    }
  }
}

}  // namespace

int embed_command(int argc, char** argv) {
  LoadOptions load;
  std::string file;
  int32_t pooling = INLAY_POOLING_DEFAULT;
  bool has_file = false, raw = false, similarities = false, no_prompt = false;
  Options options("embed MODEL [TEXT...] [options]",
                  "Prints a vector for each text, one a line: its final hidden states, pooled, of length 1.");
  options.text("--file", "PATH", file, &has_file, "take the texts from a file, one a line; - is the standard input");
  options.choice("--pooling", {"default", "mean", "last", "first"}, pooling,
                 "how a text's tokens become one vector (default: as the model's metadata say)");
  options.flag("--no-prompt", no_prompt, "texts without the model's default prompt in front");
  options.flag("--raw", raw, "do not scale to length 1");
  options.flag("--similarity", similarities, "print the cosine of each text to each instead");
  load.add_to(options);
  std::vector<std::string> rest = options.parse(argc, argv, kMostTexts);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");
  if ((rest.size() > 1) == has_file) options.usage_error("give one of TEXT and --file");
  if (raw && similarities) options.usage_error("--similarity takes vectors of length 1, without --raw");

  const std::vector<std::string> texts =
      has_file ? lines_of(read_file(file)) : std::vector<std::string>(rest.begin() + 1, rest.end());
  if (texts.empty()) options.usage_error("the file has no texts: it has no line that is not empty");
  const EnginePtr engine = load_file(rest[0], load);
  auto params = sized<inlay_embed_params>();
  params.pooling = pooling;
  params.flags = (raw ? 0 : INLAY_EMBED_NORMALIZE) | (no_prompt ? INLAY_EMBED_NO_PROMPT : 0);
  const std::vector<float> values = embed(engine.get(), texts, params);
  const size_t width = values.size() / texts.size();
  similarities ? print_similarities(values, width) : print_vectors(values, width);
  return 0;
}

}  // namespace inlay::cli
