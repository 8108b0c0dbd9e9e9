// Messages of every format: what they are taken apart into, the same for every split into tokens, and what becomes of those that are wrong.
#include "src/chat_format/chat_parser.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/chat_pieces.h"
#include "tests/unit/chat_messages.h"

namespace inlay {
namespace {

using test::built_in;
using test::cut;
using test::cut_further;
using test::parse;

const std::shared_ptr<const ToolTypes>& tools() {
  static const auto read = std::make_shared<const ToolTypes>(*ToolTypes::read(test::kTools));
  return read;
}

const std::vector<std::string_view> kOthers = {"<|im_start|>", "<|im_end|>"};

// Whole, byte by byte, and cut at random.
void check_row(const test::ChatRow& row, bool with_tokens, std::mt19937& random) {
  const auto format = built_in(row.format, with_tokens);
  const auto pieces = cut(row.text, *format, kOthers), tail = cut(row.tail, *format, kOthers);
  const std::string whole = parse(format, tools(), tail, pieces).text();
  EXPECT_EQ(whole, row.parts) << row.format << (with_tokens ? ", tokens: " : ", text: ") << row.text;
  EXPECT_EQ(parse(format, tools(), tail, cut_further(pieces, [](size_t) { return 1; })).text(), whole) << row.text;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(parse(format, tools(), tail, cut_further(pieces, [&](size_t n) { return 1 + random() % n; })).text(), whole) << row.text;
}

TEST(ChatParser, TakesMessagesApart) {
  std::mt19937 random(1);
  for (const test::ChatRow& row : test::kMessages) {
    check_row(row, false, random);
    check_row(row, true, random);
  }
}

// The table of docs/design/chat-parsing.md: calls without a marker, and content that looks like one.
TEST(ChatParser, BareCallsAndContentThatLooksLikeThem) {
  struct Row {
    const char *format, *text, *without, *with;  // without a list of tools and with one
  };
  const Row rows[] = {
      {"llama3", R"({"name": "now", "parameters": {}})", "B now | A {} | E", "B now | A {} | E"},
      {"llama3", R"({"name": "Ann", "parameters": {}})", "B Ann | A {} | E", R"(C {"name": "Ann", "parameters": {}})"},
      {"llama3", R"({"name": "now", "age": 3})", R"(C {"name": "now", "age": 3})", R"(C {"name": "now", "age": 3})"},
      {"llama3", R"({"name": "now"})", R"(C {"name": "now"})", R"(C {"name": "now"})"},
      {"llama3", R"({"answer": 5})", R"(C {"answer": 5})", R"(C {"answer": 5})"},
      {"llama3", R"({"na)", R"(C {"na (incomplete))", R"(C {"na (incomplete))"},
      {"llama3", R"(So {"name": "now", "parameters": {}})", R"(C So {"name": "now", "parameters": {}})", R"(C So {"name": "now", "parameters": {}})"},
      {"llama3", R"( {"name": "now", "parameters": {}})", "B now | A {} | E", "B now | A {} | E"},
      {"llama3", R"(<|python_tag|>{"name": "Ann", "parameters": {}})", "B Ann | A {} | E", "B Ann | A {} | E"},
      {"pythonic", "[now()]", "B now | A {} | E", "B now | A {} | E"},
      {"pythonic", "[other(a=1)]", R"(B other | A {"a": 1} | E)", "C [other(a=1)]"},
      {"pythonic", "[1, 2]", "C [1, 2]", "C [1, 2]"},
      {"pythonic", "[now](http://a.b)", "C [now](http://a.b)", "C [now](http://a.b)"},
      {"pythonic", "So [now()]", "C So [now()]", "C So [now()]"},
  };
  for (const Row& row : rows) {
    const auto format = built_in(row.format, true);
    const auto pieces = cut(row.text, *format, kOthers), tail = cut("", *format, kOthers);
    EXPECT_EQ(parse(format, nullptr, tail, pieces).text(), row.without) << row.format << ", without tools: " << row.text;
    EXPECT_EQ(parse(format, tools(), tail, pieces).text(), row.with) << row.format << ": " << row.text;
  }
}

TEST(ChatParser, MalformedTextIsContentAndAFlag) {
  std::mt19937 random(2);
  for (const test::ChatRow& row : test::kMalformed) {
    check_row(row, false, random);
    check_row(row, true, random);
  }
}

}  // namespace
}  // namespace inlay
