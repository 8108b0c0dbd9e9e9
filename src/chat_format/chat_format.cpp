#include "src/chat_format/chat_format.h"

#include <algorithm>

#include "src/formats/json.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr size_t kMaxMarkerBytes = 256, kMaxListed = 32;  // a marker is shorter than the window of MarkedText::find
constexpr JsonLimits kFormatLimits{.max_bytes = 1u << 20, .max_depth = 8};

// Reads the members of one object, and names those that nobody asked for.
class Members {
 public:
  static Result<Members> of(const JsonValue& value) {
    INLAY_ASSIGN(auto members, value.as_object());
    (void)members;
    return Members(value);
  }

  std::optional<JsonValue> take(std::string_view key) {
    taken_.push_back(key);
    const auto value = object_.find(key);
    return value && !value->is_null() ? value : std::nullopt;
  }

  Status text(std::string_view key, std::string& out) {
    const auto value = take(key);
    return value ? read_text(*value, out) : Status{};
  }
  Status marker(std::string_view key, Marker& out) { return text(key, out.text); }

  // A string is a list of one.
  Status texts(std::string_view key, std::vector<std::string>& out) {
    const auto value = take(key);
    if (!value) return {};
    if (value->is_string()) return read_text(*value, out.emplace_back());
    if (!value->is_array()) return value->expected("a string or an array of strings");
    if (value->size() > kMaxListed)
      return error(Code::format, "%s has %zu strings, more than %zu", value->where().c_str(), value->size(), kMaxListed);
    for (const JsonValue element : value->elements()) INLAY_TRY(read_text(element, out.emplace_back()));
    return {};
  }
  Status markers(std::string_view key, std::vector<Marker>& out) {
    std::vector<std::string> list;
    INLAY_TRY(texts(key, list));
    for (std::string& text : list) out.push_back({std::move(text)});
    return {};
  }

  Status truth(std::string_view key, bool& out) {
    const auto value = take(key);
    if (!value) return {};
    INLAY_ASSIGN(out, value->as_bool());
    return {};
  }

  Status no_others() const {
    for (const JsonMember& member : object_.members())
      if (std::find(taken_.begin(), taken_.end(), member.key) == taken_.end())
        return error(Code::format, "%s is no member of a chat format", member.value.where().c_str());
    return {};
  }

  Status lacks(const char* key) const { return error(Code::format, "%s has no '%s'", object_.where().c_str(), key); }

 private:
  explicit Members(const JsonValue& object) : object_(object) {}

  static Status read_text(const JsonValue& value, std::string& out) {
    INLAY_ASSIGN(const std::string_view text, value.as_string());
    if (text.empty() || text.size() > kMaxMarkerBytes)
      return error(Code::format, "%s has %zu bytes, expected 1 to %zu", value.where().c_str(), text.size(), kMaxMarkerBytes);
    out = text;
    return {};
  }

  JsonValue object_;
  std::vector<std::string_view> taken_;
};

// A pair of markers that are there together or not at all.
Status read_pair(Members& format, const char* key, Marker& begin, Marker& end) {
  const auto value = format.take(key);
  if (!value) return {};
  INLAY_ASSIGN(Members pair, Members::of(*value));
  INLAY_TRY(pair.marker("begin", begin));
  INLAY_TRY(pair.marker("end", end));
  if (begin.empty()) return pair.lacks("begin");
  if (end.empty()) return pair.lacks("end");
  return pair.no_others();
}

Status read_written(Members& calls, ChatFormat::Written& out) {
  const auto value = calls.take("written");
  if (!value) return calls.lacks("written");
  INLAY_ASSIGN(const std::string_view word, value->as_string());
  using Written = ChatFormat::Written;
  const std::pair<const char*, Written> words[] = {
      {"json", Written::json}, {"named", Written::named}, {"tagged", Written::tagged}, {"python", Written::python}};
  for (const auto& [name, written] : words)
    if (word == name) return out = written, Status{};
  return value->expected("\"json\", \"named\", \"tagged\" or \"python\"");
}

Status read_json_calls(Members& members, ChatFormat::Calls& calls) {
  INLAY_TRY(members.truth("bare", calls.bare));
  INLAY_TRY(members.text("name_key", calls.name_key));
  INLAY_TRY(members.texts("arguments_key", calls.arguments_keys));
  INLAY_TRY(members.text("id_key", calls.id_key));
  INLAY_TRY(members.truth("writes_id", calls.writes_id));
  if (calls.name_key.empty()) return members.lacks("name_key");
  if (calls.arguments_keys.empty()) return members.lacks("arguments_key");
  return calls.begin.empty() && !calls.bare ? members.lacks("begin") : Status{};
}

