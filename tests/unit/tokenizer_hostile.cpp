// Vocabularies that are wrong: each is an error that says where, none a crash.
#include <limits>
#include <random>
#include <set>

#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::testing {
namespace {

void expect_error(const VocabularyFile& v, Code code, const std::vector<std::string>& words) {
  const Result<std::unique_ptr<Tokenizer>> t = load(v);
  ASSERT_FALSE(t.ok()) << "expected an error with " << words[0];
  EXPECT_EQ(t.status().code, code) << t.status().message;
  for (const std::string& word : words)
    EXPECT_NE(t.status().message.find(word), std::string::npos) << t.status().message << "\nlacks " << word;
}

template <class Change>
VocabularyFile changed(VocabularyFile v, Change change) {
  change(v);
  return v;
}

TEST(HostileVocabulary, TheUnchangedOnesLoad) {
  EXPECT_TRUE(load(bpe_vocabulary()).ok());
  EXPECT_TRUE(load(spm_vocabulary()).ok());
}

TEST(HostileVocabulary, UnknownModelOrPreTokenizer) {
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.model = "rwkv"; }), Code::unsupported,
               {"tokenizer.ggml.model", "'rwkv'"});
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.pre = "gpt-99"; }), Code::unsupported,
               {"tokenizer.ggml.pre", "'gpt-99'"});
}

std::vector<int32_t> tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> out;
  (void)tokenizer.encode(text, {.add_special = false}, out);
  return out;
}

TEST(HostileVocabulary, WithoutAPreTokenizerTheDefaultIsTakenWithAWarning) {
  const auto vocabulary = [](std::optional<std::string> pre) {
    return changed(bpe_vocabulary({"1 2", "12 3", "123 4"}), [&](auto& v) { v.pre = std::move(pre); });
  };
  const auto named = load(vocabulary("default")), other = load(vocabulary("gpt-2"));
  ASSERT_TRUE(named.ok() && other.ok());
  EXPECT_TRUE((*named)->warnings().empty());
  EXPECT_NE(tokens_of(**named, "1234"), tokens_of(**other, "1234"));
  for (const std::optional<std::string>& none : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const auto without = load(vocabulary(none));
    ASSERT_TRUE(without.ok()) << without.status().message;
    EXPECT_EQ(tokens_of(**without, "1234"), tokens_of(**named, "1234"));
    ASSERT_EQ((*without)->warnings().size(), 1u);
    EXPECT_NE((*without)->warnings()[0].find("tokenizer.ggml.pre is missing"), std::string::npos);
    const auto asked = load(vocabulary(none), "gpt-2");
    ASSERT_TRUE(asked.ok()) << asked.status().message;
    EXPECT_EQ(tokens_of(**asked, "1234"), tokens_of(**other, "1234"));
    EXPECT_TRUE((*asked)->warnings().empty());
  }
  EXPECT_EQ(tokens_of(**load(vocabulary("gpt-99"), "gpt-2"), "1234"), tokens_of(**other, "1234"));
  const Status unknown = load(vocabulary("gpt-2"), "gpt-99").status();
  EXPECT_EQ(unknown.code, Code::invalid_argument);
  EXPECT_NE(unknown.message.find("pre_tokenizer is 'gpt-99', expected a name such as gpt-2, "), std::string::npos) << unknown.message;
  for (const std::string& name : {std::string("gpt-99"), std::string(1000, 'x')}) {
    for (const Status& refused : {load(vocabulary("gpt-2"), name).status(), load(vocabulary(name)).status()}) {
      EXPECT_LT(refused.message.size(), 400u) << "the C interface cuts longer ones";
      EXPECT_TRUE(refused.message.ends_with("(docs/families.md has all)")) << refused.message;
    }
  }
  const Status of_other = load(spm_vocabulary(), "gpt-2").status();
  EXPECT_EQ(of_other.code, Code::invalid_argument) << of_other.message;
}

