// Keys that are not read: those that may change results are named, those that change nothing are not. And docs/families.md has
// the families and the spellings that the code has.
#include "src/model/known_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "src/formats/gguf.h"
#include "src/model/arch_spec.h"
#include "src/model/hf_family.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_pooling.h"
#include "src/model/model.h"
#include "tests/support/hf_folder.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

using nlohmann::json;
using Change = std::function<void(testing::GgufImage&)>;

constexpr testing::LlamaSizes kSizes = {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50};

struct Opened {
  std::vector<std::string> warnings;
  double factor;
};

Opened open_gguf_with(const Change& change) {
  const auto bytes = testing::llama_image(kSizes, change);
  const auto file = read_gguf(borrow_memory(bytes, "model"));
  EXPECT_TRUE(file.ok());
  const auto model = Model::from_checkpoint(*file);
  EXPECT_TRUE(model.ok()) << model.status().message;
  return {gguf_key_warnings(file->metadata(), "llama"), model.ok() ? model->spec().ropes[0].factor : 0};
}

TEST(KnownKeys, UnknownKeysOfAGgufFileAreNamed) {
  EXPECT_TRUE(open_gguf_with({}).warnings.empty());
  for (const char* key : {"llama.attention.new_thing", "tokenizer.ggml.new_thing"}) {
    const auto warnings = open_gguf_with([&](auto& image) { image.f32(key, 2); }).warnings;
    ASSERT_EQ(warnings.size(), 1u) << key;
    EXPECT_NE(warnings[0].find(key), std::string::npos) << warnings[0];
    EXPECT_TRUE(open_gguf_with([&](auto& image) { image.f32(key, 0); }).warnings.empty()) << key;
  }
  EXPECT_TRUE(open_gguf_with([](auto& image) { image.f32("other.new_thing", 2).f32("general.new_thing", 2); }).warnings.empty());
  for (const UnreadKey& row : unread_gguf_keys()) {
    const std::string name = row.key, key = name.starts_with("tokenizer.") ? name : "llama." + name;
    const std::string neutral = row.neutral ? row.neutral : "";
    const auto with = [&](float value) {
      return open_gguf_with([&](auto& image) {
               if (neutral == "true") image.boolean(key, value == 1);
               else image.f32(key, value);
             }).warnings.size();
    };
    EXPECT_EQ(with(1), 0u) << key;
    EXPECT_EQ(with(3), row.neutral ? 1u : 0u) << key;
  }
}

TEST(KnownKeys, OlderSpellingsOfAGgufFileAreRead) {
  for (const KeySpelling& row : gguf_spellings()) {
    const std::string key = std::string("llama.") + row.key, older = std::string("llama.") + row.older;
    EXPECT_EQ(open_gguf_with([&](auto& image) { image.f32(older, 4); }).factor, 4) << older;
    EXPECT_EQ(open_gguf_with([&](auto& image) { image.f32(older, 4).f32(key, 2); }).factor, 2) << older;
  }
  EXPECT_EQ(open_gguf_with([](auto& image) { image.f32("llama.rope.scaling.factor", 0); }).factor, 1) << "0: none";
}

std::vector<std::string> folder_warnings(const json& keys, const char* file = nullptr, const json& of_file = {}, const char* family = "llama") {
  test::TemporaryFolder folder;
  json config = test::small_config(family);
  config.update(keys);
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors(family)));
  if (file) folder.write(file, of_file.dump());
  const auto checkpoint = open_checkpoint(folder.path());
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message << keys;
  return checkpoint.ok() ? checkpoint->conventions().warnings : std::vector<std::string>();
}

TEST(KnownKeys, UnknownKeysOfConfigJsonAreNamed) {
  EXPECT_TRUE(folder_warnings(json::object()).empty());
  for (const json& value : {json(2), json("x"), json(true), json::array({1})}) {
    const auto warnings = folder_warnings({{"new_thing", value}});
    ASSERT_EQ(warnings.size(), 1u) << value;
    EXPECT_NE(warnings[0].find("config.json: new_thing is not known here"), std::string::npos) << warnings[0];
  }
  for (const json& value : {json(), json(0), json(false), json::array()}) EXPECT_TRUE(folder_warnings({{"new_thing", value}}).empty());
  for (const UnreadKey& row : unread_config_keys()) {
    EXPECT_TRUE(changes_nothing(unread_config_keys(), row.key, JsonDocument::parse("1", "x")->root())) << row.key;
    EXPECT_EQ(changes_nothing(unread_config_keys(), row.key, JsonDocument::parse("3", "x")->root()), row.neutral == nullptr) << row.key;
  }
}

TEST(KnownKeys, UnknownKeysOfAFileAreOneLine) {
  for (const KnownKeys& file : known_files()) {
    SCOPED_TRACE(file.where);
    const auto with = [&](const json& keys) { return folder_warnings(json::object(), file.where, keys); };
    const auto warnings = with({{"new_thing", 2}, {"newer_thing", "x"}, {"no_thing", false}});
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(std::string(file.where) + ": new_thing, newer_thing are each not known here"), std::string::npos) << warnings[0];
    EXPECT_TRUE(with(json::object()).empty());
    EXPECT_TRUE(with(json::array()).empty()) << "no object";
    json all = json::object();
    for (const UnreadKey& row : file.unread) {
      all[row.key] = row.neutral && std::string(row.neutral) == "1" ? json(1.0) : row.neutral ? json() : json("x");
      const json other = row.neutral ? json::array({3}) : json();
      EXPECT_EQ(with({{row.key, other}}).size(), row.neutral ? 1u : 0u) << row.key;
    }
    EXPECT_TRUE(with(all).empty());
  }
}