Status read_tagged_calls(Members& members, ChatFormat::Calls& calls) {
  INLAY_TRY(members.truth("bare", calls.bare));
  INLAY_TRY(members.truth("value_lines", calls.value_lines));
  INLAY_TRY(members.marker("arguments_begin", calls.arguments_begin));
  INLAY_TRY(members.marker("parameter_begin", calls.parameter_begin));
  INLAY_TRY(members.marker("parameter_name_end", calls.parameter_name_end));
  INLAY_TRY(members.marker("value_begin", calls.value_begin));
  INLAY_TRY(members.marker("value_end", calls.value_end));
  if (calls.begin.empty()) return members.lacks("begin");
  if (calls.bare && calls.begin.size() < 2) return members.lacks("begin[1]");  // the first may be missing
  if (calls.end.empty()) return members.lacks("end");
  if (calls.parameter_begin.empty()) return members.lacks("parameter_begin");
  if (calls.parameter_name_end.empty()) return members.lacks("parameter_name_end");
  return calls.value_end.empty() ? members.lacks("value_end") : Status{};
}

Status read_named_calls(Members& members, ChatFormat::Calls& calls) {
  INLAY_TRY(members.marker("id_begin", calls.id_begin));
  INLAY_TRY(members.text("name_prefix", calls.name_prefix));
  INLAY_TRY(members.text("name_suffix", calls.name_suffix));
  INLAY_TRY(members.marker("arguments_begin", calls.arguments_begin));
  if (calls.begin.empty()) return members.lacks("begin");
  return calls.arguments_begin.empty() ? members.lacks("arguments_begin") : Status{};
}

Status read_python_calls(Members& members, ChatFormat::Calls& calls) {
  INLAY_TRY(members.truth("bare", calls.bare));
  INLAY_TRY(members.text("name_suffix", calls.name_suffix));
  return calls.begin.empty() && !calls.bare ? members.lacks("begin") : Status{};
}

Status read_calls(Members& format, ChatFormat::Calls& calls) {
  const auto value = format.take("calls");
  if (!value) return {};
  INLAY_ASSIGN(Members members, Members::of(*value));
  INLAY_TRY(read_written(members, calls.written));
  INLAY_TRY(members.marker("section_begin", calls.section_begin));
  INLAY_TRY(members.marker("section_end", calls.section_end));
  INLAY_TRY(members.markers("begin", calls.begin));
  INLAY_TRY(members.markers("end", calls.end));
  INLAY_TRY(members.marker("separator", calls.separator));
  if (calls.section_begin.empty() != calls.section_end.empty()) return members.lacks(calls.section_begin.empty() ? "section_begin" : "section_end");
  switch (calls.written) {
    case ChatFormat::Written::json:
      INLAY_TRY(read_json_calls(members, calls));
      break;
    case ChatFormat::Written::tagged:
      INLAY_TRY(read_tagged_calls(members, calls));
      break;
    case ChatFormat::Written::python:
      INLAY_TRY(read_python_calls(members, calls));
      break;
    default:
      INLAY_TRY(read_named_calls(members, calls));
  }
  return members.no_others();
}

Status read_channels(Members& format, ChatFormat::Channels& channels) {
  const auto value = format.take("channels");
  if (!value) return {};
  INLAY_ASSIGN(Members members, Members::of(*value));
  INLAY_TRY(members.marker("begin", channels.begin));
  INLAY_TRY(members.marker("channel", channels.channel));
  INLAY_TRY(members.marker("constraint", channels.constraint));
  INLAY_TRY(members.marker("body", channels.body));
  INLAY_TRY(members.markers("end", channels.end));
  INLAY_TRY(members.text("role", channels.role));
  INLAY_TRY(members.text("recipient", channels.recipient));
  INLAY_TRY(members.text("tool_prefix", channels.tool_prefix));
  INLAY_TRY(members.texts("reasoning", channels.reasoning));
  INLAY_TRY(members.texts("content", channels.content));
  if (channels.begin.empty()) return members.lacks("begin");
  if (channels.channel.empty()) return members.lacks("channel");
  if (channels.body.empty()) return members.lacks("body");
  if (channels.end.empty()) return members.lacks("end");
  if (channels.role.empty()) return members.lacks("role");
  return channels.content.empty() ? members.lacks("content") : members.no_others();
}

