// Which template a conversation is written by, and what it knows of the model.
#include "src/engine/chat.h"

#include <gtest/gtest.h>

#include <array>

#include "src/engine/engine.h"
#include "tests/support/random_model.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

TEST(Chat, TheModelsOwnTemplate) {
  const auto engine = Engine::load(INLAY_SOURCE_DIR "/examples/model/tales.gguf", {.device = DeviceKind::cpu});
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  const char* talk = R"([{"role": "system", "content": "Mira is kind."}, {"role": "user", "content": "Hello"},
                         {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "A room?"}])";
  const auto text = render_chat(**engine, talk, {.add_generation_prompt = true});
  ASSERT_TRUE(text.ok()) << text.status().message;
  std::string bos;
  const int32_t id = (*engine)->tokenizer()->bos();
  ASSERT_TRUE((*engine)->tokenizer()->decode(std::array{id}, {.show_special = true}, bos).ok());
  ASSERT_FALSE(bos.empty());
  EXPECT_EQ(*text, bos + "Mira is kind.<|player|>Hello<|npc|>Hi<|end|><|player|>A room?<|npc|>");
  const auto without = render_chat(**engine, talk, {});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(*without + "<|npc|>", *text);
  const auto other = render_chat(**engine, talk, {.source = "{{ eos_token != bos_token }}"});
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(*other, "True");
}

// A llama with these entries in its metadata.
std::shared_ptr<Engine> model_with(const std::function<void(testing::GgufImage&)>& entries) {
  const auto bytes = testing::llama_image(
      {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50},
      [&](testing::GgufImage& image) {
        image.text("tokenizer.ggml.model", "no_vocab");
        entries(image);
      });
  const auto engine = Engine::load(borrow_memory(bytes, "model"), {.device = DeviceKind::cpu});
  EXPECT_TRUE(engine.ok()) << engine.status().message;
  return *engine;
}

TEST(Chat, ToolsHaveATemplateOfTheirOwn) {
  const auto engine = model_with([](testing::GgufImage& image) {
    image.text("tokenizer.chat_template", "plain").text("tokenizer.chat_template.tool_use", "{{ tools[0] }}");
  });
  EXPECT_EQ(*render_chat(*engine, "[]", {}), "plain");
  EXPECT_EQ(*render_chat(*engine, R"({"messages": [], "tools": []})", {}), "plain");
  EXPECT_EQ(*render_chat(*engine, R"({"messages": [], "tools": ["saw"]})", {}), "saw");
  EXPECT_EQ(*render_chat(*engine, "[]", {}), "plain") << "again";
}

TEST(Chat, AWrongTemplateIsAnErrorWhenItIsUsed) {
  const auto broken = model_with([](testing::GgufImage& image) { image.text("tokenizer.chat_template", "{{"); });
  const Status expected = render_chat(*broken, "[]", {.source = "{{"}).status();
  EXPECT_EQ(expected.code, Code::format);
  for (int i = 0; i < 2; ++i) {
    const Status status = render_chat(*broken, "[]", {}).status();
    EXPECT_EQ(status.code, Code::format);
    EXPECT_EQ(status.message, expected.message);
  }
  EXPECT_EQ(*render_chat(*broken, "[]", {.source = "given"}), "given");
  const auto number = model_with([](testing::GgufImage& image) { image.u32("tokenizer.chat_template", 1); });
  const Status status = render_chat(*number, "[]", {}).status();
  EXPECT_EQ(status.code, Code::format);
  EXPECT_NE(status.message.find("tokenizer.chat_template"), std::string::npos) << status.message;
}

TEST(Chat, AModelWithoutATemplate) {
  const auto file = test::random_model({});
  const auto engine = Engine::load(borrow_memory(file, "random model"), {.device = DeviceKind::cpu});
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  const auto text = render_chat(**engine, "[]", {});
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.status().code, Code::unsupported);
  EXPECT_EQ(text.status().message,
            "the model has no chat template: there is no tokenizer.chat_template in its metadata");
  const auto given = render_chat(**engine, "[]", {.source = "{{ bos_token is defined }}"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(*given, "False");  // there is no tokenizer
}

}  // namespace
}  // namespace inlay
