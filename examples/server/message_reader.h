// The answer to a chat taken apart while it is drawn: reasoning, content up to a stop text, and calls of tools.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "examples/server/model.h"

namespace inlay::server {

struct MessageDelta {
  inlay_chat_delta_kind kind = INLAY_CHAT_DELTA_CONTENT;
  int32_t call = 0;
  std::string text;
};

class MessageReader {
 public:
  // `parser` becomes its own.
  MessageReader(inlay_chat_parser* parser, std::vector<std::string> stops);

  void read(const inlay_token_logprob* tokens, size_t n);
  void finish();
  std::vector<MessageDelta> take();
  bool has_stopped() const { return has_stopped_; }  // the content had a stop text: nothing more comes

 private:
  void collect();
  void add(MessageDelta delta);
  void give_content(bool ends);

  struct Free {
    void operator()(inlay_chat_parser* p) const { inlay_chat_parser_free(p); }
  };
  std::unique_ptr<inlay_chat_parser, Free> parser_;
  std::vector<std::string> stops_;
  std::vector<MessageDelta> deltas_;
  std::string content_;  // that may begin a stop text
  bool has_stopped_ = false;
};

}  // namespace inlay::server