// Of markers that are looked for at one place, one that another begins with would hide it.
Status check_apart(std::initializer_list<const Marker*> markers, const std::string& where) {
  for (const Marker* a : markers)
    for (const Marker* b : markers)
      if (a != b && !a->empty() && !b->empty() && b->text.starts_with(a->text))
        return error(Code::format, "%s: the marker %s is the begin of the marker %s", where.c_str(), quote(a->text).c_str(), quote(b->text).c_str());
  return {};
}

const Marker* first_of(const std::vector<Marker>& markers, const Marker& none) { return markers.empty() ? &none : &markers[0]; }

Status check_apart(const ChatFormat& format, const std::string& where) {
  const ChatFormat::Calls& calls = format.calls;
  const ChatFormat::Channels& channels = format.channels;
  const Marker none;
  const Marker* second = calls.bare && calls.begin.size() > 1 ? &calls.begin[1] : &none;
  const Marker* first = first_of(calls.begin, none);
  INLAY_TRY(check_apart({&format.reasoning_begin, &format.content_begin, &format.content_end, &calls.section_begin, first, second}, where));
  INLAY_TRY(check_apart({&calls.section_end, first, &calls.separator}, where));
  INLAY_TRY(check_apart({&calls.id_begin, &calls.arguments_begin}, where));
  if (calls.written == ChatFormat::Written::tagged) INLAY_TRY(check_apart({&calls.parameter_begin, first_of(calls.end, none)}, where));
  for (const Marker& end : channels.end)
    INLAY_TRY(check_apart({&channels.begin, &channels.channel, &channels.constraint, &channels.body, &end}, where));
  return {};
}

template <class Format, class Visit>
void visit_markers(Format& format, const Visit& visit) {
  auto& calls = format.calls;
  auto& channels = format.channels;
  for (auto* marker : {&format.reasoning_begin, &format.reasoning_end, &format.content_begin, &format.content_end, &calls.section_begin,
                       &calls.section_end, &calls.separator, &calls.id_begin, &calls.arguments_begin, &calls.parameter_begin,
                       &calls.parameter_name_end, &calls.value_begin, &calls.value_end, &channels.begin, &channels.channel,
                       &channels.constraint, &channels.body})
    if (!marker->empty()) visit(*marker);
  for (auto* list : {&calls.begin, &calls.end, &channels.end})
    for (auto& marker : *list) visit(marker);
}

}  // namespace

std::vector<const Marker*> ChatFormat::markers() const {
  std::vector<const Marker*> out;
  visit_markers(*this, [&](const Marker& marker) {
    if (std::none_of(out.begin(), out.end(), [&](const Marker* other) { return other->text == marker.text; })) out.push_back(&marker);
  });
  return out;
}

void ChatFormat::set_tokens(const std::function<bool(std::string_view)>& is_token) {
  visit_markers(*this, [&](Marker& marker) { marker.is_token = is_token(marker.text); });
}

Result<ChatFormat> ChatFormat::read(std::string json, std::string where) {
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::move(json), where, kFormatLimits));
  INLAY_ASSIGN(Members members, Members::of(document.root()));
  ChatFormat out;
  INLAY_TRY(members.text("name", out.name));
  if (out.name.empty()) return members.lacks("name");
  INLAY_TRY(read_pair(members, "reasoning", out.reasoning_begin, out.reasoning_end));
  INLAY_TRY(read_pair(members, "content", out.content_begin, out.content_end));
  INLAY_TRY(read_calls(members, out.calls));
  INLAY_TRY(read_channels(members, out.channels));
  INLAY_TRY(members.texts("template_has", out.template_has));
  INLAY_TRY(members.texts("template_lacks", out.template_lacks));
  INLAY_TRY(members.no_others());
  if (out.channels.used() && (out.calls.written != Written::none || !out.reasoning_begin.empty() || !out.content_begin.empty()))
    return error(Code::format, "%s: a format with 'channels' has no 'reasoning', 'content' and 'calls'", where.c_str());
  INLAY_TRY(check_apart(out, where));
  return out;
}

}  // namespace inlay
