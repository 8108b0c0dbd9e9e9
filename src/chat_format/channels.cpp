#include "src/chat_format/channels.h"

#include <algorithm>

#include "src/chat_format/json_scanner.h"

namespace inlay {
namespace {

constexpr size_t kNoChannel = std::string::npos;

// The words of a header.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(" \n\r\t", at), text.size());
    const size_t end = std::min(text.find_first_of(" \n\r\t", begin), text.size());
    if (begin < end) out.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return out;
}

bool has_word(const std::vector<std::string>& list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }

}  // namespace

ChannelReader::ChannelReader(OpenMessage& message) : message_(message), format_(message.format->channels), arguments_(message) {
  of_header_ = {&format_.begin, &format_.channel, &format_.body};
  if (!format_.constraint.empty()) of_header_.push_back(&format_.constraint);
  of_body_ = {&format_.begin, &format_.channel};
  for (const Marker& marker : format_.end) of_body_.push_back(&marker);
  begin_header();
}

// Text that is not as the format says is content, up to the next marker.
void ChannelReader::read() {
  for (;;) {
    const Reading reading = read_place();
    if (reading == Reading::wait) return;
    if (reading == Reading::done) continue;
    message_.fail_call();
    place_ = Place::text;
    kind_ = Kind::content;
    message_.emit(Kind::content, message_.held);
    message_.held.clear();
  }
}

Reading ChannelReader::read_place() {
  switch (place_) {
    case Place::header: return read_header();
    case Place::text: return read_text();
    case Place::recipient: return begin_arguments();
    case Place::arguments: return read_arguments();
    case Place::string: return read_string();
    case Place::call_end: return read_call_end();
  }
  return Reading::wait;
}

bool ChannelReader::finish() {
  bool complete = false;
  if (place_ == Place::header) {
    complete = header_.empty() && channel_at_ == kNoChannel;
  } else if (place_ == Place::text) {
    complete = kind_ == Kind::content;
  } else if (place_ == Place::string || place_ == Place::call_end || (place_ == Place::arguments && arguments_.may_end())) {
    complete = true;
    if (place_ == Place::string) message_.add_arguments("\"");
    message_.end_call(true);
    message_.held.clear();
  }
  return complete;
}

void ChannelReader::begin_header() {
  place_ = Place::header;
  header_.clear();
  channel_at_ = kNoChannel;
  message_.held.clear();
}

// A word in front of the channel: the role or the recipient. `whole`: no letter of it is missing.
bool ChannelReader::is_header_word(std::string_view word, bool whole) const {
  if (!format_.recipient.empty() && word.starts_with(format_.recipient)) return true;
  if (whole) return word == format_.role;
  return format_.role.starts_with(word) || format_.recipient.starts_with(word);
}

Reading ChannelReader::read_header() {
  for (;;) {
    char c = 0;
    const Next next = message_.peek(c);
    if (next == Next::wait) return Reading::wait;
    bool maybe = false;
    const Marker* front = nullptr;
    for (const Marker* marker : of_header_) {
      const Match match = message_.in.front(*marker);
      maybe = maybe || match == Match::maybe;
      if (match == Match::yes) front = marker;
    }
    if (!front && maybe) return Reading::wait;
    if (!front) {
      if (next == Next::marker || !add_to_header(c)) return Reading::failed;
      message_.held += c;
      message_.in.skip(1);
      continue;
    }
    const bool fits = channel_at_ != kNoChannel || words_fit(header_);
    if (front == &format_.body) return fits && channel_at_ != kNoChannel ? begin_body() : Reading::failed;
    if (front == &format_.channel) {
      if (!fits || channel_at_ != kNoChannel) return Reading::failed;
      channel_at_ = header_.size();
    } else if (front == &format_.constraint) {
      if (channel_at_ == kNoChannel) return Reading::failed;
      header_ += ' ';
    } else if (front != &format_.begin || !message_.held.empty()) {  // a message begins, and this one is empty
      return Reading::failed;
    } else {
      message_.in.skip(*front);
      continue;
    }
    message_.hold_front(*front);
  }
}

