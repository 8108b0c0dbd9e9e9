// tokenizer.json and its companions as the keys of a GGUF file.
#include "src/model/hf_vocabulary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>

#include "src/tokenizer/tokenizer.h"
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
        {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {6}}}}, {"</s>", {{"id", "</s>"}, {"ids", {7}}}}, {"d", {{"id", "d"}, {"ids", {3}}}}}}}}};
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
  const auto unsaid = add_hf_vocabulary(folder.path(), 9, builder);
  if (!unsaid.ok()) return unsaid.status();
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

// As the folder's own reader takes it: the tokens are those of generation_config.json and the one that the tokenizer names.
// What the tokenizer of a folder's files calls its tokens: NAME=TEXT,... in the order of names.
std::string names_of(const json& config, const json& map) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", small_files().tokenizer.dump());
  if (!config.is_null()) folder.write("tokenizer_config.json", config.dump());
  if (!map.is_null()) folder.write("special_tokens_map.json", map.dump());
  MetadataBuilder builder;
  EXPECT_TRUE(add_hf_vocabulary(folder.path(), 9, builder).ok());
  const auto metadata = builder.build("");
  const auto tokenizer = Tokenizer::from_metadata(metadata, 9);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  std::map<std::string, std::string> names;
  for (const SpecialTokenName& special : (*tokenizer)->special_names()) {
    std::string& texts = names[special.name];
    for (const std::string& text : special.texts) texts += (texts.empty() ? "" : " ") + text;
    if (special.is_list) texts = "[" + texts + "]";
  }
  std::string out;
  for (const auto& [name, text] : names) out += (out.empty() ? "" : ",") + name + "=" + text;
  return out;
}

TEST(HfVocabulary, SpecialTokensFromWhereverAFolderNamesThem) {
  const json none, roles = {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "a"}, {"unk_token", "b"}, {"sep_token", "c"}, {"cls_token", {{"content", "d"}}}, {"mask_token", "ab"}};
  const std::string all = "bos_token=<s>,cls_token=d,eos_token=</s>,mask_token=ab,pad_token=a,sep_token=c,unk_token=b";
  const struct {
    json config, map;
    std::string want;
  } cases[] = {
      {none, none, "bos_token=<s>"},  // the post-processor's
      {roles, none, all},
      {none, roles, all},
      {{{"pad_token", "a"}}, roles, all},
      {{{"pad_token", "b"}}, {{"pad_token", "a"}}, "bos_token=<s>,pad_token=a"},
      {{{"pad_token", "b"}, {"added_tokens_decoder", json::object()}}, {{"pad_token", "a"}, {"sep_token", "c"}}, "bos_token=<s>,pad_token=b"},
      {{{"pad_token", nullptr}, {"add_bos_token", true}, {"model_max_length", 7}}, none, "bos_token=<s>"},
      {{{"additional_special_tokens", {"a", {{"content", "b"}}}}}, none, "additional_special_tokens=[a b],bos_token=<s>"},
      {none, {{"additional_special_tokens", {"a", "b"}}}, "additional_special_tokens=[a b],bos_token=<s>"},
      {{{"extra_special_tokens", {{"image_token", "a"}, {"end_of_image", "b"}}}}, none, "bos_token=<s>,end_of_image=b,image_token=a"},
      {{{"model_specific_special_tokens", {{"boi_token", "a"}}}, {"boi_token", "a"}}, none, "boi_token=a,bos_token=<s>"},
      {{{"pad_token", "not in the vocabulary"}}, none, "bos_token=<s>,pad_token=not in the vocabulary"},
  };
  for (const auto& c : cases) EXPECT_EQ(names_of(c.config, c.map), c.want) << c.config << " " << c.map;
}

// Other programs find them in GGUF's own keys.
TEST(HfVocabulary, RolesAreKeysOfGguf) {
  const auto m = read([](Files& f) {
    f.config["pad_token"] = "a", f.config["unk_token"] = "b", f.config["sep_token"] = "c", f.config["cls_token"] = "d", f.config["mask_token"] = "ab";
  });
  ASSERT_TRUE(m.ok()) << m.status().message;
  for (const auto& [key, id] : {std::pair{"padding", 0}, {"unknown", 1}, {"seperator", 2}, {"cls", 3}, {"mask", 4}, {"bos", 6}, {"eos", 7}})
    EXPECT_EQ(*m->get_i64("tokenizer.ggml." + std::string(key) + "_token_id"), id) << key;
}

