// Prints how long vocabularies take to load and how fast text is encoded and decoded, on one core.
//
// usage: tokenizer_speed VOCABULARY.gguf|TOKENIZER.json TEXT_FILE [REPETITIONS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "src/formats/gguf.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/tokenizer.h"

namespace {

template <class Work>
double best_seconds(int repetitions, Work work) {
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (seconds.count() < best) best = seconds.count();
  }
  return best;
}

int fail(const char* what, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", what, message.c_str());
  return 1;
}

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

using Load = std::function<inlay::Result<std::unique_ptr<inlay::Tokenizer>>()>;

// Loads from memory: of a GGUF file, its metadata; of a tokenizer.json, its text.
Load loader_of(const std::string& path) {
  if (path.ends_with(".json"))
    return [text = read_file(path.c_str())] {
      return inlay::read_tokenizer_json({.tokenizer = text, .config = {}, .end_ids = {}});
    };
  auto file = std::make_shared<inlay::Result<inlay::Checkpoint>>(inlay::open_gguf(path));
  return [file]() -> inlay::Result<std::unique_ptr<inlay::Tokenizer>> {
    if (!file->ok()) return file->status();
    return inlay::Tokenizer::from_metadata((*file)->metadata());
  };
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fail("usage", "tokenizer_speed VOCABULARY.gguf|TOKENIZER.json TEXT_FILE [REPETITIONS]");
  const int repetitions = argc > 3 ? std::atoi(argv[3]) : 7;
  const Load load = loader_of(argv[1]);
  inlay::Result<std::unique_ptr<inlay::Tokenizer>> tokenizer = load();
  if (!tokenizer.ok() || *tokenizer == nullptr) return fail(argv[1], tokenizer.status().message);
  const inlay::Tokenizer& t = **tokenizer;
  const double load_seconds = best_seconds(repetitions, [&] { auto again = load(); });

  const std::string text = read_file(argv[2]);
  if (text.empty()) return fail(argv[2], "cannot be read, or is empty");
  std::vector<int32_t> ids;
  std::string back;
  const double encode = best_seconds(repetitions, [&] { ids.clear(), (void)t.encode(text, {.add_special = false}, ids); });
  const double decode = best_seconds(repetitions, [&] {
    back.clear();
    if (!t.decode(ids, {}, back).ok()) std::abort();
  });
  std::printf(
      "{\"tokens\": %d, \"load_ms\": %.1f, \"bytes\": %zu, \"ids\": %zu, \"encode_mb_s\": %.1f, \"decode_mb_s\": "
      "%.1f}\n",
      t.n_tokens(), load_seconds * 1e3, text.size(), ids.size(), text.size() / encode / 1e6,
      text.size() / decode / 1e6);
  return 0;
}
