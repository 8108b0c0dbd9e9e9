#include "src/base/printable.h"

#include <gtest/gtest.h>

#include <vector>

namespace inlay {
namespace {

TEST(Printable, WhatIsNotObeyedStays) {
  for (const char* text : {"", "plain", "caf\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x8E\xB2", "C:\\model", "\xC2\xA0", "\xE2\x80\xA7"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"a\x1b[2Jb", "a\\x1b[2Jb"}, {"\n\t\r", "\\n\\t\\r"},         {{"\0", 1}, "\\x00"},
      {"\x7f", "\\x7f"},           {"\xC2\x9B" "2J", "\\u009b2J"},  {"\xE2\x80\xAE" "txt", "\\u202etxt"},
      {"\xE2\x81\xA6", "\\u2066"}, {"\xE2\x80\xA8", "\\u2028"},     {"\xD8\x9C", "\\u061c"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(printable(text), wanted);
  EXPECT_EQ(printable("a\nb\x1b", LineEnds::kept), "a\nb\\x1b");
}

TEST(Printable, BytesThatAreNoCharacters) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"\xFF", "\\xff"},         {"\x80", "\\x80"},
      {"\xC3", "\\xc3"},         {"\xC0\xAF", "\\xc0\\xaf"},
      {"\xED\xA0\x80", "\\xed\\xa0\\x80"}, {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xE6\x97", "\\xe6\\x97"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(printable(text), wanted);
}

// Nothing is cut inside a character or an escape, whatever room there is.
TEST(Printable, RoomThatIsTooSmall) {
  const std::string_view text = "a\x1b\xC3\xA9\xE2\x80\xAE";
  const std::vector<size_t> ends = {0, 1, 5, 7, 13};
  for (size_t cap = 0; cap <= 16; ++cap) {
    char out[16];
    size_t wanted = 0;
    for (const size_t end : ends) wanted = end <= cap ? end : wanted;
    EXPECT_EQ(write_printable(text, out, cap), wanted) << cap;
  }
}

}  // namespace
}  // namespace inlay
