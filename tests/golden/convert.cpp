// Models written as GGUF files: a folder and the file made of it give the same numbers, and smaller types close ones.
#include "src/engine/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/hf_folder.h"

namespace inlay::golden {
namespace {

using test::TemporaryFolder;

const std::string kFile = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
const std::string kFolder = INLAY_SOURCE_DIR "/examples/model/hf";

std::vector<float> logits(const std::string& path, const std::vector<int32_t>& tokens) {
  return file_logits(path, kReference, tokens);
}

const std::vector<int32_t> kTokens = {2043, 737, 937, 258, 1215, 300, 17, 1999, 42, 640, 512, 7, 88, 1400, 3, 256};

TEST(Convert, TheFileMadeOfAFolderGivesTheSameNumbers) {
  TemporaryFolder folder;
  const std::vector<float> expected = logits(kFile, kTokens);
  for (const std::string& from : {kFolder, kFile}) {
    for (const ConvertType type : {ConvertType::f16, ConvertType::f32}) {  // every weight is a number that F16 holds
      const std::string made = folder.path("made.gguf");
      const Status status = convert_to_gguf(from, made, {.type = type, .n_threads = 3});
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_EQ(logits(made, kTokens), expected);
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
    }
  }
}

TEST(Convert, TensorsOfTheRepositorysFileComeOutByteForByte) {
  TemporaryFolder folder;
  const std::string made = folder.path("made.gguf");
  ASSERT_TRUE(convert_to_gguf(kFolder, made, {.type = ConvertType::f16, .n_threads = 1}).ok());
  const auto a = open_checkpoint(kFile), b = open_checkpoint(made);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->tensors().size(), b->tensors().size());
  std::vector<std::byte> scratch_a, scratch_b;
  for (const TensorEntry& tensor : a->tensors()) {
    const TensorEntry* twin = b->find(tensor.name);
    ASSERT_NE(twin, nullptr) << tensor.name;
    ASSERT_EQ(twin->dtype, tensor.dtype) << tensor.name;
    ASSERT_EQ(twin->shape, tensor.shape) << tensor.name;
    EXPECT_EQ(std::memcmp(*a->bytes(tensor, scratch_a), *b->bytes(*twin, scratch_b), tensor.n_bytes), 0) << tensor.name;
  }
  EXPECT_EQ(b->metadata().find("tokenizer.ggml.tokens")->texts, a->metadata().find("tokenizer.ggml.tokens")->texts);
}

// Biases and scaled RoPE of a family whose rows are interleaved in GGUF files.
TEST(Convert, BiasesAndFrequencyFactorsAreKept) {
  TemporaryFolder folder;
  nlohmann::json config = test::small_config("llama");
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 32}};
  config["attention_bias"] = true;
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors("qwen2")));
  ASSERT_TRUE(convert_to_gguf(folder.path(), folder.path("made.gguf"), {.type = ConvertType::f32}).ok());
  const std::vector<int32_t> tokens = {1, 2, 3, 19, 7, 7, 12, 4};
  const std::vector<float> expected = logits(folder.path(), tokens);
  EXPECT_EQ(logits(folder.path("made.gguf"), tokens), expected);
  // Negative control: without the scaling the numbers are others.
  config.erase("rope_scaling");
  folder.write("config.json", config.dump());
  EXPECT_NE(logits(folder.path(), tokens), expected);
}

TEST(Convert, SmallerTypesLoseMore) {
  TemporaryFolder folder;
  const std::vector<float> expected = logits(kFile, kTokens);
  struct Case {
    ConvertType type;
    const char* name;
    double limit;
  };
  uint64_t last_size = UINT64_MAX;
  double last = 0;
  for (const Case& c : {Case{ConvertType::bf16, "bf16", 1e-4},
                        {ConvertType::q8_0, "q8_0", 3e-4},
                        {ConvertType::q6_k, "q6_k", 3e-3},
                        {ConvertType::q5_k_m, "q5_k_m", 1e-2},
                        {ConvertType::q4_k_m, "q4_k_m", 3e-2},
                        {ConvertType::q4_0, "q4_0", 6e-2}}) {
    const std::string made = folder.path(std::string(c.name) + ".gguf");
    const Status status = convert_to_gguf(kFolder, made, {.type = c.type});
    ASSERT_TRUE(status.ok()) << status.message;
    const double error = test::nmse(logits(made, kTokens), expected);
    const uint64_t size = std::filesystem::file_size(made);
    std::printf("%-7s %8llu bytes, NMSE %.2e (limit %.0e)\n", c.name, static_cast<unsigned long long>(size), error,
                c.limit);
    EXPECT_LT(error, c.limit);
    EXPECT_LE(size, last_size);
    last_size = size;
    last = error;
  }
  EXPECT_GT(last, 1e-4);
}

