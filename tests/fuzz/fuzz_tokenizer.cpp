// The first byte chooses, the rest is a text for a small tokenizer, or (kVocabulary) a GGUF file whose metadata is a
// vocabulary. Ids must be in range, and a well-formed text must come back as it was.
#include <array>
#include <string>

#include "src/formats/gguf.h"
#include "src/formats/text.h"
#include "src/tokenizer/tokenizer.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/vocabularies.h"

namespace {

using namespace inlay;

// Bits of the first byte; kPre and up choose the pre-tokenizer of BPE.
enum : uint8_t { kSpm = 1, kAddSpecial = 2, kParseSpecial = 4, kShowSpecial = 8, kPre = 16, kVocabulary = 128 };
constexpr std::array<const char*, 8> kPres = {"gpt-2",  "llama-bpe",    "qwen2",   "starcoder",
                                              "falcon", "deepseek-llm", "default", "deepseek-coder"};

std::unique_ptr<Tokenizer> make(const testing::GgufImage& image) {
  const auto bytes = image.build();
  const auto file = read_gguf(borrow_memory(bytes, "vocabulary"));
  FUZZ_CHECK(file.ok());
  auto tokenizer = Tokenizer::from_metadata(file->metadata());
  if (!tokenizer.ok()) std::fprintf(stderr, "%s\n", tokenizer.status().message.c_str());
  FUZZ_CHECK(tokenizer.ok() && *tokenizer != nullptr);
  return *std::move(tokenizer);
}

struct Tokenizers {
  std::array<std::unique_ptr<Tokenizer>, kPres.size()> bpe;
  std::unique_ptr<Tokenizer> spm = make(fuzz::spm_vocabulary());

  Tokenizers() {
    for (size_t i = 0; i < kPres.size(); ++i) bpe[i] = make(fuzz::bpe_vocabulary(kPres[i]));
  }
};

std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool show_special) {
  std::string out;
  FUZZ_CHECK(tokenizer.decode(ids, {.show_special = show_special}, out).ok());
  return out;
}

// However the bytes are cut, the assembler gives the same complete text.
void check_assembler(std::string_view bytes) {
  std::string whole, pieces;
  Utf8Assembler a, b;
  a.append(bytes, whole);
  a.flush(whole);
  FUZZ_CHECK(a.empty() && is_valid_utf8(whole));
  for (size_t from = 0, n = 1; from < bytes.size(); from += n, n = n % 3 + 1) {
    std::string piece;
    b.append(bytes.substr(from, n), piece);
    FUZZ_CHECK(is_valid_utf8(piece));
    pieces += piece;
  }
  b.flush(pieces);
  FUZZ_CHECK(whole == pieces);
  if (is_valid_utf8(bytes)) FUZZ_CHECK(whole == bytes);
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  std::vector<int32_t> ids = {-7}, again;
  (void)tokenizer.encode(text, options, ids);
  FUZZ_CHECK(!ids.empty() && ids[0] == -7);  // appended
  ids.erase(ids.begin());
  (void)tokenizer.encode(text, options, again);
  FUZZ_CHECK(ids == again);
  for (const int32_t id : ids) {
    FUZZ_CHECK(id >= 0 && id < tokenizer.n_tokens());
    (void)tokenizer.piece(id), (void)tokenizer.kind(id), (void)tokenizer.score(id),
        (void)tokenizer.is_end_of_generation(id);
  }
  return ids;
}

void run_text(uint8_t options, std::string_view text) {
  static const Tokenizers tokenizers;
  const bool spm = options & kSpm;
  const Tokenizer& tokenizer = spm ? *tokenizers.spm : *tokenizers.bpe[(options / kPre) % kPres.size()];
  const std::vector<int32_t> ids = encode(
      tokenizer, text, {.add_special = (options & kAddSpecial) != 0, .parse_special = (options & kParseSpecial) != 0});
  (void)decode(tokenizer, ids, options & kShowSpecial);

  // Without special tokens both directions are exact, but that SPM cannot tell U+2581 from a space.
  const std::string back = decode(tokenizer, encode(tokenizer, text, {.add_special = false}), true);
  FUZZ_CHECK(is_valid_utf8(back));
  if (is_valid_utf8(text) && (!spm || text.find("\xE2\x96\x81") == text.npos)) FUZZ_CHECK(back == text);
  check_assembler(text);
}

void run_vocabulary(std::string_view file) {
  const auto checkpoint = read_gguf(borrow_memory(std::as_bytes(std::span(file)), "fuzz"));
  if (!checkpoint.ok()) return;
  const auto tokenizer = Tokenizer::from_metadata(checkpoint->metadata());
  if (!tokenizer.ok()) {
    FUZZ_CHECK(tokenizer.status().code != Code::internal && !tokenizer.status().message.empty());
    return;
  }
  if (*tokenizer == nullptr) return;
  const Tokenizer& t = **tokenizer;
  FUZZ_CHECK(t.n_tokens() > 0 && t.bos() < t.n_tokens() && t.eos() < t.n_tokens());
  for (const char* text :
       {"", " the thing's\n\n  123 caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\xFF", "<s><user><|endoftext|>aaaaa"})
    for (const bool special : {false, true}) {
      const auto ids = encode(t, text, {.add_special = special, .parse_special = special});
      (void)decode(t, ids, special);
    }
  for (int32_t id = 0; id < t.n_tokens(); ++id) (void)decode(t, {id}, true);
  std::string out;
  FUZZ_CHECK(!t.decode(std::array{t.n_tokens()}, {}, out).ok());
  FUZZ_CHECK(!t.decode(std::array{-1}, {}, out).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] & kVocabulary)
    run_vocabulary(rest);
  else
    run_text(data[0], rest);
  return 0;
}
