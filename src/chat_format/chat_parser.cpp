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

Marker marker_of(const ChatFormat& format, size_t i) { return i < format.calls.begin.size() ? format.calls.begin[i] : Marker(); }

}  // namespace

ChatParser::ChatParser(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools)
    : format_(std::move(format)), tools_(std::move(tools)), first_of_call_(marker_of(*format_, 0)),
      second_of_call_(format_->calls.bare ? marker_of(*format_, 1) : Marker()) {
  for (const Marker* marker : format_->markers())
    if (marker->is_token) tokens_.push_back(marker);
  for (const Marker* marker : {&format_->calls.section_begin, &first_of_call_, &second_of_call_, &format_->content_end})
    if (!marker->empty()) of_content_.push_back(marker);
  const ChatFormat::Channels& channels = format_->channels;
  of_body_ = {&channels.begin, &channels.channel};
  of_header_ = {&channels.begin, &channels.channel, &channels.body};
  if (!channels.constraint.empty()) of_header_.push_back(&channels.constraint);
  for (const Marker& marker : channels.end) of_body_.push_back(&marker);
  if (format_->channels.used()) begin_header();
}

void ChatParser::append(std::string_view bytes) {
  if (finished_) return;
  whole_.clear();
  utf8_.append(bytes, whole_);
  in_.append(whole_);
  run();
}

void ChatParser::append_control(std::string_view name) {
  if (finished_) return;
  whole_.clear();
  utf8_.flush(whole_);
  in_.append(whole_);
  in_.append_mark(token(name));
  run();
}

// The marker that a control token is, or null.
const Marker* ChatParser::token(std::string_view name) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(), [&](const Marker* marker) { return marker->text == name; });
  return found == tokens_.end() ? nullptr : *found;
}

ChatParser::Open ChatParser::open() const {
  switch (state_) {
    case State::reasoning:
      return Open::reasoning;
    case State::channel_text:
      return channel_kind_ == Kind::reasoning ? Open::reasoning : Open::content;
    case State::content:
      return at_start_ && !in_content_ ? Open::nothing : Open::content;
    case State::header:
      return channel_at_ == std::string::npos ? Open::nothing : Open::call;
    default:
      return Open::call;
  }
}

void ChatParser::finish() {
  if (finished_) return;
  whole_.clear();
  utf8_.flush(whole_);
  in_.append(whole_);
  in_.end();
  finished_ = true;
  run();
  close();
}

// What is open at the end.
void ChatParser::close() {
  complete_ = false;
  switch (state_) {
    case State::content:
      complete_ = true;
      break;
    case State::reasoning:
    case State::call_begin:
      pending_.clear();
      break;
    case State::between:
      complete_ = true;
      if (without_blanks(held_).empty()) held_.clear();
      break;
    case State::header:
      complete_ = header_.empty() && channel_at_ == std::string::npos;
      break;
    case State::channel_text:
      complete_ = channel_kind_ == Kind::content;
      break;
    case State::arguments:
    case State::channel_arguments:  // a number
      if (!committed_ || !scanner_.may_end()) break;
      complete_ = format_->channels.used() || format_->calls.end.empty();
      end_call(true);
      break;
    case State::channel_string:
      emit(Kind::arguments, "\"");
      end_call(true);
      complete_ = true;
      break;
    case State::call_end:
      complete_ = format_->channels.used() || (bare_ && n_matched_ > 0);
      if (committed_) end_call(true);
      held_.clear();
      break;
    default:
      break;
  }
  if (committed_) {
    end_call(false);
    return;
  }
  if (state_ == State::reasoning) return;
  if (!held_.empty()) {
    at_start_ = false;
    add_text(Kind::content, std::exchange(held_, {}));
  }
  emit(Kind::content, std::exchange(pending_, {}));
}

void ChatParser::run() {
  while (step()) {
  }
}

bool ChatParser::step() {
  switch (state_) {
    case State::content:
      return step_content();
    case State::reasoning:
      return step_reasoning();
    case State::call_begin:
      return step_call_begin();
    case State::call_json:
      return step_json();
    case State::call_python:
      return step_python();
    case State::call_word:
      return step_word();
    case State::arguments_begin:
      return step_arguments_begin();
    case State::arguments:
      return step_arguments();
    case State::parameters:
      return step_parameters();
    case State::value_begin:
      return step_value_begin();
    case State::value:
      return step_value();
    case State::call_end:
      return step_call_end();
    case State::between:
      return step_between();
    case State::header:
      return step_header();
    case State::channel_text:
      return step_channel_text();
    case State::channel_arguments:
      return step_channel_arguments();
    case State::channel_string:
      return step_channel_string();
  }
  return false;
}

void ChatParser::emit(Kind kind, std::string_view text) {
  const bool of_text = kind == Kind::reasoning || kind == Kind::content;
  const uint32_t call = of_text ? 0 : n_calls_;
  if (text.empty() && (of_text || kind == Kind::arguments)) return;
  if (!deltas_.empty() && deltas_.back().kind == kind && (of_text || kind == Kind::arguments) && deltas_.back().call == call) {
    deltas_.back().text += text;
    return;
  }
  deltas_.push_back({kind, call, std::string(text)});
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
    if (kind == Kind::content && !format_->has_calls()) keep = pending_.size();
  }
  if (pending_.size() - keep > kMaxPendingBytes) keep = pending_.size() - kMaxPendingBytes;
  emit(kind, std::string_view(pending_).substr(0, keep));
  pending_.erase(0, keep);
}

