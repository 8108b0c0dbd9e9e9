// The trained model from its Hugging Face folder and from its GGUF file: the same weights give the same numbers.
#include <gtest/gtest.h>

#include <algorithm>

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
  const BackendConfig config = {.n_kv_blocks = 2, .max_step_tokens = n, .max_sequences = 1, .n_logit_slots = n, .n_context = n, .n_threads = 2};
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

INSTANTIATE_TEST_SUITE_P(Backends, TalesFolderOn, testing::ValuesIn(all_targets()), [](const auto& p) {
  std::string name = p.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace inlay::golden
