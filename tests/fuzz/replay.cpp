// Runs a fuzz target over its corpus and over seeded mutations of it, without libFuzzer: the same inputs on every
// machine and compiler.
//   replay CORPUS_FOLDER N_MUTATIONS
// Beside the folder there may be CORPUS_FOLDER.found, as corpus.py packs it. Fails if the folder holds no input, if
// that file is cut, or if the target ends the program.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using Input = std::vector<uint8_t>;

// splitmix64: small, and the same everywhere, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(next() % n); }

 private:
  uint64_t state_;
};

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

void overwrite_number(Input& input, Random& random) {
  static constexpr uint64_t kNumbers[] = {
      0,     1,     2,          7,          8,          31,         32,         127,        128,       255,       256,
      65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ull << 32, 1ull << 40, 1ull << 62, INT64_MAX, UINT64_MAX};
  uint64_t value = kNumbers[random.below(std::size(kNumbers))];
  if (random.below(4) == 0) value = input.size() - random.below(64);  // near the input's own size
  const size_t width = size_t{1} << random.below(4);
  if (input.size() < width) return;
  std::memcpy(input.data() + random.below(input.size() - width + 1), &value, width);
}

// Copies, moves or removes a run of bytes; `other` is another input to take it from.
void splice(Input& input, const Input& other, Random& random) {
  const size_t from = random.below(other.size()), at = random.below(input.size());
  const size_t n = std::min(other.size() - from, 1 + random.below(64));
  const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
  const Input run(begin, begin + static_cast<std::ptrdiff_t>(n));
  const auto target = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(3)) {
    case 0:
      input.insert(target, run.begin(), run.end());
      break;
    case 1:
      std::copy_n(run.begin(), std::min(n, input.size() - at), target);
      break;
    default:
      input.erase(target, target + static_cast<std::ptrdiff_t>(std::min(n, input.size() - at)));
      break;
  }
}

Input mutate(const std::vector<Input>& corpus, Random& random) {
  Input input = corpus[random.below(corpus.size())];
  const size_t n_steps = 1 + random.below(4);
  for (size_t i = 0; i < n_steps; ++i) {
    if (input.empty()) input.push_back(static_cast<uint8_t>(random.next()));
    switch (random.below(5)) {
      case 0:
        input[random.below(input.size())] ^= static_cast<uint8_t>(1u << random.below(8));
        break;
      case 1:
        input[random.below(input.size())] = static_cast<uint8_t>(random.next());
        break;
      case 2:
        overwrite_number(input, random);
        break;
      case 3:
        splice(input, corpus[random.below(corpus.size())], random);
        break;
      default:
        if (random.below(4) == 0) input.resize(random.below(input.size() + 1));
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
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
    Input input = mutate(corpus, random);
    input.shrink_to_fit();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs and %lu mutations\n", corpus.size(), n_mutations);
  return 0;
}
