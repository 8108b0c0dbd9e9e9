#include <algorithm>
#include <unordered_set>

#include "src/constraint/formats.h"
#include "src/constraint/pattern.h"
#include "src/constraint/schema.h"

namespace inlay::constraint {

namespace {

// Whole numbers from 0 on; larger ones than 32 bits say kUnbounded.
Result<uint32_t> count_of(const JsonValue& value) {
  const auto number = value.type() == JsonType::number ? Decimal::parse(value.number_text()) : std::optional<Decimal>();
  if (!number || number->negative || !number->is_integer()) return value.expected("a whole number that is not negative");
  if (number->whole.size() > 9) return kUnbounded;
  uint32_t out = 0;
  for (const char c : number->whole) out = out * 10 + static_cast<uint32_t>(c - '0');
  return out;
}

Result<Decimal> number_of(const JsonValue& value) {
  if (value.type() != JsonType::number) return value.expected("a number");
  const auto out = Decimal::parse(value.number_text());
  if (!out) return error(Code::unsupported, "%s: numbers of more than 1,000 digits are not supported", value.where().c_str());
  return *out;
}

constexpr uint64_t kStepsOfSchema = 256;  // one takes about 1 KB: so many of them end at the limit of steps
constexpr uint64_t kStepsOfRemark = 8192;
constexpr size_t kMaxUnknown = 100;  // keywords that are remarked: no schema is too large by its annotations

bool is_one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// What demands nothing, or is read elsewhere.
bool is_annotation(std::string_view key) {
  return key.starts_with("x-") ||
         is_one_of(key, {"title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "contentMediaType", "contentEncoding", "contentSchema", "$comment",
                         "$schema", "$vocabulary", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$defs", "definitions"});
}

}  // namespace

SchemaSet::SchemaSet(const JsonDocument& document, JsonLanguage& language, RegexStore& store, const SchemaOptions& options)
    : document_(document), language_(language), store_(store), options_(options) {
  const auto name = document.root().find("$schema");
  if (!name || !name->is_string()) return;
  for (const std::string_view draft : {"draft-03", "draft-04", "draft-05", "draft-06", "draft-07"})
    old_references_ |= name->as_string()->find(draft) != std::string_view::npos;
}

SchemaId SchemaSet::id_of(const JsonValue& value) {
  const auto [at, is_new] = by_place_.try_emplace(value.place(), static_cast<SchemaId>(entries_.size()));
  if (is_new) entries_.push_back({value, nullptr});
  return at->second;
}

SchemaId SchemaSet::add(Schema schema) {
  schema.is_made = true;
  store_.add_steps(kStepsOfSchema);
  entries_.push_back({{}, std::make_unique<const Schema>(std::move(schema))});
  return static_cast<SchemaId>(entries_.size() - 1);
}

SchemaId SchemaSet::anything() {
  if (!anything_) anything_ = add({});
  return *anything_;
}

SchemaId SchemaSet::nothing() {
  if (!nothing_) {
    Schema schema;
    schema.types = 0;
    nothing_ = add(std::move(schema));
  }
  return *nothing_;
}

SchemaId SchemaSet::not_of(SchemaId id) {
  if (const auto known = not_.find(id); known != not_.end()) return known->second;
  Schema schema;
  schema.none.push_back(id);
  return not_[id] = add(std::move(schema));
}

Result<const Schema*> SchemaSet::get(SchemaId id) {
  if (!entries_[id].schema) {
    store_.add_steps(kStepsOfSchema);
    INLAY_TRY(check_room(*entries_[id].value));
    INLAY_ASSIGN(Schema schema, read(*entries_[id].value));
    entries_[id].schema = std::make_unique<const Schema>(std::move(schema));
  }
  return entries_[id].schema.get();
}

Status SchemaSet::check_room(const JsonValue& value) const {
  return store_.is_full() ? error(Code::unsupported, "%s: the schema is too large", value.where().c_str()) : Status();
}

// To say where it is takes as long as its list is.
void SchemaSet::remark(const JsonValue& value, const std::string& what) {
  store_.add_steps(kStepsOfRemark);
  if (!store_.is_full()) remarks_.push_back(value.where() + ": " + what);
}

Status SchemaSet::unsupported(std::string_view key, const Where& place, const char* why) {
  const std::string where = text_of(place);
  if (!options_.lenient) return error(Code::unsupported, "%s: %.*s %s", where.c_str(), static_cast<int>(key.size()), key.data(), why);
  std::string remark = where + ": " + std::string(key) + " " + why + "; it was dropped";
  store_.add_steps(kStepsOfRemark);
  if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) remarks_.push_back(std::move(remark));
  return {};
}

Result<Schema> SchemaSet::read(const JsonValue& value) {
  Schema out;
  out.where = value;
  if (value.type() == JsonType::boolean) {
    if (!*value.as_bool()) out.types = 0;
    return out;
  }
  if (!value.is_object()) return value.expected("a schema: an object, true or false");
  if (old_references_)
    if (const auto reference = value.find("$ref"); reference && reference->is_string()) {
      INLAY_ASSIGN(const SchemaId id, target(*reference));
      out.all.push_back(id);
      return out;
    }
  for (const JsonMember member : value.members()) INLAY_TRY(read_keyword(member.key, member.value, value, out));
  return out;
}

Status SchemaSet::read_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out) {
  if (key == "type") return read_types(value, out);
  if (key == "enum") {
    if (!value.is_array()) return value.expected("an array");
    out.values.emplace();
    for (const JsonValue element : value.elements()) out.values->push_back(element);
    return {};
  }
  if (key == "const") {
    if (out.values) {
      Schema other;
      other.values = std::vector<JsonValue>{value};
      out.all.push_back(add(std::move(other)));
    } else {
      out.values = std::vector<JsonValue>{value};
    }
    return {};
  }
  bool known = false;
  INLAY_TRY(read_number_keyword(key, value, whole, out, known));
  if (!known) INLAY_TRY(read_string_keyword(key, value, out, known));
  if (!known) INLAY_TRY(read_array_keyword(key, value, whole, out, known));
  if (!known) INLAY_TRY(read_object_keyword(key, value, out, known));
  if (!known) INLAY_TRY(read_logic_keyword(key, value, whole, out, known));
  // All others are annotations: those that are not known may be misspelt.
  if (!known && !is_annotation(key) && n_unknown_ < kMaxUnknown) {
    ++n_unknown_;
    remark(value, "the keyword is not known; it demands nothing");
  }
  return {};
}

Status SchemaSet::read_types(const JsonValue& value, Schema& out) {
  const auto type = [&](const JsonValue& name) -> Result<TypeSet> {
    constexpr std::pair<std::string_view, TypeSet> kNames[] = {{"null", kNull},     {"boolean", kBoolean}, {"integer", kInteger},
                                                               {"number", kNumber}, {"string", kString},   {"array", kArray},
                                                               {"object", kObject}};
    if (name.is_string())
      for (const auto& [known, set] : kNames)
        if (*name.as_string() == known) return set;
    return name.expected("null, boolean, integer, number, string, array or object");
  };
  if (!value.is_array()) {
    INLAY_ASSIGN(out.types, type(value));
    return {};
  }
  out.types = 0;
  for (const JsonValue element : value.elements()) {
    INLAY_ASSIGN(const TypeSet one, type(element));
    out.types |= one;
  }
  return {};
}

Status SchemaSet::read_number_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out, bool& known) {
  const bool is_min = is_one_of(key, {"minimum", "exclusiveMinimum"}), is_max = is_one_of(key, {"maximum", "exclusiveMaximum"});
  known = is_min || is_max || key == "multipleOf";
  if (!known) return {};
  if (key == "multipleOf") return read_multiple(value, out);
  if (value.type() == JsonType::boolean && key.starts_with("exclusive")) return {};  // draft-04: read with the bound
  INLAY_ASSIGN(const Decimal number, number_of(value));
  Bound bound{number, key.starts_with("exclusive")};
  const auto old_flag = whole.find(is_min ? "exclusiveMinimum" : "exclusiveMaximum");
  if (old_flag && old_flag->type() == JsonType::boolean) bound.exclusive = *old_flag->as_bool();
  std::optional<Bound>& at = is_min ? out.min : out.max;
  const auto order = at ? (is_min ? bound.value <=> at->value : at->value <=> bound.value) : std::strong_ordering::greater;
  if (order > 0 || (order == 0 && bound.exclusive)) at = bound;
  return {};
}