TEST(HostileVocabulary, BytesWithoutATokenAreNamedAndLost) {
  const auto t = load(changed(bpe_vocabulary(), [](auto& v) {
    for (const int byte : {0x03, 0x04, 0x05, 0x41, 0xFF}) v.tokens[static_cast<size_t>(byte)] = "none" + std::to_string(byte);
  }));
  ASSERT_TRUE(t.ok()) << t.status().message;
  ASSERT_EQ((*t)->warnings().size(), 1u);
  EXPECT_NE((*t)->warnings()[0].find("no token for 4 bytes"), std::string::npos) << (*t)->warnings()[0];
  EXPECT_NE((*t)->warnings()[0].find("(0x03-0x05, 0x41)"), std::string::npos) << (*t)->warnings()[0];
  EXPECT_EQ(tokens_of(**t, "xAy"), (std::vector<int32_t>{'x', 'y'}));
}

TEST(HostileVocabulary, MissingOrEmptyParts) {
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.with_tokens = false; }), Code::format,
               {"tokenizer.ggml.tokens"});
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.merges.reset(); }), Code::format, {"tokenizer.ggml.merges"});
  expect_error(changed(spm_vocabulary(), [](auto& v) { v.scores.reset(); }), Code::format, {"tokenizer.ggml.scores"});
  expect_error(changed(spm_vocabulary(), [](auto& v) { v.tokens.clear(), v.types.clear(), v.scores->clear(); }),
               Code::format, {"tokenizer.ggml.tokens", "empty"});
}

TEST(HostileVocabulary, CountsThatDisagree) {
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.types.pop_back(); }), Code::format,
               {"tokenizer.ggml.token_type", "tokenizer.ggml.tokens"});
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.types.push_back(1); }), Code::format,
               {"tokenizer.ggml.token_type"});
  expect_error(changed(spm_vocabulary(), [](auto& v) { v.scores->pop_back(); }), Code::format,
               {"tokenizer.ggml.scores", "tokenizer.ggml.tokens"});
}

TEST(HostileVocabulary, ValuesOutOfRange) {
  for (const int32_t type : {-1, 7, INT32_MAX, INT32_MIN})
    expect_error(changed(bpe_vocabulary(), [&](auto& v) { v.types[5] = type; }), Code::format,
                 {"tokenizer.ggml.token_type[5]", std::to_string(type)});
  expect_error(changed(spm_vocabulary(), [](auto& v) { (*v.scores)[9] = std::numeric_limits<float>::quiet_NaN(); }),
               Code::format, {"tokenizer.ggml.scores[9]"});
}

TEST(HostileVocabulary, InfiniteScoresAreScores) {
  VocabularyFile v = spm_vocabulary();
  const auto normal = ids_of(*load_good(v), "hell aa");
  for (float& score : *v.scores)
    score = score < -5 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  EXPECT_EQ(text_of(*load_good(v), ids_of(*load_good(v), "hell aa")), "hell aa");
  EXPECT_FALSE(normal.empty());
}

TEST(HostileVocabulary, Merges) {
  const auto with_merge = [](const std::string& merge) {
    return changed(bpe_vocabulary(), [&](auto& v) { v.merges->push_back(merge); });
  };
  for (const char* merge : {"", " ", "a", "a ", " a", "aa"})
    expect_error(with_merge(merge), Code::format, {"tokenizer.ggml.merges[5]", "not two tokens"});
  expect_error(with_merge("qq a"), Code::format, {"left token", "tokenizer.ggml.merges[5]", "'qq a'"});
  expect_error(with_merge("a qq"), Code::format, {"right token", "tokenizer.ggml.merges[5]"});
  expect_error(with_merge("a q"), Code::format, {"token made by", "tokenizer.ggml.merges[5]"});
  expect_error(with_merge("a a a"), Code::format, {"tokenizer.ggml.merges[5]"});
  expect_error(with_merge("\u6F22 a"), Code::format, {"left token", "tokenizer.ggml.merges[5]"});
  expect_error(with_merge("a \xC3"), Code::format, {"right token", "tokenizer.ggml.merges[5]"});
  EXPECT_TRUE(load(with_merge("a a")).ok()) << "a repeated merge is harmless: the first counts";
}

