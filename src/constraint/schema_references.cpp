// Where a schema's references lead.
#include "src/base/ascii.h"
#include "src/constraint/schema.h"

namespace inlay::constraint {

namespace {

constexpr uint32_t kMaxSearchDepth = 200;

// A URI's percent signs, then a pointer's tildes.
std::string decoded(std::string_view part) {
  std::string bytes, out;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '%' && i + 2 < part.size() && hex_value(part[i + 1]) >= 0 && hex_value(part[i + 2]) >= 0) {
      bytes += static_cast<char>(hex_value(part[i + 1]) << 4 | hex_value(part[i + 2]));
      i += 2;
    } else {
      bytes += part[i];
    }
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char after = bytes[i] == '~' && i + 1 < bytes.size() ? bytes[i + 1] : ' ';
    const bool escape = after == '0' || after == '1';
    out += !escape ? bytes[i] : after == '0' ? '~' : '/';
    i += escape;
  }
  return out;
}

std::optional<JsonValue> follow(JsonValue at, std::string_view pointer, RegexStore& steps) {
  while (!pointer.empty()) {
    if (pointer[0] != '/' || steps.is_full()) return {};
    steps.add_steps(1 + at.size() / 8);
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string part = decoded(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    std::optional<JsonValue> next = at.find(part);
    if (at.is_array()) {
      size_t index = 0;
      for (const char c : part) index = is_ascii_digit(c) && index < at.size() ? index * 10 + static_cast<size_t>(c - '0') : at.size();
      size_t i = 0;
      for (const JsonValue element : at.elements())
        if (i++ == index) next = element;
    }
    if (!next) return {};
    at = *next;
  }
  return at;
}

std::string_view without_fragment(std::string_view uri) { return uri.substr(0, uri.find('#')); }

// Calls each(value) for all values in `value` until it says true: one of them.
template <class Each>
std::optional<JsonValue> find_value(const JsonValue& value, uint32_t depth, RegexStore& steps, Each&& each) {
  if (each(value)) return value;
  steps.add_steps(1);
  if (depth == kMaxSearchDepth || steps.is_full()) return {};
  for (const JsonValue element : value.elements())
    if (auto found = find_value(element, depth + 1, steps, each)) return found;
  for (const JsonMember member : value.members())
    if (auto found = find_value(member.value, depth + 1, steps, each)) return found;
  return {};
}

bool has_text(const JsonValue& value, std::string_view key, std::string_view text) {
  const auto member = value.find(key);
  return member && member->is_string() && *member->as_string() == text;
}

}  // namespace

std::optional<JsonValue> SchemaSet::find_anchor(std::string_view name) const {
  const std::string as_id = "#" + std::string(name);
  return find_value(document_.root(), 0, store_, [&](const JsonValue& value) {
    return has_text(value, "$anchor", name) || has_text(value, "$dynamicAnchor", name) || has_text(value, "id", as_id) ||
           has_text(value, "$id", as_id);
  });
}

Result<SchemaId> SchemaSet::target(const JsonValue& reference) {
  INLAY_ASSIGN(const std::string_view uri, reference.as_string());
  const std::string_view resource = without_fragment(uri);
  const std::string_view fragment = uri.size() > resource.size() ? uri.substr(resource.size() + 1) : std::string_view();
  std::optional<JsonValue> base = document_.root();
  if (!resource.empty()) {
    // By its own name, or as the last part of the path of a relative one
    const std::string last = "/" + std::string(resource);
    base = find_value(document_.root(), 0, store_, [&](const JsonValue& value) {
      for (const std::string_view key : {"$id", "id"})
        if (const auto id = value.find(key); id && id->is_string()) {
          const std::string_view own = without_fragment(*id->as_string());
          if (!own.empty() && (own == resource || own.ends_with(last))) return true;
        }
      return false;
    });
  }
  std::optional<JsonValue> found;
  if (base) found = fragment.empty() || fragment[0] == '/' ? follow(*base, fragment, store_) : find_anchor(decoded(fragment));
  if (found) return id_of(*found);
  if (store_.is_full()) return error(Code::unsupported, "%s: the schema is too large for all of its references to be followed", reference.where().c_str());
  if (options_.lenient && !base) {
    remark(reference, json_string(uri) + " is another text; it was dropped");
    return anything();
  }
  if (!base) return error(Code::unsupported, "%s: %s is another text, which is not supported", reference.where().c_str(), json_string(uri).c_str());
  return error(Code::format, "%s: %s names nothing in the schema", reference.where().c_str(), json_string(uri).c_str());
}

}  // namespace inlay::constraint
