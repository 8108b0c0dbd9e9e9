// Both tokenizer models on small vocabularies: special tokens, prefix spaces, fallbacks, long texts, threads.
#include "src/tokenizer/tokenizer.h"

#include <random>
#include <thread>

#include "tests/unit/tokenizer_vocabularies.h"
#include "tests/support/processor_time.h"

namespace inlay::testing {
namespace {

using Ids = std::vector<int32_t>;
constexpr EncodeOptions kParsed{.add_special = false, .parse_special = true};

int32_t id_of(const VocabularyFile& v, const std::string& text) {
  for (size_t i = 0; i < v.tokens.size(); ++i)
    if (v.tokens[i] == text) return static_cast<int32_t>(i);
  ADD_FAILURE() << "no token " << text;
  return -1;
}

TEST(BpeTokenizer, MergesInTheOrderOfTheList) {
  const VocabularyFile v = bpe_vocabulary();
  const auto t = load_good(v);
  EXPECT_EQ(ids_of(*t, "hello"), (Ids{id_of(v, "hell"), 'o'}));
  EXPECT_EQ(ids_of(*t, "aaaaaaa"), (Ids{id_of(v, "aaaa"), id_of(v, "aa"), 'a'}));
  EXPECT_EQ(ids_of(*t, "hel lo"), (Ids{id_of(v, "he"), 'l', ' ', 'l', 'o'}));
  EXPECT_EQ(ids_of(*t, ""), Ids{});
  EXPECT_EQ(text_of(*t, ids_of(*t, "hello \xE2\x82\xAC aaa")), "hello \xE2\x82\xAC aaa");
}

// A whole word that is a token is taken at once only where its own merges lead to it, or where the row says so.
TEST(BpeTokenizer, AWordThatIsATokenWithoutMerges) {
  VocabularyFile v = bpe_vocabulary();
  const int32_t ox = v.add("ox");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ids_of(*load_good(v), "ox"), (Ids{'o', 'x'}));
  v.pre = "llama-bpe";
  EXPECT_EQ(ids_of(*load_good(v), "ox"), Ids{ox});
}

TEST(BpeTokenizer, SpecialTokensOnRequest) {
  const VocabularyFile v = bpe_vocabulary();
  const auto t = load_good(v);
  const int32_t start = id_of(v, "<|start|>"), end = id_of(v, "<|im_end|>"), tool = id_of(v, "<tool>");
  EXPECT_EQ(ids_of(*t, "<|start|>a<|im_end|>", kParsed), (Ids{start, 'a', end}));
  EXPECT_EQ(ids_of(*t, "<|start|>"), (Ids{'<', '|', 's', 't', 'a', 'r', 't', '|', '>'}));
  EXPECT_EQ(ids_of(*t, "a<tool>b"), (Ids{'a', tool, 'b'})) << "user-defined tokens count always";
  EXPECT_EQ(ids_of(*t, "<|start|><|star", kParsed), (Ids{start, '<', '|', 's', 't', 'a', 'r'}));
  EXPECT_EQ(text_of(*t, {start, 'a', tool, end}), "a<tool>");
  EXPECT_EQ(text_of(*t, {start, 'a', tool, end}, true), "<|start|>a<tool><|im_end|>");
  EXPECT_EQ(t->kind(start), TokenKind::control);
  EXPECT_EQ(t->kind(tool), TokenKind::user_defined);
  EXPECT_TRUE(t->is_end_of_generation(end));
  EXPECT_FALSE(t->is_end_of_generation(start));
}

TEST(BpeTokenizer, TheLongestAddedTokenThatBeginsFirst) {
  VocabularyFile v = bpe_vocabulary();
  const int32_t ab = v.add("[ab", kUserDefined), abcd = v.add("[abcd", kUserDefined), bc = v.add("bc", kUserDefined);
  const auto t = load_good(v);
  EXPECT_EQ(ids_of(*t, "[abcd"), Ids{abcd});
  EXPECT_EQ(ids_of(*t, "[abc"), (Ids{ab, 'c'}));
  EXPECT_EQ(ids_of(*t, "[abbc["), (Ids{ab, bc, '['}));
}

TEST(BpeTokenizer, AddedTokensNeverCutACharacter) {
  VocabularyFile v = bpe_vocabulary();
  v.add("\xC3", kUserDefined);  // the first byte of e with acute
  const auto t = load_good(v);
  EXPECT_EQ(ids_of(*t, "\xC3\xA9"), (Ids{0xC3, 0xA9}));
}

TEST(BpeTokenizer, BeginningAndEndOfText) {
  VocabularyFile v = bpe_vocabulary();
  const int32_t start = id_of(v, "<|start|>"), end = id_of(v, "<|im_end|>");
  EXPECT_EQ(ids_of(*load_good(v), "a", {}), Ids{'a'});
  v.pre = "llama-bpe";  // its models add BOS unless the metadata says otherwise
  EXPECT_EQ(ids_of(*load_good(v), "a", {}), (Ids{start, 'a'}));
  EXPECT_EQ(ids_of(*load_good(v), "", {}), (Ids{start}));
  v.flags = {{"add_bos_token", false}, {"add_eos_token", true}};
  EXPECT_EQ(ids_of(*load_good(v), "a", {}), (Ids{'a', end}));
  EXPECT_FALSE(load_good(v)->adds_bos());
  EXPECT_TRUE(load_good(v)->adds_eos());
}

TEST(BpeTokenizer, EndsOfGeneration) {
  VocabularyFile v = bpe_vocabulary();
  const int32_t eom = v.add("message", kControl), named = v.add("<|eot_id|>", kUserDefined);
  const int32_t fill = v.add("<|fim_pad|>", kUserDefined), other = v.add("<|other|>", kControl);
  v.numbers.emplace_back("eom_token_id", eom);
  const auto t = load_good(v);
  for (const int32_t id : {eom, named, fill, t->eos()}) EXPECT_TRUE(t->is_end_of_generation(id)) << id;
  for (const int32_t id : {other, t->bos(), 0}) EXPECT_FALSE(t->is_end_of_generation(id)) << id;
  EXPECT_EQ(t->kind(named), TokenKind::control) << "a user-defined end is no text";
  EXPECT_EQ(t->kind(fill), TokenKind::user_defined);
}

// With <|call|> and <|return|>, <|end|> separates messages inside a turn.
TEST(BpeTokenizer, ASeparatorIsNoEnd) {
  VocabularyFile v = bpe_vocabulary();
  const int32_t end = v.add("<|end|>", kControl);
  EXPECT_TRUE(load_good(v)->is_end_of_generation(end));
  const int32_t call = v.add("<|call|>", kControl), back = v.add("<|return|>", kControl);
  const auto t = load_good(v);
  EXPECT_FALSE(t->is_end_of_generation(end));
  EXPECT_TRUE(t->is_end_of_generation(call));
  EXPECT_TRUE(t->is_end_of_generation(back));
}

TEST(BpeTokenizer, OddTokens) {
  VocabularyFile v = bpe_vocabulary();
  const int32_t again = v.add("hell"), empty = v.add(""), unused = v.add("gone", kUnused), raw = v.add("\u6F22");
  const int32_t empty_control = v.add("", kControl);
  const auto t = load_good(v);
  EXPECT_EQ(ids_of(*t, "hell"), Ids{id_of(v, "hell")}) << "of equal tokens the first counts";
  EXPECT_EQ(text_of(*t, {again, empty, unused, raw, empty_control}, true), "hell\u6F22");
  EXPECT_EQ(ids_of(*t, "\u6F22", kParsed), (Ids{0xE6, 0xBC, 0xA2})) << "not in the byte alphabet: no text gives it";
}

TEST(BpeTokenizer, UnknownStandsForBytesWithoutToken) {
  VocabularyFile v = bpe_vocabulary();
  v.tokens['z'] = "zz";
  v.numbers.emplace_back("unknown_token_id", static_cast<uint32_t>(v.add("<unk>", kUnknown)));
  EXPECT_EQ(ids_of(*load_good(v), "aza"), (Ids{'a', id_of(v, "<unk>"), 'a'}));
}

TEST(Tokenizer, DecodeRefusesIdsOutOfRange) {
  const auto t = load_good(bpe_vocabulary());
  std::string out = "kept";
  for (const int32_t bad : {-1, t->n_tokens(), INT32_MAX, INT32_MIN}) {
    const Status status = t->decode(Ids{'a', bad}, {}, out);
    EXPECT_EQ(status.code, Code::invalid_argument);
    EXPECT_NE(status.message.find(std::to_string(bad)), std::string::npos) << status.message;
    EXPECT_EQ(out, "kept");
  }
}

TEST(Tokenizer, NoVocabularyIsNull) {
  for (const char* model : {"no_vocab", "none"}) {
    VocabularyFile v;
    v.model = model;
    v.with_tokens = v.with_types = false;
    const auto t = load(v);
    ASSERT_TRUE(t.ok()) << t.status().message;
    EXPECT_EQ(*t, nullptr);
  }
}

TEST(SpmTokenizer, BestScoreFirst) {
  const VocabularyFile v = spm_vocabulary();
  const auto t = load_good(v);
  EXPECT_EQ(ids_of(*t, "hello"), (Ids{id_of(v, "\u2581hell"), id_of(v, "o")}));
  EXPECT_EQ(ids_of(*t, "aaa"), (Ids{id_of(v, "\u2581"), id_of(v, "aa"), id_of(v, "a")})) << "aa before \u2581a";
  EXPECT_EQ(ids_of(*t, ""), Ids{});
  EXPECT_EQ(text_of(*t, ids_of(*t, "hello  aa")), "hello  aa");
}

TEST(SpmTokenizer, BytesStandForUnknownCharacters) {
  const VocabularyFile v = spm_vocabulary();
  const auto t = load_good(v);
  const int32_t byte0 = id_of(v, "<0x00>"), space = id_of(v, "\u2581");
  EXPECT_EQ(ids_of(*t, "\u00E9"), (Ids{space, byte0 + 0xC3, byte0 + 0xA9}));
  EXPECT_EQ(text_of(*t, {space, byte0 + 0xC3, byte0 + 0xA9}), "\u00E9");
  EXPECT_EQ(ids_of(*t, "<0x41>").size(), 7u) << "a byte token's own text is no token";
  VocabularyFile bare = v;
  bare.tokens[byte0 + 0xA9] = "<0xA8>";
  EXPECT_EQ(ids_of(*load_good(bare), "\u00E9"), (Ids{space, 0})) << "a byte is missing: unknown";
}

TEST(SpmTokenizer, SpacePrefix) {
  VocabularyFile v = spm_vocabulary();
  const int32_t mark = v.add("<m>", kControl);
  const auto t = load_good(v);
  const int32_t hell = id_of(v, "\u2581hell");
  EXPECT_EQ(ids_of(*t, "hell<m>hell", kParsed), (Ids{hell, mark, hell})) << "a space after each special token too";
  EXPECT_EQ(text_of(*t, {hell, hell}), "hell hell");
  EXPECT_EQ(text_of(*t, {1, hell}), "hell") << "a hidden token does not count as the beginning";
  EXPECT_EQ(text_of(*t, {1, hell}, true), "<s> hell");
  EXPECT_TRUE(t->strips_leading_space());
  v.flags = {{"add_space_prefix", false}};
  const auto bare = load_good(v);
  EXPECT_EQ(ids_of(*bare, "hell"), Ids{id_of(v, "hell")});
  EXPECT_EQ(text_of(*bare, {hell}), " hell");
  EXPECT_FALSE(bare->strips_leading_space());
}

TEST(SpmTokenizer, BeginningOfTextIsAddedByDefault) {
  VocabularyFile v = spm_vocabulary();
  EXPECT_EQ(ids_of(*load_good(v), "a", {}), (Ids{1, id_of(v, "\u2581a")}));
  EXPECT_EQ(ids_of(*load_good(v), "", {}), Ids{1});
  v.numbers.clear();  // the customary ids
  EXPECT_EQ(load_good(v)->bos(), 1);
  EXPECT_EQ(load_good(v)->eos(), 2);
  EXPECT_TRUE(load_good(v)->is_end_of_generation(2));
  EXPECT_GE(load_good(v)->remarks().size(), 3u);
}

TEST(SpmTokenizer, ATokenWithASpaceInsideMergesAcrossWords) {
  VocabularyFile v = spm_vocabulary();
  const Ids words = {id_of(v, "\u2581a"), id_of(v, "\u2581hell")};
  EXPECT_EQ(ids_of(*load_good(v), "a hell"), words);
  v.add("\u2581a\u2581", kNormal, 100);
  const int32_t phrase = v.add("\u2581a\u2581h", kNormal, 100);
  EXPECT_EQ(ids_of(*load_good(v), "a hell"), (Ids{phrase, id_of(v, "e"), id_of(v, "ll")}));
}

TEST(SpmTokenizer, Phi3TakesTheSpaceAfterSpecialTokens) {
  VocabularyFile v = spm_vocabulary();
  const int32_t user = v.add("<|user|>", kControl);
  const int32_t hell = id_of(v, "\u2581hell");
  EXPECT_EQ(ids_of(*load_good(v), "<|user|> \n", kParsed).size(), 3u);
  v.general_name = "Phi-3 Mini";
  EXPECT_EQ(ids_of(*load_good(v), "<|user|> \n hell", kParsed), (Ids{user, hell}));
  EXPECT_EQ(ids_of(*load_good(v), "<|user|> \n", kParsed), Ids{user});
  EXPECT_EQ(ids_of(*load_good(v), "<s> hell", kParsed), (Ids{1, id_of(v, "\u2581"), hell}));
}

TEST(Tokenizer, IllFormedTextIsReplacedPerMaximalPart) {
  for (const VocabularyFile& v : {bpe_vocabulary(), spm_vocabulary()}) {
    const auto t = load_good(v);
    EXPECT_EQ(ids_of(*t, "a\xE2\x82h\xFF"), ids_of(*t, "a\uFFFDh\uFFFD"));
    EXPECT_NE(ids_of(*t, "a\xE2\x82h"), ids_of(*t, "a\uFFFD\uFFFDh"));
  }
}

TEST(Tokenizer, AnyBytesHaveIds) {
  std::mt19937 random(7);
  for (const VocabularyFile& v : {bpe_vocabulary(), spm_vocabulary()}) {
    const auto t = load_good(v);
    for (int i = 0; i < 2000; ++i) {
      std::string bytes(random() % 60, '\0');
      for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? "a <|s>h"[random() % 7] : random());
      const Ids ids = ids_of(*t, bytes, kParsed);
      EXPECT_FALSE(ids.empty() && !bytes.empty());
      text_of(*t, ids, true);
    }
  }
}

