#include "src/formats/json.h"

#include <charconv>

#include "src/base/format.h"
#include "src/formats/json_data.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

// With the article that a sentence needs.
const char* described(JsonType type) {
  constexpr const char* kNames[] = {"null", "a boolean", "a number", "a string", "an array", "an object"};
  return kNames[static_cast<size_t>(type)];
}

template <class T>
Result<T> parse_whole(const JsonValue& value, const char* what) {
  std::string_view text = value.number_text();
  if (text == "-0") text = "0";
  T out{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return value.expected(what);
  return out;
}

}  // namespace

JsonType JsonValue::type() const { return data_->nodes[node_].type; }

Result<bool> JsonValue::as_bool() const {
  if (type() != JsonType::boolean) return expected("true or false");
  return data_->nodes[node_].truth;
}

Result<int64_t> JsonValue::as_i64() const { return parse_whole<int64_t>(*this, "a whole number of 64 bits"); }
Result<uint64_t> JsonValue::as_u64() const {
  return parse_whole<uint64_t>(*this, "a whole number of 64 bits, 0 or above");
}
Result<double> JsonValue::as_f64() const { return parse_whole<double>(*this, "a number in the range of double"); }

Result<std::string_view> JsonValue::as_string() const {
  if (!is_string()) return expected("a string");
  return data_->text_of(node_);
}

Result<JsonElements> JsonValue::as_array() const {
  if (!is_array()) return expected("an array");
  return elements();
}

Result<JsonMembers> JsonValue::as_object() const {
  if (!is_object()) return expected("an object");
  return members();
}

JsonElements JsonValue::elements() const {
  const detail::JsonNode& node = data_->nodes[node_];
  if (!is_array()) return {data_, node_, node_, 0};
  return {data_, node_ + 1, node.end, node.size};
}

JsonMembers JsonValue::members() const {
  const detail::JsonNode& node = data_->nodes[node_];
  if (!is_object()) return {data_, node_, node_, 0};
  return {data_, node_ + 1, node.end, node.size};
}

std::string_view JsonValue::number_text() const {
  return type() == JsonType::number ? data_->text_of(node_) : std::string_view();
}

size_t JsonValue::size() const { return is_array() || is_object() ? data_->nodes[node_].size : 0; }

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  const std::vector<detail::JsonNode>& nodes = data_->nodes;
  for (uint32_t at = node_ + 1; at < nodes[node_].end; at = nodes[at + 1].end)
    if (data_->text_of(at) == key) return JsonValue(data_, at + 1);
  return std::nullopt;
}

Result<JsonValue> JsonValue::get(std::string_view key) const {
  if (!is_object()) return expected("an object");
  if (const auto value = find(key)) return *value;
  return error(Code::format, "%s has no %s", where().c_str(), quote(key).c_str());
}

Result<bool> JsonValue::bool_or(std::string_view key, bool fallback) const {
  const auto value = find(key);
  return value && !value->is_null() ? value->as_bool() : fallback;
}

Result<int64_t> JsonValue::i64_or(std::string_view key, int64_t fallback) const {
  const auto value = find(key);
  return value && !value->is_null() ? value->as_i64() : fallback;
}

Result<double> JsonValue::f64_or(std::string_view key, double fallback) const {
  const auto value = find(key);
  return value && !value->is_null() ? value->as_f64() : fallback;
}

Result<std::string_view> JsonValue::string_or(std::string_view key, std::string_view fallback) const {
  const auto value = find(key);
  return value && !value->is_null() ? value->as_string() : fallback;
}

// From the outermost value down: of each container, the child whose nodes include this one.
std::string JsonValue::path() const {
  const std::vector<detail::JsonNode>& nodes = data_->nodes;
  std::string out;
  for (uint32_t at = 0; at != node_;) {
    const bool object = nodes[at].type == JsonType::object;
    uint32_t child = at + 1 + object;
    size_t index = 0;
    for (; nodes[child].end <= node_; ++index) child = nodes[child].end + object;
    if (object) {
      const std::string key = quote(data_->text_of(child - 1));
      out += (out.empty() ? "" : ".") + key.substr(1, key.size() - 2);
    } else {
      out += "[" + std::to_string(index) + "]";
    }
    at = child;
  }
  return out.empty() ? "the document" : out;
}

std::string JsonValue::where() const { return data_->name + ": " + path(); }

Status JsonValue::expected(const char* what) const {
  std::string found = described(type());
  if (type() == JsonType::number) found = quote(number_text()).substr(1), found.pop_back();
  if (is_string()) found = quote(data_->text_of(node_));
  return error(Code::format, "%s is %s, expected %s", where().c_str(), found.c_str(), what);
}

JsonElements::Iterator& JsonElements::Iterator::operator++() {
  node_ = data_->nodes[node_].end;
  return *this;
}

JsonMember JsonMembers::Iterator::operator*() const { return {data_->text_of(node_), JsonValue(data_, node_ + 1)}; }

JsonMembers::Iterator& JsonMembers::Iterator::operator++() {
  node_ = data_->nodes[node_ + 1].end;
  return *this;
}

Result<JsonDocument> JsonDocument::parse(std::string text, std::string name, const JsonLimits& limits) {
  auto data = std::make_unique<detail::JsonData>();
  data->text = std::move(text);
  data->name = std::move(name);
  INLAY_TRY(detail::parse_json(*data, limits));
  return JsonDocument(std::move(data));
}

JsonDocument::JsonDocument(std::unique_ptr<const detail::JsonData> data) : data_(std::move(data)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 32)
      append_format(out, "\\u%04x", c);
    else
      out += c;
  }
  return out + '"';
}

std::string json_text(const JsonValue& value) {
  std::string out;
  switch (value.type()) {
    case JsonType::null:
      return "null";
    case JsonType::boolean:
      return *value.as_bool() ? "true" : "false";
    case JsonType::number:
      return std::string(value.number_text());
    case JsonType::string:
      return json_string(*value.as_string());
    case JsonType::array:
      for (const JsonValue element : value.elements()) (out += out.empty() ? "" : ",") += json_text(element);
      return "[" + out + "]";
    case JsonType::object:
      break;
  }
  for (const JsonMember& member : value.members()) (out += out.empty() ? "" : ",") += json_string(member.key) + ":" + json_text(member.value);
  return "{" + out + "}";
}

}  // namespace inlay