TEST(KnownKeys, UnknownKeysOfRopeAreNamed) {
  const json scaling = {{"rope_type", "linear"}, {"factor", 2.0}};
  for (const char* object : {"rope_scaling", "rope_parameters"}) {
    json more = scaling;
    EXPECT_TRUE(folder_warnings({{object, more}}).empty());
    more["new_thing"] = 2;
    const auto warnings = folder_warnings({{object, more}, {"other_thing", 3}});
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("config.json: other_thing, " + std::string(object) + ".new_thing are each"), std::string::npos) << warnings[0];
    more["new_thing"] = 0;
    for (const UnreadKey& row : known_rope_keys().unread) more[row.key] = row.neutral ? 1 : 3;
    EXPECT_TRUE(folder_warnings({{object, more}}).empty());
  }
  const auto with = [](const json& sliding) {
    return folder_warnings({{"rope_parameters", {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 1e6}}}, {"sliding_attention", sliding}}}},
                           nullptr, {}, "gemma3_text");
  };
  EXPECT_TRUE(with({{"rope_type", "default"}, {"rope_theta", 1e4}}).empty());
  const auto warnings = with({{"rope_type", "default"}, {"rope_theta", 1e4}, {"new_thing", 2}});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("config.json: rope_parameters.sliding_attention.new_thing is not"), std::string::npos) << warnings[0];
}

std::string expected_text(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(KnownKeys, TheDocumentationHasTheTable) {
  std::ifstream file(INLAY_SOURCE_DIR "/docs/families.md");
  std::vector<std::string> found, expected;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    inside = inside || line == "## Keys with several spellings";
    if (inside && line.starts_with("| ") && !line.starts_with("| in ")) found.push_back(line);
  }
  for (const ConfigSpellings& row : config_spellings()) {
    std::string keys;
    for (const char* key : row.keys)
      if (key) keys += (keys.empty() ? "`" : ", `") + std::string(key) + "`";
    expected.push_back("| config.json | " + keys + " |");
  }
  for (const KeySpelling& row : gguf_spellings()) expected.push_back(std::string("| GGUF | `") + row.key + "`, `" + row.older + "` |");
  for (const HfPoolingMode& mode : hf_pooling_modes())
    expected.push_back(std::string("| pooling file | `\"pooling_mode\": \"") + mode.name + "\"`, `" + mode.flag + "` |");
  const auto add = [&](const KnownKeys& known) {
    std::string read, unread, neutral;
    const auto append = [](std::string& keys, const std::string& key) { keys += (keys.empty() ? "" : ", ") + key; };
    for (const char* key : known.read) append(read, "`" + std::string(key) + "`");
    for (const UnreadKey& row : known.unread) {
      append(row.neutral ? neutral : unread, "`" + std::string(row.key) + "`" + (row.neutral ? std::string(" ") + row.neutral : ""));
    }
    expected.push_back("| " + std::string(known.where) + " | read | " + read + " |");
    if (!unread.empty()) expected.push_back("| " + std::string(known.where) + " | not applied | " + unread + " |");
    if (!neutral.empty()) expected.push_back("| " + std::string(known.where) + " | warned of, but for | " + neutral + " |");
  };
  for (const KnownKeys& known : known_files()) add(known);
  add(known_rope_keys());
  EXPECT_EQ(found, expected) << expected_text(expected);
}

// `arch | model types`, in the order of the names.
std::vector<std::string> families_of_the_code() {
  std::map<std::string, std::set<std::string>> families;
  for (const ArchSpec* arch : all_archs()) families[arch->name];
  std::istringstream names(known_hf_families());
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    const HfFamily* family = find_hf_family(name);
    if (!family) family = find_hf_family_inside(name);
    EXPECT_TRUE(family) << name;
    if (family) families[family->arch].insert(name);
  }
  std::vector<std::string> rows;
  for (const auto& [arch, types] : families) {
    std::string list;
    for (const std::string& type : types) list += (list.empty() ? "`" : ", `") + type + "`";
    rows.push_back("`" + arch + "` | " + list);
  }
  return rows;
}

// The first two columns of the first table, likewise.
std::vector<std::string> families_of_the_documentation(std::istream& file) {
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line) && !line.starts_with("Every family");) {
    if (!line.starts_with("| `")) continue;
    std::istringstream columns(line.substr(2));
    std::string arch, types;
    std::getline(std::getline(columns, arch, '|'), types, '|');
    std::set<std::string> sorted;
    std::istringstream parts(types);
    for (std::string type; parts >> type;) sorted.insert(type.substr(1, type.rfind('`') - 1));
    std::string list;
    for (const std::string& type : sorted) list += (list.empty() ? "`" : ", `") + type + "`";
    rows.push_back(arch + "| " + list);
  }
  std::ranges::sort(rows);
  return rows;
}

TEST(Families, TheDocumentationHasThoseOfTheCode) {
  std::ifstream file(INLAY_SOURCE_DIR "/docs/families.md");
  const std::vector<std::string> expected = families_of_the_code();
  EXPECT_GT(expected.size(), 10u);
  EXPECT_EQ(families_of_the_documentation(file), expected) << expected_text(expected);
  std::istringstream other("| `llama` | `mistral`, `llama` | Llama | |\n| `lost` | | nothing | |\nEvery family\n| `behind` | | | |\n");
  EXPECT_EQ(families_of_the_documentation(other), (std::vector<std::string>{"`llama` | `llama`, `mistral`", "`lost` | "}));
}

}  // namespace
}  // namespace inlay
