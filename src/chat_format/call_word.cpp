// Names and ids.
#include "src/chat_format/call_readers.h"

namespace inlay {
namespace {

bool may_be_in_name(char c) {
  return static_cast<unsigned char>(c) > 0x20 && c != 0x7F && std::string_view("\"'`<>{}[]()=,;").find(c) == std::string_view::npos;
}

}  // namespace

void WordReader::begin(bool may_have_spaces) {
  word_.clear();
  may_have_spaces_ = may_have_spaces;
  ended_ = false;
}

Reading WordReader::read(std::span<const Marker* const> ends) {
  for (;;) {
    char c = 0;
    const Next next = message_.peek(c);
    if (next == Next::wait) return Reading::wait;
    bool maybe = false;
    for (const Marker* marker : ends) {
      if (!marker || marker->empty()) continue;
      const Match match = message_.in.front(*marker);
      if (match == Match::yes) return end_ = marker, Reading::done;
      maybe = maybe || match == Match::maybe;
    }
    if (maybe) return Reading::wait;
    const bool blank = next == Next::character && is_json_blank(c);
    const bool fits = next == Next::character && !ended_ && (may_be_in_name(c) || (may_have_spaces_ && c == ' ' && !word_.empty()));
    if ((!blank && !fits) || message_.holds_most() || (fits && word_.size() >= OpenMessage::kMaxNameBytes)) return Reading::failed;
    if (fits)
      word_ += c;
    else
      ended_ = !word_.empty();
    message_.held += c;
    message_.in.skip(1);
  }
}

}  // namespace inlay
