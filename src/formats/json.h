// JSON as RFC 8259 defines it and nothing more: no comments, no trailing commas, no lone surrogates, no key twice in
// one object. Depth and size are bounded; time and memory are linear in the text, but for n log n in the keys of one
// object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace inlay {

enum class JsonType : uint8_t { null, boolean, number, string, array, object };

struct JsonLimits {
  uint32_t max_bytes = 1u << 30;
  uint32_t max_depth = 64;  // of nested arrays and objects
};

namespace detail {
struct JsonData;
}

class JsonElements;
class JsonMembers;

// A value of a document: a handle, valid as long as the document lives. Where a getter meets another type, the error
// names the document and the value's place in it, as in "tokenizer.json: model.vocab is an array, expected an object".
class JsonValue {
 public:
  JsonType type() const;
  bool is_null() const { return type() == JsonType::null; }
  bool is_string() const { return type() == JsonType::string; }
  bool is_array() const { return type() == JsonType::array; }
  bool is_object() const { return type() == JsonType::object; }

  Result<bool> as_bool() const;
  // Numbers written without fraction and exponent, range-checked. -0 is 0.
  Result<int64_t> as_i64() const;
  Result<uint64_t> as_u64() const;
  Result<double> as_f64() const;  // refused beyond the range of double
  Result<std::string_view> as_string() const;
  Result<JsonElements> as_array() const;  // to be kept in a variable: a loop over *as_array() itself would dangle
  Result<JsonMembers> as_object() const;
  JsonElements elements() const;         // none if the value is no array
  JsonMembers members() const;           // none if the value is no object
  std::string_view number_text() const;  // as it was written; empty for other types

  uint32_t place() const { return node_; }  // no other value of the document has the same
  size_t size() const;  // elements or members; 0 for other types
  // Of an object with that member. Absent too where the value is no object. Time grows with the number of members.
  std::optional<JsonValue> find(std::string_view key) const;
  Result<JsonValue> get(std::string_view key) const;  // an error where find() gives nothing
  // Members that may be absent or null: the fallback then.
  Result<bool> bool_or(std::string_view key, bool fallback) const;
  Result<int64_t> i64_or(std::string_view key, int64_t fallback) const;
  Result<double> f64_or(std::string_view key, double fallback) const;
  Result<std::string_view> string_or(std::string_view key, std::string_view fallback) const;

  std::string path() const;                 // as in "model.merges[3]"; "the document" for the outermost value
  std::string where() const;                // "NAME: PATH", for messages
  Status expected(const char* what) const;  // an error: "NAME: PATH is a number, expected WHAT"

 private:
  friend class JsonDocument;
  friend class JsonElements;
  friend class JsonMembers;
  JsonValue(const detail::JsonData* data, uint32_t node) : data_(data), node_(node) {}

  const detail::JsonData* data_;
  uint32_t node_;
};

struct JsonMember {
  std::string_view key;
  JsonValue value;
};

std::string json_string(std::string_view text);  // a literal
std::string json_text(const JsonValue& value);   // the value as it could be read again, without blanks

// for (JsonValue element : elements)
class JsonElements {
 public:
  class Iterator {
   public:
    JsonValue operator*() const { return {data_, node_}; }
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return node_ != other.node_; }

   private:
    friend class JsonElements;
    Iterator(const detail::JsonData* data, uint32_t node) : data_(data), node_(node) {}
    const detail::JsonData* data_;
    uint32_t node_;
  };
  Iterator begin() const { return {data_, first_}; }
  Iterator end() const { return {data_, end_}; }
  size_t size() const { return size_; }

 private:
  friend class JsonValue;
  JsonElements(const detail::JsonData* data, uint32_t first, uint32_t end, uint32_t size)
      : data_(data), first_(first), end_(end), size_(size) {}
  const detail::JsonData* data_;
  uint32_t first_, end_, size_;
};

// for (const JsonMember& member : members), in the order of the text
class JsonMembers {
 public:
  class Iterator {
   public:
    JsonMember operator*() const;
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return node_ != other.node_; }

   private:
    friend class JsonMembers;
    Iterator(const detail::JsonData* data, uint32_t node) : data_(data), node_(node) {}
    const detail::JsonData* data_;
    uint32_t node_;
  };
  Iterator begin() const { return {data_, first_}; }
  Iterator end() const { return {data_, end_}; }
  size_t size() const { return size_; }

 private:
  friend class JsonValue;
  JsonMembers(const detail::JsonData* data, uint32_t first, uint32_t end, uint32_t size)
      : data_(data), first_(first), end_(end), size_(size) {}
  const detail::JsonData* data_;
  uint32_t first_, end_, size_;
};

// Owns the text, in which strings are unescaped in place.
class JsonDocument {
 public:
  // `name` says in messages whose JSON it is: the file. The text must be UTF-8; a byte order mark is an error.
  static Result<JsonDocument> parse(std::string text, std::string name, const JsonLimits& limits = {});

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonValue root() const { return {data_.get(), 0}; }

 private:
  explicit JsonDocument(std::unique_ptr<const detail::JsonData> data);
  std::unique_ptr<const detail::JsonData> data_;
};

}  // namespace inlay
