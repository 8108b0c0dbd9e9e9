// Messages cut into tokens for the chat parser, and what it made of them as one text.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/chat_format/chat_parser.h"

namespace inlay::test {

// Whether vocabularies have such a marker as a control token, as a rule.
inline bool looks_like_a_token(std::string_view marker) {
  return marker.size() > 2 && ((marker.front() == '<' && marker.back() == '>') || (marker.front() == '[' && marker.back() == ']'));
}

inline std::shared_ptr<const ChatFormat> shared(ChatFormat format, bool with_tokens) {
  format.set_tokens([&](std::string_view marker) { return with_tokens && looks_like_a_token(marker); });
  return std::make_shared<const ChatFormat>(std::move(format));
}

inline std::shared_ptr<const ChatFormat> built_in(std::string_view name, bool with_tokens) {
  return shared(*ChatFormat::read(std::string(chat_format_json(name)), std::string(name)), with_tokens);
}

// One piece of text between control tokens: those markers of the format that are tokens, and `others`.
inline std::vector<ChatPiece> cut(std::string_view text, const ChatFormat& format, const std::vector<std::string_view>& others = {}) {
  std::vector<std::string_view> controls = others;
  for (const Marker* marker : format.markers())
    if (marker->is_token) controls.push_back(marker->text);
  std::vector<ChatPiece> out;
  while (!text.empty()) {
    size_t at = text.size();
    std::string_view found;
    for (const std::string_view control : controls) {
      const size_t place = text.find(control);
      if (place < at || (place == at && control.size() > found.size())) at = place, found = control;
    }
    if (at > 0) out.push_back({text.substr(0, at), false});
    if (!found.empty()) out.push_back({text.substr(at, found.size()), true});
    text.remove_prefix(at + found.size());
  }
  return out;
}

// The same, with the texts cut where `cuts` says: called with a text's length, gives that of its next piece.
template <class Cuts>
std::vector<ChatPiece> cut_further(const std::vector<ChatPiece>& pieces, const Cuts& cuts) {
  std::vector<ChatPiece> out;
  for (ChatPiece piece : pieces) {
    while (!piece.is_control && piece.text.size() > 1) {
      const size_t n = std::clamp<size_t>(cuts(piece.text.size()), 1, piece.text.size());
      out.push_back({piece.text.substr(0, n), false});
      piece.text.remove_prefix(n);
    }
    if (!piece.text.empty()) out.push_back(piece);
  }
  return out;
}

// "R reasoning", "C content", "B name", "I id", "A arguments", "E" or "E!" for a call that is incomplete; one part a kind.
inline void add_parts(const std::vector<ChatDelta>& deltas, std::vector<std::string>& parts) {
  constexpr const char* kLetters = "RCBIAE";
  for (const ChatDelta& delta : deltas) {
    const char letter = kLetters[static_cast<size_t>(delta.kind)];
    const bool is_text = letter == 'R' || letter == 'C' || letter == 'A';
    if (is_text && !parts.empty() && parts.back()[0] == letter) {
      parts.back() += delta.text;
    } else {
      std::string& part = parts.emplace_back(1, letter);
      if (letter == 'E')
        part += delta.complete ? "" : "!";
      else
        part += " " + delta.text;
    }
  }
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) (out += out.empty() ? "" : " | ") += part;
  return out;
}

struct Parsed {
  std::vector<std::string> parts;
  bool complete, malformed;
  std::string text() const { return joined(parts) + (complete ? "" : " (incomplete)") + (malformed ? " (malformed)" : ""); }
};

inline Parsed parse(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools, const std::vector<ChatPiece>& tail,
                    const std::vector<ChatPiece>& pieces) {
  ChatParser parser(std::move(format), std::move(tools));
  parser.begin_behind(tail);
  Parsed out{};
  add_parts(parser.take(), out.parts);
  for (const ChatPiece& piece : pieces) {
    parser.append(piece);
    add_parts(parser.take(), out.parts);
  }
  parser.finish();
  add_parts(parser.take(), out.parts);
  out.complete = parser.complete();
  out.malformed = parser.malformed();
  return out;
}

}  // namespace inlay::test
