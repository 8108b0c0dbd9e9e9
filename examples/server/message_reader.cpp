#include "examples/server/message_reader.h"

#include <algorithm>
#include <utility>

namespace inlay::server {

namespace {

constexpr size_t kDeltas = 64, kTextBytes = 4096;

// How many bytes at the end of `text` may begin one of `stops`.
size_t n_maybe_stop(const std::string& text, const std::vector<std::string>& stops) {
  size_t most = 0;
  for (const std::string& stop : stops)
    for (size_t n = std::min(stop.size() - 1, text.size()); n > most; --n)
      if (text.compare(text.size() - n, n, stop, 0, n) == 0) most = n;
  return most;
}

}  // namespace

MessageReader::MessageReader(inlay_chat_parser* parser, std::vector<std::string> stops) : parser_(parser), stops_(std::move(stops)) {}

void MessageReader::read(const inlay_token_logprob* tokens, size_t n) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < n; ++i) ids.push_back(tokens[i].token);
  (void)inlay_chat_parser_append(parser_.get(), ids.data(), ids.size(), nullptr);  // the tokens are the model's: nothing is refused
  collect();
}

void MessageReader::finish() {
  (void)inlay_chat_parser_finish(parser_.get(), nullptr);
  collect();
  give_content(true);
}

std::vector<MessageDelta> MessageReader::take() { return std::exchange(deltas_, {}); }

void MessageReader::collect() {
  inlay_chat_delta parts[kDeltas];
  char text[kTextBytes];
  for (size_t n = 1; n > 0;) {
    if (inlay_chat_parser_take(parser_.get(), parts, kDeltas, sizeof parts[0], text, sizeof text, &n, nullptr) != INLAY_OK) return;
    for (size_t i = 0; i < n; ++i) add({parts[i].kind, parts[i].call, std::string(text + parts[i].first_byte, parts[i].text_bytes)});
  }
}

void MessageReader::add(MessageDelta delta) {
  if (has_stopped_) return;
  if (delta.kind == INLAY_CHAT_DELTA_CONTENT && !stops_.empty()) {
    content_ += delta.text;
    return give_content(false);
  }
  give_content(true);
  deltas_.push_back(std::move(delta));
}

// What of the content is surely before a stop text; all of it, if it ends.
void MessageReader::give_content(bool ends) {
  if (content_.empty() || has_stopped_) return;
  size_t at = std::string::npos;
  for (const std::string& stop : stops_) at = std::min(at, content_.find(stop));
  has_stopped_ = at != std::string::npos;
  const size_t n = has_stopped_ ? at : content_.size() - (ends ? 0 : n_maybe_stop(content_, stops_));
  if (n > 0) deltas_.push_back({INLAY_CHAT_DELTA_CONTENT, 0, content_.substr(0, n)});
  content_.erase(0, n);
}

}  // namespace inlay::server
