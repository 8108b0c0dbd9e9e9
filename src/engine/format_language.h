// The parts of a chat format as parts of a grammar: markers, texts without markers, texts up to one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/constraint/code_points.h"
#include "src/constraint/grammar.h"
#include "src/engine/chat_messages.h"

namespace inlay {

using Symbols = std::vector<constraint::Symbol>;

class FormatLanguage {
 public:
  FormatLanguage(const ModelChatFormat& format, constraint::Grammar& grammar);

  constraint::RegexId characters() const { return characters_; }  // any text
  constraint::RegexId lines() const { return lines_; }            // up to two line feeds, as templates write them around markers
  constraint::RegexId line() const { return line_; }              // at most one
  constraint::RegexId blanks() const { return blanks_; }          // any

  constraint::Symbol mark(const Marker& marker);
  constraint::Symbol literal(std::string_view text) { return constraint::terminal(store_.literal(text)); }
  // `text` without the letters of these.
  constraint::RegexId without(constraint::RegexId text, const std::vector<std::string>& letters);
  // A text of `text` and then the marker, whose letters are nowhere before its end.
  Symbols until(constraint::RegexId text, const Marker& marker);
  // The same as a rule, with at most so many tokens of text. Once for a grammar.
  Symbols until_limited(constraint::RegexId text, const Marker& marker, uint32_t max_tokens);
  // Not beginning with `begin`, blanks aside.
  constraint::RegexId not_beginning(constraint::RegexId text, constraint::RegexId begin);

  constraint::Symbol any_of(const std::vector<Symbols>& alternatives);
  constraint::Symbol optional(const Symbols& part) { return any_of({{}, part}); }
  // `part` any number of times.
  constraint::Symbol repeated(const Symbols& part);

 private:
  const ModelChatFormat& format_;
  constraint::Grammar& grammar_;
  constraint::RegexStore& store_;
  constraint::RegexId characters_, lines_, line_, blanks_;
};

Symbols joined(std::initializer_list<Symbols> parts);

}  // namespace inlay
