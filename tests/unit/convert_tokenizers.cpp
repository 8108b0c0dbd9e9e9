// A folder's tokenizer and that of the file it is converted to are the same, for every kind of part that tokenizer.json
// can have: tokens, text, beginnings and ends.
#include <algorithm>
#include <functional>

#include "src/formats/metadata_builder.h"
#include "src/model/hf_vocabulary.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/tokenizer_fixtures.h"

namespace inlay {
namespace {

using namespace inlay::testing;

struct Folder {
  std::string name;
  json tokenizer, config, generation = json::object();
  bool others_differ = false;  // without a warning
  std::string model = {};      // to other programs, if it is said
  std::string warning = {};    // part of one; none if the model is said
};

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::vector<Folder> folders() {
  std::vector<Folder> out;
  for (const json& entry : own_entries()) {  // normalizers, models and their decoders
    if (is_gguf(entry)) continue;
    const auto file = entry.at("file").get<std::string>();
    json tokenizer = read_json(kOwnTokenizers + file);
    for (const auto& [key, value] : entry.at("set").items()) tokenizer[key] = value;
    out.push_back({entry.at("name"), std::move(tokenizer),
                   read_json(kOwnTokenizers + file.substr(0, file.size() - 5) + "_config.json")});
  }
  for (const json& row : read_json_lines(std::string(INLAY_SOURCE_DIR) + "/tests/data/tokenizer_json.jsonl")) {
    if (row.is_object()) out.push_back({row.at("name"), row.at("tokenizer"), json::object()});
  }
  // Post-processors, flags of added tokens and ends, on a tokenizer that GGUF's own keys can say.
  const json plain = read_json(kOwnTokenizers + "bpe.tokenizer.json"), config = read_json(kOwnTokenizers + "bpe.tokenizer_config.json");
  const json a = plain.at("added_tokens").at(0), b = plain.at("added_tokens").at(1);
  const auto special = [](const json& token) { return json{{"SpecialToken", {{"id", token.at("content")}, {"type_id", 0}}}}; };
  const auto named = [](const json& token) { return json{{"id", token.at("content")}, {"ids", json::array({token.at("id")})}, {"tokens", json::array({token.at("content")})}}; };
  const json whole = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, pair = json::array({whole, json{{"Sequence", {{"id", "B"}, {"type_id", 1}}}}});
  const auto add = [&](const std::string& name, const std::function<void(Folder&)>& change) {
    out.push_back({name, plain, config});
    change(out.back());
  };
  const std::pair<const char*, json> singles[] = {{"nothing", json::array({whole})},
                                                  {"before", json::array({special(a), whole})},
                                                  {"behind", json::array({whole, special(b)})},
                                                  {"both", json::array({special(a), whole, special(b)})},
                                                  {"two behind", json::array({whole, special(b), special(a)})}};
  for (const auto& [name, single] : singles) {
    const json post = {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair},
                       {"special_tokens", {{a.at("content"), named(a)}, {b.at("content"), named(b)}}}};
    add(std::string("tokens ") + name, [&](Folder& f) { f.tokenizer["post_processor"] = post; });
    add(std::string("a sequence, tokens ") + name, [&](Folder& f) {
      f.tokenizer["post_processor"] = {{"type", "Sequence"}, {"processors", json::array({plain.at("post_processor"), post})}};
    });
    add(std::string("add_bos_token, tokens ") + name, [&](Folder& f) {
      f.tokenizer["post_processor"] = post;
      f.config["add_bos_token"] = true;
      f.config["bos_token"] = b.at("content");
    });
  }
  add("BOS and EOS", [&](Folder& f) {
    const json eos = plain.at("added_tokens").at(4);  // as the config says
    json& post = f.tokenizer["post_processor"];
    post["single"] = json::array({special(a), whole, special(eos)});
    post["special_tokens"][eos.at("content")] = named(eos);
  });
  for (const char* type : {"BertProcessing", "RobertaProcessing"}) {
    add(type, [&](Folder& f) {
      f.tokenizer["post_processor"] = {{"type", type}, {"sep", json::array({b.at("content"), b.at("id")})}, {"cls", json::array({a.at("content"), a.at("id")})},
                                       {"trim_offsets", true}, {"add_prefix_space", false}};
    });
  }
  for (const char* flag : {"lstrip", "rstrip", "single_word", "normalized"}) {
    add(flag, [&](Folder& f) {
      for (json& token : f.tokenizer["added_tokens"]) token[flag] = true;
    });
  }
  add("the splitter of GPT-2", [&](Folder& f) {
    f.tokenizer["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    f.tokenizer["model"]["ignore_merges"] = false;
  });
  add("all ends", [&](Folder& f) { f.generation["eos_token_id"] = {0, 5, 7, 9, 11, 13, -1, 1 << 24}; });
  add("no ends", [&](Folder& f) { f.config.erase("eos_token"); });
  // Parts that look like those of a splitter with a name, and are more.
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const auto split_before = [&](const char* name, const json& first) {
    add(name, [&](Folder& f) {
      f.tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::array({first, bytes})}};
      f.tokenizer["model"]["ignore_merges"] = false;
    });
  };
  split_before("digits one by one", {{"type", "Digits"}, {"individual_digits", true}});
  split_before("digits together", {{"type", "Digits"}, {"individual_digits", false}});
  split_before("a text that splits", {{"type", "Split"}, {"pattern", {{"String", "e"}}}, {"behavior", "Isolated"}, {"invert", false}});
  for (const char* behavior : {"Removed", "MergedWithNext"}) {
    add(std::string("the pattern of a name, ") + behavior, [&](Folder& f) {
      f.tokenizer["pre_tokenizer"]["pretokenizers"][0]["behavior"] = behavior;
    });
  }
  const auto on_gpt2 = [&](const std::string& name, const std::function<void(Folder&)>& change) {
    add(name, [&](Folder& f) {
      f.tokenizer["pre_tokenizer"] = bytes;
      f.tokenizer["model"]["ignore_merges"] = false;
      change(f);
    });
  };
  on_gpt2("no decoder", [](Folder& f) { f.tokenizer["decoder"] = nullptr; });
  on_gpt2("no type of the model", [](Folder& f) { f.tokenizer["model"].erase("type"); });
  on_gpt2("BOS and EOS by number", [](Folder& f) {
    f.config = json::object();
    f.generation = {{"bos_token_id", 3}, {"eos_token_id", 5}};
  });
  on_gpt2("an unknown token that the model lacks, a byte that has none", [&](Folder& f) {
    f.others_differ = true;
    f.config["unk_token"] = a.at("content");
    f.tokenizer["model"]["vocab"].erase("!");
    json merges = json::array();
    for (const json& m : f.tokenizer["model"]["merges"])
      if (m.dump().find('!') == std::string::npos) merges.push_back(m);
    f.tokenizer["model"]["merges"] = merges;
  });
  on_gpt2("added tokens that overlap, before and after normalizing", [](Folder& f) {
    f.others_differ = true;
    const size_t n = f.tokenizer["model"]["vocab"].size() + f.tokenizer["added_tokens"].size();
    for (const auto& [i, text] : {std::pair{0, "tt"}, {1, "th"}, {2, "he"}}) {
      f.tokenizer["added_tokens"].push_back({{"id", n + 8 + static_cast<size_t>(i)}, {"content", text}, {"special", false}, {"normalized", i != 2},
                                             {"lstrip", false}, {"rstrip", false}, {"single_word", false}});
    }
  });
  // BPE over characters, as of Llama 2, Mistral and Gemma: "llama" with scores.
  const json characters = read_json(kOwnTokenizers + "spm.tokenizer.json"), of_characters = read_json(kOwnTokenizers + "spm.tokenizer_config.json");
  const auto on_spm = [&](const std::string& name, const std::string& warning, const std::function<void(Folder&)>& change) {
    out.push_back({.name = name, .tokenizer = characters, .config = of_characters, .model = "llama", .warning = warning});
    change(out.back());
  };
  const json spaces = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  const json plain_decoder = {{"type", "Sequence"}, {"decoders", json::array({json{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                                                                            json{{"type", "ByteFallback"}}, json{{"type", "Fuse"}}})}};
  on_spm("Llama 2", "", [](Folder&) {});
  on_spm("Gemma", "", [&](Folder& f) {
    f.tokenizer["normalizer"] = spaces;
    f.tokenizer["decoder"] = plain_decoder;
  });
  on_spm("Gemma 2", "", [&](Folder& f) {
    f.tokenizer["normalizer"] = spaces;
    f.tokenizer["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
    f.tokenizer["decoder"] = plain_decoder;
  });
  on_spm("another decoder", "decoder ", [&](Folder& f) { f.tokenizer["decoder"] = plain_decoder; });
  on_spm("merges in the other order", "the order of merges", [](Folder& f) {
    json& merges = f.tokenizer["model"]["merges"];
    for (size_t i = 0; i + 1 < merges.size(); ++i) {  // the ways to one token, far from each other
      const auto text = [&](const json& m) { return m.at(0).get<std::string>() + m.at(1).get<std::string>(); };
      if (text(merges[i]) == text(merges[i + 1])) {
        merges.push_back(merges[i]);
        merges.erase(i);
        break;
      }
    }
  });
  on_spm("a merge that is missing", "merges that are not in the list", [](Folder& f) { f.tokenizer["model"]["merges"].erase(300); });
  return out;
}

struct TemporaryFolder : test::TemporaryFolder {
  void write(const char* name, const json& value) const { test::TemporaryFolder::write(name, dumped(value)); }
};

// The differences of two tokenizers, up to the first few. Texts with `left_out`, if any, are not looked at.
std::vector<std::string> differences(const Tokenizer& a, const Tokenizer& b, const std::string& left_out = {}) {
  std::vector<std::string> out;
  if (a.n_tokens() != b.n_tokens()) return {"sizes"};
  if (a.bos() != b.bos() || a.eos() != b.eos()) out.push_back("BOS or EOS");
  if (a.adds_bos() != b.adds_bos() || a.adds_eos() != b.adds_eos()) out.push_back("what is added");
  if (a.strips_leading_space() != b.strips_leading_space()) out.push_back("the leading space");
  for (int32_t id = 0; id < a.n_tokens(); ++id) {
    if (a.is_end_of_generation(id) != b.is_end_of_generation(id)) out.push_back("end " + std::to_string(id));
    if (a.piece(id) != b.piece(id) || a.kind(id) != b.kind(id)) out.push_back("token " + std::to_string(id));
  }
  for (const json& row : own_lines("texts.jsonl")) {
    std::string text = row.contains("base64") ? decode_base64(row.at("base64")) : row.at("text").get<std::string>();
    if (!left_out.empty() && text.find(left_out) != text.npos) continue;
    for (const bool with_tokens : {false, true}) {
      if (with_tokens) text = "x " + std::string(a.piece(0)) + " y" + std::string(a.piece(a.n_tokens() - 1)) + "\n" + text;
      for (const bool add : {false, true}) {
        for (const bool parse : {false, true}) {
          const EncodeOptions options = {.add_special = add, .parse_special = parse};
          const Ids ids = encode(a, text, options);
          if (ids != encode(b, text, options)) out.push_back("tokens of " + dumped(text));
          if (decode(a, ids, add) != decode(b, ids, add)) out.push_back("text of " + dumped(text));
        }
      }
    }
    if (out.size() > 3) break;
  }
  return out;
}

TEST(ConvertTokenizers, FolderAndFileAgree) {
  const std::vector<Folder> all = folders();
  ASSERT_GE(all.size(), 60u);
  int n_of_other_models = 0, n_with_warning = 0, n_that_need_files = 0, n_without_warning = 0;
  for (const Folder& f : all) {
    SCOPED_TRACE(f.name);
    const TemporaryFolder folder;
    folder.write("tokenizer.json", f.tokenizer);
    folder.write("tokenizer_config.json", f.config);
    folder.write("generation_config.json", f.generation);
    const auto ends = read_hf_end_ids(folder.path());
    ASSERT_TRUE(ends.ok()) << ends.status().message;
    const auto of_folder = taken(read_tokenizer_json({.tokenizer = dumped(f.tokenizer), .config = dumped(f.config), .end_ids = ends->ids}));
    ASSERT_TRUE(of_folder);
    MetadataBuilder builder;
    const auto unsaid = add_hf_vocabulary(folder.path(), static_cast<uint64_t>(of_folder->n_tokens()), builder);
    ASSERT_TRUE(unsaid.ok()) << unsaid.status().message;
    const Metadata file = builder.build("test.gguf");
    const auto of_file = taken(Tokenizer::from_metadata(file, of_folder->n_tokens()));
    ASSERT_TRUE(of_file);
    EXPECT_EQ(differences(*of_folder, *of_file), std::vector<std::string>{});
    ASSERT_TRUE(file.find("tokenizer.huggingface.json"));

    // As other programs read the file.
    const std::span<const MetaEntry> entries = file.entries();
    std::vector<MetaEntry> others;
    for (const MetaEntry& e : entries) {
      if (e.key != "tokenizer.huggingface.json") others.push_back(e);
    }
    const auto of_others = taken(Tokenizer::from_metadata(Metadata(nullptr, std::vector(others), "test.gguf"), of_folder->n_tokens()));
    const std::string model(file.find("tokenizer.ggml.model")->text);
    EXPECT_TRUE(f.model.empty() || model == f.model) << model;
    if (!f.warning.empty()) {
      const auto warned = std::ranges::any_of(*unsaid, [&](const std::string& line) { return line.find(f.warning) != line.npos; });
      EXPECT_TRUE(warned) << f.warning;
    } else if (!f.model.empty()) {
      EXPECT_EQ(*unsaid, std::vector<std::string>{});
    }
    for (const auto& [name, its_model] : {std::pair{"spm-plain-json", "llama"}, {"unigram-json", "t5"}, {"wordpiece-json", "bert"}}) {
      if (f.name != name) continue;
      ++n_of_other_models;
      EXPECT_EQ(model, its_model);
      EXPECT_EQ(*unsaid, std::vector<std::string>{});
    }
    if (f.name == "Llama 2") {  // negative control: the scores count
      MetadataBuilder other;
      for (const MetaEntry& e : others) other.copy(e);
      std::vector<float> scores = *file.f32_array("tokenizer.ggml.scores");
      for (float& score : scores) score = -score;
      other.f32s("tokenizer.ggml.scores", scores);
      const auto reversed = taken(Tokenizer::from_metadata(other.build("test.gguf"), of_folder->n_tokens()));
      ASSERT_TRUE(reversed);
      EXPECT_NE(differences(*of_folder, *reversed), std::vector<std::string>{});
    }
    if (unsaid->empty()) {
      ++n_without_warning;
      ASSERT_TRUE(of_others);
      if (f.others_differ) {
        EXPECT_NE(differences(*of_folder, *of_others), std::vector<std::string>{});
      } else {
        const std::string folded = "\xC5\xBF";  // U+017F, a small S to the patterns
        EXPECT_EQ(differences(*of_folder, *of_others, folded), std::vector<std::string>{}) << "nobody is warned";
      }
    } else {
      ++n_with_warning;
      n_that_need_files += !of_others || !differences(*of_folder, *of_others).empty();
    }
  }
  EXPECT_EQ(n_of_other_models, 3);
  EXPECT_GE(n_without_warning, 5);
  EXPECT_GT(n_that_need_files, n_with_warning * 3 / 4) << "negative control: without the files most differ";
}

}  // namespace
}  // namespace inlay
