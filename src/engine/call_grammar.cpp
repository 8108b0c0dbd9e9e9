#include "src/engine/call_grammar.h"

#include <algorithm>
#include <iterator>

#include "src/base/ascii.h"
#include "src/chat_format/tool_types.h"
#include "src/constraint/json_schema.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

using constraint::JsonStyle;
using constraint::kUnbounded;
using constraint::ListRule;
using constraint::Member;
using constraint::ObjectRule;
using constraint::RegexId;
using constraint::Symbol;
using constraint::terminal;
using Written = ChatFormat::Written;

constexpr std::string_view kWordCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";
constexpr uint32_t kMaxIdCharacters = 64;

bool is_python_word(std::string_view text, bool is_key) {
  const auto fits = [&](char c) { return is_ascii_alnum(c) || c == '_' || (!is_key && (c == '.' || c == '-')); };
  return !text.empty() && std::ranges::all_of(text, fits);
}

// As the parser reads words: calls.cpp.
bool is_plain_word(std::string_view text) {
  constexpr std::string_view kOthers = "\"'`<>{}[]()=,;";
  const auto fits = [&](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F && kOthers.find(c) == kOthers.npos; };
  return !text.empty() && std::ranges::all_of(text, fits);
}

// Values between tags end with the marker's letters, so no string has them where they are no token.
JsonStyle style_of(JsonStyle style, const ChatFormat& format) {
  const ChatFormat::Calls& calls = format.calls;
  style.python = calls.written == Written::python;
  if (style.python) style.escapes = false;  // half of a pair would be a character of its own
  if (calls.written == Written::tagged && !calls.value_end.is_token) style.excluded = {calls.value_end.text};
  return style;
}

bool has_only(const JsonValue& object, std::initializer_list<std::string_view> keys, std::string_view& other) {
  for (const JsonMember& member : object.members()) {
    if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
    other = member.key;
    return false;
  }
  return true;
}

}  // namespace

CallGrammar::CallGrammar(const ModelChatFormat& format, const MessageDemand& demand, FormatLanguage& parts, constraint::Grammar& grammar,
                         const JsonStyle& style, bool lenient)
    : written_(*format.vocabulary.format()), calls_(written_.calls), demand_(demand), parts_(parts), grammar_(grammar),
      store_(grammar.regexes), style_(style_of(style, written_)), lenient_(lenient), language_(grammar, style_) {}

Status CallGrammar::check() const {
  if (!written_.has_calls()) return error(Code::unsupported, "the chat format '%s' has no calls of tools", written_.name.c_str());
  for (const DemandedTool& tool : demand_.tools) {
    const bool fits = calls_.written == Written::json || (calls_.written == Written::python ? is_python_word(tool.name, false) : is_plain_word(tool.name));
    if (!fits) return error(Code::unsupported, "the tool's name %s cannot be written in the chat format '%s'", quote(tool.name).c_str(), written_.name.c_str());
  }
  return {};
}

RegexId CallGrammar::one_of(std::string_view characters, uint32_t min, uint32_t max) {
  constraint::ByteSet set;
  for (const char c : characters) set.add(static_cast<unsigned char>(c));
  return store_.repeat(store_.bytes(set), min, max);
}

Result<Symbol> CallGrammar::schema(const JsonDocument& document, const JsonValue& value, bool is_object, bool is_needed) {
  INLAY_ASSIGN(constraint::AddedSchema added, constraint::add_json_schema(grammar_, language_, document, value, is_object,
                                                                          {.style = style_, .lenient = lenient_, .may_match_nothing = !is_needed}));
  std::move(added.remarks.begin(), added.remarks.end(), std::back_inserter(remarks_));
  return added.symbol;
}

Result<Symbol> CallGrammar::arguments(const DemandedTool& tool) {
  if (!tool.parameters) return language_.any_object();
  return schema(*tool.parameters, tool.parameters->root(), true, true);
}

// ---- from a call's first marker to its last

