// Negative controls: what the conformance tests compare does depend on the pre-tokenizer, the merges, the scores, the
// normalizer and the metadata.
#include <algorithm>
#include <set>
#include <utility>

#include "tests/unit/tokenizer_fixtures.h"

namespace inlay::testing {
namespace {

std::vector<Ids> all_ids(const Tokenizer& tokenizer) {
  std::vector<Ids> out;
  for (const json& row : own_lines("texts.jsonl"))
    out.push_back(encode(tokenizer, row.at("text").get<std::string>(), {.add_special = false, .parse_special = true}));
  return out;
}

// Of the texts, how many get other ids than those of the entry.
int n_different(const std::vector<Ids>& ids, const std::string& name) {
  const std::vector<json> rows = own_rows(own_entry(name));
  int n = 0;
  for (size_t i = 0; i < rows.size(); ++i) n += ids.at(i) != rows[i].at("ids").get<Ids>();
  return n;
}

template <class Change>
int n_different_gguf(const std::string& name, Change change) {
  const auto tokenizer = load_changed_gguf(kOwnTokenizers + own_entry(name).at("file").get<std::string>(),
                                           [&](std::vector<MetaEntry>& all) {
                                             set_values(own_entry(name).at("set"), all);
                                             for (MetaEntry& entry : all) change(entry);
                                           });
  EXPECT_NE(tokenizer, nullptr);
  return tokenizer ? n_different(all_ids(*tokenizer), name) : 0;
}

int n_different_json(const std::string& name, const char* key, const json& value) {
  const auto tokenizer = load_changed_json(own_entry(name), [&](json& file) { file[json::json_pointer(key)] = value; });
  EXPECT_NE(tokenizer, nullptr);
  return tokenizer ? n_different(all_ids(*tokenizer), name) : 0;
}

std::vector<std::string> names_of(const std::string& file) {
  std::vector<std::string> out;
  for (const json& entry : own_entries())
    if (entry.at("file") == file) out.push_back(entry.at("name").get<std::string>());
  return out;
}

// The patterns of qwen2 and bailingmoe differ in \s*[\r\n]+ and \s*[\r\n], which match the same.
bool is_same(const std::string& a, const std::string& b) {
  const auto row = [](const std::string& name) { return name == "bailingmoe" ? "qwen2" : name; };
  return row(a) == row(b);
}

TEST(WrongTokenizer, EachPreTokenizerIsToldFromEachOther) {
  const auto names = names_of("bpe.gguf");
  ASSERT_GE(names.size(), 30u);
  for (const std::string& name : names) {
    const auto ids = all_ids(*load_own(own_entry(name)));
    for (const std::string& other : names)
      EXPECT_EQ(n_different(ids, other) == 0, is_same(name, other)) << name << " for " << other;
  }
}

TEST(WrongTokenizer, AnotherOrderOfMergesGivesOtherIds) {
  EXPECT_EQ(n_different_gguf("gpt-2", [](MetaEntry&) {}), 0);
  EXPECT_GT(n_different_gguf("gpt-2",
                             [](MetaEntry& entry) {
                               if (entry.key == "tokenizer.ggml.merges")
                                 std::reverse(entry.value.texts.begin(), entry.value.texts.end());
                             }),
            100);
}

TEST(WrongTokenizer, OtherScoresGiveOtherIds) {
  const std::vector<std::byte> zeros(4096 * sizeof(float));
  for (const auto& [name, n] : {std::pair{"spm", 50}, {"spm-plain", 30}, {"unigram", 5}})
    EXPECT_GT(n_different_gguf(name,
                               [&](MetaEntry& entry) {
                                 if (entry.key == "tokenizer.ggml.scores") entry.value.data = zeros.data();
                               }),
              n)
        << name;
}

TEST(WrongTokenizer, AnotherModelNameKeepsTheSpaceAfterPhi3sTokens) {
  EXPECT_GT(n_different(all_ids(*load_own(own_entry("spm"))), "phi-3"), 0);
}

TEST(WrongTokenizer, ASpaceThatIsNotPrefixedGivesOtherIds) {
  EXPECT_GT(n_different(all_ids(*load_own(own_entry("spm"))), "no-space-prefix"), 150);
}

TEST(WrongTokenizer, EachNormalizerIsToldFromNone) {
  const auto plain = all_ids(*load_own(own_entry("bpe-json")));
  std::set<std::string> alike;
  for (const std::string& name : names_of("bpe.tokenizer.json"))
    if (n_different(plain, name) == 0) alike.insert(name);
  EXPECT_EQ(alike, std::set<std::string>{"bpe-json"});
}

TEST(WrongTokenizer, OtherPartsOfATokenizerJsonGiveOtherIds) {
  EXPECT_EQ(n_different_json("wordpiece-json", "/version", "1.0"), 0);
  EXPECT_GT(n_different_json("wordpiece-json", "/model/continuing_subword_prefix", "@@"), 50);
  EXPECT_GT(n_different_json("wordpiece-json", "/normalizer/lowercase", false), 10);
  EXPECT_GT(n_different_json("wordpiece-json", "/model/max_input_chars_per_word", 3), 50);
  EXPECT_GT(n_different_json("spm-json", "/model/byte_fallback", false), 50);
  EXPECT_GT(n_different_json("spm-json", "/model/merges", json::array()), 100);
  EXPECT_GT(n_different_json("spm-plain-json", "/model/fuse_unk", false), 30);
  EXPECT_GT(n_different_json("unigram-json", "/normalizer", nullptr), 20);
  EXPECT_GT(n_different_json("unigram-json", "/model/vocab/3/1", -30.0), 10);
  EXPECT_GT(n_different_json("bpe-json", "/model/ignore_merges", false), 0);
}

}  // namespace
}  // namespace inlay::testing
