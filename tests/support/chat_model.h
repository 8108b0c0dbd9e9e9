// A llama of random weights that has a chat template, and the markers of its format as tokens: a GGUF file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::test {

// What kind of tokens the markers are, as tokenizer.ggml.token_type numbers them. Normal ones are not told from their letters.
enum class MarkerTokens : int32_t { normal = 1, control = 3, user_defined = 4 };

struct ChatModel {
  std::string chat_template;               // empty: none
  std::vector<std::string> controls = {};  // other control tokens
  MarkerTokens markers = MarkerTokens::user_defined;
  uint32_t n_context = 16384;
};

// Ids 0 to 255 are the bytes; 256 ends a text.
std::vector<std::byte> chat_model(const ChatModel& model);

}  // namespace inlay::test
