#include "src/engine/text_stream.h"

#include <gtest/gtest.h>

namespace inlay {
namespace {

std::string take_all(TextStream& s) {
  std::string out(s.n_ready(), '\0');
  out.resize(s.take(out.data(), out.size()));
  return out;
}

TEST(TextStream, HoldsBackIncompleteCharacters) {
  TextStream s;
  EXPECT_FALSE(s.append("a\xE2\x82"));
  EXPECT_EQ(take_all(s), "a");
  EXPECT_FALSE(s.append("\xAC!"));
  EXPECT_EQ(take_all(s), "\u20AC!");
  s.append("\xF0\x9F");
  s.flush();
  EXPECT_EQ(take_all(s), "\uFFFD");
}

TEST(TextStream, CutsAtTheFirstStopString) {
  TextStream s;
  ASSERT_TRUE(s.set_stops({"END", "E!"}).ok());
  EXPECT_FALSE(s.append("one E"));
  EXPECT_EQ(take_all(s), "one ") << "an E may begin a stop";
  EXPECT_FALSE(s.append("N"));
  EXPECT_EQ(take_all(s), "");
  EXPECT_FALSE(s.append("T "));
  EXPECT_EQ(take_all(s), "ENT ") << "it did not";
  EXPECT_TRUE(s.append("two END three E!"));
  EXPECT_EQ(take_all(s), "two ");
}

TEST(TextStream, FindsAStopSpreadOverManyTokens) {
  TextStream s;
  ASSERT_TRUE(s.set_stops({"\n\nUser:"}).ok());
  std::string out;
  bool stopped = false;
  for (const char c : std::string_view("Hello\n\nUse\n\nUser: hi")) {
    stopped = s.append({&c, 1});
    out += take_all(s);
    if (stopped) break;
  }
  EXPECT_TRUE(stopped);
  EXPECT_EQ(out, "Hello\n\nUse");
}

TEST(TextStream, ReleasesHeldTextAtTheEnd) {
  TextStream s;
  ASSERT_TRUE(s.set_stops({"abc"}).ok());
  s.append("xab");
  EXPECT_EQ(take_all(s), "x");
  s.flush();
  EXPECT_EQ(take_all(s), "ab");
}

TEST(TextStream, GivesWholeCharactersOnly) {
  TextStream s;
  s.append("a\u20ACb");
  char out[8];
  EXPECT_EQ(s.take(out, 3), 1u) << "the euro sign does not fit";
  EXPECT_EQ(s.take(out, 2), 0u);
  EXPECT_EQ(s.take(out, 4), 4u);
  EXPECT_EQ(std::string(out, 4), "\u20ACb");
}

TEST(TextStream, RefusesBadStops) {
  TextStream s;
  EXPECT_EQ(s.set_stops({"a", ""}).code, Code::invalid_argument);
  EXPECT_EQ(s.set_stops({std::string(TextStream::kMaxStopBytes + 1, 'x')}).code, Code::invalid_argument);
  EXPECT_EQ(s.set_stops(std::vector<std::string>(TextStream::kMaxStops + 1, "x")).code, Code::invalid_argument);
}

}  // namespace
}  // namespace inlay
