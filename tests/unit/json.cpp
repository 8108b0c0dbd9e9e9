// The JSON reader: what it takes, what it refuses and where, and its bounds.
#include "src/formats/json.h"
#include "tests/support/processor_time.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace inlay {
namespace {

Result<JsonDocument> parse(std::string text, const JsonLimits& limits = {}) {
  return JsonDocument::parse(std::move(text), "test.json", limits);
}

JsonDocument good(std::string text) {
  auto document = parse(std::move(text));
  EXPECT_TRUE(document.ok()) << document.status().message;
  return document.ok() ? *std::move(document) : *parse("null");
}

std::string refusal(const std::string& text) {
  const auto document = parse(text);
  EXPECT_FALSE(document.ok()) << text;
  EXPECT_EQ(document.status().code, Code::format) << text;
  return document.status().message;
}

TEST(Json, Scalars) {
  EXPECT_TRUE(good("null").root().is_null());
  EXPECT_TRUE(*good(" true ").root().as_bool());
  EXPECT_FALSE(*good("false").root().as_bool());
  EXPECT_EQ(*good("\t\r\n -12 ").root().as_i64(), -12);
  EXPECT_EQ(*good("-0").root().as_u64(), 0u);
  EXPECT_EQ(*good("18446744073709551615").root().as_u64(), UINT64_MAX);
  EXPECT_EQ(*good("-9223372036854775808").root().as_i64(), INT64_MIN);
  EXPECT_DOUBLE_EQ(*good("-1.25e+2").root().as_f64(), -125);
  EXPECT_DOUBLE_EQ(*good("0.1").root().as_f64(), 0.1);
  EXPECT_EQ(good("1.50E1").root().number_text(), "1.50E1");
  EXPECT_EQ(*good("\"\"").root().as_string(), "");
}

TEST(Json, Strings) {
  EXPECT_EQ(*good(R"("a\"\\\/\b\f\n\r\tz")").root().as_string(), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(*good(R"("\u0041\u00e9\u20AC\ud83d\ude00|")").root().as_string(), "A\u00E9\u20AC\U0001F600|");
  EXPECT_EQ(*good("\"caf\u00E9 \U0001F600\"").root().as_string(), "caf\u00E9 \U0001F600");
  EXPECT_EQ(*good(R"("\u0000")").root().as_string(), std::string_view("\0", 1));
}

TEST(Json, Containers) {
  const JsonDocument document = good(R"({"a": [1, [], {"b": "x"}], "": {}, "c": null, "d\n": [[2]]})");
  const JsonValue root = document.root();
  ASSERT_TRUE(root.is_object());
  EXPECT_EQ(root.size(), 4u);
  std::vector<std::string> keys;
  const auto members = root.as_object();
  ASSERT_TRUE(members.ok());
  for (const JsonMember& member : *members) keys.emplace_back(member.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"a", "", "c", "d\n"}));
  std::vector<JsonType> types;
  const auto elements = root.find("a")->as_array();
  ASSERT_TRUE(elements.ok());
  EXPECT_EQ(elements->size(), 3u);
  for (const JsonValue element : *elements) types.push_back(element.type());
  EXPECT_EQ(types, (std::vector<JsonType>{JsonType::number, JsonType::array, JsonType::object}));
  EXPECT_EQ(root.elements().size(), 0u);
  EXPECT_FALSE(root.elements().begin() != root.elements().end());
  EXPECT_FALSE(root.find("a")->members().begin() != root.find("a")->members().end());
  EXPECT_FALSE(root.find("b").has_value());
  EXPECT_FALSE(root.find("a")->find("b").has_value());
  EXPECT_EQ(*root.string_or("c", "fallback"), "fallback");
  EXPECT_EQ(*root.i64_or("absent", 7), 7);
  EXPECT_FALSE(root.bool_or("a", true).ok());
  EXPECT_DOUBLE_EQ(*root.f64_or("absent", 0.5), 0.5);
}

TEST(Json, TheDocumentMayMove) {
  JsonDocument first = good(R"({"a": "text"})");
  const JsonValue value = *first.root().find("a");
  const JsonDocument second = std::move(first);
  EXPECT_EQ(*value.as_string(), "text");
  EXPECT_EQ(value.path(), "a");
}

