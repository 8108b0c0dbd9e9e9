// A conversation as the text that a model was trained on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/formats/metadata.h"
#include "src/template/template.h"

namespace inlay {

class Engine;

// The templates of a model's metadata, parsed once. One that is wrong is an error for those who want to use it, not for
// the load. The metadata outlives them.
class ChatTemplates {
 public:
  explicit ChatTemplates(const Metadata& metadata);

  // The model's template; the one for tools if there are tools and the file has one.
  Result<tmpl::Template> pick(bool has_tools) const;
  // Its text; empty where there is none.
  std::string_view source(bool has_tools) const { return has_tools && !for_tools_source_.empty() ? for_tools_source_ : usual_source_; }

 private:
  std::optional<Result<tmpl::Template>> usual_, for_tools_;
  std::string_view usual_source_, for_tools_source_;  // the metadata's
  std::string names_;  // of those that have one, in messages
};

struct ChatOptions {
  bool add_generation_prompt = false;           // end where the model's answer begins
  bool continue_final_message = false;          // end where the last message's text does; not with the former
  std::optional<std::string_view> source = {};  // of a template that stands for the model's own
};

// `conversation` is JSON as tmpl::read_variables takes it. The text holds control tokens in writing, BOS included if
// the template writes one: it is to be tokenized with special tokens parsed and none added.
Result<std::string> render_chat(const Engine& engine, std::string_view conversation, const ChatOptions& options);
// The same as tokens: no control token is made of, or with, what the conversation says. BOS is in front where the model asks for one and
// its own template writes none; a template that is given has it all in its hands.
Result<std::vector<int32_t>> tokenize_chat(const Engine& engine, std::string_view conversation,
                                           const ChatOptions& options);

// Says in the log what a load should tell of conversations: no template for a model that is named as one for them, BOS that is put in front.
void log_chat(Engine& engine, std::string_view conversation);

}  // namespace inlay
