// Pre-tokenizers: the words of each row's pattern, and the character classes they stand on.
#include <gtest/gtest.h>

#include <fstream>

#include <ctime>
#include <string>
#include <vector>

#include "src/tokenizer/pre_tokenizer.h"
#include "src/tokenizer/unicode_class.h"

namespace inlay {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view name, const std::string& text) {
  const PreTokenizer* rules = find_pre_tokenizer(name);
  EXPECT_NE(rules, nullptr) << name;
  Words out;
  if (rules == nullptr) return out;
  auto add = [&](const char* begin, const char* end) { out.emplace_back(begin, end); };
  const auto splitter = WordSplitter::compile(*rules);
  EXPECT_TRUE(splitter.ok()) << splitter.status().message;
  if (splitter.ok()) splitter->split(text.data(), text.data() + text.size(), add);
  return out;
}

TEST(PreTokenizer, Gpt2) {
  EXPECT_EQ(words_of("gpt-2", "I'm here  now."), (Words{"I", "'m", " here", " ", " now", "."}));
  EXPECT_EQ(words_of("gpt-2", "DON'T 12345 x1"), (Words{"DON", "'", "T", " 12345", " x", "1"}));
  EXPECT_EQ(words_of("gpt-2", "a\n\n b \t"), (Words{"a", "\n\n", " b", " \t"}));
  EXPECT_EQ(words_of("gpt-2", "caf\u00E9\u3000\u6F22\u5B57!?"), (Words{"caf\u00E9", "\u3000", "\u6F22\u5B57", "!?"}));
  EXPECT_EQ(words_of("gpt-2", ""), Words{});
}

TEST(PreTokenizer, LlamaBpe) {
  EXPECT_EQ(words_of("llama-bpe", "DON'T 12345"), (Words{"DON", "'T", " ", "123", "45"}));
  EXPECT_EQ(words_of("llama-bpe", "(hello) !!\n\n  x"), (Words{"(hello", ")", " !!\n\n", " ", " x"}));
  EXPECT_EQ(words_of("llama-bpe", " \n \n  y"), (Words{" \n \n", " ", " y"}));
  EXPECT_EQ(words_of("llama-bpe", "\tif \r\nz"), (Words{"\tif", " \r\n", "z"}));
}

TEST(PreTokenizer, RowsDifferWhereTheirPatternsDo) {
  const std::string digits = "Year 12345";
  EXPECT_EQ(words_of("gpt-2", digits), (Words{"Year", " 12345"}));
  EXPECT_EQ(words_of("qwen2", digits), (Words{"Year", " ", "1", "2", "3", "4", "5"}));
  EXPECT_EQ(words_of("llama-bpe", digits), (Words{"Year", " ", "123", "45"}));
  EXPECT_EQ(words_of("starcoder", digits), (Words{"Year", " ", "1", "2", "3", "4", "5"}));
  EXPECT_EQ(words_of("default", digits), (Words{"Year", " ", "123", "45"}));
  EXPECT_EQ(words_of("falcon", digits), (Words{"Year", " ", "123", "45"}));
  const std::string accent = "e\u0301t";
  EXPECT_EQ(words_of("qwen2", accent), (Words{"e", "\u0301t"}));
  EXPECT_EQ(words_of("qwen35", accent), (Words{"e\u0301t"}));
}

TEST(PreTokenizer, Stages) {
  EXPECT_EQ(words_of("starcoder", "a  1"), (Words{"a", "  ", "1"}));  // the end of a part counts as the end of the text
  EXPECT_EQ(words_of("deepseek-llm", "Hi, \u4F60\u597D 42\n\n  x  "),
            (Words{"Hi", ",", " ", "\u4F60\u597D", " ", "42", "\n", "\n", " ", " x", "  "}));
  EXPECT_EQ(words_of("deepseek-coder", "a 12!"), (Words{"a", " ", "1", "2", "!"}));
  EXPECT_EQ(words_of("default", "a$=b`c"), (Words{"a", "$=", "b", "`", "c"}));
  EXPECT_EQ(words_of("falcon", "a$=`b"), (Words{"a", "$=`", "b"}));
}

