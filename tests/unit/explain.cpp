// What a model is said to be and to need before it is loaded.
#include "src/engine/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Every fact of the text is a member of the object.
TEST(Explain, AsJsonItIsTheSame) {
  const EngineOptions options = {.device = DeviceKind::cpu, .n_context = 128,
                                 .max_sessions = 1, .prefix_cache_host_bytes = 1 << 20, .n_threads = 2};
  const Explanation e = explained(kModel, options);
  const json found = json::parse(explanation_json(e));
  EXPECT_EQ(found["path"], e.path);
  EXPECT_TRUE(found["error"].is_null());
  const json& model = found["model"];
  EXPECT_EQ(model["name"], e.spec.name);
  EXPECT_EQ(model["family"], e.spec.arch);
  EXPECT_EQ(model["n_params"], e.n_params);
  EXPECT_EQ(model["n_layers"], e.spec.n_layers);
  EXPECT_EQ(model["d_model"], e.spec.d_model);
  EXPECT_EQ(model["n_vocab"], e.spec.n_vocab);
  EXPECT_EQ(model["n_context_train"], e.spec.n_context_train);
  EXPECT_EQ(model["features"], features_of(e.spec));
  EXPECT_EQ(found["tokenizer"], json({{"n_tokens", 2048}, {"error", nullptr}}));
  EXPECT_EQ(found["chat_template"], json({{"error", nullptr}}));
  ASSERT_EQ(found["tensors"].size(), e.types.size());
  for (size_t i = 0; i < e.types.size(); ++i) {
    const Explanation::Types& t = e.types[i];
    EXPECT_EQ(found["tensors"][i], json({{"type", traits(t.dtype).name}, {"n_tensors", t.n_tensors}, {"n_elements", t.n_elements}, {"n_bytes", t.n_bytes}}));
  }
  ASSERT_EQ(found["devices"].size(), e.devices.size());
  const auto needs_of = [](const json& from) {
    return std::vector<uint64_t>{from["weight_bytes"], from["kv_bytes"], from["scratch_bytes"], from["total_bytes"]};
  };
  const auto needs = [](const MemoryNeeds& n) { return std::vector<uint64_t>{n.weights, n.kv, n.workspace, n.total()}; };
  for (size_t i = 0; i < e.devices.size(); ++i) {
    const Explanation::Device& d = e.devices[i];
    EXPECT_EQ(found["devices"][i]["name"], d.name);
    EXPECT_EQ(found["devices"][i]["error"], d.status.ok() ? json() : json(d.status.message));
    EXPECT_EQ(found["devices"][i]["free_bytes"], d.free_bytes);
    EXPECT_EQ(found["devices"][i]["prefix_cache_host_bytes"], d.prefix_cache_host_bytes);
    EXPECT_EQ(d.prefix_cache_host_bytes > 0, d.status.ok()) << d.status.message;
    EXPECT_EQ(explanation_text(e).find("of the host's memory for kept blocks") != std::string::npos, e.n_runs() > 0);
    EXPECT_EQ(needs_of(found["devices"][i]), needs(d.needs));
  }
  EXPECT_EQ(found["contexts"]["device"], e.context_device);
  EXPECT_EQ(found["contexts"]["longest"], e.longest_context);
  ASSERT_EQ(found["contexts"]["each"].size(), 1u);
  EXPECT_EQ(found["contexts"]["each"][0]["n_context"], 512);
  EXPECT_EQ(needs_of(found["contexts"]["each"][0]), needs(e.contexts[0].needs));
}

TEST(Explain, AsJsonAnyTextIsWhole) {
  Explanation e;
  e.path = "a \"folder\"\\\x01\t\n\xff\xC3\xA9\x7f\u202e\u6c34\U0001f98a";
  e.model = error(Code::format, "no \"model\"");
  e.types.push_back({.dtype = DType::f16, .n_tensors = 1, .n_elements = 2, .n_bytes = 4});
  const std::string text = explanation_json(e);
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; })) << text;
  const json found = json::parse(text);
  EXPECT_EQ(found["path"], "a \"folder\"\\\x01\t\n\uFFFD\xC3\xA9\x7f\u202e\u6c34\U0001f98a");
  EXPECT_EQ(found["error"], "no \"model\"");
  EXPECT_TRUE(found["model"].is_null() && found["tokenizer"].is_null() && found["contexts"].is_null());
  EXPECT_EQ(found["devices"], json::array());
  EXPECT_EQ(found["tensors"].size(), 1u);
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
