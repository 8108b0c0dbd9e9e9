// Prints a line `MODEL TARGET HASH` for the logits of every GGUF file of a folder on every instruction set: the same bits give the same
// lines on every system. The reference is left out, since its functions are those of the system's C library. Usage:
// logit_hashes FOLDER [SHIFT]: SHIFT changes the prompt.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/golden/loaded_model.h"

namespace inlay::golden {
namespace {

constexpr int32_t kTokens = 24;

// FNV-1a.
void add(uint64_t& hash, std::span<const float> values) {
  for (const std::byte byte : std::as_bytes(values)) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
}

// Of a prompt in one step, and of a single token.
Result<uint64_t> hash_of(const std::string& path, const Target& target, int32_t shift) {
  const BackendConfig config = {.n_kv_blocks = kTokens / kKvBlockTokens + 1, .max_step_tokens = kTokens, .max_sequences = 1,
                                .n_logit_slots = kTokens, .n_context = kTokens, .n_threads = 2};
  INLAY_ASSIGN(const std::unique_ptr<Backend> backend, load_backend(path, target, config));
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < kTokens; ++i) tokens.push_back((i * 7 + shift) % backend->plan().spec.n_vocab);
  uint64_t hash = 0xcbf29ce484222325;
  for (const size_t n : {tokens.size(), size_t{1}}) {
    INLAY_ASSIGN(const std::vector<float> logits, logits_of(*backend, std::span(tokens).first(n)));
    add(hash, logits);
  }
  return hash;
}

int print_hashes(const std::filesystem::path& folder, int32_t shift) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".gguf") files.insert(entry.path());
  for (const std::filesystem::path& file : files) {
    for (const Target& target : all_targets()) {
      if (target.on != Runs::cpu) continue;
      const Result<uint64_t> hash = hash_of(file.string(), target, shift);
      if (!hash.ok()) return std::fprintf(stderr, "%s on %s: %s\n", file.string().c_str(), target.name, hash.status().message.c_str()), 1;
      std::printf("%s %s %016" PRIx64 "\n", file.stem().string().c_str(), target.name, *hash);
    }
  }
  return 0;
}

}  // namespace
}  // namespace inlay::golden

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: logit_hashes FOLDER [SHIFT]\n"), 2;
  return inlay::golden::print_hashes(argv[1], argc > 2 ? std::atoi(argv[2]) : 1);
}
