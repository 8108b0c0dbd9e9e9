// Arguments as JSON.
#include "src/chat_format/call_readers.h"
#include "src/formats/json.h"

namespace inlay {
namespace {

bool is_object_text(std::string_view text) {
  text = without_blanks(text);
  return !text.empty() && text[0] == '{' && is_json(text);
}

}  // namespace

std::string text_of_literal(const std::string& literal) {
  const auto document = JsonDocument::parse(literal, "literal");
  return document.ok() && document->root().is_string() ? std::string(*document->root().as_string()) : literal;
}

std::string arguments_of_literal(const std::string& literal) {
  if (literal == "null") return "{}";
  if (literal[0] != '"') return literal;
  const std::string text = text_of_literal(literal);
  return is_object_text(text) ? std::string(without_blanks(text)) : literal;
}

Reading ArgumentsReader::begin_value() {
  if (const Reading blanks = message_.hold_blanks(); blanks != Reading::done) return blanks;
  char c = 0;
  JsonScanner first;
  if (message_.peek(c) != Next::character || first.feed(c) == JsonScanner::Step::bad) return Reading::failed;
  scanner_ = {};
  literal_.clear();
  begun_ = true;
  is_literal_ = c == '"' || c == 'n';
  if (!is_literal_) message_.commit();
  return Reading::done;
}

Reading ArgumentsReader::read() {
  if (!begun_) {
    if (const Reading begins = begin_value(); begins != Reading::done) return begins;
  }
  for (;;) {
    char c = 0;
    const Next next = message_.peek(c);
    if (next == Next::wait) return Reading::wait;
    MarkedText& in = message_.in;
    const bool is_mark = next == Next::marker, in_string = scanner_.in_string();
    if ((is_mark && !in_string) || message_.holds_most()) return end_value(scanner_.may_end());
    std::string text(1, c);
    if (is_mark || (in_string && static_cast<unsigned char>(c) < 0x20)) text = escaped(is_mark ? std::string_view(in.mark()->text) : text);
    message_.malformed = message_.malformed || (!is_mark && text.size() > 1);
    JsonScanner::Step step{};
    for (const char letter : text) step = scanner_.feed(letter);
    if (step == JsonScanner::Step::bad) return Reading::failed;
    if (step == JsonScanner::Step::done_before) return end_value(true);
    if (is_literal_)
      message_.held += text, literal_ += text;
    else
      message_.add_arguments(text);
    is_mark ? in.skip_mark() : in.skip(1);
    if (step == JsonScanner::Step::done) return end_value(true);
  }
}

Reading ArgumentsReader::end_value(bool whole) {
  if (!whole) return Reading::failed;
  if (is_literal_) {
    message_.commit();
    message_.add_arguments(arguments_of_literal(literal_));
  }
  return Reading::done;
}

}  // namespace inlay
