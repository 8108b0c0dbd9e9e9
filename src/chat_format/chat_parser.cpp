#include "src/chat_format/chat_parser.h"

#include <algorithm>
#include <utility>

namespace inlay {
namespace {

constexpr size_t kMaxPendingBytes = 4096;

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

size_t count_leading_blanks(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && is_json_blank(text[n])) ++n;
  return n;
}

}  // namespace

ChatParser::ChatParser(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools)
    : message_{.format = std::move(format), .tools = std::move(tools)}, format_(*message_.format), calls_(message_), channels_(message_),
      state_(format_.channels.used() ? State::channels : State::content) {
  for (const Marker* marker : format_.markers())
    if (marker->is_token) tokens_.push_back(marker);
  of_content_ = calls_.begins();
  if (!format_.content_end.empty()) of_content_.push_back(&format_.content_end);
}

void ChatParser::append(std::string_view bytes) {
  if (finished_) return;
  whole_.clear();
  utf8_.append(bytes, whole_);
  message_.in.append(whole_);
  run();
}

void ChatParser::append_control(std::string_view name) {
  if (finished_) return;
  whole_.clear();
  utf8_.flush(whole_);
  message_.in.append(whole_);
  message_.in.append_mark(token(name));
  run();
}

// The marker that a control token is, or null.
const Marker* ChatParser::token(std::string_view name) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(), [&](const Marker* marker) { return marker->text == name; });
  return found == tokens_.end() ? nullptr : *found;
}

ChatParser::Open ChatParser::open() const {
  switch (state_) {
    case State::content: return at_start_ && !in_content_ ? Open::nothing : Open::content;
    case State::reasoning: return Open::reasoning;
    case State::call: return Open::call;
    case State::channels: break;
  }
  if (channels_.in_text()) return channels_.reasons() ? Open::reasoning : Open::content;
  return channels_.between_messages() ? Open::nothing : Open::call;
}

void ChatParser::finish() {
  if (finished_) return;
  whole_.clear();
  utf8_.flush(whole_);
  message_.in.append(whole_);
  message_.in.end();
  finished_ = true;
  run();
  close();
}

// What is open at the end.
void ChatParser::close() {
  if (state_ == State::reasoning) return;
  complete_ = state_ == State::content || (state_ == State::call ? calls_.finish() : channels_.finish());
  if (message_.committed) return message_.end_call(false);
  if (!message_.held.empty()) {
    at_start_ = false;
    add_text(Kind::content, std::exchange(message_.held, {}));
  }
  message_.emit(Kind::content, std::exchange(pending_, {}));
}

void ChatParser::run() {
  while (step()) {
  }
}

// False if there is nothing left that could be taken.
bool ChatParser::step() {
  switch (state_) {
    case State::content: return step_content();
    case State::reasoning: return step_reasoning();
    case State::call: return step_call();
    case State::channels: break;
  }
  channels_.read();
  return false;
}

// Line feeds at the edge to a marker are the format's, as are blanks before the first marker.
void ChatParser::add_text(Kind kind, std::string_view text) {
  if (text.empty()) return;
  pending_ += text;
  if (drop_lines_) {
    const size_t n = static_cast<size_t>(std::find_if_not(pending_.begin(), pending_.end(), is_line_end) - pending_.begin());
    pending_.erase(0, n);
    if (pending_.empty()) return;
    drop_lines_ = false;
  }
  size_t keep = 0;  // from here on it waits
  const bool begins = kind == Kind::content && at_start_;
  if (!begins || count_leading_blanks(pending_) != pending_.size()) {
    keep = pending_.size();
    while (keep > 0 && is_line_end(pending_[keep - 1])) --keep;
    if (kind == Kind::content && !format_.has_calls()) keep = pending_.size();
  }
  if (pending_.size() - keep > kMaxPendingBytes) keep = pending_.size() - kMaxPendingBytes;
  message_.emit(kind, std::string_view(pending_).substr(0, keep));
  pending_.erase(0, keep);
}

