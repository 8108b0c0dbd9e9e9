// The filter tojson, as transformers sets it up: json.dumps with its defaults, but characters beyond ASCII as they are.
#include <algorithm>
#include <cmath>

#include "src/base/format.h"
#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

constexpr int64_t kMaxIndent = 100;

struct Style {
  bool ascii = false, sorted = false, indented = false;
  std::string indent, item_separator = ", ", key_separator = ": ";
};

class JsonWriter {
 public:
  JsonWriter(Run& run, const Style& style) : run_(run), style_(style) {}
  Status write(const Value& value, size_t level);
  std::string out;

 private:
  void string(std::string_view text);
  void number(const Value& value);
  Status list(const Value& value, size_t level);
  Status map(const Map& map, size_t level);
  Status key(const Value& key);
  Status new_line(size_t level) {
    if (!style_.indented) return {};
    INLAY_TRY(run_.charge_product(level, style_.indent.size()));
    out += '\n';
    for (size_t i = 0; i < level; ++i) out += style_.indent;
    return {};
  }

  Run& run_;
  const Style& style_;
};

void JsonWriter::string(std::string_view text) {
  static constexpr std::string_view kSpecial = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text.data() + i);
    const size_t special = c.value < 0x80 ? kSpecial.find(text[i]) : kSpecial.npos;
    if (special != kSpecial.npos) {
      (out += '\\') += kLetters[special];
    } else if (c.value < 0x20 || (style_.ascii && c.value > 0x7E && c.value < 0x10000)) {
      append_format(out, "\\u%04x", c.value);
    } else if (style_.ascii && c.value >= 0x10000) {
      const uint32_t rest = c.value - 0x10000;
      append_format(out, "\\u%04x\\u%04x", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else {
      out += text.substr(i, c.n_bytes);
    }
    i += c.n_bytes;
  }
  out += '"';
}

void JsonWriter::number(const Value& value) {
  if (value.is(Kind::boolean))
    out += value.boolean() ? "true" : "false";
  else if (value.is(Kind::integer))
    out += std::to_string(value.integer());
  else if (std::isfinite(value.real()))
    out += real_text(value.real());
  else
    out += std::isnan(value.real()) ? "NaN" : value.real() < 0 ? "-Infinity" : "Infinity";
}

Status JsonWriter::list(const Value& value, size_t level) {
  const auto& items = value.list().items;
  if (items.empty()) {
    out += "[]";
    return {};
  }
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += style_.item_separator;
    INLAY_TRY(new_line(level + 1));
    INLAY_TRY(write(items[i], level + 1));
  }
  INLAY_TRY(new_line(level));
  out += ']';
  return {};
}

Status JsonWriter::key(const Value& key) {
  if (key.is_string()) {
    INLAY_TRY(run_.charge_bytes(key.text().size()));
    string(key.text());
    return {};
  }
  if (!key.is_none() && !key.is_number())
    return type_error("keys must be str, int, float, bool or None, not %s", key.type_name());
  out += '"';
  if (key.is_none())
    out += "null";
  else
    number(key);
  out += '"';
  return {};
}

Status JsonWriter::map(const Map& map, size_t level) {
  if (map.size() == 0) {
    out += "{}";
    return {};
  }
  std::vector<const Map::Entry*> entries;
  for (const auto& entry : map.entries()) entries.push_back(&entry);
  if (style_.sorted) {
    INLAY_TRY(run_.charge_sort(map));
    for (size_t i = 1; i < entries.size(); ++i) {
      const auto comparable = compare(entries[i - 1]->first, entries[i]->first, "<");
      if (!comparable.ok()) return comparable.status();
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Map::Entry* a, const Map::Entry* b) {
      const auto order = compare(a->first, b->first, "<");
      return order.ok() && *order == Order::less;
    });
  }
  out += '{';
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i) out += style_.item_separator;
    INLAY_TRY(new_line(level + 1));
    INLAY_TRY(key(entries[i]->first));
    out += style_.key_separator;
    INLAY_TRY(write(entries[i]->second, level + 1));
  }
  INLAY_TRY(new_line(level));
  out += '}';
  return {};
}

Status JsonWriter::write(const Value& value, size_t level) {
  if (run_.stack.is_spent()) return run_.stack.go_on([&] { return write(value, level); });
  const Descent descent(run_);
  INLAY_TRY(descent.check());
  const uint64_t separators = style_.item_separator.size() + style_.key_separator.size();
  INLAY_TRY(
      run_.charge(1 + separators / kBytesPerStep + (value.is_string() ? value.text().size() / kBytesPerStep : 0)));
  switch (value.kind()) {
    case Kind::none:
      out += "null";
      return {};
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      number(value);
      return {};
    case Kind::string:
      string(value.text());
      return {};
    case Kind::map:
      return map(value.map(), level);
    case Kind::list:
      if (value.list().kind <= ListKind::tuple) return list(value, level);
      break;
    default:
      break;
  }
  return type_error("Object of type %s is not JSON serializable", value.type_name());
}

// A text alone has nothing to indent or to separate, so that nobody looks at what does.
Status read_style(Run& run, const Bound& bound, bool is_text, Style& style) {
  style.ascii = bound.truth(0, false);
  style.sorted = bound.truth(3, false);
  style.indented = bound.has(1) && !bound[1].is_none();
  if (style.indented) {
    if (bound[1].is_string()) {
      INLAY_TRY(run.charge_bytes(bound[1].text().size()));
      style.indent = bound[1].text();
    } else if (!is_text) {
      INLAY_ASSIGN(const int64_t width, bound.integer(1, 0));
      if (width > kMaxIndent)
        return error(Code::unsupported, "tojson: an indent above %d", static_cast<int>(kMaxIndent));
      style.indent.assign(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
    }
    style.item_separator = ",";
  }
  if (!bound.has(2) || bound[2].is_none()) return {};
  INLAY_ASSIGN(const auto separators, run.iterate(bound[2]));
  const bool are_texts = separators.size() == 2 && separators[0].is_string() && separators[1].is_string();
  if (separators.size() != 2 || (!are_texts && !is_text)) return type_error("tojson: 'separators' must be two strings");
  if (!are_texts) return {};
  style.item_separator = separators[0].text();
  style.key_separator = separators[1].text();
  return {};
}

}  // namespace

Result<Value> to_json(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound,
               Bound::bind(arguments, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}));
  Style style;
  INLAY_TRY(read_style(run, bound, value.is_string(), style));
  JsonWriter writer(run, style);
  INLAY_TRY(writer.write(value, 0));
  return run.text(std::move(writer.out));
}

}  // namespace inlay::tmpl