TEST(Convert, MixedTypesAreThoseOfTheRecipe) {
  TemporaryFolder folder;
  nlohmann::json config = test::small_config("llama");
  config["hidden_size"] = 256, config["intermediate_size"] = 256, config["num_hidden_layers"] = 1,
  config["num_attention_heads"] = 16;
  folder.write("config.json", config.dump());
  std::vector<test::HfTensor> tensors;
  for (test::HfTensor& t : test::small_tensors("llama")) {
    if (t.name.starts_with("model.layers.1.")) continue;
    for (int64_t& d : t.shape) d = d == 32 || d == 48 ? 256 : d;
    tensors.push_back(t);
  }
  folder.write("model.safetensors", test::safetensors_of(tensors));
  ASSERT_TRUE(convert_to_gguf(folder.path(), folder.path("made.gguf"), {.type = ConvertType::q4_k_m}).ok());
  const auto made = open_checkpoint(folder.path("made.gguf"));
  ASSERT_TRUE(made.ok()) << made.status().message;
  EXPECT_EQ(made->find("token_embd.weight")->dtype, DType::q6_k) << "also the output matrix";
  EXPECT_EQ(made->find("blk.0.attn_q.weight")->dtype, DType::q4_k);
  EXPECT_EQ(made->find("blk.0.ffn_down.weight")->dtype, DType::q6_k);
  EXPECT_EQ(made->find("blk.0.attn_norm.weight")->dtype, DType::f32);
  EXPECT_EQ(*made->metadata().get_u64("general.file_type"), 15u);
}

TEST(Convert, StopsAndFailuresLeaveNothing) {
  TemporaryFolder folder;
  const std::string made = folder.path("made.gguf");
  uint64_t n_calls = 0, last = 0, total = 0;
  ConvertOptions options = {.type = ConvertType::q8_0, .progress = [&](uint64_t done, uint64_t of) {
                              EXPECT_GE(done, last);
                              last = done, total = of;
                              return ++n_calls < 5;
                            }};
  EXPECT_EQ(convert_to_gguf(kFolder, made, options).code, Code::cancelled);
  EXPECT_EQ(n_calls, 5u);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  n_calls = last = 0;
  options.progress = [&](uint64_t done, uint64_t of) { return last = done, total = of, true; };
  EXPECT_TRUE(convert_to_gguf(kFolder, made, options).ok());
  EXPECT_EQ(last, total);

  const Status again = convert_to_gguf(made, folder.path("again.gguf"), {.type = ConvertType::q4_0});
  EXPECT_TRUE(again.ok()) << again.message;
  EXPECT_EQ(convert_to_gguf(made, made, {}).code, Code::invalid_argument);
  const std::string copy = folder.path("copy");
  std::filesystem::copy(kFolder, copy);
  for (const auto& file : std::filesystem::directory_iterator(copy)) {  // no file of the model is replaced by what is made of it
    EXPECT_EQ(convert_to_gguf(copy, file.path().string(), {}).code, Code::invalid_argument) << file.path();
  }
#ifndef _WIN32  // which asks a right for symbolic links
  std::filesystem::create_symlink(copy + "/model.safetensors", folder.path("link.gguf"));
  EXPECT_EQ(convert_to_gguf(copy, folder.path("link.gguf"), {}).code, Code::invalid_argument);
#endif
  EXPECT_EQ(convert_to_gguf(folder.path("absent"), folder.path("x.gguf"), {}).code, Code::not_found);
  const Status nowhere = convert_to_gguf(kFolder, folder.path("absent/x.gguf"), {});
  EXPECT_EQ(nowhere.code, Code::io);
  EXPECT_NE(nowhere.message.find("absent/x.gguf"), std::string::npos) << nowhere.message;
}

}  // namespace
}  // namespace inlay::golden