Status SchemaSet::read_multiple(const JsonValue& value, Schema& out) {
  INLAY_ASSIGN(const Decimal factor, number_of(value));
  if (factor.negative || factor.is_zero()) return value.expected("a number above 0");
  if (factor.is_integer()) {
    if (factor.whole.size() > 9) return unsupported("multipleOf", value, "is supported up to 999,999,999");
    out.multiple_of = 0;
    for (const char c : factor.whole) out.multiple_of = out.multiple_of * 10 + static_cast<uint32_t>(c - '0');
    out.fraction_digits = 0;
    return {};
  }
  if (!factor.whole.empty() || factor.fraction.find_first_not_of('0') != factor.fraction.size() - 1 || factor.fraction.back() != '1')
    return unsupported("multipleOf", value, "is supported for whole numbers and for 0.1, 0.01 and so on");
  out.fraction_digits = static_cast<uint32_t>(factor.fraction.size());
  return {};
}

Status SchemaSet::read_string_keyword(std::string_view key, const JsonValue& value, Schema& out, bool& known) {
  known = is_one_of(key, {"minLength", "maxLength", "pattern", "format"});
  if (key == "minLength") {
    INLAY_ASSIGN(out.min_length, count_of(value));
  } else if (key == "maxLength") {
    INLAY_ASSIGN(out.max_length, count_of(value));
  } else if (key == "pattern") {
    INLAY_ASSIGN(const std::string_view pattern, value.as_string());
    auto language = compile_pattern(store_, pattern, language_.values());
    if (language.ok())
      out.languages.push_back(*language);
    else if (options_.lenient)
      remark(value, language.status().message + "; it was dropped");
    else
      return error(language.status().code, "%s: %s", value.where().c_str(), language.status().message.c_str());
  } else if (key == "format" && value.is_string()) {
    const auto pattern = format_pattern(*value.as_string());
    if (!pattern) {
      remark(value, "the format " + json_string(*value.as_string()) + " is not known; it demands nothing");
      return {};
    }
    INLAY_ASSIGN(const RegexId language, compile_whole_pattern(store_, *pattern, language_.values()));
    out.languages.push_back(language);
  }
  return {};
}

