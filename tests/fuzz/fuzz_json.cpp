// The bytes are a JSON text. Whatever they are: an error that says where, or a document all of whose values can be
// read, whose strings are UTF-8, and which written down again and read gives the same.
#include <cstdio>
#include <string>
#include <string_view>

#include "src/formats/json.h"
#include "src/formats/text.h"
#include "tests/fuzz/check.h"

namespace {

using namespace inlay;

void write_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

void write(const JsonValue& value, std::string& out) {
  FUZZ_CHECK(is_valid_utf8(value.path()));
  (void)value.as_i64(), (void)value.as_u64();
  const char* separator = "";
  switch (value.type()) {
    case JsonType::null:
      out += "null";
      break;
    case JsonType::boolean:
      out += *value.as_bool() ? "true" : "false";
      break;
    case JsonType::number:
      out += value.number_text();
      FUZZ_CHECK(value.as_f64().ok() || !value.as_f64().status().message.empty());
      break;
    case JsonType::string:
      FUZZ_CHECK(is_valid_utf8(*value.as_string()));
      write_string(*value.as_string(), out);
      break;
    case JsonType::array:
      out += '[';
      for (const JsonValue element : value.elements()) out += separator, write(element, out), separator = ",";
      out += ']';
      break;
    case JsonType::object:
      out += '{';
      for (const JsonMember& member : value.members()) {
        const auto found = value.find(member.key);
        FUZZ_CHECK(found.has_value() && found->path() == member.value.path());
        out += separator, write_string(member.key, out), out += ':', write(member.value, out), separator = ",";
      }
      out += '}';
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = JsonDocument::parse(text, "fuzz");
  if (!document.ok()) {
    FUZZ_CHECK(document.status().code == Code::format && document.status().message.starts_with("fuzz: line "));
    FUZZ_CHECK(is_valid_utf8(document.status().message));
    return 0;
  }
  FUZZ_CHECK(is_valid_utf8(text));
  std::string once, twice;
  write(document->root(), once);
  const auto again = JsonDocument::parse(once, "again");
  FUZZ_CHECK(again.ok());
  write(again->root(), twice);
  FUZZ_CHECK(once == twice);
  return 0;
}