TEST(HfVocabulary, AllEndsAreListed) {
  const auto ends = [](const std::function<void(Files&)>& change) {
    const auto m = read(change);
    EXPECT_TRUE(m.ok()) << m.status().message;
    return *m->i32_array("tokenizer.inlay.end_token_ids");
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(ends([](Files&) {}), (Ids{7, 4, 3}));
  EXPECT_EQ(ends([](Files& f) { f.generation["eos_token_id"] = {0, 1, 2, 3}; }), (Ids{0, 1, 2, 3, 7}));
  EXPECT_EQ(ends([](Files& f) { f.generation = json::object(); }), Ids{7});
  EXPECT_EQ(ends([](Files& f) { f.config.erase("eos_token"), f.generation["eos_token_id"] = nullptr; }), Ids{});
}

TEST(HfVocabulary, EndsOfTheFilesThatMayStateThem) {
  const auto ends = [](const json& generation, const json& config) {
    const TemporaryFolder folder;
    folder.write("generation_config.json", generation.dump());
    folder.write("config.json", config.dump());
    const auto read = read_hf_end_ids(folder.path());
    EXPECT_TRUE(read.ok()) << read.status().message;
    return read->ids;
  };
  using Ids = std::vector<int64_t>;
  const json one = {{"eos_token_id", 1}}, several = {{"eos_token_id", {2, nullptr, -1}}}, none = {{"eos_token_id", nullptr}};
  EXPECT_EQ(ends(one, several), Ids{1});
  EXPECT_EQ(ends(none, several), (Ids{2, -1}));
  EXPECT_EQ(ends(none, {{"eos_token_id", nullptr}, {"text_config", one}}), Ids{1});
  EXPECT_EQ(ends(none, none), Ids{});
}

TEST(HfVocabulary, WhatIsNoTokenIsNone) {
  for (const json& id : {json(-1), json(99), json(INT64_MIN), json(UINT64_MAX), json::array({nullptr, -1, 99})}) {
    SCOPED_TRACE(id.dump());
    const auto m = read([&](Files& f) {
      f.config = {{"pad_token", "<none>"}};
      f.generation = {{"eos_token_id", id}, {"bos_token_id", id}, {"pad_token_id", id}};
    });
    ASSERT_TRUE(m.ok()) << m.status().message;
    for (const char* name : {"bos", "eos", "eot", "eom", "padding"})
      EXPECT_EQ(m->find("tokenizer.ggml." + std::string(name) + "_token_id"), nullptr) << name;
    EXPECT_TRUE(m->i32_array("tokenizer.inlay.end_token_ids")->empty());
  }
}

TEST(HfVocabulary, TokensWithoutARowAreKept) {
  const auto m = read([](Files& f) { f.tokenizer["model"]["vocab"]["e"] = 10; });
  ASSERT_TRUE(m.ok()) << m.status().message;
  EXPECT_EQ(m->find("tokenizer.ggml.tokens")->texts.size(), 11u);
  EXPECT_EQ(m->find("tokenizer.ggml.tokens")->texts[10], "e");
}

TEST(HfVocabulary, TemplatesByName) {
  const auto m = read([](Files& f) {
    f.config["chat_template"] = {{{"name", "default"}, {"template", "D"}}, {{"name", "tool_use"}, {"template", "T"}}};
  });
  ASSERT_TRUE(m.ok()) << m.status().message;
  EXPECT_EQ(*m->get_string("tokenizer.chat_template"), "D");
  EXPECT_EQ(*m->get_string("tokenizer.chat_template.tool_use"), "T");
}

// The templates that a folder with these files has, as "default=D tool_use=T".
std::string templates(const std::map<std::string, std::string>& files) {
  test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("additional_chat_templates"));
  for (const auto& [name, text] : files) folder.write(name, text);
  MetadataBuilder builder;
  const Status status = add_hf_templates(folder.path(), builder);
  if (!status.ok()) return status.message;
  const Metadata metadata = builder.build("");
  std::string out;
  for (const MetaEntry& entry : metadata.entries())
    out += (out.empty() ? "" : " ") + std::string(entry.key.substr(strlen("tokenizer."))) + "=" + std::string(entry.value.text);
  return out;
}

TEST(HfVocabulary, TemplatesOfEveryPlace) {
  const std::string jinja = "chat_template.jinja", tools = "additional_chat_templates/tool_use.jinja",
                    config = "tokenizer_config.json", legacy = "chat_template.json", processor = "processor_config.json";
  const std::string text = R"({"chat_template": "C"})", both = R"({"chat_template": {"default": "D", "tool_use": "E"}})",
                    null = R"({"chat_template": null})",
                    list = R"({"chat_template": [{"name": "default", "template": "L"}, {"name": "rag", "template": "R"}]})";
  EXPECT_EQ(templates({}), "");
  EXPECT_EQ(templates({{tools, "T"}, {jinja, "J"}}), "chat_template=J chat_template.tool_use=T");
  EXPECT_EQ(templates({{tools, "T"}, {jinja, "J"}, {config, list}}), "chat_template=J chat_template.tool_use=T");
  EXPECT_EQ(templates({{tools, "T"}, {config, text}}), "chat_template=C chat_template.tool_use=T");
  EXPECT_EQ(templates({{tools, "T"}, {config, both}}), "chat_template=D chat_template.tool_use=T");
  EXPECT_EQ(templates({{"additional_chat_templates/notes.txt", "N"}, {jinja, "J"}}), "chat_template=J");
  EXPECT_EQ(templates({{config, list}}), "chat_template=L chat_template.rag=R");
  for (const std::string& file : {config, legacy, processor}) {
    EXPECT_EQ(templates({{file, text}}), "chat_template=C") << file;
    EXPECT_EQ(templates({{file, null}}), "") << file;
    const std::string wrong = templates({{file, R"({"chat_template": 1})"}});
    EXPECT_NE(wrong.find(file + ": chat_template is 1, expected a template"), std::string::npos) << wrong;
  }
  EXPECT_EQ(templates({{config, text}, {legacy, both}}), "chat_template=C");
  EXPECT_EQ(templates({{config, null}, {legacy, both}, {processor, text}}), "chat_template=D chat_template.tool_use=E");
}

