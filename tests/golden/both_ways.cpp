// Decoders used as encoders: tokens see those behind them, up to the end of the text or of a window.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "src/engine/convert.h"
#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "src/engine/request_queue.h"
#include "src/engine/requests.h"
#include "src/engine/score.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/hf_folder.h"
#include "tests/support/small_decoder.h"

namespace inlay {
namespace {

using nlohmann::json;
using test::HfTensor;
using test::TemporaryFolder;
using Text = std::vector<int32_t>;

constexpr int32_t kContext = 64;  // of small_config

Text text_of(int32_t n) {
  Text out;
  for (int32_t i = 0; i < n; ++i) out.push_back((i * i * 7 + i * 3 + 1) % 20);
  return out;
}

// A folder of a small model, whose keys and number of layers are those given.
class Folder : public TemporaryFolder {
 public:
  Folder(const char* model_type, const json& keys, int n_layers = 2) {
    json config = test::small_config(model_type);
    config["num_hidden_layers"] = n_layers;
    config.update(keys);
    tensors_ = test::small_tensors(model_type);
    std::erase_if(tensors_, [&](const HfTensor& t) { return n_layers == 1 && t.name.starts_with("model.layers.1."); });
    for (HfTensor& t : tensors_) t.data = test::random_floats(t.name, t.shape);
    write("config.json", config.dump());
    write("model.safetensors", test::safetensors_of(tensors_));
  }
  const std::vector<HfTensor>& tensors() const { return tensors_; }

 private:
  std::vector<HfTensor> tensors_;
};

std::shared_ptr<Engine> load(const std::string& path, DeviceKind device, int32_t prefill_chunk = 0) {
  const auto engine = Engine::load(path, {.device = device, .max_sessions = 3, .n_threads = device == DeviceKind::cpu ? 2 : 0, .prefill_chunk = prefill_chunk});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  return engine.ok() ? *engine : nullptr;
}

Result<std::vector<float>> embed_all(Engine& engine, const std::vector<Text>& texts, Pooling pooling) {
  const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
  std::vector<float> out(texts.size() * static_cast<size_t>(engine.spec().d_model));
  INLAY_TRY(embed(engine, spans, {.pooling = pooling}, out));
  return out;
}

std::vector<float> vector_of(Engine& engine, const Text& text, Pooling pooling) {
  const auto out = embed_all(engine, {text}, pooling);
  EXPECT_TRUE(out.ok()) << out.status().message;
  return out.ok() ? *out : std::vector<float>();
}

class BothWays : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam()); }
  const DeviceKind device = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Devices, BothWays, ::testing::Values(DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda), test::device_of);

// Llama of small_config() in doubles, after its definition, with each token seeing those that `sees` says.
class SmallLlama : test::SmallDecoder {
 public:
  using Sees = std::function<bool(size_t query, size_t key)>;

  SmallLlama(const std::vector<HfTensor>& tensors, Sees sees) : SmallDecoder(tensors), sees_(std::move(sees)) {}

  std::vector<float> mean(const Text& text) {
    std::vector<Row> x = embedded(text);
    for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
      enter(layer);
      attend(x);
      for (Row& row : x) add(row, gated(normed_by(row, "post_attention_layernorm")));
    }
    Row sum(kWidth);
    for (const Row& row : x) add(sum, normed(row, "model.norm"));
    std::vector<float> out;
    for (const double v : sum) out.push_back(static_cast<float>(v / static_cast<double>(x.size())));
    return out;
  }

 private:
  void attend(std::vector<Row>& x) const {
    std::vector<Row> q, k, v;
    for (size_t t = 0; t < x.size(); ++t) {
      const Row in = normed_by(x[t], "input_layernorm");
      rotate(q.emplace_back(times("self_attn.q_proj", in)), t);
      rotate(k.emplace_back(times("self_attn.k_proj", in)), t);
      v.push_back(times("self_attn.v_proj", in));
    }
    for (size_t t = 0; t < x.size(); ++t) add(x[t], times("self_attn.o_proj", attended(q[t], k, v, [&](size_t key) { return sees_(t, key); })));
  }

  const Sees sees_;
};

TEST_P(BothWays, IsTheDefinition) {
  const Text text = text_of(kContext);
  for (const bool causal : {false, true}) {
    const Folder folder("llama", {{"is_causal", causal}});
    const std::vector<float> all = SmallLlama(folder.tensors(), [](size_t, size_t) { return true; }).mean(text),
                             before = SmallLlama(folder.tensors(), [](size_t query, size_t key) { return key <= query; }).mean(text);
    EXPECT_GT(test::nmse(all, before), 1e-3) << "it makes no difference";
    const auto engine = load(folder.path(), device);
    ASSERT_NE(engine, nullptr);
    const std::vector<float> got = vector_of(*engine, text, Pooling::mean);
    EXPECT_LT(test::nmse(got, causal ? before : all), device == DeviceKind::reference ? 1e-10 : 1e-5);
    EXPECT_GT(test::nmse(got, causal ? all : before), 1e-3);
  }
}

