// The readers of what stands between a call's markers. begin() is called where the first byte of it is in front, then read() until it no longer waits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/chat_format/json_scanner.h"
#include "src/chat_format/open_message.h"
#include "src/chat_format/python_value.h"

namespace inlay {

// An object with name and arguments, or an array of them. The call of an object outside of an array stays open.
class JsonCallReader {
 public:
  explicit JsonCallReader(OpenMessage& message) : message_(message) {}
  void begin();
  Reading read();

 private:
  enum class Place : uint8_t { object, first_key, key, in_key, colon, value, in_value, behind_value, behind_object, end };
  enum class Member : uint8_t { other, name, id, arguments, held_arguments };

  bool put(char c);
  Taken take(char c);
  void begin_object();
  Taken take_key(char c);
  bool begin_value(char c);
  Taken take_value(char c);
  bool end_value();
  bool commit(std::string_view arguments);
  Taken end_object();

  OpenMessage& message_;
  Place place_ = Place::object;
  Member member_ = Member::other;  // whose value is read
  bool in_list_ = false;
  bool has_arguments_ = false;     // one of their keys was there
  JsonScanner scanner_;            // of the key or value
  std::string key_, value_;
  std::string arguments_;          // that wait for the name, or for the object's end
};

// A call as Python, or a list of them: [name(key="value", other=[1, True]), now()]. A call outside of a list stays open.
class PythonCallReader {
 public:
  explicit PythonCallReader(OpenMessage& message) : message_(message) {}
  void begin();
  Reading read();

 private:
  enum class Place : uint8_t { name, key, value, behind_value, behind_call, end };

  Taken take(char c);
  void begin_name();
  bool begin_call();
  void begin_key();
  bool begin_value();
  Taken end_call();

  OpenMessage& message_;
  Place place_ = Place::name;
  bool in_list_ = false;
  bool word_ended_ = false;        // a blank came behind the name or key
  std::string key_;
  std::vector<std::string> keys_;  // that were written
  PythonValue value_;
};

// A name, an id or a parameter's name, up to a marker.
class WordReader {
 public:
  explicit WordReader(OpenMessage& message) : message_(message) {}
  void begin(bool may_have_spaces);
  Reading read(std::span<const Marker* const> ends);  // done: one of them is in front. Null and empty ones are none.

  const std::string& word() const { return word_; }
  const Marker& end() const { return *end_; }

 private:
  OpenMessage& message_;
  bool may_have_spaces_ = false;
  bool ended_ = false;  // a blank came behind the word
  std::string word_;
  const Marker* end_ = nullptr;
};

// Arguments that are one JSON value. They are given as they are written, but for a string: its text may be the arguments.
class ArgumentsReader {
 public:
  explicit ArgumentsReader(OpenMessage& message) : message_(message) {}
  void begin() { begun_ = false; }
  Reading read();
  bool may_end() const { return begun_ && !is_literal_ && scanner_.may_end(); }  // the text is over: a number is whole then

 private:
  Reading begin_value();
  Reading end_value(bool whole);

  OpenMessage& message_;
  bool begun_ = false;       // no longer in the blanks before it
  bool is_literal_ = false;  // a string or null
  JsonScanner scanner_;
  std::string literal_;
};

// Arguments between tags, up to the marker that ends the call. They become one JSON object by the types of the tool's parameters.
class TaggedReader {
 public:
  explicit TaggedReader(OpenMessage& message) : message_(message), name_(message) {}
  bool begin();  // false if the call is none
  Reading read();

 private:
  enum class Place : uint8_t { between, name, value_begin, value, end };

  Reading read_place();
  Reading read_between();
  Reading read_name();
  Reading begin_value();
  Reading read_value();
  void add_value(std::string_view text);

  OpenMessage& message_;
  Place place_ = Place::between;
  WordReader name_;
  std::vector<std::string> names_;           // of the parameters so far; the last one is read
  uint8_t types_ = kAnyType;                 // of the value
  bool is_text_ = false, at_start_ = false;
  std::string value_;                        // what of it is not given
};

// The arguments that a JSON value stands for: none for null; the text of a string if that is an object, as some templates write them.
std::string arguments_of_literal(const std::string& literal);
std::string text_of_literal(const std::string& literal);  // of a string; another value is its own text

}  // namespace inlay