// The flags of GGUF say BOS before a text and EOS behind it.
TEST(HfVocabulary, TokensAroundATextAreFlagsWhereTheyCan) {
  const json text = {{"Sequence", {{"id", "A"}}}};
  const auto special = [](const char* name) { return json{{"SpecialToken", {{"id", name}}}}; };
  const struct {
    json single;
    json config;
    bool bos, eos;
    const char* unsaid;  // a part of what others are warned of
  } cases[] = {
      {json::array({text}), {}, false, false, nullptr},
      {json::array({special("<s>"), text, special("</s>")}), {}, true, true, nullptr},
      {json::array({text, special("</s>")}), {{"add_eos_token", false}}, false, false, nullptr},
      {json::array({text}), {{"add_bos_token", true}, {"add_eos_token", true}}, true, true, nullptr},
      {json::array({text, special("d")}), {}, false, false, "behind the text: 'd'"},
      {json::array({special("<s>"), special("d"), text}), {}, true, false, "before the text: '<s>' 'd'"},
      {json::array({text, special("d")}), {{"add_eos_token", true}}, false, true, "behind the text: 'd' '</s>'"},
      {json::array({text, special("</s>"), special("</s>")}), {}, false, true, "behind the text: '</s>' '</s>'"},
  };
  for (const auto& c : cases) {
    for (const bool in_sequence : {false, true}) {
      SCOPED_TRACE(c.single.dump() + c.config.dump());
      Files f = small_files();
      json& post = f.tokenizer["post_processor"];
      post["single"] = c.single;
      if (in_sequence) post = {{"type", "Sequence"}, {"processors", json::array({json{{"type", "ByteLevel"}}, post})}};
      if (c.config.is_object()) f.config.update(c.config);
      f.tokenizer["decoder"] = {{"type", "ByteLevel"}};
      TemporaryFolder folder;
      folder.write("tokenizer.json", f.tokenizer.dump());
      folder.write("tokenizer_config.json", f.config.dump());
      MetadataBuilder builder;
      const auto unsaid = add_hf_vocabulary(folder.path(), 9, builder);
      ASSERT_TRUE(unsaid.ok()) << unsaid.status().message;
      const Metadata m = builder.build("");
      EXPECT_EQ(*m.get_bool("tokenizer.ggml.add_bos_token"), c.bos);
      EXPECT_EQ(*m.get_bool("tokenizer.ggml.add_eos_token"), c.eos);
      EXPECT_EQ(unsaid->size(), c.unsaid ? 1u : 0u);
      if (!c.unsaid || unsaid->empty()) continue;
      EXPECT_NE(unsaid->front().find(c.unsaid), std::string::npos) << unsaid->front();
    }
  }
}

// Other programs see a file without a tokenizer; we find the folder's own in it.
TEST(HfVocabulary, WhatGgufHasNoNameForIsKept) {
  const std::function<void(Files&)> changes[] = {
      [](Files& f) { f.tokenizer["model"]["type"] = "WordPiece"; },
      [](Files& f) { f.tokenizer["model"]["end_of_word_suffix"] = "</w>"; },
      [](Files& f) { f.tokenizer["model"]["ignore_merges"] = true; },
      [](Files& f) {
        f.tokenizer["pre_tokenizer"] = {{"type", "Metaspace"}};
      },
  };
  for (const auto& change : changes) {
    const auto m = read(change);
    ASSERT_TRUE(m.ok()) << m.status().message;
    EXPECT_EQ(*m->get_string("tokenizer.ggml.model"), "none");
    EXPECT_FALSE(m->get_string("tokenizer.huggingface.json")->empty());
    EXPECT_FALSE(m->get_string("tokenizer.inlay.config")->empty());
    EXPECT_EQ(*m->i32_array("tokenizer.inlay.end_token_ids"), (std::vector<int32_t>{7, 4, 3}));
  }
}

TEST(HfVocabulary, WhatIsWrongIsNamed) {
  struct Case {
    std::function<void(Files&)> change;
    const char* expected;
  };
  const Case cases[] = {
      {[](Files& f) { f.tokenizer["model"]["vocab"]["e"] = 3; }, "id 3 is that of "},
      {[](Files& f) {
         f.tokenizer["model"]["merges"] = json::array({json::array({"a", "b", "c"})});
       },
       "model.merges[0]"},
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
