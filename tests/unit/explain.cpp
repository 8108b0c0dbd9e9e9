// What a model is said to be and to need before it is loaded.
#include "src/engine/explain.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/engine/engine.h"
#include "tests/support/devices.h"
#include "tests/support/hf_folder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::TemporaryFolder;

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

Explanation explained(const std::string& path, const EngineOptions& options = {}) {
  const auto found = explain(path, options);
  EXPECT_TRUE(found.ok()) << found.status().message;
  return found.ok() ? *found : Explanation{};
}

const Explanation::Device* device_of(const Explanation& e, const std::string& begin) {
  for (const Explanation::Device& d : e.devices) {
    if (d.name.starts_with(begin)) return &d;
  }
  return nullptr;
}

Explanation of_folder(const std::string& model_type, const std::function<void(const TemporaryFolder&, json&)>& change) {
  TemporaryFolder folder;
  json config = test::small_config(model_type);
  folder.write("model.safetensors", test::safetensors_of(test::small_tensors(model_type)));
  change(folder, config);
  folder.write("config.json", config.dump());
  return explained(folder.path());
}

TEST(Explain, NeedsAreThoseOfTheLoad) {
  const EngineOptions options = {.device = DeviceKind::cpu, .n_context = 128, .max_sessions = 1, .n_threads = 2};
  const Explanation e = explained(kModel, options);
  const auto planned = Engine::plan_memory(kModel, options);
  ASSERT_TRUE(planned.ok());
  const Explanation::Device* cpu = device_of(e, "CPU");
  ASSERT_TRUE(cpu);
  EXPECT_TRUE(cpu->status.ok());
  EXPECT_EQ(cpu->needs.total(), planned->memory.total());
  EXPECT_EQ(e.n_params, planned->n_params);
  EXPECT_EQ(e.n_tokens, 2048);
  EXPECT_TRUE(e.chat_template.ok());
  uint64_t n_elements = 0;
  for (const auto& types : e.types) n_elements += types.n_elements;
  EXPECT_EQ(n_elements, e.n_params);
  ASSERT_EQ(e.contexts.size(), 1u);
  EXPECT_EQ(e.contexts[0].n_context, 512);
  EXPECT_EQ(e.longest_context, 512);
  EXPECT_GT(e.contexts[0].needs.kv, cpu->needs.kv);
}

TEST(Explain, LongerContextsTakeMore) {
  const Explanation e =
      of_folder("llama", [](const TemporaryFolder&, json& config) { config["max_position_embeddings"] = 20000; });
  ASSERT_EQ(e.contexts.size(), 4u);
  for (size_t i = 1; i < e.contexts.size(); ++i) {
    EXPECT_EQ(e.contexts[i].n_context, i == 3 ? 20000 : 1024 << (2 * i));
    EXPECT_GT(e.contexts[i].needs.total(), e.contexts[i - 1].needs.total());
  }
  EXPECT_EQ(e.longest_context, 20000);
}

TEST(Explain, MemoryThatIsMissingIsNamed) {
  const Explanation e =
      of_folder("llama", [](const TemporaryFolder&, json& config) { config["max_position_embeddings"] = 1 << 30; });
  EXPECT_GT(e.longest_context, 0) << explanation_text(e);
  EXPECT_LT(e.longest_context, 1 << 30);
  EXPECT_EQ(e.longest_context % kContextStep, 0);
  const EngineOptions large = {.n_context = 512, .max_sessions = kMaxSessions, .kv_budget_bytes = uint64_t{1} << 50};
  const Explanation refused = explained(kModel, large);
  EXPECT_EQ(refused.n_runs(), 0);
  EXPECT_NE(device_of(refused, "CPU")->status.message.find("are available"), std::string::npos);
  EXPECT_NE(explanation_text(refused).find("  no   CPU"), std::string::npos);
}

TEST(Explain, WhatIsNotUnderstoodRunsNowhere) {
  const Explanation e =
      of_folder("llama", [](const TemporaryFolder&, json& config) { config["intermediate_size"] = 50; });
  EXPECT_FALSE(e.model.ok());
  EXPECT_TRUE(e.devices.empty());
  EXPECT_EQ(e.n_runs(), 0);
  ASSERT_EQ(e.types.size(), 1u);
  EXPECT_EQ(e.types[0].dtype, DType::f32);
  const std::string text = explanation_text(e);
  EXPECT_NE(text.find("runs nowhere: "), std::string::npos) << text;
  EXPECT_NE(text.find("mlp.gate_proj.weight"), std::string::npos) << text;
  EXPECT_NE(text.find("F32"), std::string::npos) << text;
}

TEST(Explain, AWrongTokenizerOrTemplateIsNamed) {
  const Explanation e = of_folder("qwen2", [](const TemporaryFolder& folder, json&) {
    folder.write("tokenizer.json", R"({"model": {"type": "Nonsense"}})");
    folder.write("chat_template.jinja", "{{");
  });
  EXPECT_TRUE(e.model.ok()) << e.model.message;
  EXPECT_NE(e.tokenizer.message.find("Nonsense"), std::string::npos) << e.tokenizer.message;
  EXPECT_EQ(e.chat_template.code, Code::format);
  const std::string text = explanation_text(e);
  EXPECT_NE(text.find("tokenizer       cannot be used: "), std::string::npos) << text;
  EXPECT_NE(text.find("chat template   chat template: "), std::string::npos) << text;
}

TEST(Explain, FilesThatCannotBeReadAreErrors) {
  EXPECT_EQ(explain("/nonexistent/model.gguf", {}).status().code, Code::not_found);
  TemporaryFolder folder;
  folder.write("cut.gguf", "GGUF\3");
  const Status status = explain(folder.path("cut.gguf"), {}).status();
  EXPECT_EQ(status.code, Code::format);
  EXPECT_NE(status.message.find("cut.gguf"), std::string::npos) << status.message;
}

TEST(Explain, WithoutAGpuSaysWhy) {
  if (test::has_device(DeviceKind::cuda)) GTEST_SKIP() << "needs a machine without a GPU";
  const Explanation e = explained(kModel);
  ASSERT_TRUE(device_of(e, "CUDA"));
  EXPECT_EQ(device_of(e, "CUDA")->status.code, Code::no_device);
  EXPECT_EQ(e.n_runs(), 2);
}

TEST(Explain, AGpuIsNamed_cuda) {
  INLAY_SKIP_WITHOUT(DeviceKind::cuda);
  const Explanation e = explained(kModel, {.n_context = 128, .max_sessions = 1});
  const Explanation::Device* gpu = device_of(e, "CUDA 0, ");
  ASSERT_TRUE(gpu);
  EXPECT_TRUE(gpu->status.ok()) << gpu->status.message;
  const auto planned = Engine::plan_memory(kModel, {.device = DeviceKind::cuda, .n_context = 128, .max_sessions = 1});
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(gpu->needs.total(), planned->memory.total());
}

}  // namespace
}  // namespace inlay
