// Which template a conversation is written by, and what it knows of the model.
#include "src/engine/chat.h"

#include <gtest/gtest.h>

#include <array>

#include "src/engine/engine.h"
#include "tests/support/random_model.h"

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
