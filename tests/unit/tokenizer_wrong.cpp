// Negative controls: what the conformance tests compare does depend on the pre-tokenizer, the merges, and the metadata.
#include <algorithm>
#include <span>

#include "tests/unit/tokenizer_fixtures.h"

namespace inlay::testing {
namespace {

// The tokenizer of a fixture whose metadata `change` alters.
template <class Change>
std::unique_ptr<Tokenizer> load_changed(const std::string& name, Change change) {
  Result<Checkpoint> file = open_gguf(vocabulary_path(name));
  EXPECT_TRUE(file.ok()) << file.status().message;
  if (!file.ok()) return nullptr;
  const std::span<const MetaEntry> entries = file->metadata().entries();
  std::vector<MetaEntry> copy(entries.begin(), entries.end());
  for (MetaEntry& entry : copy) change(entry);
  auto tokenizer = Tokenizer::from_metadata(Metadata(nullptr, std::move(copy), name));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

// Of the hard texts, how many get other ids than the fixture's.
int n_different(const Tokenizer& tokenizer, const std::string& name) {
  int n = 0;
  for (const json& row : read_json_lines(kTokenizers + name + ".hard.jsonl")) {
    const auto text = row.at("text").get<std::string>();
    n += encode(tokenizer, text, {.add_special = false, .parse_special = true}) != row.at("ids").get<Ids>();
  }
  return n;
}

#define SKIP_WITHOUT_FIXTURES() \
  if (kFixtures.empty()) GTEST_SKIP() << "no conformance fixtures: set INLAY_FIXTURES"

TEST(WrongTokenizer, AnotherPreTokenizerGivesOtherIds) {
  SKIP_WITHOUT_FIXTURES();
  const auto with_pre = [](std::string_view pre) {
    return [=](MetaEntry& entry) {
      if (entry.key == "tokenizer.ggml.pre") entry.value.text = pre;
    };
  };
  EXPECT_EQ(n_different(*load_changed("gpt-2", with_pre("gpt-2")), "gpt-2"), 0);
  for (const char* pre : {"llama-bpe", "qwen2", "starcoder", "deepseek-llm", "default", "falcon"})
    EXPECT_GT(n_different(*load_changed("gpt-2", with_pre(pre)), "gpt-2"), 20) << pre;
  for (const char* pre : {"gpt-2", "qwen2", "deepseek-coder"})
    EXPECT_GT(n_different(*load_changed("deepseek-llm", with_pre(pre)), "deepseek-llm"), 10) << pre;
}

TEST(WrongTokenizer, AnotherOrderOfMergesGivesOtherIds) {
  SKIP_WITHOUT_FIXTURES();
  const auto reversed = load_changed("gpt-2", [](MetaEntry& entry) {
    if (entry.key == "tokenizer.ggml.merges") std::reverse(entry.value.texts.begin(), entry.value.texts.end());
  });
  EXPECT_GT(n_different(*reversed, "gpt-2"), 100);
}

TEST(WrongTokenizer, OtherScoresGiveOtherIds) {
  SKIP_WITHOUT_FIXTURES();
  const std::vector<std::byte> zeros(32000 * sizeof(float));
  const auto flat = load_changed("llama-spm", [&](MetaEntry& entry) {
    if (entry.key == "tokenizer.ggml.scores") entry.value.data = zeros.data();
  });
  EXPECT_GT(n_different(*flat, "llama-spm"), 50);
}

TEST(WrongTokenizer, AnotherModelNameKeepsTheSpaceAfterPhi3sTokens) {
  SKIP_WITHOUT_FIXTURES();
  const auto renamed = load_changed("phi-3", [](MetaEntry& entry) {
    if (entry.key == "general.name") entry.value.text = "another";
  });
  EXPECT_GT(n_different(*renamed, "phi-3"), 0);
}

}  // namespace
}  // namespace inlay::testing