Status SchemaSet::read_array_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out, bool& known) {
  known = is_one_of(key, {"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains",
                          "maxContains", "unevaluatedItems"});
  if (key == "minItems") {
    INLAY_ASSIGN(out.min_items, count_of(value));
  } else if (key == "maxItems") {
    INLAY_ASSIGN(out.max_items, count_of(value));
  } else if (key == "prefixItems" || (key == "items" && value.is_array())) {
    if (!value.is_array()) return value.expected("an array");
    out.prefix.clear();
    for (const JsonValue element : value.elements()) out.prefix.push_back(id_of(element));
  } else if (key == "items") {
    out.items = id_of(value);
  } else if (key == "additionalItems") {
    if (const auto items = whole.find("items"); items && items->is_array()) out.items = id_of(value);
  } else if (key == "uniqueItems") {
    INLAY_ASSIGN(const bool unique, value.as_bool());
    if (unique) out.unique = value;
  } else if (key == "contains") {
    if (value.type() != JsonType::boolean && !value.is_object()) return value.expected("a schema: an object, true or false");
    out.contains = value;
  } else if (key == "minContains") {
    INLAY_ASSIGN(out.min_contains, count_of(value));
  } else if (key == "maxContains") {
    INLAY_ASSIGN(out.max_contains, count_of(value));
  } else if (key == "unevaluatedItems") {
    if (value.type() != JsonType::boolean && !value.is_object()) return value.expected("a schema: an object, true or false");
    out.unevaluated_items = value;
  }
  return {};
}

