// The parts of JSON's grammar that schemas are compiled to, as a constraint writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/constraint/code_points.h"
#include "src/constraint/grammar.h"
#include "src/formats/json.h"

namespace inlay::constraint {

enum class Whitespace : uint8_t {
  compact,   // none
  flexible,  // between values and signs none, one space, or a line end and up to 19 spaces or tabs
};

struct JsonStyle {
  Whitespace whitespace = Whitespace::flexible;
  bool escapes = false;  // strings that are values may have any escape; keys have one spelling in any case
  bool python = false;   // True, False and None in place of true, false and null
  std::vector<std::string> excluded = {};  // no string but a constant has any of these letters
};

class JsonLanguage {
 public:
  JsonLanguage(Grammar& grammar, const JsonStyle& style);

  Spelling values() const { return style_.escapes ? Spelling::json_escapes : Spelling::json; }
  RegexId character() const { return character_; }  // of values
  RegexId any_characters() const { return any_characters_; }
  RegexId any_key_characters() const { return any_key_characters_; }
  RegexId quoted(RegexId characters);
  RegexId key(RegexId characters);  // with its quotes and the colon
  RegexId key_with_quote(RegexId characters_and_quote);

  ListRule array() const;     // with brackets and commas
  ObjectRule object() const;  // with braces and commas

  // Rules made when they are first needed
  Symbol any_value();
  Symbol any_array();
  Symbol any_object();

  RegexId null_word() { return store_.literal(style_.python ? "None" : "null"); }
  RegexId truth_word(bool value);

  // A value as it is written, with all places of its whitespace.
  RegexId constant(const JsonValue& value);

 private:
  RegexId allowed(RegexId text);

  Grammar& grammar_;
  RegexStore& store_;
  const JsonStyle style_;
  RegexId space_, character_, any_characters_, any_key_characters_, any_string_, any_number_;
  uint32_t any_value_ = UINT32_MAX, any_array_ = 0, any_object_ = 0;
};

// Text as the characters of a JSON string, spelled in the one way of keys.
std::string escaped(std::string_view text);

}  // namespace inlay::constraint
