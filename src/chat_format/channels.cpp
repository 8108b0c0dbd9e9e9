// Messages of one turn, each with a header: <|start|>assistant to=functions.NAME<|channel|>commentary<|message|>...<|call|>
#include <algorithm>

#include "src/chat_format/chat_parser.h"

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

void ChatParser::begin_header() {
  state_ = State::header;
  header_.clear();
  channel_at_ = kNoChannel;
  held_.clear();
}

// A word in front of the channel: the role or the recipient. `whole`: no letter of it is missing.
bool ChatParser::is_header_word(std::string_view word, bool whole) const {
  const ChatFormat::Channels& channels = format_->channels;
  if (!channels.recipient.empty() && word.starts_with(channels.recipient)) return true;
  if (whole) return word == channels.role;
  return channels.role.starts_with(word) || channels.recipient.starts_with(word);
}

bool ChatParser::step_header() {
  const ChatFormat::Channels& channels = format_->channels;
  for (;;) {
    char c = 0;
    const Next next = peek(c);
    if (next == Next::wait) return false;
    bool maybe = false;
    const Marker* front = nullptr;
    for (const Marker* marker : of_header_) {
      const Match match = in_.front(*marker);
      maybe = maybe || match == Match::maybe;
      if (match == Match::yes) front = marker;
    }
    if (!front && maybe) return false;
    if (!front) {
      if (next == Next::marker || !add_to_header(c)) return fail(), true;
      held_ += c;
      in_.skip(1);
      continue;
    }
    const bool fits = channel_at_ != kNoChannel || words_fit(header_);
    if (front == &channels.body) return fits && channel_at_ != kNoChannel ? begin_body() : (fail(), true);
    if (front == &channels.channel) {
      if (!fits || channel_at_ != kNoChannel) return fail(), true;
      channel_at_ = header_.size();
    } else if (front == &channels.constraint) {
      if (channel_at_ == kNoChannel) return fail(), true;
      header_ += ' ';
    } else if (front != &channels.begin || !held_.empty()) {  // a message begins, and this one is empty
      return fail(), true;
    } else {
      in_.skip(*front);
      continue;
    }
    in_.skip(*front);
    hold(front->text);
  }
}

// False if no header goes on with `c`.
bool ChatParser::add_to_header(char c) {
  if (header_.size() >= kMaxNameBytes) return false;
  header_ += c;
  if (channel_at_ != kNoChannel) return true;
  const auto words = words_of(header_);
  for (size_t i = 0; i < words.size(); ++i)
    if (!is_header_word(words[i], i + 1 < words.size() || is_json_blank(c))) return header_.pop_back(), false;
  return true;
}

bool ChatParser::words_fit(std::string_view header) const {
  const auto words = words_of(header);
  return std::all_of(words.begin(), words.end(), [this](std::string_view word) { return is_header_word(word, true); });
}

// The marker of the body is in front.
bool ChatParser::begin_body() {
  const ChatFormat::Channels& channels = format_->channels;
  std::string_view channel, recipient;
  const auto take = [&](std::string_view part, bool of_channel) {
    for (const std::string_view word : words_of(part)) {
      if (!channels.recipient.empty() && word.starts_with(channels.recipient))
        recipient = word.substr(channels.recipient.size());
      else if (of_channel && channel.empty())
        channel = word;
    }
  };
  const std::string_view header = header_;
  take(header.substr(0, channel_at_), false);
  take(header.substr(channel_at_), true);
  const bool reasons = has_word(channels.reasoning, channel);
  if (!reasons && !has_word(channels.content, channel)) return fail(), true;
  in_.skip(channels.body);
  hold(channels.body.text);
  if (!recipient.empty()) {
    is_tool_ = !channels.tool_prefix.empty() && recipient.starts_with(channels.tool_prefix) && recipient != channels.tool_prefix;
    name_ = recipient.substr(is_tool_ ? channels.tool_prefix.size() : 0);
    id_.clear();
    state_ = State::channel_arguments;
    return true;
  }
  held_.clear();
  channel_kind_ = reasons ? Kind::reasoning : Kind::content;
  state_ = State::channel_text;
  return true;
}

bool ChatParser::step_channel_text() {
  const Marker* end = in_.until(of_body_, [this](std::string_view text) { emit(channel_kind_, text); });
  if (!end) return false;
  return end_channel(*end);
}

// One of of_body_ is in front. Where the next header begins without an end, this message has none.
bool ChatParser::end_channel(const Marker& marker) {
  begin_header();
  if (&marker == &format_->channels.begin || &marker == &format_->channels.channel)
    malformed_ = true;
  else
    in_.skip(marker);
  return true;
}

// What is sent to a tool is JSON. What is sent to others (a program for `python`) may be any text, and is a JSON string then.
bool ChatParser::step_channel_arguments() {
  if (!skip_blanks()) return state_ != State::channel_arguments;
  char c = 0;
  const bool is_character = peek(c) == Next::character;
  JsonScanner first;
  if (is_tool_ && (!is_character || first.feed(c) == JsonScanner::Step::bad)) return fail(), true;
  if (is_tool_ || (is_character && c == '{')) {
    state_ = State::arguments_begin;
    return true;
  }
  commit(name_);
  emit(Kind::arguments, "\"");
  state_ = State::channel_string;
  return true;
}

bool ChatParser::step_channel_string() {
  const Marker* end = in_.until(of_body_, [this](std::string_view text) { emit(Kind::arguments, escaped(text)); });
  if (!end) return false;
  emit(Kind::arguments, "\"");
  end_call(true);
  return end_channel(*end);
}

// Behind a call's JSON.
bool ChatParser::step_channel_end() {
  if (!skip_blanks()) return state_ != State::call_end;
  bool maybe = false;
  for (const Marker* marker : of_body_) {
    const Match match = in_.front(*marker);
    maybe = maybe || match == Match::maybe;
    if (match != Match::yes) continue;
    end_call(true);
    return end_channel(*marker);
  }
  if (maybe) return false;
  end_call(true);
  return fail(), true;
}

}  // namespace inlay
