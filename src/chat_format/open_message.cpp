#include "src/chat_format/open_message.h"

#include "src/chat_format/json_scanner.h"

namespace inlay {

// The next character. Control tokens that are no markers are nothing.
Next OpenMessage::peek(char& c) {
  while (in.at_mark()) {
    if (in.mark()) return Next::marker;
    in.skip_mark();
  }
  const std::string_view text = in.run();
  if (text.empty()) return Next::wait;
  c = text[0];
  return Next::character;
}

void OpenMessage::hold_front(const Marker& marker) {
  in.skip(marker);
  held += marker.text;
}

Reading OpenMessage::hold_blanks() {
  char c = 0;
  Next next = peek(c);
  for (; next == Next::character && is_json_blank(c); next = peek(c)) {
    if (holds_most()) return Reading::failed;
    held += c;
    in.skip(1);
  }
  return next == Next::wait ? Reading::wait : Reading::done;
}

Reading OpenMessage::hold_marker(const Marker& marker) {
  if (const Reading blanks = hold_blanks(); blanks != Reading::done) return blanks;
  const Match match = in.front(marker);
  if (match != Match::yes) return match == Match::maybe ? Reading::wait : Reading::failed;
  return hold_front(marker), Reading::done;
}

void OpenMessage::emit(Kind kind, std::string_view text) {
  const bool of_text = kind == Kind::reasoning || kind == Kind::content;
  const uint32_t call = of_text ? 0 : n_calls;
  if (text.empty() && (of_text || kind == Kind::arguments)) return;
  if (!deltas.empty() && deltas.back().kind == kind && (of_text || kind == Kind::arguments) && deltas.back().call == call) {
    deltas.back().text += text;
    return;
  }
  deltas.push_back({kind, call, std::string(text)});
}

// Without its first marker a call must be one of a tool that is there.
bool OpenMessage::may_be_call() const { return !bare || !tools || tools->empty() || tools->has(name); }

// The call is one: what was held is not content.
void OpenMessage::commit() {
  emit(Kind::call_begin, name);
  if (!id.empty()) emit(Kind::call_id, id);
  held.clear();
  committed = true;
}

void OpenMessage::end_call(bool complete) {
  emit(Kind::call_end, {});
  deltas.back().complete = complete;
  ++n_calls;
  committed = false;
  id.clear();
}

void OpenMessage::fail_call() {
  if (committed) end_call(false);
  malformed = malformed || !bare;
}

}  // namespace inlay
