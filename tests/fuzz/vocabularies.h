// Small vocabularies as GGUF images: byte-level BPE and SPM, each complete for all bytes, Unigram and WordPiece.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/gguf_image.h"

namespace inlay::fuzz {

enum : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6 };  // GGUF's token types

inline std::string utf8_of(uint32_t code_point) {  // below U+0800
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xC0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3F))};
}

// The character that byte-level BPE writes for a byte: printable Latin-1 stands for itself, the rest from U+0100 on.
inline std::string bpe_character(int byte) {
  const auto printable = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  if (printable(byte)) return utf8_of(static_cast<uint32_t>(byte));
  uint32_t n = 0;
  for (int b = 0; b < byte; ++b) n += !printable(b);
  return utf8_of(0x100 + n);
}

inline std::string bpe_text(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += bpe_character(static_cast<uint8_t>(c));
  return out;
}

inline testing::GgufImage bpe_vocabulary(std::string_view pre) {
  std::vector<std::string> tokens, merges;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(bpe_character(byte));
  const std::pair<const char*, const char*> pairs[] = {
      {"t", "h"},   {"th", "e"},  {" ", "the"}, {"i", "n"},       {"in", "g"},          {" ", " "},      {"  ", "  "},
      {"\n", "\n"}, {"1", "2"},   {"12", "3"},  {"'", "s"},       {"\xC3", "\xA9"},     {"e", "r"},      {" ", "t"},
      {"a", "a"},   {"aa", "aa"}, {"aa", "a"},  {"\xE2", "\x82"}, {"\xE2\x82", "\xAC"}, {"\xF0", "\x9F"}};
  for (const auto& [left, right] : pairs) {
    merges.push_back(bpe_text(left) + " " + bpe_text(right));
    tokens.push_back(bpe_text(std::string(left) + right));
  }
  std::vector<int32_t> types(tokens.size(), kNormal);
  const auto add = [&](const char* text, int32_t type) {
    tokens.push_back(text);
    types.push_back(type);
    return static_cast<uint32_t>(tokens.size() - 1);
  };
  const uint32_t bos = add("<|begin|>", kControl), eos = add("<|endoftext|>", kControl);
  add("<user>", kUserDefined);
  add("<us", kUserDefined);
  testing::GgufImage image;
  image.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre);
  image.texts("tokenizer.ggml.tokens", tokens).texts("tokenizer.ggml.merges", merges);
  image.array("tokenizer.ggml.token_type", MetaType::i32, types);
  image.u32("tokenizer.ggml.bos_token_id", bos).u32("tokenizer.ggml.eos_token_id", eos);
  image.boolean("tokenizer.ggml.add_bos_token", true);
  return image;
}

inline testing::GgufImage spm_vocabulary() {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {kUnknown, kControl, kControl};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", byte);
    tokens.push_back(text);
    types.push_back(kByte);
  }
  const std::string space = "\xE2\x96\x81";
  std::vector<std::string> pieces = {space + "t", "th", "he", space + "the", "in", "ing", space + space, "er", space};
  for (char c = 'a'; c <= 'z'; ++c) pieces.push_back(std::string(1, c));
  for (const char* piece : {"\xC3\xA9", "\xE2\x82\xAC", "\n", "1", "aa", "aaaa"}) pieces.push_back(piece);
  std::vector<float> scores(tokens.size(), 0.0f);
  for (size_t i = 0; i < pieces.size(); ++i) {
    tokens.push_back(pieces[i]);
    types.push_back(kNormal);
    scores.push_back(-1.0f - static_cast<float>(i / 2));  // pairs of equal scores
  }
  testing::GgufImage image;
  image.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", tokens);
  image.array("tokenizer.ggml.scores", MetaType::f32, scores);
  image.array("tokenizer.ggml.token_type", MetaType::i32, types);
  image.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  image.u32("tokenizer.ggml.unknown_token_id", 0);
  return image;
}

inline testing::GgufImage unigram_vocabulary() {
  const std::string space = "\xE2\x96\x81";
  testing::GgufImage image;
  image.text("tokenizer.ggml.model", "t5");
  image.texts("tokenizer.ggml.tokens",
              {"<unk>", "</s>", "<user>", space, space + "the", "th", "e", "t", "h", "a", "aa", "\"\\"});
  image.array<float>("tokenizer.ggml.scores", MetaType::f32, {0, 0, 0, -1, -2, -3, -3.5f, -4, -4, -5, -6, -7});
  image.array<int32_t>("tokenizer.ggml.token_type", MetaType::i32,
                       {kUnknown, kControl, kUserDefined, kNormal, kNormal, kNormal, kNormal, kNormal, kNormal, kNormal,
                        kNormal, kNormal});
  image.u32("tokenizer.ggml.eos_token_id", 1).u32("tokenizer.ggml.unknown_token_id", 0);
  image.boolean("tokenizer.ggml.remove_extra_whitespaces", true).boolean("tokenizer.ggml.add_space_prefix", true);
  return image;
}

inline testing::GgufImage word_piece_vocabulary() {
  const std::string begin = "\xE2\x96\x81";
  testing::GgufImage image;
  image.text("tokenizer.ggml.model", "bert");
  image.texts("tokenizer.ggml.tokens", {"[UNK]", "[CLS]", "[SEP]", begin + "the", begin + "th", "ing", begin + "a", "a",
                                        begin + "'", begin + "1"});
  image.array<int32_t>("tokenizer.ggml.token_type", MetaType::i32,
                       {kUnknown, kControl, kControl, kNormal, kNormal, kNormal, kNormal, kNormal, kNormal, kNormal});
  image.u32("tokenizer.ggml.cls_token_id", 1).u32("tokenizer.ggml.seperator_token_id", 2);
  return image;
}

}  // namespace inlay::fuzz
