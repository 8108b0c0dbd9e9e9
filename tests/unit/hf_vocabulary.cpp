// tokenizer.json and its companions as the keys of a GGUF file.
#include "src/model/hf_vocabulary.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::TemporaryFolder;

struct Files {
  json tokenizer, config, generation;
};

// Four letters, a merge and two special tokens; ids 5 and 8 have no token.
Files small_files() {
  Files f;
  f.tokenizer = {
      {"model",
       {{"type", "BPE"},
        {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"d", 3}, {"ab", 4}}},
        {"merges", json::array({json::array({"a", "b"})})},
        {"ignore_merges", false}}},
      {"added_tokens",
       {{{"id", 6}, {"content", "<s>"}, {"special", true}}, {{"id", 7}, {"content", "</s>"}, {"special", false}}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}}}}};
  f.config = {{"bos_token", "<s>"}, {"eos_token", {{"content", "</s>"}}}};
  f.generation = {{"eos_token_id", {7, 4, 3}}};
  return f;
}

Result<Metadata> read(const std::function<void(Files&)>& change = [](Files&) {}) {
  Files f = small_files();
  change(f);
  TemporaryFolder folder;
  folder.write("tokenizer.json", f.tokenizer.dump());
  folder.write("tokenizer_config.json", f.config.dump());
  folder.write("generation_config.json", f.generation.dump());
  MetadataBuilder builder;
  INLAY_TRY(add_hf_templates(folder.path(), builder));
  INLAY_TRY(add_hf_vocabulary(folder.path(), 9, builder));
  return builder.build("");
}

TEST(HfVocabulary, TokensTypesMergesAndSpecialIds) {
  const auto m = read();
  ASSERT_TRUE(m.ok()) << m.status().message;
  const std::vector<std::string_view> texts = {"a", "b", "c", "d", "ab", "[PAD5]", "<s>", "</s>", "[PAD8]"};
  EXPECT_EQ(m->find("tokenizer.ggml.tokens")->texts, texts);
  EXPECT_EQ(*m->i32_array("tokenizer.ggml.token_type"), (std::vector<int32_t>{1, 1, 1, 1, 1, 5, 3, 4, 5}));
  EXPECT_EQ(m->find("tokenizer.ggml.merges")->texts, std::vector<std::string_view>{"a b"});
  EXPECT_EQ(*m->get_string("tokenizer.ggml.pre"), "gpt-2");
  EXPECT_EQ(*m->get_u64("tokenizer.ggml.bos_token_id"), 6u);
  EXPECT_EQ(*m->get_u64("tokenizer.ggml.eos_token_id"), 7u);
  EXPECT_EQ(*m->get_u64("tokenizer.ggml.eot_token_id"), 4u);
  EXPECT_EQ(*m->get_u64("tokenizer.ggml.eom_token_id"), 3u);
  EXPECT_TRUE(*m->get_bool("tokenizer.ggml.add_bos_token"));
  const auto without = read([](Files& f) { f.tokenizer["post_processor"] = nullptr; });
  ASSERT_TRUE(without.ok()) << without.status().message;
  EXPECT_FALSE(*without->get_bool("tokenizer.ggml.add_bos_token"));
}

TEST(HfVocabulary, TemplatesByName) {
  const auto m = read([](Files& f) {
    f.config["chat_template"] = {{{"name", "default"}, {"template", "D"}}, {{"name", "tool_use"}, {"template", "T"}}};
  });
  ASSERT_TRUE(m.ok()) << m.status().message;
  EXPECT_EQ(*m->get_string("tokenizer.chat_template"), "D");
  EXPECT_EQ(*m->get_string("tokenizer.chat_template.tool_use"), "T");
}

TEST(HfVocabulary, WhatGgufHasNoEqualOfIsRefusedByKey) {
  struct Case {
    std::function<void(Files&)> change;
    const char* expected;
  };
  const Case cases[] = {
      {[](Files& f) { f.tokenizer["model"]["type"] = "WordPiece"; }, "model.type is 'WordPiece', expected 'BPE'"},
      {[](Files& f) { f.tokenizer["model"]["end_of_word_suffix"] = "</w>"; }, "end_of_word_suffix is '</w>'"},
      {[](Files& f) { f.tokenizer["model"]["ignore_merges"] = true; }, "(ignore_merges true)"},
      {[](Files& f) {
         f.tokenizer["pre_tokenizer"] = {{"type", "Metaspace"}};
       },
       "pre_tokenizer is a 'Metaspace'"},
      {[](Files& f) { f.tokenizer["model"]["vocab"]["e"] = 9; },
       "the highest id is 9, but vocab_size of config.json is 9"},
      {[](Files& f) { f.tokenizer["model"]["vocab"]["e"] = 3; }, "id 3 is that of "},
      {[](Files& f) {
         f.tokenizer["model"]["merges"] = json::array({json::array({"a", "b", "c"})});
       },
       "model.merges[0]"},
      {[](Files& f) { f.config["eos_token"] = "<none>"; }, "eos_token is '<none>', which is no token"},
      {[](Files& f) { f.generation["eos_token_id"] = "x"; }, "eos_token_id"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.expected);
    const auto m = read(c.change);
    ASSERT_FALSE(m.ok());
    EXPECT_NE(m.status().message.find(c.expected), std::string::npos) << m.status().message;
  }
}

}  // namespace
}  // namespace inlay