// False if no header goes on with `c`.
bool ChannelReader::add_to_header(char c) {
  if (header_.size() >= OpenMessage::kMaxNameBytes) return false;
  header_ += c;
  if (channel_at_ != kNoChannel) return true;
  const auto words = words_of(header_);
  for (size_t i = 0; i < words.size(); ++i)
    if (!is_header_word(words[i], i + 1 < words.size() || is_json_blank(c))) return header_.pop_back(), false;
  return true;
}

bool ChannelReader::words_fit(std::string_view header) const {
  const auto words = words_of(header);
  return std::all_of(words.begin(), words.end(), [this](std::string_view word) { return is_header_word(word, true); });
}

// The marker of the body is in front.
Reading ChannelReader::begin_body() {
  std::string_view channel, recipient;
  const auto take = [&](std::string_view part, bool of_channel) {
    for (const std::string_view word : words_of(part)) {
      if (!format_.recipient.empty() && word.starts_with(format_.recipient))
        recipient = word.substr(format_.recipient.size());
      else if (of_channel && channel.empty())
        channel = word;
    }
  };
  const std::string_view header = header_;
  take(header.substr(0, channel_at_), false);
  take(header.substr(channel_at_), true);
  const bool reasons = has_word(format_.reasoning, channel);
  if (!reasons && !has_word(format_.content, channel)) return Reading::failed;
  message_.hold_front(format_.body);
  if (!recipient.empty()) {
    is_tool_ = !format_.tool_prefix.empty() && recipient.starts_with(format_.tool_prefix) && recipient != format_.tool_prefix;
    message_.name = recipient.substr(is_tool_ ? format_.tool_prefix.size() : 0);
    message_.id.clear();
    place_ = Place::recipient;
    return Reading::done;
  }
  message_.held.clear();
  kind_ = reasons ? Kind::reasoning : Kind::content;
  place_ = Place::text;
  return Reading::done;
}

Reading ChannelReader::read_text() {
  const Marker* end = message_.in.until(of_body_, [this](std::string_view text) { message_.emit(kind_, text); });
  if (!end) return Reading::wait;
  return end_message(*end);
}

// One of of_body_ is in front. Where the next header begins without an end, this message has none.
Reading ChannelReader::end_message(const Marker& marker) {
  begin_header();
  if (&marker == &format_.begin || &marker == &format_.channel)
    message_.malformed = true;
  else
    message_.in.skip(marker);
  return Reading::done;
}

// What is sent to a tool is JSON. What is sent to others (a program for `python`) may be any text, and is a JSON string then.
Reading ChannelReader::begin_arguments() {
  if (const Reading blanks = message_.hold_blanks(); blanks != Reading::done) return blanks;
  char c = 0;
  const bool is_character = message_.peek(c) == Next::character;
  JsonScanner first;
  if (is_tool_ && (!is_character || first.feed(c) == JsonScanner::Step::bad)) return Reading::failed;
  if (is_tool_ || (is_character && c == '{')) {
    arguments_.begin();
    place_ = Place::arguments;
    return Reading::done;
  }
  message_.commit();
  message_.add_arguments("\"");
  place_ = Place::string;
  return Reading::done;
}

Reading ChannelReader::read_string() {
  const Marker* end = message_.in.until(of_body_, [this](std::string_view text) { message_.add_arguments(escaped(text)); });
  if (!end) return Reading::wait;
  message_.add_arguments("\"");
  message_.end_call(true);
  return end_message(*end);
}

Reading ChannelReader::read_arguments() {
  const Reading reading = arguments_.read();
  if (reading == Reading::done) place_ = Place::call_end;
  return reading;
}

// Behind a call's JSON.
Reading ChannelReader::read_call_end() {
  if (const Reading blanks = message_.hold_blanks(); blanks != Reading::done) return blanks;
  bool maybe = false;
  for (const Marker* marker : of_body_) {
    const Match match = message_.in.front(*marker);
    maybe = maybe || match == Match::maybe;
    if (match != Match::yes) continue;
    message_.end_call(true);
    return end_message(*marker);
  }
  if (maybe) return Reading::wait;
  message_.end_call(true);
  return Reading::failed;
}

}  // namespace inlay