TEST(Tokenizer, LongTextsTakeLinearithmicTime) {
  constexpr size_t kBytes = 1 << 20;
  for (const VocabularyFile& v : {bpe_vocabulary(), spm_vocabulary()}) {
    const auto t = load_good(v);
    for (const char* unit : {"a", " ", "\u6F22", "<", "<|start|", "a ", "\n", "hel", "\xFF"}) {
      std::string text;
      while (text.size() < kBytes) text += unit;
      const double start = test::processor_seconds();
      const Ids ids = ids_of(*t, text, kParsed);
      const double seconds = test::processor_seconds() - start;
      EXPECT_LT(seconds, 20.0) << v.model << " '" << unit << "'";  // far below what n * n would take
      if (unit[0] != '\xFF') {
        EXPECT_EQ(text_of(*t, ids), text) << v.model << " '" << unit << "'";
      }
    }
  }
}

// Longer than a word may be: it is cut, between characters.
TEST(Tokenizer, WordsOfManyMegabytes) {
  std::string text;
  while (text.size() < (33 << 20)) text += "\u6F22";
  for (const VocabularyFile& v : {bpe_vocabulary(), spm_vocabulary()}) {
    const auto t = load_good(v);
    Ids expected = ids_of(*t, "\u6F22");
    const Ids one(expected.end() - 3, expected.end());
    for (size_t n = 3; n < text.size(); n += 3) expected.insert(expected.end(), one.begin(), one.end());
    EXPECT_TRUE(ids_of(*t, text) == expected) << v.model;
  }
}

TEST(Tokenizer, ManyThreadsShareOne) {
  for (const VocabularyFile& v : {bpe_vocabulary(), spm_vocabulary()}) {
    const auto t = load_good(v);
    const auto reference = load_good(v);
    std::string text;
    for (int i = 0; i < 300; ++i) text += i % 3 ? " hell" : i % 2 ? " aaaa" : " hello aaa<|im_end|>";
    const Ids expected = ids_of(*reference, text, kParsed);
    std::vector<std::thread> threads;
    std::vector<int> n_equal(4, 0);
    for (size_t k = 0; k < n_equal.size(); ++k)
      threads.emplace_back([&, k] {
        for (int i = 0; i < 50; ++i) n_equal[k] += ids_of(*t, text, kParsed) == expected;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(n_equal, std::vector<int>(n_equal.size(), 50));
  }
}

}  // namespace
}  // namespace inlay::testing
