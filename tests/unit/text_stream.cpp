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

TEST(TextStream, StopsSeeNamesOfControlTokens) {
  struct Case {
    const char* stop;
    std::vector<std::pair<bool, const char*>> tokens;  // whether a control token, and its bytes
    const char* text;                                  // before the stop; all of it where there is none
    bool stops;
  };
  const Case cases[] = {
      {"<|user|>", {{false, "a"}, {true, "<|user|>"}}, "a", true},
      {"user", {{false, "a"}, {true, "<|user|>"}}, "a", true},
      {"\n<|user|>", {{false, "a\n"}, {true, "<|user|>"}}, "a", true},
      {"\n<|user|>", {{false, "a\n"}, {true, "<|other|>"}, {false, "b"}}, "a\nb", false},
      {"<|user|>\nx", {{false, "a"}, {true, "<|user|>"}, {false, "\n"}, {false, "xy"}}, "a", true},
      {"<|user|>\nx", {{false, "a"}, {true, "<|user|>"}, {false, "\n"}, {false, "y"}}, "a\ny", false},
      {"<|a|><|b|>", {{true, "<|a|>"}, {true, "<|b|>"}}, "", true},
      {"<|a|><|b|>", {{true, "<|a|>"}, {false, "x"}, {true, "<|b|>"}}, "x", false},
      {"abc", {{false, "ab"}, {true, "<|a|>"}, {false, "c"}}, "", true},  // the text alone has it
      {"ab<|a|>c", {{false, "xab"}, {true, "<|a|>"}, {false, "c"}}, "x", true},
  };
  for (const Case& c : cases) {
    TextStream s;
    ASSERT_TRUE(s.set_stops({c.stop}).ok());
    bool stopped = false;
    for (const auto& [is_name, bytes] : c.tokens) stopped = is_name ? s.append_name(bytes) : s.append(bytes);
    if (!stopped) s.flush();
    EXPECT_EQ(stopped, c.stops) << c.stop;
    EXPECT_EQ(take_all(s), c.text) << c.stop;
  }
}

TEST(TextStream, ManyNamesBehindTheBeginningOfAStop) {
  TextStream s;
  ASSERT_TRUE(s.set_stops({"ab"}).ok());
  s.append("a");
  for (int i = 0; i < 5000; ++i) EXPECT_FALSE(s.append_name("<|x|>"));
  EXPECT_TRUE(s.append("b"));
}

TEST(TextStream, CompletesACharacterThatOthersBegan) {
  struct Case {
    const char* before;
    std::vector<const char*> tokens;
    const char* text;
  };
  const Case cases[] = {{"caf\xC3", {"\xA9!"}, "\u00E9!"},
                        {"\xE2", {"\x82", "\xAC"}, "\u20AC"},
                        {"x\xF0\x9F", {"\x98", "\x80"}, "\U0001F600"},
                        {"caf\xC3", {"x"}, "x"},
                        {"\xE2\x82", {"y", "\xAC"}, "y\uFFFD"},
                        {"\xE2", {"\x82", "z"}, "z"},
                        {"\xE2", {}, ""},
                        {"whole", {"\xA9"}, "\uFFFD"},
                        {"", {"a"}, "a"}};
  for (const Case& c : cases) {
    TextStream s;
    s.begin_behind(c.before);
    for (const char* bytes : c.tokens) s.append(bytes);
    s.flush();
    EXPECT_EQ(take_all(s), c.text) << c.before;
    s.append("\xA9");
    s.clear();
    s.append("b");
    EXPECT_EQ(take_all(s), "b") << "after clear()";
  }
}

// Such as names of control tokens that no stop string has to do with: they break nothing and take no memory.
TEST(TextStream, NamesThatAreNoPartOfAStopAreNotKept) {
  TextStream stream;
  ASSERT_TRUE(stream.set_stops({"xyz", "<end>"}).ok());
  EXPECT_FALSE(stream.append("xy"));
  EXPECT_FALSE(stream.append_name("[other]"));
  EXPECT_TRUE(stream.append("z"));
  stream.clear();
  EXPECT_FALSE(stream.append("xy"));
  EXPECT_FALSE(stream.append_name("<e"));
  EXPECT_FALSE(stream.append("n"));
  EXPECT_TRUE(stream.append_name("d>"));
}

}  // namespace
}  // namespace inlay