// The next character. Control tokens that are no markers are nothing.
ChatParser::Next ChatParser::peek(char& c) {
  while (in_.at_mark()) {
    if (in_.mark()) return Next::marker;
    in_.skip_mark();
  }
  const std::string_view text = in_.run();
  if (text.empty()) return Next::wait;
  c = text[0];
  return Next::character;
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
  malformed_ = malformed_ || is_token;
  at_start_ = false;
  add_text(Kind::content, format_->content_end.text);
}

void ChatParser::begin_reasoning() {
  state_ = State::reasoning;
  pending_.clear();
  drop_lines_ = true;
}

bool ChatParser::step_content() {
  if (in_.at_mark()) return step_content_mark();
  if (in_.run().empty()) return false;
  if (at_start_) {
    const size_t n = count_leading_blanks(in_.run());
    if (n > 0) {
      add_text(Kind::content, in_.run().substr(0, n));
      in_.skip(n);
      return true;
    }
    bool wait = false;
    if (at_start(wait)) return true;
    if (wait) return false;
    at_start_ = false;
  }
  const MarkedText::Place place = in_.find(of_content_);
  if (place.at > 0) {
    add_text(Kind::content, in_.run().substr(0, place.at));
    in_.skip(place.at);
    return true;
  }
  if (!place.marker) return false;
  if (place.marker == &format_->content_end) {
    in_.skip(*place.marker);
    end_content(false);
  } else if (place.marker == &format_->reasoning_begin) {
    in_.skip(*place.marker);
    begin_reasoning();
  } else {
    begin_call(place.marker);
  }
  return true;
}

// Whether something other than content begins here, where no content was before.
bool ChatParser::at_start(bool& wait) {
  const auto is_front = [&](const Marker& marker) {
    const Match match = marker.empty() ? Match::no : in_.front(marker);
    wait = wait || match == Match::maybe;
    return match == Match::yes;
  };
  if (is_front(format_->reasoning_begin)) {
    in_.skip(format_->reasoning_begin);
    begin_reasoning();
    return true;
  }
  if (is_front(format_->content_begin)) {
    in_.skip(format_->content_begin);
    begin_content();
    in_content_ = true;
    return true;
  }
  const ChatFormat::Calls& calls = format_->calls;
  for (const Marker* marker : {&calls.section_begin, &first_of_call_, &second_of_call_}) {
    if (!is_front(*marker)) continue;
    begin_call(marker);
    return true;
  }
  using Written = ChatFormat::Written;
  const char first = calls.written == Written::json ? '{' : calls.written == Written::python ? '[' : '\0';
  if (!calls.bare || in_.run()[0] != first) return false;
  begin_call(nullptr);
  return true;
}

bool ChatParser::step_content_mark() {
  const Marker* mark = in_.mark();
  const auto is = [&](const Marker& marker) { return mark && !marker.empty() && marker.text == mark->text; };
  const ChatFormat::Calls& calls = format_->calls;
  if (is(calls.section_begin)) {
    begin_call(&calls.section_begin);
  } else if (is(first_of_call_)) {
    begin_call(&first_of_call_);
  } else if (is(second_of_call_)) {
    begin_call(&second_of_call_);
  } else {
    in_.skip_mark();
    if (is(format_->reasoning_begin)) {
      begin_reasoning();
    } else if (is(format_->content_begin)) {
      begin_content();
      in_content_ = true;
    } else if (is(format_->content_end)) {
      end_content(true);
    } else if (mark) {
      malformed_ = true;
      at_start_ = false;
      add_text(Kind::content, mark->text);
    }
  }
  return true;
}

bool ChatParser::step_reasoning() {
  const Marker* markers[] = {&format_->reasoning_end};
  const Marker* end = in_.until(markers, [this](std::string_view text) { add_text(Kind::reasoning, text); });
  if (!end) return false;
  in_.skip(*end);
  begin_content();
  return true;
}

// The tail has no control token that would say where the message begins: only a header counts, or a marker of reasoning at the very end.
bool ChatParser::begin_at_end(const Marker* last) {
  std::string_view text = in_.run();
  if (format_->channels.used()) {
    const size_t at = text.rfind(format_->channels.begin.text);
    if (at == text.npos) return false;
    in_.skip(at);
    run();
    return true;
  }
  text = without_blanks(text);
  const auto ends_with = [&](const Marker& marker) {
    return !marker.empty() && (marker.is_token ? last && last->text == marker.text && text.empty() : text.ends_with(marker.text));
  };
  if (ends_with(format_->reasoning_begin))
    begin_reasoning();
  else if (ends_with(format_->reasoning_end))
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
      in_.append(whole_);
      text.append(whole_);
      continue;
    }
    utf8_.clear();
    text.clear();
    last = token(piece.text);
    if (!last || last->text == format_->channels.begin.text) {
      in_.clear();
      found = true;
    }
    if (last) in_.append_mark(last);
  }
  utf8_.clear();
  if (found) {
    if (!format_->reasoning_begin.empty()) of_content_.push_back(&format_->reasoning_begin);  // behind the role
    run();
    if (!format_->reasoning_begin.empty()) of_content_.pop_back();
  } else {
    std::swap(in_, text);
    found = begin_at_end(last);
  }
  if (found) forget_tail();
  in_.clear();
}

void ChatParser::forget_tail() {
  in_.clear();
  pending_.clear();
  held_.clear();
  malformed_ = false;
  at_start_ = at_start_ || state_ == State::content;
  std::vector<ChatDelta> kept;
  for (ChatDelta& delta : deltas_) {
    if (delta.kind == Kind::call_begin) kept.clear();
    if (committed_ && delta.call == n_calls_ && delta.kind >= Kind::call_begin) kept.push_back(std::move(delta));
  }
  for (ChatDelta& delta : kept) delta.call = 0;
  n_calls_ = 0;
  deltas_ = std::move(kept);
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