Symbols CallGrammar::call_begin(size_t from) const {
  Symbols out;
  for (size_t i = from; i < calls_.begin.size(); ++i) {
    if (i > 0) out.push_back(terminal(parts_.line()));
    out.push_back(parts_.mark(calls_.begin[i]));
  }
  return out;
}

Symbols CallGrammar::call_end() const {
  Symbols out;
  for (const Marker& marker : calls_.end) {
    if (!out.empty() || calls_.written != Written::tagged) out.push_back(terminal(parts_.line()));
    out.push_back(parts_.mark(marker));
  }
  return out;
}

Result<Symbol> CallGrammar::body() {
  switch (calls_.written) {
    case Written::json:
      return json_body(true);
    case Written::named:
      return named_body();
    case Written::tagged:
      return tagged_body();
    default:
      return python_body();
  }
}

// A call behind the first `from` markers of its begin.
Result<Symbols> CallGrammar::call(size_t from) {
  INLAY_ASSIGN(const Symbol inner, body());
  return joined({call_begin(from), {inner}, call_end()});
}

// Calls behind the first one.
Symbols CallGrammar::others(const Symbols& one) {
  if (!demand_.parallel) return {};
  Symbols next{terminal(parts_.line())};
  if (!calls_.separator.empty()) next.push_back(parts_.optional({parts_.mark(calls_.separator), terminal(parts_.line())}));
  next.insert(next.end(), one.begin(), one.end());
  return {parts_.repeated(next)};
}

Result<Symbols> CallGrammar::behind_first_marker() {
  INLAY_ASSIGN(const Symbols whole, call(0));
  if (calls_.section_begin.empty()) {
    INLAY_ASSIGN(const Symbols first, call(1));
    return joined({first, others(whole)});
  }
  return joined({{terminal(parts_.line())}, whole, others(whole), {terminal(parts_.line()), parts_.mark(calls_.section_end)}});
}

Result<Symbols> CallGrammar::without_first_marker() {
  INLAY_ASSIGN(const Symbol inner, calls_.written == Written::json ? json_body(false) : python_body());
  const Symbols one = joined({{inner}, call_end()});
  if (calls_.separator.empty()) return one;
  Symbols next{terminal(parts_.line()), parts_.mark(calls_.separator), terminal(parts_.line())};
  return demand_.parallel ? joined({one, {parts_.repeated(joined({next, one}))}}) : one;
}

// ---- objects

Result<Symbol> CallGrammar::json_call(const DemandedTool& tool) {
  INLAY_ASSIGN(const Symbol given, arguments(tool));
  const auto key = [&](std::string_view name) { return language_.key(store_.literal(constraint::escaped(name))); };
  const Member name{key(calls_.name_key), parts_.literal("\"" + constraint::escaped(tool.name) + "\""), true};
  const Member values{key(calls_.arguments_keys[0]), given, true};
  const auto object = [&](std::vector<Member> members) {
    ObjectRule rule = language_.object();
    rule.members = std::move(members);
    const uint32_t id = grammar_.add_rule("a call of " + tool.name);
    grammar_.make_object(id, std::move(rule));
    return constraint::call(id);
  };
  if (calls_.id_key.empty() || !calls_.writes_id) return object({name, values});
  const Member id{key(calls_.id_key), terminal(language_.quoted(one_of(kWordCharacters, 1, kMaxIdCharacters))), false};
  return parts_.any_of({{object({id, name, values})}, {object({name, values, id})}});
}

// An object, or an array of them behind a marker.
Result<Symbol> CallGrammar::json_body(bool may_be_array) {
  std::vector<Symbols> calls;
  for (const DemandedTool& tool : demand_.tools) {
    INLAY_ASSIGN(const Symbol one, json_call(tool));
    calls.push_back({one});
  }
  const Symbol any = parts_.any_of(calls);
  if (!may_be_array) return any;
  ListRule list = language_.array();
  list.rest = any;
  list.min = 1;
  list.max = demand_.parallel ? kUnbounded : 1;
  const uint32_t array = grammar_.add_rule("calls");
  grammar_.make_list(array, std::move(list));
  return parts_.any_of({{terminal(parts_.line()), any}, {terminal(parts_.line()), constraint::call(array)}});
}

