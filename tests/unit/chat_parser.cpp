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

TEST(ChatParser, MalformedTextIsContentAndAFlag) {
  std::mt19937 random(2);
  for (const test::ChatRow& row : test::kMalformed) {
    check_row(row, false, random);
    check_row(row, true, random);
  }
}

}  // namespace
}  // namespace inlay
