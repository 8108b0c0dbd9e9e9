// A call from its first marker to its last; what is between them: call_json.cpp, tagged.cpp.
#include <algorithm>

#include "src/chat_format/chat_parser.h"

namespace inlay {
namespace {

bool may_be_in_name(char c) {
  return static_cast<unsigned char>(c) > 0x20 && c != 0x7F && std::string_view("\"'`<>{}[]()=,;").find(c) == std::string_view::npos;
}

}  // namespace

// `marker` is in front: that of a section, or the first or second of a call; null for a call without one.
void ChatParser::begin_call(const Marker* marker) {
  held_ += std::exchange(pending_, {});
  bare_ = marker == nullptr || marker == &second_of_call_;
  n_matched_ = 0;
  name_.clear();
  id_.clear();
  state_ = State::call_begin;
  if (!marker) return after_begin();
  in_.skip(*marker);
  hold(marker->text);
  if (marker == &first_of_call_ || bare_) {
    n_matched_ = bare_ ? 2 : 1;
  } else {
    in_section_ = true;
    state_ = State::between;
  }
}

// Blanks in front become held text. False if nothing else is there yet.
bool ChatParser::skip_blanks() {
  char c = 0;
  Next next = peek(c);
  for (; next == Next::character && is_json_blank(c); next = peek(c)) {
    if (held_.size() >= kMaxHeldBytes) return fail(), false;
    held_ += c;
    in_.skip(1);
  }
  return next != Next::wait;
}

bool ChatParser::step_call_begin() {
  const std::vector<Marker>& begin = format_->calls.begin;
  while (n_matched_ < begin.size()) {
    if (!skip_blanks()) return state_ != State::call_begin;
    const Match match = in_.front(begin[n_matched_]);
    if (match == Match::maybe) return false;
    if (match == Match::no) return fail(), true;
    in_.skip(begin[n_matched_]);
    hold(begin[n_matched_++].text);
  }
  after_begin();
  return true;
}

void ChatParser::after_begin() {
  if (format_->calls.written == ChatFormat::Written::json)
    begin_calls_object();
  else if (format_->calls.written == ChatFormat::Written::python)
    begin_python();
  else
    begin_word(Word::name);
}

void ChatParser::begin_word(Word word) {
  word_ = word;
  word_ended_ = false;
  (word == Word::name ? name_ : word == Word::id ? id_ : parameter_).clear();
  state_ = State::call_word;
}

// A name, an id or a parameter's name, up to the marker behind it.
bool ChatParser::step_word() {
  const ChatFormat::Calls& calls = format_->calls;
  std::string& out = word_ == Word::name ? name_ : word_ == Word::id ? id_ : parameter_;
  const bool ends_in_tags = word_ == Word::name && calls.arguments_begin.empty();
  const Marker* ends[] = {word_ == Word::parameter ? &calls.parameter_name_end : ends_in_tags ? &calls.parameter_begin : &calls.arguments_begin,
                          word_ == Word::parameter ? nullptr : ends_in_tags ? &calls.end[0] : word_ == Word::name ? &calls.id_begin : nullptr};
  for (;;) {
    char c = 0;
    const Next next = peek(c);
    if (next == Next::wait) return false;
    bool maybe = false;
    for (const Marker* end : ends) {
      if (!end || end->empty()) continue;
      const Match match = in_.front(*end);
      if (match == Match::yes) return end_word(*end);
      maybe = maybe || match == Match::maybe;
    }
    if (maybe) return false;
    const bool blank = next == Next::character && is_json_blank(c);
    const bool fits = next == Next::character && !word_ended_ && (may_be_in_name(c) || (word_ == Word::parameter && c == ' ' && !out.empty()));
    if ((!blank && !fits) || held_.size() >= kMaxHeldBytes || (fits && out.size() >= kMaxNameBytes)) return fail(), true;
    if (fits)
      out += c;
    else
      word_ended_ = !out.empty();
    held_ += c;
    in_.skip(1);
  }
}

// functions.NAME:0
void ChatParser::take_name_from_id() {
  const ChatFormat::Calls& calls = format_->calls;
  if (calls.name_prefix.empty()) return;
  id_ = name_;
  if (name_.starts_with(calls.name_prefix)) name_.erase(0, calls.name_prefix.size());
  if (!calls.name_suffix.empty()) name_.resize(std::min(name_.size(), name_.rfind(calls.name_suffix)));
}

bool ChatParser::end_word(const Marker& marker) {
  if (word_ == Word::name) take_name_from_id();
  const ChatFormat::Calls& calls = format_->calls;
  if (word_ == Word::parameter) {
    parameter_ = without_blanks(parameter_);
    const bool again = std::find(parameters_.begin(), parameters_.end(), parameter_) != parameters_.end();
    if (parameter_.empty() || again || parameters_.size() >= kMaxParameters) return fail(), true;
  } else if (name_.empty()) {
    return fail(), true;
  }
  const bool in_tags = word_ == Word::name && calls.arguments_begin.empty();  // the marker is of what comes next
  if (!in_tags) {
    in_.skip(marker);
    hold(marker.text);
  }
  if (word_ == Word::parameter)
    state_ = State::value_begin;
  else if (&marker == &calls.id_begin)
    begin_word(Word::id);
  else if (calls.written == ChatFormat::Written::tagged)
    begin_parameters();
  else
    state_ = State::arguments_begin;
  return true;
}

// Without its first marker a call must be one of a tool that is there.
bool ChatParser::may_be_bare() const { return !tools_ || tools_->empty() || tools_->has(name_); }

// The call is one: what was held is not content.
void ChatParser::commit(std::string_view name) {
  emit(Kind::call_begin, name);
  if (!id_.empty()) emit(Kind::call_id, id_);
  held_.clear();
  committed_ = true;
}

void ChatParser::end_call(bool complete) {
  emit(Kind::call_end, {});
  deltas_.back().complete = complete;
  ++n_calls_;
  committed_ = false;
  id_.clear();
}

void ChatParser::fail() {
  if (committed_) end_call(false);
  if (!bare_) malformed_ = true;
  in_section_ = false;
  at_start_ = drop_lines_ = false;
  state_ = State::content;
  channel_kind_ = Kind::content;
  if (format_->channels.used()) {
    state_ = State::channel_text;
    emit(Kind::content, held_);
  } else {
    add_text(Kind::content, held_);
  }
  held_.clear();
}

bool ChatParser::step_arguments_begin() {
  if (!skip_blanks()) return state_ != State::arguments_begin;
  char c = 0;
  JsonScanner first;
  if (peek(c) != Next::character || first.feed(c) == JsonScanner::Step::bad) return fail(), true;
  scanner_ = {};
  arguments_.clear();
  state_ = State::arguments;
  in_literal_ = c == '"' || c == 'n';
  if (!in_literal_) commit(name_);
  return true;
}

// One value. JSON goes on as it is written, but for a string: its text may be the arguments.
bool ChatParser::step_arguments() {
  for (;;) {
    char c = 0;
    const Next next = peek(c);
    if (next == Next::wait) return false;
    const bool is_mark = next == Next::marker, in_string = scanner_.in_string();
    if ((is_mark && !in_string) || held_.size() >= kMaxHeldBytes) return end_arguments(scanner_.may_end()), true;
    std::string text(1, c);
    if (is_mark || (in_string && static_cast<unsigned char>(c) < 0x20)) text = escaped(is_mark ? std::string_view(in_.mark()->text) : text);
    malformed_ = malformed_ || (!is_mark && text.size() > 1);
    JsonScanner::Step step{};
    for (const char letter : text) step = scanner_.feed(letter);
    if (step == JsonScanner::Step::bad) return fail(), true;
    if (step == JsonScanner::Step::done_before) return end_arguments(true), true;
    if (in_literal_)
      hold(text), arguments_ += text;
    else
      emit(Kind::arguments, text);
    is_mark ? in_.skip_mark() : in_.skip(1);
    if (step == JsonScanner::Step::done) return end_arguments(true), true;
  }
}

void ChatParser::end_arguments(bool whole) {
  if (!whole) return fail();
  if (in_literal_) {
    commit(name_);
    emit(Kind::arguments, arguments_of_literal(arguments_));
  }
  n_matched_ = 0;
  state_ = State::call_end;
}

// The markers behind the arguments.
bool ChatParser::step_call_end() {
  if (format_->channels.used()) return step_channel_end();
  const ChatFormat::Calls& calls = format_->calls;
  while (n_matched_ < calls.end.size()) {
    if (!skip_blanks()) return state_ != State::call_end;
    const Match match = in_.front(calls.end[n_matched_]);
    if (match == Match::maybe) return false;
    if (match == Match::no && bare_ && n_matched_ > 0) break;  // as the first of the call's begin, the others may be missing
    if (match == Match::no) {
      if (committed_) end_call(true);
      return fail(), true;
    }
    in_.skip(calls.end[n_matched_]);
    hold(calls.end[n_matched_++].text);
  }
  if (committed_) end_call(true);
  held_.clear();
  separated_ = false;
  if (in_section_ || !calls.separator.empty())
    state_ = State::between;
  else
    begin_content();
  return true;
}

// Around the calls of a section, or where a separator may follow a call.
bool ChatParser::step_between() {
  if (!skip_blanks()) return state_ != State::between;
  const ChatFormat::Calls& calls = format_->calls;
  bool maybe = false;
  const auto is_front = [&](const Marker& marker) {
    const Match match = marker.empty() ? Match::no : in_.front(marker);
    maybe = maybe || match == Match::maybe;
    return match == Match::yes;
  };
  if (is_front(first_of_call_)) {
    begin_call(&first_of_call_);
  } else if (in_section_ && is_front(calls.section_end)) {
    in_.skip(calls.section_end);
    held_.clear();
    in_section_ = false;
    begin_content();
  } else if (!separated_ && is_front(calls.separator)) {
    in_.skip(calls.separator);
    hold(calls.separator.text);
    separated_ = true;
  } else if (maybe) {
    return false;
  } else if (char c = 0; separated_ && calls.bare && peek(c) == Next::character && (c == '{' || c == '[')) {
    begin_call(nullptr);
  } else if (in_section_) {
    fail();
  } else {
    begin_content();
    add_text(Kind::content, std::exchange(held_, {}));
  }
  return true;
}

}  // namespace inlay
