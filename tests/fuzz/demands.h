// Random demands of messages, each choice a byte of the input: JSON that is nearly always well formed, and now and then wrong in one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inlay::fuzz {

class DemandWriter {
 public:
  explicit DemandWriter(std::string_view choices) : choices_(choices) {}

  std::string write() {
    std::string out = "{";
    const auto add = [&](const std::string& member) { out += (out.size() > 1 ? ", " : "") + member; };
    const size_t n_tools = below(4);
    if (n_tools > 0 || one_in(8)) add("\"tools\": " + tools(n_tools));
    if (one_in(2)) add("\"tool_choice\": " + choice());
    if (one_in(3)) add(std::string("\"parallel_tool_calls\": ") + of({"true", "false", "null", "1"}));
    if (one_in(2)) add("\"response_format\": " + response_format());
    if (one_in(2)) add("\"reasoning\": " + of({"{\"max_tokens\": 0}", "{\"max_tokens\": 1}", "{\"max_tokens\": 5}", "{\"max_tokens\": null}", "{}", "null", "{\"max_tokens\": -1}", "3"}));
    if (one_in(40)) add("\"other\": 1");
    return out + "}";
  }

 private:
  uint8_t next() {
    if (choices_.empty()) return 0;
    const auto out = static_cast<uint8_t>(choices_[0]);
    choices_.remove_prefix(1);
    return out;
  }
  size_t below(size_t n) { return next() % n; }
  bool one_in(size_t n) { return !choices_.empty() && below(n) == 0; }
  std::string of(std::initializer_list<const char*> some) { return some.begin()[below(some.size())]; }

  std::string name() { return of({"now", "weather", "a_b-c", "x1", "a b", "\\u00e9", "f.g", "end"}); }

  std::string tools(size_t n) {
    std::string out = "[";
    for (size_t i = 0; i < n; ++i) {
      std::string inner = "{\"name\": \"" + name() + (one_in(2) ? std::to_string(i) : "") + "\"";
      if (!one_in(4)) inner += ", \"parameters\": " + parameters();
      inner += "}";
      out += (i > 0 ? ", " : "") + (one_in(3) ? inner : "{\"type\": \"function\", \"function\": " + inner + "}");
    }
    return out + "]";
  }

  std::string choice() {
    if (one_in(3)) return "{\"type\": \"function\", \"function\": {\"name\": \"" + name() + "\"}}";
    return of({"\"auto\"", "\"none\"", "\"required\"", "null", "\"any\""});
  }

  std::string response_format() {
    switch (below(4)) {
      case 0:
        return "{\"type\": \"json_object\"}";
      case 1:
        return of({"{\"type\": \"text\"}", "null", "{\"type\": \"xml\"}", "{}", "{\"type\": \"json_schema\"}"});
      default:
        return "{\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"schema\": " + schema(2) + "}}";
    }
  }

  std::string parameters() {
    std::string out = "{\"type\": \"object\", \"properties\": {", required;
    const size_t n = below(4);
    for (size_t i = 0; i < n; ++i) {
      const std::string key = "\"" + of({"city", "days", "a b", "x-y", "\\u00e9", "if"}) + std::to_string(i) + "\"";
      out += (i > 0 ? ", " : "") + key + ": " + schema(2);
      if (one_in(2)) required += (required.empty() ? "" : ", ") + key;
    }
    out += "}";
    if (!required.empty()) out += ", \"required\": [" + required + "]";
    if (one_in(2)) out += ", \"additionalProperties\": " + of({"false", "true", "{\"type\": \"integer\"}"});
    if (one_in(12)) out += ", " + of({"\"minProperties\": 1", "\"maxProperties\": 2", "\"patternProperties\": {\"^x\": {}}", "\"unevaluatedProperties\": false", "\"$ref\": \"#\""});
    return out + "}";
  }

  std::string schema(size_t depth) {
    switch (below(depth > 0 ? 12 : 8)) {
      case 0:
        return "{\"type\": \"boolean\"}";
      case 1:
        return "{\"type\": \"integer\", \"minimum\": " + of({"0", "-5", "10"}) + ", \"maximum\": " + of({"3", "20", "99"}) + "}";
      case 2:
        return "{\"type\": \"string\", \"maxLength\": " + of({"0", "3", "200"}) + "}";
      case 3:
        return "{\"type\": \"string\"}";
      case 4:
        return "{\"enum\": [" + of({"\"C\", \"F\"", "1, \"1\"", "true, null, 0.5", "\"a b\", \"\\u00e9\\n\"", "{}, []"}) + "]}";
      case 5:
        return "{\"const\": " + of({"\"x\"", "null", "[1, {\"a\": true}]", "-1.5"}) + "}";
      case 6:
        return "{\"type\": [\"string\", \"null\"]}";
      case 7:
        return of({"{}", "true", "{\"type\": \"number\"}", "{\"type\": \"string\", \"pattern\": \"^[a-c]+$\"}", "{\"type\": \"string\", \"format\": \"date\"}", "{\"type\": \"null\"}"});
      case 8:
        return "{\"type\": \"array\", \"items\": " + schema(depth - 1) + ", \"maxItems\": " + of({"0", "2", "9"}) + "}";
      case 9:
        return "{\"type\": \"object\", \"properties\": {\"x\": " + schema(depth - 1) + ", \"y\": " + schema(depth - 1) + "}, \"required\": [\"x\"], \"additionalProperties\": false}";
      case 10:
        return "{\"anyOf\": [" + schema(depth - 1) + ", " + schema(depth - 1) + "]}";
      default:
        return "{\"type\": \"object\"}";
    }
  }

  std::string_view choices_;
};

}  // namespace inlay::fuzz
