// A JSON schema, read: what its keywords demand. Schemas that stand together, as by allOf, are lists of these.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/constraint/decimal.h"
#include "src/constraint/json_language.h"
#include "src/constraint/json_schema.h"
#include "src/formats/json.h"

namespace inlay::constraint {

using SchemaId = uint32_t;
using TypeSet = uint8_t;
inline constexpr TypeSet kNull = 1, kBoolean = 2, kInteger = 4, kFraction = 8, kString = 16, kArray = 32, kObject = 64;
inline constexpr TypeSet kNumber = kInteger | kFraction, kAllTypes = 127;

// A value of the text that a message names. Which it is is said where the message is made: for all schemas of a long list that would take long.
using Where = std::optional<JsonValue>;
inline std::string text_of(const Where& place) { return place ? place->where() : "schema"; }

struct PropertySchema {
  std::string name;
  SchemaId schema;
};
struct PatternSchema {
  RegexId keys;  // characters of keys, as they are spelled
  SchemaId schema;
};

// Of several of which one must hold, or exactly one.
struct SchemaGroup {
  std::vector<SchemaId> branches;
  bool exactly_one = false;
  Where where;
};

struct Schema {
  TypeSet types = kAllTypes;
  std::optional<std::vector<JsonValue>> values;
  std::vector<JsonValue> excluded;
  // Numbers
  std::optional<Bound> min, max;
  uint32_t multiple_of = 1;
  std::vector<uint32_t> not_multiple_of;  // of integers
  std::optional<uint32_t> fraction_digits;
  // Strings
  uint32_t min_length = 0, max_length = kUnbounded;
  std::vector<RegexId> languages;  // of their characters, as values are spelled
  // Arrays
  std::vector<SchemaId> prefix;
  std::optional<SchemaId> items;
  uint32_t min_items = 0, max_items = kUnbounded;
  std::optional<JsonValue> unique;  // "uniqueItems": true
  std::optional<JsonValue> contains;
  uint32_t min_contains = 1, max_contains = kUnbounded;
  std::optional<JsonValue> unevaluated_items;
  // Objects
  std::vector<PropertySchema> properties;
  std::vector<PatternSchema> patterns;
  std::optional<SchemaId> additional, names;
  std::optional<JsonValue> unevaluated;
  std::vector<std::string> required;
  uint32_t min_properties = 0, max_properties = kUnbounded;
  Where min_properties_where;
  // Others that hold as well
  std::vector<SchemaId> all;
  std::vector<SchemaGroup> groups;
  std::vector<SchemaId> none;  // that must not hold
  std::vector<SchemaId> asides;  // that may hold or not: "if" alone, which says what is evaluated

  // Which of those stand before "properties" in the text: their members are written first.
  size_t n_all_before = 0, n_groups_before = 0;
  bool is_made = false;  // not in the text: its properties give no order
  Where where;
};

// Reads the schemas of one text when they are asked for.
class SchemaSet {
 public:
  SchemaSet(const JsonDocument& document, JsonLanguage& language, RegexStore& store, const SchemaOptions& options);

  SchemaId id_of(const JsonValue& value);
  SchemaId add(Schema schema);  // one that is not in the text
  Result<const Schema*> get(SchemaId id);
  SchemaId anything();
  SchemaId nothing();
  SchemaId not_of(SchemaId id);
  std::vector<std::string>& remarks() { return remarks_; }
  bool is_lenient() const { return options_.lenient; }

  bool matches(RegexId language, std::string_view escaped_text);
  // Whether the value is one of the schema; base: without all, groups and none.
  Result<bool> holds(const JsonValue& value, SchemaId id, uint32_t depth = 0);
  // is_of_values: the value is known to be one of the schema's enum.
  Result<bool> base_holds(const JsonValue& value, const Schema& schema, uint32_t depth = 0, bool is_of_values = false);
  // All values of a schema, where they are few; more of them than it has, perhaps.
  Result<std::optional<std::vector<JsonValue>>> few_values(SchemaId id, uint32_t depth = 0);
  // A schema that says what unevaluatedProperties and unevaluatedItems do, if they demand anything.
  Result<std::optional<SchemaId>> unevaluated_of(SchemaId id);
  // An error, or a remark where that is wanted.
  Status unsupported(std::string_view key, const Where& place, const char* why);

 private:
  struct Entry {
    std::optional<JsonValue> value;
    std::unique_ptr<const Schema> schema;
  };
  Status check_room(const JsonValue& value) const;
  void remark(const JsonValue& value, const std::string& what);
  Result<Schema> read(const JsonValue& value);
  Status read_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out);
  Status read_number_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out, bool& known);
  Status read_string_keyword(std::string_view key, const JsonValue& value, Schema& out, bool& known);
  Status read_array_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out, bool& known);
  Status read_object_keyword(std::string_view key, const JsonValue& value, Schema& out, bool& known);
  Status read_logic_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out, bool& known);
  Status read_types(const JsonValue& value, Schema& out);
  Status read_multiple(const JsonValue& value, Schema& out);
  Status read_dependencies(const JsonValue& value, Schema& out);
  Result<SchemaId> target(const JsonValue& reference);
  std::optional<JsonValue> find_anchor(std::string_view name) const;
  struct Evaluated {
    std::vector<std::string> names;
    std::vector<RegexId> patterns;
    bool all = false;
    size_t n_items = 0;  // the first ones
    bool all_items = false, contained_items = false;
  };
  Status collect_evaluated(SchemaId root, Evaluated& always, Evaluated& sometimes);
  Status add_unevaluated_members(const JsonValue& demand, const Evaluated& always, const Evaluated& sometimes, Schema& made);
  Status add_unevaluated_items(const JsonValue& demand, const Evaluated& always, const Evaluated& sometimes, Schema& made);

  const JsonDocument& document_;
  JsonLanguage& language_;
  RegexStore& store_;
  const SchemaOptions& options_;
  bool old_references_ = false;  // what stands beside $ref does not count, as up to draft-07
  std::deque<Entry> entries_;
  std::unordered_map<uint32_t, SchemaId> by_place_;
  std::optional<SchemaId> anything_, nothing_;
  std::map<SchemaId, std::optional<SchemaId>> unevaluated_;
  std::map<SchemaId, SchemaId> not_;
  std::optional<JsonDocument> words_;  // null, false and true
  std::vector<std::string> remarks_;
  size_t n_unknown_ = 0;  // keywords that were remarked
};

bool equal_values(const JsonValue& a, const JsonValue& b);
TypeSet type_of(const JsonValue& value);

}  // namespace inlay::constraint
