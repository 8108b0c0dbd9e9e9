// A model's folder is found once: what its path leads to afterwards changes nothing.
#include "src/base/held_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "src/base/files.h"
#include "src/engine/engine.h"
#include "src/model/hf_folder.h"
#include "tests/support/split_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

void replace(const fs::path& file, const std::string& from, const std::string& to) {
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << file << from;
  std::ofstream(file) << text.replace(at, from.size(), to);
}

constexpr int32_t kEnd = 5;  // an end token of the second revision

// Two revisions of a folder, a and b, which differ in all that is read at different times, and a link to the first.
class Revisions {
 public:
  Revisions() {
    for (const char* name : {"a", "b"}) fs::copy(INLAY_SOURCE_DIR "/examples/model/hf", path(name), fs::copy_options::recursive);
    replace(path("b/config.json"), "\"max_position_embeddings\": 512", "\"max_position_embeddings\": 256");
    std::ofstream(path("a/generation_config.json")) << R"({"eos_token_id": 0})";
    std::ofstream(path("b/generation_config.json")) << R"({"eos_token_id": [0, 5]})";
    for (const char* name : {"a", "b"}) std::ofstream(path(std::string(name) + "/only-" + name)) << "";
    fs::create_directory_symlink("a", path("now"));
  }
  std::string path(const std::string& name) const { return folder_.path(name); }
  // At once, as such links are switched.
  void switch_to(const std::string& name) const {
    fs::create_directory_symlink(name, path("next"));
    fs::rename(path("next"), path("now"));
  }

 private:
  TemporaryFolder folder_;
};

struct Seen {
  uint64_t context = 0;
  std::string ends;
  std::vector<std::string> files;
  bool has_own_file = false;
};

// What is read of the folder at a path.
Seen see(const std::string& path) {
  Seen out;
  const Result<Checkpoint> checkpoint = open_checkpoint(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message;
  if (checkpoint.ok()) {
    const Result<uint64_t> context = checkpoint->metadata().get_u64("llama.context_length");
    if (context.ok()) out.context = *context;
  }
  const Result<std::string> ends = read_text_file(path + "/generation_config.json");
  if (ends.ok()) out.ends = *ends;
  const Result<std::vector<std::string>> names = names_in(path);
  if (names.ok()) out.files = *names;
  out.has_own_file = file_exists(path + "/only-a");
  return out;
}

void expect_first(const Seen& seen, bool first) {
  EXPECT_EQ(seen.context, first ? 512u : 256u);
  EXPECT_EQ(seen.ends.find('[') == std::string::npos, first);
  EXPECT_EQ(std::ranges::count(seen.files, "only-a"), first ? 1 : 0);
  EXPECT_EQ(std::ranges::count(seen.files, "only-b"), first ? 0 : 1);
  EXPECT_EQ(seen.has_own_file, first);
}

// What may become of a path, and how it is written.
struct Change {
  const char* name;
  std::function<void(const Revisions&)> before, after;
  std::string path;  // in the folder; "/" in front: from there
};

const Change kChanges[] = {
    {"switched link", {}, [](const Revisions& r) { r.switch_to("b"); }, "now"},
    {"slash at the end", {}, [](const Revisions& r) { r.switch_to("b"); }, "now/"},
    {"renamed folder", {}, [](const Revisions& r) { fs::rename(r.path("a"), r.path("old")), fs::rename(r.path("b"), r.path("a")); }, "a"},
    {"working directory", [](const Revisions& r) { fs::current_path(r.path("a")); }, [](const Revisions& r) { fs::current_path(r.path("b")); }, "/."},
    {"relative path", [](const Revisions& r) { fs::current_path(r.path("")); }, [](const Revisions& r) { r.switch_to("b"); }, "/now"},
    {"relative path with dots", [](const Revisions& r) { fs::current_path(r.path("a")); }, [](const Revisions& r) { r.switch_to("b"); }, "/../now"},
};

TEST(HeldFolder, StaysTheSameWhateverBecomesOfItsPath) {
  const fs::path home = fs::current_path();
  for (const bool held : {true, false}) {
    for (const Change& change : kChanges) {
      SCOPED_TRACE(std::string(change.name) + (held ? "" : ", not held"));
      const Revisions revisions;
      if (change.before) change.before(revisions);
      const std::string path = change.path[0] == '/' ? change.path.substr(1) : revisions.path(change.path);
      const HeldFolder folder(path);
      const HeldFolder::Use use(held ? &folder : nullptr);
      expect_first(see(path), true);
      change.after(revisions);
      expect_first(see(path), held);
      // Other places are what they are.
      const Result<PathKind> elsewhere = kind_of_path(INLAY_SOURCE_DIR "/examples/model/hf/config.json");
      EXPECT_TRUE(elsewhere.ok() && *elsewhere == PathKind::file);
      fs::current_path(home);
    }
  }
}

TEST(HeldFolder, HoldsThePartsOfASplitModel) {
  for (const bool held : {true, false}) {
    const TemporaryFolder folder;
    for (const char* name : {"a", "b"}) fs::create_directory(folder.path(name));
    test::write_split(test::model_file("llama-f32"), folder.path("a/model"), 3);
    test::write_split(test::model_file("chat-bpe-qwen3-f32"), folder.path("b/model"), 3);
    fs::create_directory_symlink("a", folder.path("now"));
    const std::string first = folder.path("now/model-00001-of-00003.gguf");
    const HeldFolder now(first);
    const HeldFolder::Use use(held ? &now : nullptr);
    fs::create_directory_symlink("b", folder.path("next"));
    fs::rename(folder.path("next"), folder.path("now"));
    const Result<Checkpoint> opened = open_checkpoint(first);
    ASSERT_TRUE(opened.ok()) << opened.status().message;
    const auto family = opened->metadata().get_string("general.architecture");
    EXPECT_EQ(family.ok() ? *family : "", held ? "llama" : "qwen3");
    EXPECT_EQ(opened->source_name(opened->tensors().back()), folder.path("now/model-00003-of-00003.gguf"));
  }
}

TEST(HeldFolder, WhatIsNotThereIsSaidByWhoOpensIt) {
  const HeldFolder folder("/nowhere/at/all/model.gguf");
  const HeldFolder::Use use(&folder);
  EXPECT_EQ(open_checkpoint("/nowhere/at/all/model.gguf").status().code, Code::not_found);
}

// Loads, while the link is switched all the time: each is of one revision.
TEST(HeldFolder, LoadsAreOfOneRevision) {
  const Revisions revisions;
  std::atomic<bool> stop{false};
  std::thread switching([&] {
    for (int i = 0; !stop; ++i) revisions.switch_to(i % 2 == 0 ? "b" : "a"), std::this_thread::yield();
  });
  for (int i = 0; i < 25; ++i) {
    const auto engine = Engine::load(revisions.path("now"), {.device = DeviceKind::cpu, .max_sessions = 1, .n_threads = 1});
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    if (!engine.ok()) continue;
    EXPECT_EQ((*engine)->info().n_context == 256, (*engine)->tokenizer()->is_end_of_generation(kEnd)) << i;
  }
  stop = true;
  switching.join();
}

}  // namespace
}  // namespace inlay