TEST(Json, ErrorsOfTypeNameThePlace) {
  const JsonDocument document = good(R"({"model": {"vocab": [0, {"id": "x"}], "n": 1.5, "big": 1e999}})");
  const JsonValue model = *document.root().find("model");
  const JsonValue second = *++model.find("vocab")->elements().begin();
  EXPECT_EQ(second.find("id")->as_u64().status().message,
            "test.json: model.vocab[1].id is 'x', expected a whole number of 64 bits, 0 or above");
  EXPECT_EQ(model.find("n")->as_i64().status().message,
            "test.json: model.n is 1.5, expected a whole number of 64 bits");
  EXPECT_EQ(model.as_string().status().message, "test.json: model is an object, expected a string");
  EXPECT_EQ(document.root().as_array().status().message, "test.json: the document is an object, expected an array");
  EXPECT_EQ(model.get("merges").status().message, "test.json: model has no 'merges'");
  EXPECT_FALSE(model.find("big")->as_f64().ok());
  EXPECT_FALSE(good("-1").root().as_u64().ok());
  EXPECT_FALSE(good("9223372036854775808").root().as_i64().ok());
  EXPECT_FALSE(good("18446744073709551616").root().as_u64().ok());
  EXPECT_FALSE(good("1e2").root().as_i64().ok());
  EXPECT_FALSE(good("\"true\"").root().as_bool().ok());
  EXPECT_FALSE(good("true").root().as_f64().ok());
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "True",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "{\"a\" 1}",
                           "{\"a\":}",
                           "{1:2}",
                           "[1",
                           "{\"a\":1",
                           "[1}",
                           "01",
                           "+1",
                           "-",
                           ".5",
                           "1.",
                           "1e",
                           "1e+",
                           "0x10",
                           "NaN",
                           "Infinity",
                           "1 2",
                           "\"abc",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12G4\"",
                           "\"a\tb\"",
                           "\"a\nb\"",
                           "// c\n1",
                           "/**/1",
                           "[1]]",
                           "\xEF\xBB\xBF{}",
                           "\"\xFF\"",
                           "\"\xC0\x80\"",
                           "\"\xED\xA0\x80\"",
                           "\"\xE2\x82\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\ud800x\"",
                           "\"\\ud800\\ud800\"",
                           "\xA0 1"})
    EXPECT_TRUE(refusal(text).starts_with("test.json: line ")) << text;
  const std::string nul("1\0", 2);
  EXPECT_FALSE(refusal(nul).empty());
}

TEST(Json, RefusalsSayWhere) {
  EXPECT_EQ(refusal("{\n  \"a\": 1,\n  \"b\": tru\n}"), "test.json: line 3, byte 8: a value is expected");
  EXPECT_EQ(refusal("[\"\\n\\n\",\n 1 x]"), "test.json: line 2, byte 4: a comma or ] is expected");
  EXPECT_EQ(refusal("[1"), "test.json: line 1, byte 3: a comma or ] is expected");
}

TEST(Json, AKeyTwiceIsRefused) {
  EXPECT_EQ(refusal(R"({"a": 1, "b": 2, "\u0061": 3})"),
            "test.json: line 1, byte 30: the object that ends here has the key 'a' twice");
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  EXPECT_NE(refusal(many + "\"k500\":0}").find("'k500' twice"), std::string::npos);
  EXPECT_EQ(good(many + "\"last\":0}").root().size(), 1001u);
}

TEST(Json, Bounds) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parse(nested(64)).ok());
  EXPECT_NE(refusal(nested(65)).find("more than 64 deep"), std::string::npos);
  EXPECT_NE(refusal(std::string(10'000'000, '[')).find("deep"), std::string::npos);
  EXPECT_FALSE(parse("{\"a\":{\"b\":1}}", {.max_depth = 1}).ok());
  EXPECT_TRUE(parse("{\"a\":{\"b\":1}}", {.max_depth = 2}).ok());
  EXPECT_FALSE(parse("[1, 2]", {.max_bytes = 5}).ok());
  EXPECT_TRUE(parse("[1, 2]", {.max_bytes = 6}).ok());
}

// Sizes at which anything quadratic would take minutes.
TEST(Json, LargeTextsTakeLinearTime) {
  const double start = test::processor_seconds();
  std::string object = "{", array = "[";
  for (int i = 0; i < 400'000; ++i) {
    object += (i ? ",\"" : "\"") + std::to_string(i) + "\":{\"a\":[]}";
    array += i ? ",\"\\u00e9\"" : "\"\"";
  }
  EXPECT_EQ(good(object + "}").root().size(), 400'000u);
  EXPECT_EQ(good(array + "]").root().size(), 400'000u);
  const double seconds = test::processor_seconds() - start;
  EXPECT_LT(seconds, 20.0);
}

}  // namespace
}  // namespace inlay
