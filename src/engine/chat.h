// A conversation as the text that a model was trained on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace inlay {

class Engine;

struct ChatOptions {
  bool add_generation_prompt = false;           // end where the model's answer begins
  std::optional<std::string_view> source = {};  // of a template that stands for the model's own
};

// `conversation` is JSON as tmpl::read_variables takes it. The text holds control tokens in writing, BOS included if
// the template writes one: it is to be tokenized with special tokens parsed and none added.
Result<std::string> render_chat(const Engine& engine, std::string_view conversation, const ChatOptions& options);

}  // namespace inlay
