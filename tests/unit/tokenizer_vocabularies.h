// Small vocabularies, as GGUF metadata, that tests change before loading.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/formats/gguf.h"
#include "src/tokenizer/tokenizer.h"
#include "tests/unit/gguf_image.h"

namespace inlay::testing {

// The numbers of tokenizer.ggml.token_type
constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;

struct VocabularyFile {
  std::string model = "gpt2";
  std::optional<std::string> pre = "gpt-2";
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  std::optional<std::vector<float>> scores;
  std::optional<std::vector<std::string>> merges;
  std::vector<std::pair<std::string, uint32_t>> numbers;  // tokenizer.ggml.NAME
  std::vector<std::pair<std::string, bool>> flags;        // tokenizer.ggml.NAME
  std::string charsmap;                                   // in base64; empty: none
  std::string general_name = "test";
  bool with_tokens = true, with_types = true;

  int32_t add(const std::string& text, int32_t type = kNormal, float score = 0) {
    tokens.push_back(text);
    types.push_back(type);
    if (scores) scores->push_back(score);
    return static_cast<int32_t>(tokens.size()) - 1;
  }
};

inline std::string utf8_of(uint32_t c) {
  if (c < 0x80) return {static_cast<char>(c)};
  return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
}

// The byte alphabet's character of a byte.
inline std::string byte_char(int byte) {
  const auto own = [](int b) { return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE; };
  if (own(byte)) return utf8_of(static_cast<uint32_t>(byte));
  uint32_t n = 0;
  for (int b = 0; b < byte; ++b) n += !own(b);
  return utf8_of(0x100 + n);
}

// Id of a byte's token: the byte. Then the merges' tokens, then <|end|> (control), <tool> (user-defined).
inline VocabularyFile bpe_vocabulary(const std::vector<std::string>& merges = {"a a", "aa aa", "h e", "l l", "he ll"}) {
  VocabularyFile v;
  for (int byte = 0; byte < 256; ++byte) v.add(byte_char(byte));
  for (const std::string& merge : merges) {
    std::string both = merge;
    both.erase(both.find(' '), 1);
    v.add(both);
  }
  v.merges = merges;
  v.numbers = {{"bos_token_id", static_cast<uint32_t>(v.add("<|start|>", kControl))},
               {"eos_token_id", static_cast<uint32_t>(v.add("<|im_end|>", kControl))}};
  v.add("<tool>", kUserDefined);
  return v;
}

// <unk> <s> </s>, 256 byte tokens, then characters and words.
inline VocabularyFile spm_vocabulary() {
  VocabularyFile v;
  v.model = "llama";
  v.pre = "default";
  v.scores.emplace();
  v.add("<unk>", kUnknown);
  v.add("<s>", kControl);
  v.add("</s>", kControl);
  char text[8];
  for (int byte = 0; byte < 256; ++byte) std::snprintf(text, sizeof(text), "<0x%02X>", byte), v.add(text, kByte);
  float score = -1;
  for (const char* word :
       {"aa", "aaaa", "\u2581a", "ll", "he", "hell", "\u2581hell", "\u2581\u2581", "\u2581", "a", "h", "e", "l", "o"})
    v.add(word, kNormal, score--);
  v.numbers = {{"bos_token_id", 1}, {"eos_token_id", 2}, {"unknown_token_id", 0}};
  return v;
}

inline std::vector<uint8_t> from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> out;
  uint32_t bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    if ((n_bits += 6) >= 8) out.push_back(static_cast<uint8_t>(bits >> (n_bits -= 8)));
  }
  return out;
}

inline GgufImage image_of(const VocabularyFile& v) {
  const std::string prefix = "tokenizer.ggml.";
  GgufImage image;
  image.text("general.architecture", "llama").text("general.name", v.general_name).text(prefix + "model", v.model);
  if (v.pre) image.text(prefix + "pre", *v.pre);
  if (v.with_tokens) image.texts(prefix + "tokens", v.tokens);
  if (v.with_types) image.array(prefix + "token_type", MetaType::i32, v.types);
  if (v.scores) image.array(prefix + "scores", MetaType::f32, *v.scores);
  if (v.merges) image.texts(prefix + "merges", *v.merges);
  for (const auto& [name, value] : v.numbers) image.u32(prefix + name, value);
  for (const auto& [name, value] : v.flags) image.boolean(prefix + name, value);
  if (!v.charsmap.empty()) image.array(prefix + "precompiled_charsmap", MetaType::u8, from_base64(v.charsmap));
  return image;
}

inline Result<std::unique_ptr<Tokenizer>> load(const VocabularyFile& v, std::string_view pre_tokenizer = {}) {
  const GgufImage::Bytes bytes = image_of(v).build();
  INLAY_ASSIGN(Checkpoint file, read_gguf(borrow_memory(bytes, "vocabulary")));
  return Tokenizer::from_metadata(file.metadata(), 0, pre_tokenizer);
}

inline std::unique_ptr<Tokenizer> load_good(const VocabularyFile& v) {
  Result<std::unique_ptr<Tokenizer>> tokenizer = load(v);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

inline std::vector<int32_t> ids_of(const Tokenizer& t, std::string_view text,
                                   EncodeOptions options = {.add_special = false}) {
  std::vector<int32_t> out;
  (void)t.encode(text, options, out);
  return out;
}

inline std::string text_of(const Tokenizer& t, const std::vector<int32_t>& ids, bool show_special = false) {
  std::string out;
  const Status status = t.decode(ids, {.show_special = show_special}, out);
  EXPECT_TRUE(status.ok()) << status.message;
  return out;
}

}  // namespace inlay::testing
