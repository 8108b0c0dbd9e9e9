// The speed that is promised: a vocabulary of 150 thousand tokens loads in 150 ms, as tokenizer.json in 400 ms, and
// English is encoded at 10 MB/s, on one core. Best of several runs, and of more while the best is too slow, so that
// other work on the machine does not count. Built in Release only.
#include <chrono>
#include <ctime>
#include <random>

#include "tests/unit/tokenizer_fixtures.h"

namespace inlay::testing {
namespace {

constexpr double kLoadMs = 150, kLoadJsonMs = 400, kEncodeMbPerSecond = 10, kMegabyteSeconds = 2;
constexpr int kRuns = 7;
constexpr std::chrono::seconds kPatience{30};  // with a machine that is slow for a while

// Of processor time: all of it runs on this thread, and other programs may be running too. A best time below `limit`
// ends it.
template <class Work>
double best_seconds(double limit, Work work) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  double best = 1e30;
  for (int i = 0; i < kRuns || (best >= limit && std::chrono::steady_clock::now() < deadline); ++i) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// Sentences in random order, one word in eight misspelt, so that not every word is a token.
std::string english(size_t n_bytes) {
  const std::string sentences[] = {
      "The lighthouse keeper counted the steps every evening, and every evening there were one hundred and twelve. ",
      "\"You can't be serious,\" said Miriam, \"we've only just arrived at Thornbury!\" ",
      "In 1987 the company employed 2,400 people; by 2003 it employed fewer than ninety.\n\n",
      "She didn't answer at once. Rain was falling on the slates, and somewhere below a door had been left open. ",
      "Measurements were repeated at intervals of 15 minutes (see table 4), with a relative error of about 0.3%.\n",
      "It isn't that he disliked music; he simply preferred the sound of machinery well looked after. ",
      "Turn left at the chapel, follow the hedge for half a mile, then ask anyone for Mrs. Abernathy. ",
      "Whatever the committee decides, the harbour will have to be dredged before the autumn storms.\n",
      "Neither the archaeologist nor her assistants could explain the inscription, which resembled no known alphabet. ",
      "He poured two cups of coffee, handed me the chipped one, and began: \"They'll tell you it was an accident.\" "};
  std::mt19937 random(1);
  std::string out;
  while (out.size() < n_bytes) {
    std::string sentence = sentences[random() % std::size(sentences)];
    for (char& c : sentence)
      if (c >= 'a' && c <= 'z' && random() % 40 == 0) c = static_cast<char>('a' + random() % 26);
    out += sentence;
  }
  return out;
}

class TokenizerSpeed : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (kFixtures.empty()) GTEST_SKIP() << "no conformance fixtures: set INLAY_FIXTURES";
    if (vocabulary_path(GetParam()).empty())
      GTEST_SKIP() << "no GGUF of the vocabulary " << GetParam() << " could be made";
  }
};

TEST_P(TokenizerSpeed, Loading) {
  Result<Checkpoint> file = open_gguf(vocabulary_path(GetParam()));
  ASSERT_TRUE(file.ok()) << file.status().message;
  int32_t n_tokens = 0;
  const double seconds = best_seconds(kLoadMs / 1e3, [&] {
    auto tokenizer = Tokenizer::from_metadata(file->metadata());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    n_tokens = (*tokenizer)->n_tokens();
  });
  EXPECT_LT(seconds * 1e3, kLoadMs) << n_tokens << " tokens";
  RecordProperty("load_us", static_cast<int>(seconds * 1e6));
}

TEST(TokenizerJsonSpeed, Loading) {
  if (kFixtures.empty()) GTEST_SKIP() << "no conformance fixtures: set INLAY_FIXTURES";
  for (const char* name : {"qwen2.5", "llama3"}) {
    const std::string text = read_file(kTokenizers + name + ".tokenizer.json");
    const double seconds = best_seconds(kLoadJsonMs / 1e3, [&] {
      const auto tokenizer = read_tokenizer_json({.tokenizer = text, .config = {}, .end_ids = {}});
      ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    });
    EXPECT_LT(seconds * 1e3, kLoadJsonMs) << name;
  }
}

TEST_P(TokenizerSpeed, EncodingEnglish) {
  const auto tokenizer = load_tokenizer(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = english(4 << 20);
  const double limit = static_cast<double>(text.size()) / (kEncodeMbPerSecond * 1e6);
  std::vector<int32_t> ids;
  const double seconds = best_seconds(limit, [&] {
    ids.clear();
    tokenizer->encode(text, {.add_special = false, .parse_special = true}, ids);
  });
  EXPECT_LT(seconds, limit) << "for " << text.size() << " bytes";
  EXPECT_EQ(decode(*tokenizer, ids), text);
  RecordProperty("encode_kb_per_second", static_cast<int>(static_cast<double>(text.size()) / seconds / 1e3));
}

// One word of a million letters: the time must not grow with its square.
TEST_P(TokenizerSpeed, AMegabyteWithoutSpaces) {
  const auto tokenizer = load_tokenizer(GetParam());
  ASSERT_NE(tokenizer, nullptr);
  for (const char letter : {'a', ' ', '<'}) {
    const std::string text(1 << 20, letter);
    std::vector<int32_t> ids;
    const double seconds =
        best_seconds(kMegabyteSeconds, [&] { ids = encode(*tokenizer, text, {.add_special = false}); });
    EXPECT_LT(seconds, kMegabyteSeconds) << letter;
    EXPECT_EQ(decode(*tokenizer, ids), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerSpeed,
                         ::testing::Values("qwen2.5", "llama3", "gpt-2", "llama-spm", "deepseek-llm"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace inlay::testing