Status SchemaSet::read_object_keyword(std::string_view key, const JsonValue& value, Schema& out, bool& known) {
  known = is_one_of(key, {"properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties",
                          "maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"});
  if (key == "minProperties") {
    INLAY_ASSIGN(out.min_properties, count_of(value));
    out.min_properties_where = value;
  } else if (key == "maxProperties") {
    INLAY_ASSIGN(out.max_properties, count_of(value));
  } else if (key == "properties") {
    if (!value.is_object()) return value.expected("an object");
    out.n_all_before = out.all.size();
    out.n_groups_before = out.groups.size();
    for (const JsonMember member : value.members()) out.properties.push_back({std::string(member.key), id_of(member.value)});
  } else if (key == "patternProperties") {
    if (!value.is_object()) return value.expected("an object");
    for (const JsonMember member : value.members()) {
      const auto language = compile_pattern(store_, member.key, Spelling::json);
      if (!language.ok()) return error(language.status().code, "%s: %s", member.value.where().c_str(), language.status().message.c_str());
      out.patterns.push_back({*language, id_of(member.value)});
    }
  } else if (key == "additionalProperties") {
    out.additional = id_of(value);
  } else if (key == "propertyNames") {
    out.names = id_of(value);
  } else if (key == "required") {
    if (!value.is_array()) return value.expected("an array of strings");
    std::unordered_set<std::string_view> seen;
    for (const JsonValue element : value.elements()) {
      INLAY_ASSIGN(const std::string_view name, element.as_string());
      if (seen.insert(name).second) out.required.emplace_back(name);
    }
  } else if (is_one_of(key, {"dependencies", "dependentRequired", "dependentSchemas"})) {
    return read_dependencies(value, out);
  } else if (key == "unevaluatedProperties") {
    if (value.type() != JsonType::boolean && !value.is_object()) return value.expected("a schema: an object, true or false");
    out.unevaluated = value;
  }
  return {};
}

// A key is absent, or what depends on it holds.
Status SchemaSet::read_dependencies(const JsonValue& value, Schema& out) {
  if (!value.is_object()) return value.expected("an object");
  for (const JsonMember member : value.members()) {
    INLAY_TRY(check_room(value));
    Schema absent, present;
    absent.properties.push_back({std::string(member.key), nothing()});
    absent.where = present.where = member.value;
    present.types = kObject;
    present.required.emplace_back(member.key);
    if (member.value.is_array()) {
      for (const JsonValue element : member.value.elements()) {
        INLAY_ASSIGN(const std::string_view name, element.as_string());
        if (name != member.key) present.required.emplace_back(name);
      }
    } else if (member.value.is_string()) {
      present.required.emplace_back(*member.value.as_string());
    } else {
      present.all.push_back(id_of(member.value));
    }
    out.groups.push_back({{add(std::move(absent)), add(std::move(present))}, false, member.value});
  }
  return {};
}

Status SchemaSet::read_logic_keyword(std::string_view key, const JsonValue& value, const JsonValue& whole, Schema& out, bool& known) {
  known = is_one_of(key, {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef"});
  if (is_one_of(key, {"allOf", "anyOf", "oneOf"})) {
    if (!value.is_array()) return value.expected("an array of schemas");
    std::vector<SchemaId> branches;
    for (const JsonValue element : value.elements()) branches.push_back(id_of(element));
    if (key == "allOf")
      out.all.insert(out.all.end(), branches.begin(), branches.end());
    else
      out.groups.push_back({std::move(branches), key == "oneOf", value});
  } else if (key == "not") {
    out.none.push_back(id_of(value));
  } else if (key == "if") {
    // The condition holds and so does "then", or it does not hold and "else" does.
    Schema yes, no;
    yes.where = no.where = value;
    yes.all.push_back(id_of(value));
    no.none.push_back(id_of(value));
    const auto then = whole.find("then"), otherwise = whole.find("else");
    if (!then && !otherwise) return out.asides.push_back(id_of(value)), Status{};
    if (then) yes.all.push_back(id_of(*then));
    if (otherwise) no.all.push_back(id_of(*otherwise));
    out.groups.push_back({{add(std::move(yes)), add(std::move(no))}, false, value});
  } else if (key == "$ref") {
    INLAY_ASSIGN(const SchemaId id, target(value));
    out.all.push_back(id);
  } else if (known && key.starts_with('$')) {
    return unsupported(key, value, "is not supported");
  }
  return {};
}

}  // namespace inlay::constraint
