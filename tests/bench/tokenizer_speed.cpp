// Prints how long vocabularies take to load and how fast text is encoded and decoded, on one core.
//
// usage: tokenizer_speed VOCABULARY.gguf TEXT_FILE [REPETITIONS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "src/formats/gguf.h"
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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fail("usage", "tokenizer_speed VOCABULARY.gguf TEXT_FILE [REPETITIONS]");
  const int repetitions = argc > 3 ? std::atoi(argv[3]) : 7;
  inlay::Result<inlay::Checkpoint> file = inlay::open_gguf(argv[1]);
  if (!file.ok()) return fail(argv[1], file.status().message);
  inlay::Result<std::unique_ptr<inlay::Tokenizer>> tokenizer = inlay::Tokenizer::from_metadata(file->metadata());
  if (!tokenizer.ok() || *tokenizer == nullptr) return fail(argv[1], tokenizer.status().message);
  const inlay::Tokenizer& t = **tokenizer;
  const double load =
      best_seconds(repetitions, [&] { auto again = inlay::Tokenizer::from_metadata(file->metadata()); });

  std::ifstream in(argv[2], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (text.empty()) return fail(argv[2], "cannot be read, or is empty");
  std::vector<int32_t> ids;
  std::string back;
  const double encode = best_seconds(repetitions, [&] { ids.clear(), t.encode(text, {.add_special = false}, ids); });
  const double decode = best_seconds(repetitions, [&] {
    back.clear();
    if (!t.decode(ids, {}, back).ok()) std::abort();
  });
  std::printf(
      "{\"tokens\": %d, \"load_ms\": %.1f, \"bytes\": %zu, \"ids\": %zu, \"encode_mb_s\": %.1f, \"decode_mb_s\": "
      "%.1f}\n",
      t.n_tokens(), load * 1e3, text.size(), ids.size(), text.size() / encode / 1e6, text.size() / decode / 1e6);
  return 0;
}