// ---- a name, then JSON

Result<Symbol> CallGrammar::named_body() {
  std::vector<Symbols> out;
  for (const DemandedTool& tool : demand_.tools) {
    INLAY_ASSIGN(const Symbol given, arguments(tool));
    Symbols one{parts_.literal(calls_.name_prefix + tool.name + (calls_.name_prefix.empty() ? "" : calls_.name_suffix))};
    if (!calls_.name_prefix.empty()) one.push_back(terminal(one_of("0123456789", 1, 3)));
    if (!calls_.id_begin.empty()) one.push_back(parts_.optional({parts_.mark(calls_.id_begin), terminal(one_of(kWordCharacters, 1, kMaxIdCharacters))}));
    out.push_back(joined({one, {terminal(parts_.line()), parts_.mark(calls_.arguments_begin), terminal(parts_.line()), given}}));
  }
  return parts_.any_of(out);
}

// ---- arguments one by one

Status CallGrammar::check_parameters(const JsonValue& parameters) {
  std::string_view other;
  if (has_only(parameters, {"type", "properties", "required", "additionalProperties", "title", "description", "default", "examples", "$defs", "definitions",
                            "$schema", "$comment"}, other))
    return {};
  return drop(parameters, "writes arguments one by one", other);
}

// What cannot be demanded is refused or remarked.
Status CallGrammar::drop(const JsonValue& schema, const char* why, std::string_view keyword) {
  const std::string what =
      schema.where() + ": the chat format '" + written_.name + "' " + why + ", so that '" + std::string(keyword) + "' cannot be demanded";
  if (!lenient_) return error(Code::unsupported, "%s", what.c_str());
  remarks_.push_back(what + "; it was dropped");
  return {};
}

bool CallGrammar::is_required(const JsonValue& parameters, std::string_view name) const {
  const auto required = parameters.find("required");
  if (!required) return false;
  for (const JsonValue one : required->elements())
    if (one.is_string() && *one.as_string() == name) return true;
  return false;
}

Status CallGrammar::cannot_be_argument(const JsonMember& property) const {
  return error(Code::unsupported, "%s cannot be written as an argument in the chat format '%s'", property.value.where().c_str(), written_.name.c_str());
}

Result<Symbol> CallGrammar::python_body() {
  std::vector<Symbols> calls;
  const RegexId comma = store_.concat(store_.byte(','), store_.optional(store_.byte(' ')));
  for (const DemandedTool& tool : demand_.tools) {
    ObjectRule rule;
    rule.open = store_.literal(tool.name + calls_.name_suffix + "(");
    rule.separator = comma;
    rule.close = store_.byte(')');
    if (tool.parameters) {
      const JsonValue parameters = tool.parameters->root();
      INLAY_TRY(check_parameters(parameters));
      const auto properties = parameters.find("properties");
      if (properties)
        for (const JsonMember& property : properties->members()) {
          if (!is_python_word(property.key, true)) return cannot_be_argument(property);
          const bool is_needed = is_required(parameters, property.key);
          INLAY_ASSIGN(const Symbol value, schema(*tool.parameters, property.value, false, is_needed));
          rule.members.push_back({store_.literal(std::string(property.key) + "="), value, is_needed});
        }
    }
    const uint32_t id = grammar_.add_rule("a call of " + tool.name);
    grammar_.make_object(id, std::move(rule));
    calls.push_back({constraint::call(id)});
  }
  ListRule list;
  list.open = store_.byte('[');
  list.separator = comma;
  list.close = store_.byte(']');
  list.rest = parts_.any_of(calls);
  list.min = 1;
  list.max = demand_.parallel ? kUnbounded : 1;
  const uint32_t id = grammar_.add_rule("calls");
  grammar_.make_list(id, std::move(list));
  return constraint::call(id);
}