TEST(PreTokenizer, Names) {
  for (const char* name : {"gpt-2", "llama-bpe", "qwen2", "deepseek-llm", "starcoder", "default", "llama3", "smollm"})
    EXPECT_NE(find_pre_tokenizer(name), nullptr) << name;
  for (const char* name : {"", "gpt", "qwen2 ", "GPT-2"}) EXPECT_EQ(find_pre_tokenizer(name), nullptr) << name;
  EXPECT_TRUE(similar_pre_tokenizers("lama-bpe").starts_with("llama-bpe, "));
  EXPECT_TRUE(similar_pre_tokenizers("qwen3").starts_with("qwen2, ")) << similar_pre_tokenizers("qwen3");
  EXPECT_TRUE(find_pre_tokenizer("llama-bpe")->adds_bos);
  EXPECT_FALSE(find_pre_tokenizer("qwen2")->adds_bos);
}

// Words cover the text, and long runs of anything take time linear in their length.
TEST(PreTokenizer, LongRuns) {
  const std::string units[] = {"a",   " ", "1",  "!",      "\n", "\u6F22", "\u3000",
                               " \n", "'", "'s", "\u0301", "a ", " 1",     " \u6F22"};
  for (const char* name :
       {"gpt-2", "llama-bpe", "qwen2", "qwen35", "starcoder", "deepseek-llm", "deepseek-coder", "falcon", "default"})
    for (const std::string& unit : units) {
      std::string text;
      while (text.size() < 300000) text += unit;
      text += "\u4E00";
      const std::clock_t start = std::clock();  // of this program, whatever runs beside it
      std::string joined;
      for (const std::string& word : words_of(name, text)) joined += word;
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      EXPECT_EQ(joined, text) << name << " " << unit;
      EXPECT_LT(seconds, 2.0) << name << " " << unit;
    }
}

TEST(CharClass, KnownCharacters) {
  const std::pair<uint32_t, CharClass> rows[] = {
      {'a', CharClass::letter},     {0xAA, CharClass::letter},     {0x6F22, CharClass::letter},
      {0x1F1E6, CharClass::symbol}, {0x0301, CharClass::mark},     {0x200D, CharClass::other},
      {'7', CharClass::number},     {0xBD, CharClass::number},     {0x2167, CharClass::number},
      {0x0663, CharClass::number},  {'!', CharClass::punctuation}, {0x3002, CharClass::punctuation},
      {'$', CharClass::symbol},     {0x20AC, CharClass::symbol},   {' ', CharClass::space},
      {0x85, CharClass::space},     {0xA0, CharClass::space},      {0x3000, CharClass::space},
      {0x200B, CharClass::other},   {0x2028, CharClass::space},    {0, CharClass::other},
      {0x10FFFF, CharClass::other}, {0x1C, CharClass::other},      {0x20000, CharClass::letter},
  };
  for (const auto& [code_point, expected] : rows) EXPECT_EQ(char_class(code_point), expected) << code_point;
}

TEST(CharClass, RunsAscend) {
  ASSERT_GT(kCategoryRunsSize, 1000u);
  EXPECT_EQ(kCategoryRuns[0] >> 8, 0u);
  for (size_t i = 1; i < kCategoryRunsSize; ++i) EXPECT_LT(kCategoryRuns[i - 1] >> 8, kCategoryRuns[i] >> 8);
}

TEST(Words, TheDocumentationHasAllNames) {
  std::ifstream file(INLAY_SOURCE_DIR "/docs/families.md");
  std::string found, expected;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Names of splitters: ") || (!found.empty() && !found.ends_with('.'))) found += (found.empty() ? "" : " ") + line;
  }
  for (const std::string_view name : pre_tokenizer_names()) expected += (expected.empty() ? "`" : ", `") + std::string(name) + "`";
  EXPECT_EQ(found, "Names of splitters: " + expected + ".");
}

}  // namespace
}  // namespace inlay
