// The grammar of the messages that a demand allows, as a model's format writes them. docs/design/tool-constraints.md
#pragma once

#include <string>
#include <vector>

#include "src/chat_format/chat_parser.h"
#include "src/constraint/grammar.h"
#include "src/constraint/json_language.h"
#include "src/engine/chat_messages.h"
#include "src/engine/message_demand.h"

namespace inlay {

struct MessageGrammar {
  constraint::Grammar grammar;
  std::vector<std::string> remarks;  // of schemas
};

// `open`: what the prompt has begun. The marker tokens of the format are terminals of their own: the vocabulary has them as control tokens.
// Errors name the format, or the place in the demand.
Result<MessageGrammar> message_grammar(const ModelChatFormat& format, const MessageDemand& demand, ChatParser::Open open, const constraint::JsonStyle& style,
                                       bool lenient);

}  // namespace inlay
