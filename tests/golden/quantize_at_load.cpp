// Weights quantized while a model is loaded: the same numbers as converting to that type and loading the result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "src/engine/convert.h"
#include "src/engine/engine.h"
#include "src/model/recipe.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/hf_folder.h"

namespace inlay::golden {
namespace {

using test::TemporaryFolder;

const std::string kTales = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

struct Case {
  WeightDType asked;
  ConvertType type;
  const char* name;
};
constexpr Case kCases[] = {{WeightDType::q8_0, ConvertType::q8_0, "q8_0"},
                           {WeightDType::q4_0, ConvertType::q4_0, "q4_0"},
                           {WeightDType::q4_k_m, ConvertType::q4_k_m, "q4_k_m"},
                           {WeightDType::q5_k_m, ConvertType::q5_k_m, "q5_k_m"},
                           {WeightDType::q6_k, ConvertType::q6_k, "q6_k"}};

// Rows of 256, so that K-quants have whole blocks; three layers, of which a mixed type treats one differently.
// `scaled`: the numbers of that tensor, where one is named, are of this magnitude.
void write_wide_folder(const TemporaryFolder& folder, int64_t n_vocab = 20, const std::string& scaled = "", float magnitude = 1) {
  nlohmann::json config = test::small_config("llama");
  config["hidden_size"] = 256, config["intermediate_size"] = 512, config["num_attention_heads"] = 16,
  config["vocab_size"] = n_vocab;
  folder.write("config.json", config.dump());
  std::vector<test::HfTensor> tensors = test::small_tensors("llama");
  for (test::HfTensor& t : tensors) {
    for (int64_t& d : t.shape) d = d == 32 ? 256 : d == 48 ? 512 : d == 20 ? n_vocab : d;
    if (t.name != scaled) continue;
    for (int64_t i = 0; i < t.shape[0] * t.shape[1]; ++i) {
      const float value = magnitude * std::sin(static_cast<float>(i * i % 1009));
      t.data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  folder.write("model.safetensors", test::safetensors_of(tensors));
}

const std::vector<int32_t> kTokens = {1, 2, 3, 19, 7, 7, 12, 4, 0, 18, 5, 6};

class QuantizeAtLoadOn : public ::testing::TestWithParam<Target> {};

TEST_P(QuantizeAtLoadOn, GivesTheNumbersOfTheConvertedFile) {
  if (!can_run(GetParam().on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  TemporaryFolder wide, made;
  write_wide_folder(wide);
  for (const std::string& source : {kTales, wide.path()}) {
    const std::vector<float> stored = file_logits(source, GetParam(), kTokens);
    for (const Case& c : kCases) {
      SCOPED_TRACE(source + " " + c.name);
      const Status converted = convert_to_gguf(source, made.path("made.gguf"), {.type = c.type});
      ASSERT_TRUE(converted.ok()) << converted.message;
      const std::vector<float> expected = file_logits(made.path("made.gguf"), GetParam(), kTokens);
      EXPECT_EQ(file_logits(source, GetParam(), kTokens, [&](Model& m) { m.hold_as(recipe_of(c.type)); }), expected);
      EXPECT_NE(stored, expected) << "negative control: without the option";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, QuantizeAtLoadOn, ::testing::ValuesIn(all_targets()), [](const auto& p) {
  std::string name = p.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Numbers that FP16, and so the scales of all quantized types, cannot hold: never a file or a model that computes something else.
TEST(QuantizeAtLoad, NumbersThatATypeCannotHoldAreRefused) {
  const std::string tensor = "model.layers.1.mlp.down_proj.weight";
  const auto expect_named = [&](const Status& status, const std::string& how) {
    EXPECT_EQ(status.code, Code::unsupported) << status.message;
    EXPECT_NE(status.message.find(tensor + " has values of up to "), std::string::npos) << status.message;
    EXPECT_NE(status.message.find(how), std::string::npos) << status.message;
  };
  for (const float magnitude : {1e9f, 1e-10f, 0.02f}) {
    TemporaryFolder folder, made;
    write_wide_folder(folder, 20, tensor, magnitude);
    const std::string how = magnitude > 1 ? "beyond" : "below";
    for (const auto type : {ConvertType::f16, ConvertType::bf16, ConvertType::f32, ConvertType::q8_0, ConvertType::q4_0, ConvertType::q4_k_m,
                            ConvertType::q5_k_m, ConvertType::q6_k}) {
      SCOPED_TRACE(recipe_of(type).name);
      const Status status = convert_to_gguf(folder.path(), made.path("made.gguf"), {.type = type});
      if (magnitude == 0.02f || type == ConvertType::bf16 || type == ConvertType::f32) {
        EXPECT_TRUE(status.ok()) << status.message;
        std::filesystem::remove(made.path("made.gguf"));
      } else {
        expect_named(status, how);
        EXPECT_TRUE(std::filesystem::is_empty(made.path()));
      }
    }
    for (const DeviceKind device : {DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda}) {
      if (device == DeviceKind::cuda && (!INLAY_HAS_CUDA || !can_run(Runs::cuda))) continue;
      for (const auto asked : {WeightDType::q8_0, WeightDType::q4_0, WeightDType::q4_k_m, WeightDType::q5_k_m, WeightDType::q6_k, WeightDType::fp8}) {
        SCOPED_TRACE(static_cast<int>(asked));
        const auto engine = Engine::load(folder.path(), {.device = device, .max_sessions = 1, .weight_dtype = asked, .n_threads = 2});
        if (magnitude == 0.02f) {
          EXPECT_TRUE(engine.ok()) << engine.status().message;
        } else {
          expect_named(engine.status(), how);
        }
      }
    }
  }
}

struct Outcome {
  std::vector<int32_t> tokens;
  EngineInfo info;
};

Outcome greedy(const std::string& path, const EngineOptions& options) {
  Outcome run;
  const auto engine = Engine::load(path, options);
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  if (!engine.ok()) return run;
  run.info = (*engine)->info();
  const auto plan = Engine::plan_memory(path, options);
  EXPECT_TRUE(plan.ok()) << plan.status().message;
  if (plan.ok()) {
    EXPECT_EQ(plan->memory.weights, run.info.memory.weights);
    EXPECT_EQ(plan->weight_dtype, run.info.weight_dtype);
  }
  const auto session = (*engine)->create_session({.ignore_end_of_generation = true});
  std::vector<int32_t> prompt;
  (void)(*engine)->tokenizer()->encode("Once upon a time, a small fox", {.add_special = true}, prompt);
  size_t n_done = 0;
  EXPECT_TRUE((*session)->prefill(prompt, n_done).ok());
  Session* const sessions[] = {session->get()};
  for (int i = 0; i < 60; ++i) {
    StepEvent event;
    EXPECT_TRUE((*engine)->decode_step(sessions, {&event, 1}).ok()) << event.status.message;
    run.tokens.push_back(event.sample.token);
  }
  return run;
}

TEST(QuantizeAtLoad, EnginesWriteTheTokensOfTheConvertedFileInItsMemory) {
  TemporaryFolder made;
  EngineOptions options = {.device = DeviceKind::cpu, .max_sessions = 1, .n_threads = 2};
  const Outcome stored = greedy(kTales, options);
  uint64_t most = stored.info.memory.weights;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(convert_to_gguf(kTales, made.path("made.gguf"), {.type = c.type}).ok());
    options.weight_dtype = WeightDType::as_stored;
    const Outcome file = greedy(made.path("made.gguf"), options);
    options.weight_dtype = c.asked;
    const Outcome loaded = greedy(kTales, options);
    EXPECT_EQ(loaded.tokens, file.tokens);
    EXPECT_EQ(loaded.info.memory.weights, file.info.memory.weights);
    EXPECT_LT(loaded.info.memory.weights, most);
    EXPECT_EQ(loaded.info.weight_dtype, c.asked);
    EXPECT_EQ(file.info.weight_dtype, WeightDType::as_stored);
  }
}

TEST(QuantizeAtLoad, WhatTakesAsLittleAlreadyStays) {
  TemporaryFolder made;
  ASSERT_TRUE(convert_to_gguf(kTales, made.path("made.gguf"), {.type = ConvertType::q4_0}).ok());
  std::string heard;
  EngineOptions options = {.device = DeviceKind::cpu, .max_sessions = 1, .n_threads = 2};
  options.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) heard += text;
  };
  const Outcome file = greedy(made.path("made.gguf"), options);
  EXPECT_EQ(heard, "");
  options.weight_dtype = WeightDType::q8_0;
  const Outcome loaded = greedy(made.path("made.gguf"), options);
  EXPECT_EQ(loaded.tokens, file.tokens);
  EXPECT_EQ(loaded.info.weight_dtype, WeightDType::as_stored);
  EXPECT_NE(heard.find("weight_dtype changes nothing"), std::string::npos) << heard;
}

// An embedding that takes several calls of progress by itself.
TEST(QuantizeAtLoad, TellsItsProgressWithinAMatrixAndStops) {
  TemporaryFolder folder;
  write_wide_folder(folder, 40000);
  for (const bool stops : {false, true}) {
    uint64_t last = 0, total = 0;
    std::vector<uint64_t> told;
    EngineOptions options = {.device = DeviceKind::cpu, .max_sessions = 1, .n_threads = 3};
    options.weight_dtype = WeightDType::q4_k_m;
    options.progress = [&](uint64_t n_done, uint64_t n_total) {
      EXPECT_GE(n_done, last);  // where the machine is slow, the same number again
      if (n_done > last) told.push_back(n_done);
      last = n_done, total = n_total;
      return !stops || told.size() < 2;
    };
    const auto engine = Engine::load(folder.path(), options);
    EXPECT_EQ(engine.ok(), !stops);
    const uint64_t bytes_of_embedding = row_bytes(DType::q6_k, 256) * 40000;
    EXPECT_LT(told[1], bytes_of_embedding);
    if (stops) {
      EXPECT_EQ(engine.status().code, Code::cancelled);
      EXPECT_EQ(told.size(), 2u);
    } else {
      EXPECT_EQ(last, total);
    }
  }
}

}  // namespace
}  // namespace inlay::golden