void ChatParser::begin_content() {
  state_ = State::content;
  at_start_ = drop_lines_ = true;
  pending_.clear();
}

// The marker was skipped. Without a begin it is text.
void ChatParser::end_content(bool is_token) {
  if (in_content_) {
    in_content_ = false;
    return begin_content();
  }
  message_.malformed = message_.malformed || is_token;
  at_start_ = false;
  add_text(Kind::content, format_.content_end.text);
}

void ChatParser::begin_reasoning() {
  state_ = State::reasoning;
  pending_.clear();
  drop_lines_ = true;
}

// `marker` is in front: one of calls_.begins(), or null for a call without one.
void ChatParser::begin_call(const Marker* marker) {
  state_ = State::call;
  message_.held += std::exchange(pending_, {});
  calls_.begin(marker);
}

// What is held when calls end or fail is content.
bool ChatParser::step_call() {
  const Reading reading = calls_.read();
  if (reading == Reading::wait) return false;
  begin_content();
  if (reading == Reading::failed) {
    message_.fail_call();
    at_start_ = drop_lines_ = false;
  }
  add_text(Kind::content, message_.held);
  message_.held.clear();
  return true;
}

bool ChatParser::step_content() {
  if (message_.in.at_mark()) return step_content_mark();
  if (message_.in.run().empty()) return false;
  if (at_start_) {
    const size_t n = count_leading_blanks(message_.in.run());
    if (n > 0) {
      add_text(Kind::content, message_.in.run().substr(0, n));
      message_.in.skip(n);
      return true;
    }
    bool wait = false;
    if (at_start(wait)) return true;
    if (wait) return false;
    at_start_ = false;
  }
  const MarkedText::Place place = message_.in.find(of_content_);
  if (place.at > 0) {
    add_text(Kind::content, message_.in.run().substr(0, place.at));
    message_.in.skip(place.at);
    return true;
  }
  if (!place.marker) return false;
  if (place.marker == &format_.content_end) {
    message_.in.skip(*place.marker);
    end_content(false);
  } else if (place.marker == &format_.reasoning_begin) {
    message_.in.skip(*place.marker);
    begin_reasoning();
  } else {
    begin_call(place.marker);
  }
  return true;
}

// Whether something other than content begins here, where no content was before.
bool ChatParser::at_start(bool& wait) {
  const auto is_front = [&](const Marker& marker) {
    const Match match = marker.empty() ? Match::no : message_.in.front(marker);
    wait = wait || match == Match::maybe;
    return match == Match::yes;
  };
  if (is_front(format_.reasoning_begin)) {
    message_.in.skip(format_.reasoning_begin);
    begin_reasoning();
    return true;
  }
  if (is_front(format_.content_begin)) {
    message_.in.skip(format_.content_begin);
    begin_content();
    in_content_ = true;
    return true;
  }
  for (const Marker* marker : calls_.begins()) {
    if (!is_front(*marker)) continue;
    begin_call(marker);
    return true;
  }
  const ChatFormat::Calls& calls = format_.calls;
  using Written = ChatFormat::Written;
  const char first = calls.written == Written::json ? '{' : calls.written == Written::python ? '[' : '\0';
  if (!calls.bare || message_.in.run()[0] != first) return false;
  begin_call(nullptr);
  return true;
}

bool ChatParser::step_content_mark() {
  const Marker* mark = message_.in.mark();
  const auto is = [&](const Marker& marker) { return mark && marker.text == mark->text; };
  for (const Marker* marker : calls_.begins())
    if (is(*marker)) return begin_call(marker), true;
  message_.in.skip_mark();
  if (is(format_.reasoning_begin)) {
    begin_reasoning();
  } else if (is(format_.content_begin)) {
    begin_content();
    in_content_ = true;
  } else if (is(format_.content_end)) {
    end_content(true);
  } else if (mark) {
    message_.malformed = true;
    at_start_ = false;
    add_text(Kind::content, mark->text);
  }
  return true;
}

