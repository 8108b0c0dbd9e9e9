#include "src/template/python_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "src/base/format.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

Status append_repr(Run& run, const Value& value, std::string& out);

Status append_items(Run& run, const std::vector<Value>& items, const char* begin, const char* end, std::string& out) {
  out += begin;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    INLAY_TRY(append_repr(run, items[i], out));
  }
  out += end;
  return {};
}

Status append_map(Run& run, const Map& map, std::string& out) {
  out += '{';
  for (size_t i = 0; i < map.size(); ++i) {
    const auto& [key, value] = map.entries()[i];
    if (i) out += ", ";
    INLAY_TRY(append_repr(run, key, out));
    out += ": ";
    INLAY_TRY(append_repr(run, value, out));
  }
  out += '}';
  return {};
}

Status append_list(Run& run, const List& list, std::string& out) {
  switch (list.kind) {
    case ListKind::list:
      return append_items(run, list.items, "[", "]", out);
    case ListKind::tuple:
      return append_items(run, list.items, "(", list.items.size() == 1 ? ",)" : ")", out);
    case ListKind::range:
      out += "range(" + std::to_string(list.range.begin) + ", " + std::to_string(list.range.end);
      out += list.range.step == 1 ? ")" : ", " + std::to_string(list.range.step) + ")";
      return {};
    case ListKind::keys:
      return append_items(run, list.items, "dict_keys([", "])", out);
    case ListKind::values:
      return append_items(run, list.items, "dict_values([", "])", out);
    case ListKind::items:
      return append_items(run, list.items, "dict_items([", "])", out);
  }
  return {};
}

Status append_repr(Run& run, const Value& value, std::string& out) {
  if (run.stack.is_spent()) return run.stack.go_on([&] { return append_repr(run, value, out); });
  const Descent descent(run);
  INLAY_TRY(descent.check());
  INLAY_TRY(run.charge(1 + (value.is_string() ? value.text().size() / kBytesPerStep : 0)));
  switch (value.kind()) {
    case Kind::none:
      out += "None";
      return {};
    case Kind::undefined:
      out += "Undefined";
      return {};
    case Kind::boolean:
      out += value.boolean() ? "True" : "False";
      return {};
    case Kind::integer:
      out += std::to_string(value.integer());
      return {};
    case Kind::real:
      out += real_text(value.real());
      return {};
    case Kind::string:
      out += value.is_markup() ? "Markup(" + quoted_text(value.text()) + ")" : quoted_text(value.text());
      return {};
    case Kind::list:
      return append_list(run, value.list(), out);
    case Kind::map:
      return append_map(run, value.map(), out);
    case Kind::object:
      break;
  }
  if (const auto* space = dynamic_cast<const Namespace*>(&value.object())) {
    out += "<Namespace ";
    INLAY_TRY(append_map(run, space->values, out));
    out += '>';
    return {};
  }
  if (const auto text = value.object().text()) {
    INLAY_TRY(run.charge_bytes(text->size()));
    out += *text;
    return {};
  }
  return error(Code::unsupported, "a value of type '%s' has no text", value.type_name());
}

}  // namespace

// The shortest digits that give the same number, with an exponent below 1e-4 and from 1e16 on.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view shortest(buffer, static_cast<size_t>(end - buffer));
  const size_t e = shortest.find('e');
  const bool negative = shortest[e + 1] == '-';  // there is a sign always
  int exponent = 0;
  std::from_chars(shortest.data() + e + 2, shortest.data() + shortest.size(), exponent);
  if (negative) exponent = -exponent;
  if (exponent < -4 || exponent >= 16) return std::string(shortest);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string out(buffer, fixed);
  if (out.find('.') == out.npos) out += ".0";
  return out;
}

std::string quoted_text(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text.data() + i);
    if (c.value == '\\' || c.value == static_cast<uint32_t>(quote))
      (out += '\\') += static_cast<char>(c.value);
    else if (c.value == '\n' || c.value == '\r' || c.value == '\t')
      out += c.value == '\n' ? "\\n" : c.value == '\r' ? "\\r" : "\\t";
    else if (is_printable(c.value))
      out += text.substr(i, c.n_bytes);
    else
      append_format(out, c.value < 0x100 ? "\\x%02x" : c.value < 0x10000 ? "\\u%04x" : "\\U%08x", c.value);
    i += c.n_bytes;
  }
  return out + quote;
}

Result<std::string> to_text(Run& run, const Value& value) {
  INLAY_TRY(run.charge_bytes(value.is_string() ? value.text().size() : 0));
  if (value.is_string()) return value.text();
  if (value.is_undefined()) return std::string();
  return repr(run, value);
}

Result<std::string> repr(Run& run, const Value& value) {
  std::string out;
  INLAY_TRY(append_repr(run, value, out));
  return out;
}

// A value's text behind another; escaped, it is foreign as a whole.
Status append_text(Run& run, const Value& value, bool escaped, Text& out) {
  const size_t at = out.bytes.size();
  if (value.is_string() && !escaped) {
    INLAY_TRY(run.charge_bytes(value.text().size()));
    out.bytes += value.text();
    add_spans(out.foreign, at, value.foreign(), {0, value.text().size()});
    return {};
  }
  INLAY_ASSIGN(const std::string text, to_text(run, value));
  out.bytes += escaped ? escape_html(text) : text;
  if (value.is_foreign()) add_span(out.foreign, {at, out.bytes.size()});
  return {};
}

Result<Value> join_plainly(Run& run, const std::vector<Value>& parts, const Value& separator) {
  Text out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) INLAY_TRY(append_text(run, separator, false, out));
    INLAY_TRY(append_text(run, parts[i], false, out));
  }
  return run.text(std::move(out));
}

Result<Value> join_texts(Run& run, const std::vector<Value>& parts, const Value& separator) {
  bool markup = separator.is_markup();
  for (const Value& part : parts) markup = markup || part.is_markup();
  Text out{{}, markup};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) INLAY_TRY(append_text(run, separator, markup && !separator.is_markup(), out));
    INLAY_TRY(append_text(run, parts[i], markup && !parts[i].is_markup(), out));
  }
  return run.text(std::move(out));
}

}  // namespace inlay::tmpl
