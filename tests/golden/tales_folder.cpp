// The trained model from its Hugging Face folder and from its GGUF file: the same weights give the same numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "src/engine/engine.h"
#include "tests/golden/loaded_model.h"

namespace inlay::golden {
namespace {

const std::string kFile = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
const std::string kFolder = INLAY_SOURCE_DIR "/examples/model/hf";

class TalesFolderOn : public testing::TestWithParam<Target> {};

TEST_P(TalesFolderOn, LogitsAreThoseOfTheGgufFile) {
  if (!can_run(GetParam().on)) GTEST_SKIP() << "no CUDA device";
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

TEST(TalesFolder, VocabularyAndTemplateAreThoseOfTheGgufFile) {
  const auto file = open_checkpoint(kFile), folder = open_checkpoint(kFolder);
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

INSTANTIATE_TEST_SUITE_P(Backends, TalesFolderOn, testing::ValuesIn(all_targets()), [](const auto& p) {
  std::string name = p.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace inlay::golden