bool ChatParser::step_reasoning() {
  const Marker* markers[] = {&format_.reasoning_end};
  const Marker* end = message_.in.until(markers, [this](std::string_view text) { add_text(Kind::reasoning, text); });
  if (!end) return false;
  message_.in.skip(*end);
  begin_content();
  return true;
}

// The tail has no control token that would say where the message begins: only a header counts, or a marker of reasoning at the very end.
bool ChatParser::begin_at_end(const Marker* last) {
  std::string_view text = message_.in.run();
  if (format_.channels.used()) {
    const size_t at = text.rfind(format_.channels.begin.text);
    if (at == text.npos) return false;
    message_.in.skip(at);
    run();
    return true;
  }
  text = without_blanks(text);
  const auto ends_with = [&](const Marker& marker) {
    return !marker.empty() && (marker.is_token ? last && last->text == marker.text && text.empty() : text.ends_with(marker.text));
  };
  if (ends_with(format_.reasoning_begin))
    begin_reasoning();
  else if (ends_with(format_.reasoning_end))
    begin_content();
  return false;
}

void ChatParser::begin_behind(std::span<const ChatPiece> tail) {
  bool found = false;
  const Marker* last = nullptr;
  MarkedText text;  // behind the last marker
  for (const ChatPiece& piece : tail) {
    if (!piece.is_control) {
      whole_.clear();
      utf8_.append(piece.text, whole_);
      message_.in.append(whole_);
      text.append(whole_);
      continue;
    }
    utf8_.clear();
    text.clear();
    last = token(piece.text);
    if (!last || last->text == format_.channels.begin.text) {
      message_.in.clear();
      found = true;
    }
    if (last) message_.in.append_mark(last);
  }
  utf8_.clear();
  if (found) {
    if (!format_.reasoning_begin.empty()) of_content_.push_back(&format_.reasoning_begin);  // behind the role
    run();
    if (!format_.reasoning_begin.empty()) of_content_.pop_back();
  } else {
    std::swap(message_.in, text);
    found = begin_at_end(last);
  }
  if (found) forget_tail();
  message_.in.clear();
}

void ChatParser::forget_tail() {
  message_.in.clear();
  pending_.clear();
  message_.held.clear();
  message_.malformed = false;
  at_start_ = at_start_ || state_ == State::content;
  std::vector<ChatDelta> kept;
  for (ChatDelta& delta : message_.deltas) {
    if (delta.kind == Kind::call_begin) kept.clear();
    if (message_.committed && delta.call == message_.n_calls && delta.kind >= Kind::call_begin) kept.push_back(std::move(delta));
  }
  for (ChatDelta& delta : kept) delta.call = 0;
  message_.n_calls = 0;
  message_.deltas = std::move(kept);
}

void add_deltas(std::span<const ChatDelta> deltas, ChatMessage& message) {
  for (const ChatDelta& delta : deltas) {
    switch (delta.kind) {
      case ChatDelta::Kind::reasoning:
        message.reasoning += delta.text;
        break;
      case ChatDelta::Kind::content:
        message.content += delta.text;
        break;
      case ChatDelta::Kind::call_begin:
        message.calls.push_back({delta.text, {}, {}, false});
        break;
      case ChatDelta::Kind::call_id:
        message.calls.back().id = delta.text;
        break;
      case ChatDelta::Kind::arguments:
        message.calls.back().arguments += delta.text;
        break;
      case ChatDelta::Kind::call_end:
        message.calls.back().complete = delta.complete;
        break;
    }
  }
}

ChatMessage parse_chat(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools, std::span<const ChatPiece> tail,
                       std::span<const ChatPiece> pieces) {
  ChatParser parser(std::move(format), std::move(tools));
  parser.begin_behind(tail);
  for (const ChatPiece& piece : pieces) parser.append(piece);
  parser.finish();
  ChatMessage out;
  add_deltas(parser.take(), out);
  out.complete = parser.complete();
  out.malformed = parser.malformed();
  return out;
}

}  // namespace inlay
