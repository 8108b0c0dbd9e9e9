// UTF-8: maximal ill-formed parts against their definition, and the assembler of streamed text at every split.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

std::string encoded(uint32_t c) {
  std::string out;
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80)
    put(c);
  else if (c < 0x800)
    put(0xC0 | c >> 6), put(0x80 | (c & 63));
  else if (c < 0x10000)
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  else
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  return out;
}

// Which byte strings of up to three bytes begin some well-formed sequence, and which are one: found by writing them
// all.
class Definition {
 public:
  Definition() : begins_(4, std::vector<bool>(1 << 24)), complete_(4, std::vector<bool>(1 << 24)) {
    for (uint32_t c = 0; c < 0x110000; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      const std::string bytes = encoded(c);
      for (size_t n = 1; n <= bytes.size() && n <= 3; ++n) begins_[n][index(bytes, n)] = true;
      if (bytes.size() <= 3) complete_[bytes.size()][index(bytes, bytes.size())] = true;
    }
  }

  // "The longest code unit subsequence that is the initial part of a well-formed sequence, or one code unit."
  Utf8Sequence first(const std::string& bytes) const {
    for (size_t n = 1; n <= bytes.size() && n <= 3; ++n)
      if (complete_[n][index(bytes, n)]) return {static_cast<uint32_t>(n), true, false};
    if (bytes.size() >= 4 && begins_[3][index(bytes, 3)])
      return is_continuation(bytes[3]) ? Utf8Sequence{4, true, false} : Utf8Sequence{3, false, false};
    uint32_t n = 1;
    while (n < bytes.size() && n < 3 && begins_[n + 1][index(bytes, n + 1)]) ++n;
    return {n, false, n == bytes.size() && begins_[n][index(bytes, n)]};
  }

 private:
  static size_t index(const std::string& bytes, size_t n) {
    size_t out = 0;
    for (size_t i = 0; i < n; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
    return out;
  }
  std::vector<std::vector<bool>> begins_, complete_;
};

bool operator==(const Utf8Sequence& a, const Utf8Sequence& b) {
  return a.n_bytes == b.n_bytes && a.valid == b.valid && a.incomplete == b.incomplete;
}

std::string assembled(const std::vector<std::string>& parts) {
  Utf8Assembler assembler;
  std::string out, storage;
  for (const std::string& part : parts) {
    assembler.append(part, out);
    EXPECT_EQ(well_formed(out, storage), out) << "what has left is not complete";
  }
  assembler.flush(out);
  EXPECT_TRUE(assembler.empty());
  return out;
}

TEST(Utf8, FirstSequenceFollowsTheDefinition) {
  const Definition definition;
  const std::string tails[] = {"", "\x7F", "\x80", "\x8F", "\x90", "\x9F", "\xA0", "\xBF", "\xC2", "\xFF"};
  size_t n_checked = 0;
  for (int a = 0; a < 256; ++a)
    for (int b = -1; b < 256; ++b)
      for (const std::string& c : tails)
        for (const std::string& d : tails) {
          if (b < 0 && !(c.empty() && d.empty())) continue;
          if (c.empty() && !d.empty()) continue;
          std::string bytes(1, static_cast<char>(a));
          if (b >= 0) bytes.push_back(static_cast<char>(b));
          bytes += c + d;
          ASSERT_TRUE(first_sequence(bytes) == definition.first(bytes)) << a << " " << b;
          ++n_checked;
        }
  EXPECT_GT(n_checked, 5000000u);
}

TEST(Utf8, EveryCodePointIsItself) {
  std::string storage;
  for (uint32_t c = 0; c < 0x110000; ++c) {
    const std::string bytes = encoded(c);
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    ASSERT_EQ(first_sequence(bytes).valid, !surrogate) << c;
    if (surrogate) {
      ASSERT_EQ(well_formed(bytes, storage), "\uFFFD\uFFFD\uFFFD") << c;
      continue;
    }
    ASSERT_EQ(decode_utf8(bytes.data()).value, c);
    ASSERT_EQ(decode_utf8(bytes.data()).n_bytes, bytes.size());
    ASSERT_EQ(assembled({bytes}), bytes);
  }
}

// Tables 3-8 to 3-11 of the Unicode Standard.
TEST(Utf8, TheStandardsExamples) {
  const std::string r = "\uFFFD";
  const std::pair<std::string, std::string> rows[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", r + r + r + r + r + r + r + r + "A"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", r + r + r + r + r + r + r + r + "A"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", r + r + r + r + r + "A" + r + r + "B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", r + r + r + r + "A"},
  };
  std::string storage;
  for (const auto& [bytes, expected] : rows) EXPECT_EQ(well_formed(bytes, storage), expected);
}

TEST(Utf8, WellFormedTextIsNotCopied) {
  const std::string text = "caf\u00E9 \u6F22 \U0001F600";
  std::string storage;
  EXPECT_EQ(well_formed(text, storage).data(), text.data());
}

const std::string kMixtures[] = {
    "plain",
    "caf\u00E9 \u6F22\u5B57 \U0001F600!",
    "\xF0\x9F\x98",
    "a\xE2\x82",
    "\xE2\x82x\xF0\x9F\x98\xF0\x9F\x98\x80",
    "\xED\xA0\x80\xC0\xAF\xF5\x80\x80\x80\xFF",
    "\xF4\x90\x80\x80\xF4\x8F\xBF\xBF",
    "\xC3\xC3\xA9\xE6\xBC\xE6\xBC\xA2",
    "\x80\xBF",
};

TEST(Utf8Assembler, EverySplitGivesTheWhole) {
  for (const std::string& text : kMixtures) {
    std::string storage;
    const std::string whole(well_formed(text, storage));
    for (size_t i = 0; i <= text.size(); ++i)
      for (size_t j = i; j <= text.size(); ++j)
        EXPECT_EQ(assembled({text.substr(0, i), text.substr(i, j - i), text.substr(j)}), whole) << i << " " << j;
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    EXPECT_EQ(assembled(bytes), whole);
  }
}

TEST(Utf8Assembler, HoldsOnlyWhatCanBecomeText) {
  Utf8Assembler assembler;
  std::string out;
  assembler.append("a\xF0\x9F", out);
  EXPECT_EQ(out, "a");
  EXPECT_FALSE(assembler.empty());
  assembler.append("\x98\x80", out);
  EXPECT_EQ(out, "a\U0001F600");
  assembler.append("\xED\xA0", out);  // no sequence has A0 after ED
  EXPECT_EQ(out, "a\U0001F600\uFFFD\uFFFD");
  EXPECT_TRUE(assembler.empty());
  assembler.append("\xE2", out);
  assembler.clear();
  assembler.flush(out);
  EXPECT_EQ(out, "a\U0001F600\uFFFD\uFFFD");
}

}  // namespace
}  // namespace inlay
