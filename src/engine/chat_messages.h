// What a model writes as messages: the format of its chat template in its vocabulary, and parsers that take a message apart. docs/design/chat-parsing.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/status.h"
#include "src/chat_format/chat_parser.h"
#include "src/chat_format/chat_vocabulary.h"
#include "src/engine/chat.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

// A format as a model writes it. Immutable; it keeps the tokenizer alive, and no engine.
struct ModelChatFormat {
  ModelChatFormat(std::shared_ptr<const Tokenizer> its_tokenizer, ChatFormat format)
      : tokenizer(std::move(its_tokenizer)), written(std::make_shared<const ChatFormat>(format)), vocabulary(*tokenizer, std::move(format)) {}

  std::string json() const;  // as inlay_chat_get_format gives it

  const std::shared_ptr<const Tokenizer> tokenizer;
  const std::shared_ptr<const ChatFormat> written;  // all markers as letters
  const ChatVocabulary vocabulary;
  bool takes_text = false;  // the template takes the arguments of earlier calls as text
  std::string remark;
};
using ModelChatFormatPtr = std::shared_ptr<const ModelChatFormat>;

struct ChatFormatChoice {
  std::optional<std::string_view> json;    // of a format; else that of the template
  std::optional<std::string_view> source;  // of a template; else the model's own
  bool has_tools = false;                  // models may have a template of their own for tools
};

// The formats of a model's own templates, made when they are first asked for.
class ChatFormats {
 public:
  Result<ModelChatFormatPtr> get(const std::shared_ptr<const Tokenizer>& tokenizer, const ChatTemplates& templates, const ChatFormatChoice& choice);

 private:
  Mutex mutex_;
  ModelChatFormatPtr of_usual_ INLAY_GUARDED_BY(mutex_), of_tools_ INLAY_GUARDED_BY(mutex_);
};

// One message. For one thread at a time.
class MessageParser {
 public:
  struct Options {
    ToolTypes tools;
    std::span<const int32_t> prompt;
    bool written_markers = false;
  };
  // A part, and where its text lies in the caller's room.
  struct Part {
    ChatDelta::Kind kind;
    uint32_t call = 0;
    bool whole = false;
    size_t text = 0, n_text = 0;
  };

  static Result<std::unique_ptr<MessageParser>> make(ModelChatFormatPtr format, const Options& options);

  Status append(std::span<const int32_t> tokens);
  Status append_text(std::string_view text);
  void finish();
  bool is_finished() const { return finished_; }
  ChatParser::Open open() const { return parser_.open(); }
  bool is_complete() const { return parser_.complete(); }
  bool is_malformed() const { return parser_.malformed(); }
  size_t n_calls() const { return message_.calls.size(); }

  // At most `most` parts; texts go into `room`. BUFFER_TOO_SMALL where there is no room for the first one.
  Result<std::vector<Part>> take(size_t most, std::span<char> room);
  Result<std::string> message() const;  // JSON, once it is finished

 private:
  MessageParser(ModelChatFormatPtr format, const Options& options);
  ChatPiece piece(int32_t token) const;
  void collect();
  std::string made_id(const ChatDelta& begin) const;
  std::string call_json(const ChatCall& call) const;

  const ModelChatFormatPtr format_;
  const bool written_markers_;
  uint64_t prompt_hash_;
  ChatParser parser_;
  std::vector<ChatDelta> ready_;  // that nobody took, from first_ on
  size_t first_ = 0;
  ChatMessage message_;
  bool finished_ = false;
};

}  // namespace inlay
