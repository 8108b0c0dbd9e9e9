// The values of a template: Python's, as far as chat templates meet them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/status.h"

namespace inlay::tmpl {

class Value;
class Object;
struct List;
class Map;

enum class Kind : uint8_t { none, undefined, boolean, integer, real, string, list, map, object };

// What a name, an attribute or an item that does not exist evaluates to. Using it in most ways fails with `message`.
struct Undefined {
  std::shared_ptr<const std::string> message;
};

// Bytes [begin, end) of a text.
struct Span {
  size_t begin, end;
};
using Spans = std::vector<Span>;  // in order and apart
void add_span(Spans& to, Span span);  // behind those that are there, or reaching into the last
// Those of the bytes [part.begin, part.end), which lie at `at` of the other text.
void add_spans(Spans& to, size_t at, const Spans& from, Span part);

struct Text {
  std::string bytes;    // well-formed UTF-8
  bool markup = false;  // already escaped for HTML: what is joined to it is escaped too
  Spans foreign = {};   // what comes from the conversation, where a run tells it from the template's own text
};

// One step of a run pays for this many bytes read or written.
inline constexpr uint64_t kBytesPerStep = 32;

// Containers never change once built, so that they can be shared and hold no cycles.
class Value {
 public:
  Value() = default;                            // none
  Value(bool value) : data_(value) {}           // NOLINT: implicit by design
  Value(int64_t value) : data_(value) {}        // NOLINT
  Value(double value) : data_(value) {}         // NOLINT
  Value(Object* object) : data_(object) {}      // NOLINT: owned by the run
  Value(std::string text, bool markup = false)  // NOLINT
      : data_(std::make_shared<const Text>(Text{std::move(text), markup})) {}
  Value(Text text) : data_(std::make_shared<const Text>(std::move(text))) {}  // NOLINT
  Value(const char*) = delete;  // would become a bool
  Value(List list);             // NOLINT
  Value(Map map);               // NOLINT
  static Value undefined(std::string message) {
    Value value;
    value.data_ = Undefined{std::make_shared<const std::string>(std::move(message))};
    return value;
  }

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind wanted) const { return kind() == wanted; }
  bool is_none() const { return is(Kind::none); }
  bool is_undefined() const { return is(Kind::undefined); }
  bool is_string() const { return is(Kind::string); }
  // A bool counts as a number, as in Python.
  bool is_number() const { return is(Kind::boolean) || is(Kind::integer) || is(Kind::real); }
  bool is_integral() const { return is(Kind::boolean) || is(Kind::integer); }

  // Each needs the kind that it names.
  bool boolean() const { return *std::get_if<bool>(&data_); }
  const std::string& text() const { return (*std::get_if<std::shared_ptr<const Text>>(&data_))->bytes; }
  bool is_markup() const { return is_string() && (*std::get_if<std::shared_ptr<const Text>>(&data_))->markup; }
  const Spans& foreign() const { return (*std::get_if<std::shared_ptr<const Text>>(&data_))->foreign; }
  bool is_foreign() const;  // text from the conversation is in it, or may be
  const List& list() const { return **std::get_if<std::shared_ptr<const List>>(&data_); }
  const Map& map() const { return **std::get_if<std::shared_ptr<const Map>>(&data_); }
  Object& object() const { return **std::get_if<Object*>(&data_); }
  const std::string& undefined_message() const { return *std::get_if<Undefined>(&data_)->message; }

  int64_t integer() const {
    return is(Kind::boolean) ? boolean() : *std::get_if<int64_t>(&data_);
  }                      // needs is_integral()
  double real() const {  // needs is_number()
    return is(Kind::real) ? *std::get_if<double>(&data_) : static_cast<double>(integer());
  }

  bool truth() const;
  uint32_t depth() const;         // 0 of what holds no other values
  uint64_t weight() const;        // cost of a walk through everything inside, in steps; what is held twice counts twice
  const char* type_name() const;  // Python's: "str", "NoneType"
  const void* identity() const;   // the same for copies of one container, object or undefined value

 private:
  // In the order of Kind.
  std::variant<std::monostate, Undefined, bool, int64_t, double, std::shared_ptr<const Text>,
               std::shared_ptr<const List>, std::shared_ptr<const Map>, Object*>
      data_;
};

// How a sequence shows itself; all are read alike.
enum class ListKind : uint8_t { list, tuple, range, keys, values, items };

struct List {
  std::vector<Value> items;
  ListKind kind = ListKind::list;
  struct {
    int64_t begin = 0, end = 0, step = 1;
  } range;  // of a range: how it was made
  bool is_group = false;   // of a tuple: its items have the names `grouper` and `list`, too
  uint32_t depth = 1;      // these are set by Value(List)
  uint64_t weight = 1;
  bool foreign = false;    // of any item
  bool hashable = false;   // it may be a key
};

// Keys in the order of their insertion. 1, 1.0 and true are one key, as in Python.
class Map {
 public:
  using Entry = std::pair<Value, Value>;
  void set(Value key, Value value);  // `key` is hashable
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  const Value* find(const char* key) const { return find(std::string_view(key)); }
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  uint32_t depth() const { return depth_; }
  uint64_t weight() const;
  bool foreign() const { return foreign_; }
  size_t n_other_keys() const { return n_other_keys_; }  // keys that are no strings; these are searched one by one

 private:
  size_t position(const Value& key) const;  // size() if absent
  std::vector<Entry> entries_;
  // Positions of string keys; the text belongs to the entries. In order, as many keys of one hash can be thought up.
  std::map<std::string_view, size_t> strings_;
  size_t n_other_keys_ = 0;
  uint32_t depth_ = 1;
  uint64_t weight_ = 1, other_weight_ = 0;  // of all entries, and of the keys that are searched one by one
  bool foreign_ = false;
};

bool hashable(const Value& value);

// Python's ==. It costs the smaller weight at most, and the depth of values is bounded.
bool equal(const Value& a, const Value& b);

enum class Order : int8_t { less = -1, same = 0, greater = 1, unordered = 2 };
// Python's < and >; an error names both types if they cannot be compared. `sign` is the operator for that message. It costs the smaller
// weight at most, once for each level of lists inside each other.
Result<Order> compare(const Value& a, const Value& b, const char* sign);

// The error that the use of an undefined value is.
Status undefined_error(const Value& value);
// A template or its input does what the language forbids: a wrong type, a missing argument.
INLAY_PRINTF(1, 2)
Status type_error(const char* format, ...);

}  // namespace inlay::tmpl