TEST(HostileVocabulary, BytesWithoutTokens) {
  const auto none = load(changed(bpe_vocabulary(), [](auto& v) { v.tokens[0xF5] = "zz"; }));
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE((*none)->warnings().empty()) << "no text has this byte";
  const auto no_unknown = [](auto& v) {
    v.tokens[0] = "x", v.types[0] = kNormal, v.numbers = {{"bos_token_id", 1}};
    v.types[3 + 0x41] = kNormal;
  };
  expect_error(changed(spm_vocabulary(), no_unknown), Code::format, {"tokenizer.ggml.tokens", "<0x41>"});
}

TEST(HostileVocabulary, MalformedByteTokens) {
  for (const char* text : {"", "<0x4>", "<0xGG>", "0x4141", "<0x41", "<0X41>", "<0x412>"})
    expect_error(changed(spm_vocabulary(), [&](auto& v) { v.tokens[10] = text; }), Code::format,
                 {"tokenizer.ggml.tokens[10]", "byte"});
}

TEST(HostileVocabulary, FlagsThatNeedAToken) {
  const auto without_ids = [](const char* flag) {
    return [=](auto& v) { v.numbers.clear(), v.flags = {{flag, true}}; };
  };
  expect_error(changed(bpe_vocabulary(), without_ids("add_bos_token")), Code::format,
               {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id"});
  expect_error(changed(bpe_vocabulary(), without_ids("add_eos_token")), Code::format,
               {"tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id"});
}

TEST(HostileVocabulary, AddedTokensOfAbsurdLength) {
  expect_error(changed(bpe_vocabulary(), [](auto& v) { v.add(std::string(5000, 'a'), kUserDefined); }), Code::format,
               {"tokenizer.ggml.tokens[264]", "5000"});
  EXPECT_TRUE(load(changed(bpe_vocabulary(), [](auto& v) { v.add(std::string(5000, 'a')); })).ok());
}

TEST(HostileVocabulary, WrongTypes) {
  for (const char* key : {"tokens", "token_type", "merges", "add_bos_token", "bos_token_id"}) {
    VocabularyFile v = bpe_vocabulary();
    if (key == std::string("tokens")) v.with_tokens = false;
    if (key == std::string("token_type")) v.with_types = false;
    if (key == std::string("merges")) v.merges.reset();
    if (key == std::string("bos_token_id")) {
      v.numbers.clear();
      v.flags = {{key, true}};
    } else {
      v.numbers = {{key, 3}};
    }
    expect_error(v, Code::format, {std::string("tokenizer.ggml.") + key});
  }
}

// Whatever is in the vocabulary, loading ends with a tokenizer that works or an error.
TEST(HostileVocabulary, RandomChanges) {
  std::mt19937 random(11);
  int n_loaded = 0, n_refused = 0;
  for (int i = 0; i < 1500; ++i) {
    VocabularyFile v = i % 2 ? bpe_vocabulary() : spm_vocabulary();
    for (int n = random() % 4; n >= 0; --n) {
      const size_t at = random() % v.tokens.size(), from = random() % v.tokens.size();
      switch (random() % 6) {
        case 0:
          v.tokens[at] = v.tokens[from];
          break;
        case 1:
          v.types[at] = static_cast<int32_t>(random() % 8);
          break;
        case 2:
          v.tokens[at].clear();
          break;
        case 3:
          v.tokens[at].push_back(static_cast<char>(random()));
          break;
        case 4:
          v.numbers.emplace_back("eot_token_id", random() % 300);
          break;
        default:
          if (v.merges)
            v.merges->push_back(v.tokens[at] + " " + v.tokens[from]);
          else
            (*v.scores)[at] = static_cast<float>(random() % 100);
      }
    }
    std::set<std::string> names;
    std::erase_if(v.numbers, [&](const auto& number) { return !names.insert(number.first).second; });
    const auto t = load(v);
    (t.ok() ? n_loaded : n_refused)++;
    if (!t.ok()) {
      EXPECT_NE(t.status().message.find("tokenizer.ggml."), std::string::npos) << t.status().message;
      continue;
    }
    const auto ids =
        ids_of(**t, "hello aaaa <|start|>\u6F22\xFF<0x41></s>", {.add_special = true, .parse_special = true});
    EXPECT_FALSE(ids.empty());
    text_of(**t, ids, true);
  }
  EXPECT_GT(n_loaded, 100);
  EXPECT_GT(n_refused, 100);
}

}  // namespace
}  // namespace inlay::testing
