#include "tests/support/chat_model.h"

#include <algorithm>

#include "tests/support/chat_pieces.h"
#include "tests/unit/llama_image.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::test {

std::vector<std::byte> chat_model(const ChatModel& model) {
  testing::VocabularyFile v;
  for (int byte = 0; byte < 256; ++byte) v.add(testing::byte_char(byte));
  v.add("<|im_end|>", testing::kControl);
  const auto add = [&](const std::string& text, int32_t type) {
    if (std::find(v.tokens.begin(), v.tokens.end(), text) == v.tokens.end()) v.add(text, type);
  };
  for (const std::string& text : model.controls) add(text, testing::kControl);
  const FoundChatFormat found = find_chat_format(model.chat_template);
  for (const Marker* marker : found.format.markers())
    if (looks_like_a_token(marker->text)) add(marker->text, static_cast<int32_t>(model.markers));
  const auto n_vocab = static_cast<uint32_t>(v.tokens.size());
  return testing::llama_image(
      {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = n_vocab, .n_context = model.n_context},
      [&](testing::GgufImage& image) {
        image.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2").text("general.name", "chat");
        image.texts("tokenizer.ggml.tokens", v.tokens).array("tokenizer.ggml.token_type", MetaType::i32, v.types);
        image.texts("tokenizer.ggml.merges", {}).u32("tokenizer.ggml.eos_token_id", 256).boolean("tokenizer.ggml.add_bos_token", false);
        if (!model.chat_template.empty()) image.text("tokenizer.chat_template", model.chat_template);
      });
}

}  // namespace inlay::test