// Of one layer, in which the first token sees half of the window and no more.
TEST_P(BothWays, WindowsReachAsFarBehindAsBefore) {
  const Text text = text_of(40);
  const std::pair<int, size_t> last_seen[] = {{6, 3}, {7, 3}, {8, 4}, {30, 15}};
  for (const auto& [window, last] : last_seen) {
    const Folder folder("gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", window}}, 1);
    SCOPED_TRACE(window);
    const auto engine = load(folder.path(), device);
    ASSERT_NE(engine, nullptr);
    for (const bool mirrored : {false, true}) {  // the last one, those before it
      const Pooling pooling = mirrored ? Pooling::last : Pooling::first;
      const std::vector<float> vector = vector_of(*engine, text, pooling);
      for (size_t i = 1; i < text.size(); ++i) {
        Text other = text;
        int32_t& token = other[mirrored ? other.size() - 1 - i : i];
        token = (token + 1) % 20;
        EXPECT_EQ(test::same_bits(vector_of(*engine, other, pooling), vector), i > last) << i;
      }
    }
  }
}

struct Row {
  const char* model_type;
  json keys;
};
std::vector<Row> rows() {
  return {{"llama", {{"is_causal", false}}},
          {"qwen3", {{"use_bidirectional_attention", true}, {"auto_map", {{"AutoModel", "modeling.Model"}}}}},
          {"gemma3_text", {{"use_bidirectional_attention", true}, {"sliding_window", 9}, {"sliding_window_pattern", 2}}}};
}

TEST_P(BothWays, TheFileMadeOfAFolderGivesTheSame) {
  const Text text = text_of(33);
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.model_type);
    const Folder folder(row.model_type, row.keys);
    const std::string made = folder.path("made.gguf");
    const Status status = convert_to_gguf(folder.path(), made, {.type = ConvertType::f32});
    ASSERT_TRUE(status.ok()) << status.message;
    const auto from = load(folder.path(), device), to = load(made, device);
    ASSERT_TRUE(from && to);
    EXPECT_FALSE(to->spec().causal);
    EXPECT_TRUE(test::same_bits(vector_of(*from, text, Pooling::mean), vector_of(*to, text, Pooling::mean)));
  }
}

// But for how a GPU rounds.
TEST_P(BothWays, CompanyChangesNothing) {
  const Folder folder("llama", {{"is_causal", false}});
  std::vector<Text> texts;
  for (const int32_t n : {5, 64, 1, 33, 20, 7}) texts.push_back(text_of(n));
  const auto engine = load(folder.path(), device);
  ASSERT_NE(engine, nullptr);
  const auto together = embed_all(*engine, texts, Pooling::mean);
  ASSERT_TRUE(together.ok()) << together.status().message;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> alone = vector_of(*engine, texts[i], Pooling::mean);
    const auto beside = std::span(*together).subspan(i * 32, 32);
    EXPECT_TRUE(device == DeviceKind::cuda ? test::nmse(beside, alone) < 1e-6 : test::same_bits(beside, alone)) << i;
    EXPECT_GT(test::nmse(std::span(*together).subspan((i + 1) % texts.size() * 32, 32), alone), 1e-3) << "another text";
  }
}

TEST(BothWaysAutomatic, cuda_IsTakenWhereThereIsOne) {
  INLAY_SKIP_WITHOUT(DeviceKind::cuda);
  const Folder folder("llama", {{"is_causal", false}});
  const auto engine = load(folder.path(), DeviceKind::automatic);
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->info().device, DeviceKind::cuda);
}

TEST_P(BothWays, WhatIsDrawnOrCutIsRefused) {
  const Folder folder("llama", {{"is_causal", false}});
  const auto engine = load(folder.path(), device, 24);
  ASSERT_NE(engine, nullptr);
  const Text text = text_of(5);
  const std::span<const int32_t> span(text);
  std::vector<ScoredToken> scores(5);
  uint64_t id = 0;
  const Status refused[] = {engine->create_session({}).status(), score(*engine, {&span, 1}, {}, scores, {}),
                            engine->requests().submit(engine->requests().add_queue(engine, {}), text, {}, id)};
  for (const Status& status : refused) {
    EXPECT_EQ(status.code, Code::unsupported);
    EXPECT_NE(status.message.find("is_causal is false"), std::string::npos) << status.message;
  }
  EXPECT_TRUE(embed_all(*engine, {text_of(24)}, Pooling::mean).ok());
  const Status longer = embed_all(*engine, {text, text_of(25)}, Pooling::mean).status(), longest = embed_all(*engine, {text_of(65)}, Pooling::mean).status();
  EXPECT_EQ(longer.code, Code::context_full);
  EXPECT_EQ(longer.available, 24u);
  EXPECT_NE(longer.message.find("text 1 has 25 tokens"), std::string::npos) << longer.message;
  EXPECT_NE(longer.message.find("at most 24 (prefill_chunk)"), std::string::npos) << longer.message;
  EXPECT_NE(longest.message.find("the context of 64"), std::string::npos) << longest.message;
}

}  // namespace
}  // namespace inlay
