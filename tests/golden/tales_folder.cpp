// The trained model from its Hugging Face folder and from its GGUF file: the same weights give the same numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "src/engine/convert.h"
#include "src/engine/engine.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/hf_folder.h"

namespace inlay::golden {
namespace {

const std::string kFile = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
const std::string kFolder = INLAY_SOURCE_DIR "/examples/model/hf";

class TalesFolderOn : public ::testing::TestWithParam<Target> {};

TEST_P(TalesFolderOn, LogitsAreThoseOfTheGgufFile) {
  if (!can_run(GetParam().on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  const std::vector<int32_t> tokens = {2043, 79, 1215, 300, 17, 1999, 42, 640, 640, 1, 512, 7, 88, 1400, 3, 256};
  const auto n = static_cast<int32_t>(tokens.size());
  const BackendConfig config = {
      .n_kv_blocks = 2, .max_step_tokens = n, .max_sequences = 1, .n_logit_slots = n, .n_context = n, .n_threads = 2};
  std::vector<float> logits[2];
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const auto backend = load_backend(i == 0 ? kFile : kFolder, GetParam(), config);
    ASSERT_TRUE(backend.ok()) << backend.status().message;
    const auto out = logits_of(**backend, tokens);
    ASSERT_TRUE(out.ok()) << out.status().message;
    logits[i] = *out;
  }
  EXPECT_EQ(logits[0], logits[1]);
  EXPECT_NE(logits[0].front(), logits[0].back());
}

TEST(TalesFolder, ConvertedVocabularyAndTemplateAreThoseOfTheGgufFile) {
  const test::TemporaryFolder scratch;
  const Status made = convert_to_gguf(kFolder, scratch.path("made.gguf"), {});
  ASSERT_TRUE(made.ok()) << made.message;
  const auto file = open_checkpoint(kFile), folder = open_checkpoint(scratch.path("made.gguf"));
  ASSERT_TRUE(file.ok() && folder.ok()) << folder.status().message;
  size_t n_checked = 0;
  for (const MetaEntry& entry : file->metadata().entries()) {
    if (!entry.key.starts_with("tokenizer.") && !entry.key.starts_with("llama.")) continue;
    // The file names the end of a text as that of a turn too.
    if (entry.key == "tokenizer.ggml.eot_token_id") continue;
    SCOPED_TRACE(std::string(entry.key));
    const MetaValue* twin = folder->metadata().find(entry.key);
    ASSERT_NE(twin, nullptr);
    EXPECT_EQ(twin->type, entry.value.type);
    EXPECT_EQ(twin->count, entry.value.count);
    EXPECT_EQ(twin->text, entry.value.text);
    EXPECT_EQ(twin->texts, entry.value.texts);
    const uint64_t width =
        meta_type_bytes(entry.value.type == MetaType::array ? entry.value.element_type : entry.value.type);
    const uint64_t n = width * std::max<uint64_t>(entry.value.count, entry.value.type == MetaType::array ? 0 : 1);
    if (n > 0) {
      EXPECT_EQ(std::memcmp(twin->data, entry.value.data, n), 0);
    }
    ++n_checked;
  }
  EXPECT_GE(n_checked, 20u);
}

TEST(TalesFolder, TextsHaveTheTokensThatTheGgufFileGives) {
  const EngineOptions options = {.device = DeviceKind::cpu, .n_context = 64, .max_sessions = 1, .n_threads = 1};
  const auto file = Engine::load(kFile, options), folder = Engine::load(kFolder, options);
  ASSERT_TRUE(file.ok() && folder.ok()) << folder.status().message;
  const Tokenizer &a = *(*file)->tokenizer(), &b = *(*folder)->tokenizer();
  EXPECT_EQ(a.bos(), b.bos());
  EXPECT_EQ(a.eos(), b.eos());
  EXPECT_EQ(a.adds_bos(), b.adds_bos());
  ASSERT_EQ(a.n_tokens(), b.n_tokens());
  for (int32_t id = 0; id < a.n_tokens(); ++id) EXPECT_EQ(a.is_end_of_generation(id), b.is_end_of_generation(id)) << id;
  for (const char* text :
       {"Once upon a time, a small fox's 1234 eggs", "  two  blanks\n\n\tcaf\xC3\xA9 \xF0\x9F\x98\x80",
        "Mira is kind.<|player|>Do you have a room?<|npc|>", ""}) {
    for (const bool special : {true, false}) {
      std::vector<int32_t> ids_a, ids_b;
      (void)a.encode(text, {.add_special = special, .parse_special = special}, ids_a);
      (void)b.encode(text, {.add_special = special, .parse_special = special}, ids_b);
      EXPECT_EQ(ids_a, ids_b) << text;
      std::string text_a, text_b;
      EXPECT_TRUE(a.decode(ids_a, {}, text_a).ok() && b.decode(ids_b, {}, text_b).ok());
      EXPECT_EQ(text_a, text_b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TalesFolderOn, ::testing::ValuesIn(all_targets()), [](const auto& p) {
  std::string name = p.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace inlay::golden
