// Runs a fuzz target over its corpus and over seeded mutations of it, without libFuzzer: the same inputs on every
// machine and compiler.
//   replay CORPUS_FOLDER N_MUTATIONS
// Beside the folder there may be CORPUS_FOLDER.found, as corpus.py packs it. Fails if the folder holds no input, if
// that file is cut, or if the target ends the program.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using inlay::fuzz::Input;
using inlay::fuzz::Random;

Input read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// False if the file ends inside an input.
bool read_found(const fs::path& path, std::vector<Input>& corpus) {
  const Input data = read_file(path);
  for (size_t at = 0; at < data.size();) {
    uint32_t length = 0;
    if (data.size() - at < sizeof length) return false;
    for (size_t i = 0; i < sizeof length; ++i) length |= uint32_t{data[at + i]} << (8 * i);
    at += sizeof length;
    if (length > data.size() - at) return false;
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(at);
    corpus.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
    at += length;
  }
  return true;
}

std::vector<Input> read_corpus(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Input> corpus;
  for (const fs::path& path : paths) corpus.push_back(read_file(path));
  return corpus;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, [](int) { std::_Exit(70); });  // of FUZZ_CHECK: it has said which property failed
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER N_MUTATIONS\n", argv[0]);
    return 2;
  }
  std::vector<Input> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no inputs in %s\n", argv[0], argv[1]);
    return 2;
  }
  const std::string found = std::string(argv[1]) + ".found";
  if (!read_found(found, corpus)) {
    std::fprintf(stderr, "%s: %s ends inside an input\n", argv[0], found.c_str());
    return 2;
  }
  for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
  const unsigned long n_mutations = std::strtoul(argv[2], nullptr, 10);
  Random random(20240229);
  for (unsigned long i = 0; i < n_mutations; ++i) {
    // A copy of exactly the input's size, so that a sanitizer sees a read past its end.
    Input input = corpus[random.below(corpus.size())];
    inlay::fuzz::mutate(input, corpus[random.below(corpus.size())], random);
    input.shrink_to_fit();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs and %lu mutations\n", corpus.size(), n_mutations);
  return 0;
}
