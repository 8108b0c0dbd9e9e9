// A folder's tokenizer and that of the file it is converted to are the same, for every kind of part that tokenizer.json
// can have: tokens, text, beginnings and ends.
#include <filesystem>
#include <functional>

#include "src/formats/metadata_builder.h"
#include "src/model/hf_vocabulary.h"
#include "tests/unit/tokenizer_fixtures.h"

namespace inlay {
namespace {

using namespace inlay::testing;

struct Folder {
  std::string name;
  json tokenizer, config, generation = json::object();
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
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, pair = json::array({text, json{{"Sequence", {{"id", "B"}, {"type_id", 1}}}}});
  const auto add = [&](const std::string& name, const std::function<void(Folder&)>& change) {
    out.push_back({name, plain, config});
    change(out.back());
  };
  const std::pair<const char*, json> singles[] = {{"nothing", json::array({text})},
                                                  {"before", json::array({special(a), text})},
                                                  {"behind", json::array({text, special(b)})},
                                                  {"both", json::array({special(a), text, special(b)})},
                                                  {"two behind", json::array({text, special(b), special(a)})}};
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
  return out;
}

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(::testing::TempDir() + "inlay_convert_" + std::to_string(::getpid())) { std::filesystem::create_directories(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  void write(const char* name, const json& value) const { std::ofstream(path_ + "/" + name) << dumped(value); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The differences of two tokenizers, up to the first few.
std::vector<std::string> differences(const Tokenizer& a, const Tokenizer& b) {
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
  int n_with_files = 0, n_that_need_them = 0, n_without_warning = 0;
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
    EXPECT_TRUE(unsaid->empty() || file.find("tokenizer.huggingface.json"));
    n_without_warning += unsaid->empty();
    if (!file.find("tokenizer.huggingface.json")) continue;

    // As other programs read the file.
    ++n_with_files;
    const std::span<const MetaEntry> entries = file.entries();
    std::vector<MetaEntry> others;
    for (const MetaEntry& e : entries) {
      if (e.key != "tokenizer.huggingface.json") others.push_back(e);
    }
    const auto of_others = taken(Tokenizer::from_metadata(Metadata(nullptr, std::move(others), "test.gguf"), of_folder->n_tokens()));
    n_that_need_them += !of_others || !differences(*of_folder, *of_others).empty();
  }
  EXPECT_LT(n_with_files, static_cast<int>(all.size())) << "some are said by GGUF's own keys";
  EXPECT_GE(n_without_warning, 5);
  EXPECT_GT(n_that_need_them, n_with_files * 3 / 4) << "negative control: without the files most differ";
}

}  // namespace
}  // namespace inlay
