// The normalization forms; expected texts are those of Python's unicodedata (Unicode 14).
#include "src/tokenizer/normalization.h"

#include <gtest/gtest.h>

#include <string>

namespace inlay {
namespace {

std::string in_form(std::string_view text, NormalizationForm form) {
  std::string out = "before ";
  append_normalized(text, form, out);
  EXPECT_TRUE(out.starts_with("before "));
  return out.substr(7);
}

TEST(Normalization, Forms) {
  const struct {
    const char *text, *nfc, *nfd, *nfkc, *nfkd;
  } rows[] = {
      {"", "", "", "", ""},
      {"plain ASCII\n", "plain ASCII\n", "plain ASCII\n", "plain ASCII\n", "plain ASCII\n"},
      {"e\u0301\u00E9", "\u00E9\u00E9", "e\u0301e\u0301", "\u00E9\u00E9", "e\u0301e\u0301"},
      {"q\u0307\u0323", "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307"},
      {"\u1E9B\u0323", "\u1E9B\u0323", "\u017F\u0323\u0307", "\u1E69", "s\u0323\u0307"},
      {"\u212B\u2126", "\u00C5\u03A9", "A\u030A\u03A9", "\u00C5\u03A9", "A\u030A\u03A9"},
      {"\uFB01\u00BD\uFF21", "\uFB01\u00BD\uFF21", "\uFB01\u00BD\uFF21", "fi1\u20442A", "fi1\u20442A"},
      {"\u1112\u1161\u11AB", "\uD55C", "\u1112\u1161\u11AB", "\uD55C", "\u1112\u1161\u11AB"},
      {"\uAC00\u11A8 \uAC01", "\uAC01 \uAC01", "\u1100\u1161\u11A8 \u1100\u1161\u11A8", "\uAC01 \uAC01",
       "\u1100\u1161\u11A8 \u1100\u1161\u11A8"},
      {"\u0344\u0958", "\u0308\u0301\u0915\u093C", "\u0308\u0301\u0915\u093C", "\u0308\u0301\u0915\u093C",
       "\u0308\u0301\u0915\u093C"},
      {"a\u0300a\u0300 a\u0300", "\u00E0\u00E0 \u00E0", "a\u0300a\u0300 a\u0300", "\u00E0\u00E0 \u00E0",
       "a\u0300a\u0300 a\u0300"},
      {"\U0001D15E\U0001F600", "\U0001D157\U0001D165\U0001F600", "\U0001D157\U0001D165\U0001F600",
       "\U0001D157\U0001D165\U0001F600", "\U0001D157\U0001D165\U0001F600"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(in_form(row.text, NormalizationForm::nfc), row.nfc) << row.text;
    EXPECT_EQ(in_form(row.text, NormalizationForm::nfd), row.nfd) << row.text;
    EXPECT_EQ(in_form(row.text, NormalizationForm::nfkc), row.nfkc) << row.text;
    EXPECT_EQ(in_form(row.text, NormalizationForm::nfkd), row.nfkd) << row.text;
  }
}

TEST(Normalization, LongRunsOfMarks) {
  std::string marks = "a", reversed = "a";
  for (int i = 0; i < 100'000; ++i) marks += i % 2 ? "\u0301" : "\u0323", reversed += i % 2 ? "\u0323" : "\u0301";
  EXPECT_EQ(in_form(marks, NormalizationForm::nfd), in_form(reversed, NormalizationForm::nfd));
  EXPECT_TRUE(in_form(marks, NormalizationForm::nfc).starts_with("\u1EA1\u0323"));
}

}  // namespace
}  // namespace inlay
