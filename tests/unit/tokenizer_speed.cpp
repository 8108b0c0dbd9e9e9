// The speed that is promised: a vocabulary of 150 thousand tokens loads in 150 ms, as tokenizer.json in 400 ms, and
// English is encoded at 10 MB/s, on one core. The large vocabulary is made here; those of other projects are further
// rows. Best of several runs, and of more while the best is too slow, so that other work on the machine does not count; twice the
// time is granted, since a core whose second thread works for others all the time has half of its speed. Built in Release only.
#include <chrono>
#include <ctime>
#include <ostream>
#include <random>
#include <set>

#include "tests/unit/tokenizer_fixtures.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::testing {
namespace {

constexpr double kSharedCore = 2;
constexpr double kLoadMs = 150 * kSharedCore, kLoadJsonMs = 400 * kSharedCore, kEncodeMbPerSecond = 10 / kSharedCore;
constexpr double kMegabyteSeconds = 2 * kSharedCore;
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

constexpr size_t kLarge = 150'000;  // tokens

// Byte tokens, and merges of tokens before, the shorter ones more often, as in trained vocabularies.
VocabularyFile large_vocabulary() {
  VocabularyFile v = bpe_vocabulary({});
  v.pre = "qwen2";
  v.merges.emplace();
  std::mt19937 random(7);
  std::set<std::string> known(v.tokens.begin(), v.tokens.end());
  std::vector<std::string> parts;
  for (int c = 'a'; c <= 'z'; ++c) parts.push_back(std::string(1, static_cast<char>(c)));
  while (v.tokens.size() < kLarge) {
    const std::string& left = parts[random() % std::min<size_t>(parts.size(), 20'000)];
    const std::string& right = parts[random() % std::min<size_t>(parts.size(), 500)];
    const std::string both = left + right;
    if (both.size() > 14 || !known.insert(both).second) continue;
    v.merges->push_back(left + " " + right);
    v.add(both);
    parts.push_back(both);
  }
  return v;
}

const VocabularyFile& large() {
  static const VocabularyFile v = large_vocabulary();
  return v;
}

std::string large_json() {
  json vocab = json::object(), merges = json::array();
  for (size_t id = 0; id < large().tokens.size(); ++id)
    if (large().types[id] == kNormal) vocab[large().tokens[id]] = id;
  for (const std::string& merge : *large().merges) merges.push_back(merge);
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  const json file = {
      {"pre_tokenizer", bytes}, {"decoder", bytes}, {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
  return file.dump();
}

void expect_fast_json(const std::string& text, const std::string& name) {
  const double seconds = best_seconds(kLoadJsonMs / 1e3, [&] {
    const auto tokenizer = read_tokenizer_json({.tokenizer = text, .config = {}, .end_ids = {}});
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  });
  EXPECT_LT(seconds * 1e3, kLoadJsonMs) << name;
}

void expect_fast_loading(const Metadata& metadata) {
  int32_t n_tokens = 0;
  const double seconds = best_seconds(kLoadMs / 1e3, [&] {
    auto tokenizer = Tokenizer::from_metadata(metadata);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    n_tokens = (*tokenizer)->n_tokens();
  });
  EXPECT_LT(seconds * 1e3, kLoadMs) << n_tokens << " tokens";
  ::testing::Test::RecordProperty("load_us", static_cast<int>(seconds * 1e6));
}

TEST(LargeVocabularySpeed, Loading) {
  const GgufImage::Bytes bytes = image_of(large()).build();
  Result<Checkpoint> file = read_gguf(borrow_memory(bytes, "vocabulary"));
  ASSERT_TRUE(file.ok()) << file.status().message;
  expect_fast_loading(file->metadata());
}

TEST(LargeVocabularySpeed, LoadingATokenizerJson) {
  expect_fast_json(large_json(), "made");
  if (!has_outside_tokenizers()) return;
  for (const char* name : {"qwen2.5", "llama3"})
    expect_fast_json(read_file(kTokenizers + name + ".tokenizer.json"), name);
}

struct Row {
  std::string name;
  bool own;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

std::string name_of(const ::testing::TestParamInfo<Row>& info) { return test_name(info.param.name); }

std::vector<Row> outside_rows() {
  std::vector<Row> out;
  if (!has_outside_tokenizers()) return out;
  for (const char* name : {"qwen2.5", "llama3", "gpt-2", "llama-spm", "deepseek-llm"})
    if (!vocabulary_path(name).empty()) out.push_back({name, false});
  return out;
}

class OutsideVocabularySpeed : public ::testing::TestWithParam<Row> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OutsideVocabularySpeed);

TEST_P(OutsideVocabularySpeed, Loading) {
  Result<Checkpoint> file = open_gguf(vocabulary_path(GetParam().name));
  ASSERT_TRUE(file.ok()) << file.status().message;
  expect_fast_loading(file->metadata());
}

INSTANTIATE_TEST_SUITE_P(All, OutsideVocabularySpeed, ::testing::ValuesIn(outside_rows()), name_of);

class TokenizerSpeed : public ::testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    const std::string& name = GetParam().name;
    tokenizer_ = !GetParam().own   ? load_tokenizer(name)
                 : name == "large" ? load_good(large())
                                   : load_own(own_entry(name));
    ASSERT_NE(tokenizer_, nullptr);
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TokenizerSpeed, EncodingEnglish) {
  const std::string text = english(4 << 20);
  const double limit = static_cast<double>(text.size()) / (kEncodeMbPerSecond * 1e6);
  std::vector<int32_t> ids;
  const double seconds = best_seconds(limit, [&] {
    ids.clear();
    (void)tokenizer_->encode(text, {.add_special = false, .parse_special = true}, ids);
  });
  EXPECT_LT(seconds, limit) << "for " << text.size() << " bytes";
  EXPECT_EQ(decode(*tokenizer_, ids), text);
  RecordProperty("encode_kb_per_second", static_cast<int>(static_cast<double>(text.size()) / seconds / 1e3));
}

// One word of a million letters: the time must not grow with its square.
TEST_P(TokenizerSpeed, AMegabyteWithoutSpaces) {
  for (const char letter : {'a', ' ', '<'}) {
    const std::string text(1 << 20, letter);
    std::vector<int32_t> ids;
    const double seconds =
        best_seconds(kMegabyteSeconds, [&] { ids = encode(*tokenizer_, text, {.add_special = false}); });
    EXPECT_LT(seconds, kMegabyteSeconds) << letter;
    EXPECT_EQ(decode(*tokenizer_, ids), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Own, TokenizerSpeed,
                         ::testing::Values(Row{"gpt-2", true}, Row{"llama-bpe", true}, Row{"qwen2", true},
                                           Row{"deepseek-llm", true}, Row{"spm", true}, Row{"large", true}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Outside, TokenizerSpeed, ::testing::ValuesIn(outside_rows()), name_of);

}  // namespace
}  // namespace inlay::testing