Result<Symbol> CallGrammar::tagged_body() {
  std::vector<Symbols> out;
  for (const DemandedTool& tool : demand_.tools) {
    Symbols one{parts_.literal(tool.name)};
    if (!calls_.arguments_begin.empty()) one.push_back(parts_.mark(calls_.arguments_begin));
    if (tool.parameters) {
      const JsonValue parameters = tool.parameters->root();
      INLAY_TRY(check_parameters(parameters));
      INLAY_ASSIGN(const ToolTypes known, ToolTypes::read("[{\"name\": \"tool\", \"parameters\": " + json_text(parameters) + "}]"));
      const auto properties = parameters.find("properties");
      if (properties)
        for (const JsonMember& property : properties->members()) {
          const bool is_needed = is_required(parameters, property.key);
          INLAY_ASSIGN(const Symbols written, tagged_parameter(*tool.parameters, property, known.types("tool", property.key), is_needed));
          one.push_back(is_needed ? parts_.any_of({written}) : parts_.optional(written));
        }
    }
    one.push_back(terminal(parts_.line()));
    out.push_back(std::move(one));
  }
  return parts_.any_of(out);
}

Result<Symbols> CallGrammar::tagged_parameter(const JsonDocument& parameters, const JsonMember& property, uint8_t types, bool is_needed) {
  if (!is_plain_word(property.key)) return cannot_be_argument(property);
  Symbols out{terminal(parts_.line()), parts_.mark(calls_.parameter_begin), parts_.literal(property.key), parts_.mark(calls_.parameter_name_end)};
  if (!calls_.value_begin.empty()) {
    out.push_back(terminal(parts_.line()));
    out.push_back(parts_.mark(calls_.value_begin));
  }
  const Symbol line = terminal(calls_.value_lines ? store_.byte('\n') : constraint::kEmptyText);
  if ((types & kStringType) == 0) {
    INLAY_ASSIGN(const Symbol value, schema(parameters, property.value, false, is_needed));
    return joined({out, {line, value, line, parts_.mark(calls_.value_end)}});
  }
  INLAY_ASSIGN(RegexId text, tagged_text(property.value, types));
  if (is_needed && store_.is_nothing(text) && !store_.is_full()) return error(Code::format, "%s: nothing can match", property.value.where().c_str());
  if (calls_.value_lines) text = store_.concat({store_.byte('\n'), text, store_.byte('\n')});
  return joined({out, parts_.until(text, calls_.value_end)});
}

// What may be written without quotes. What its length, or other values than strings are to be can be demanded of strings alone.
Result<RegexId> CallGrammar::tagged_text(const JsonValue& property, uint8_t types) {
  if (property.type() == JsonType::boolean) return *property.as_bool() ? parts_.characters() : constraint::kNothing;
  if (!property.is_object()) return property.expected("a schema: an object, true or false");
  std::string_view other;
  const bool is_simple = has_only(property, {"type", "title", "description", "default", "examples", "nullable", "$comment"}, other);
  if (is_simple) return parts_.characters();
  const bool is_known = types == kStringType && has_only(property, {"type", "title", "description", "default", "examples", "enum", "const", "minLength",
                                                                    "maxLength", "$comment"}, other);
  if (!is_known) {
    INLAY_TRY(drop(property, "writes texts without quotes", other));
    return parts_.characters();
  }
  INLAY_ASSIGN(const int64_t min, property.i64_or("minLength", 0));
  INLAY_ASSIGN(const int64_t max, property.i64_or("maxLength", kUnbounded));
  if (min < 0 || max < 0) return error(Code::format, "%s has a length that is negative", property.where().c_str());
  const auto count = [](int64_t n) { return static_cast<uint32_t>(std::min<int64_t>(n, kUnbounded)); };
  RegexId out = min > max ? constraint::kNothing : store_.repeat(utf8(store_, constraint::CodePoints::all()), count(min), count(max));
  const auto add_values = [&](const JsonElements& values) {
    std::vector<std::string> texts;
    for (const JsonValue value : values)
      if (value.is_string()) texts.emplace_back(*value.as_string());
    out = store_.both({out, store_.literals(std::move(texts))});
  };
  if (const auto values = property.find("enum")) add_values(values->elements());
  if (const auto value = property.find("const"); value && value->is_string()) out = store_.both({out, store_.literal(*value->as_string())});
  return out;
}

}  // namespace inlay
