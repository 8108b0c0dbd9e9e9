// Sources of 10 MB and those that multiply: each ends within limits of time and memory, with a constraint or an error that says what is too much.
#include <gtest/gtest.h>

#ifdef __linux__
#include <sys/resource.h>
#endif

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "tests/support/processor_time.h"
#include "tests/unit/constraint_vocabulary.h"

namespace inlay::constraint {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlower = 10, kLarger = 4;
constexpr size_t kBytes = 2'500'000;  // of which nearly all take the same ways
#else
constexpr int kSlower = 1, kLarger = 1;
constexpr size_t kBytes = 10'000'000;
#endif
constexpr double kMostSeconds = 30;              // of processor time; a release build takes 4 at most
constexpr size_t kMostMemory = 1'000'000'000;    // of the process, of which the text itself is a part

double most_seconds() { return kMostSeconds * kSlower * (std::getenv("INLAY_EMULATOR") != nullptr ? 20 : 1); }

std::string times(const std::string& part, size_t n_bytes = kBytes) {
  std::string out;
  while (out.size() < n_bytes) out += part;
  return out;
}

// Parts with a number in each, separated.
std::string numbered(const std::string& before, const std::string& behind, const std::string& separator, size_t n_bytes = kBytes) {
  std::string out;
  for (size_t i = 0; out.size() < n_bytes; ++i) out += (i > 0 ? separator : "") + before + std::to_string(i) + behind;
  return out;
}

std::string count_of(const std::string& before, const std::string& behind, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += (i > 0 ? "," : "") + before + std::to_string(i) + behind;
  return out;
}

enum class Kind { gbnf, schema, lenient, regex };

struct Hostile {
  const char* name;
  Kind kind;
  std::function<std::string()> text;
  const char* error;  // a part of it; empty: there is none, and `accepted` may be written
  const char* accepted = "";
  bool only_whole = false;  // a quarter of it is within the limits
};

const Hostile kHostile[] = {
    {"gbnf_text", Kind::gbnf, [] { return "root ::= \"" + times("a") + "\""; }, "too large"},
    {"gbnf_rules", Kind::gbnf, [] { return "root ::= r0\n" + numbered("r", " ::= \"a\"", "\n"); }, "", "a"},
    {"gbnf_chain", Kind::gbnf, [] {
       std::string out = "root ::= r0\n";
       size_t i = 0;
       for (; out.size() < kBytes; ++i) out += "r" + std::to_string(i) + " ::= \"a\" r" + std::to_string(i + 1) + "\n";
       return out + "r" + std::to_string(i) + " ::= \"b\"\n";
     }, "", "aaa"},
    {"gbnf_left_chain", Kind::gbnf, [] {
       std::string out = "root ::= r0\n";
       size_t i = 0;
       for (; out.size() < kBytes; ++i) out += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + " \"a\"\n";
       return out + "r" + std::to_string(i) + " ::= \"b\"\n";
     }, "too large", "", true},
    {"gbnf_alternatives", Kind::gbnf, [] { return "root ::= " + numbered("\"a", "\"", "|"); }, "too large"},
    {"gbnf_nullable", Kind::gbnf, [] { return "root ::= " + times("a* ") + "\na ::= \"x\"?"; }, "too large"},
    {"gbnf_texts", Kind::gbnf, [] { return "root ::= " + times("\"ab\" "); }, "too large"},
    {"gbnf_30000_nullable", Kind::gbnf, [] { return "root ::= " + times("a* ", 90'000) + "\na ::= \"x\"?"; }, "", "x"},
    {"gbnf_groups", Kind::gbnf, [] { return "root ::= " + times("("); }, "groups nested too deeply"},
    {"gbnf_class", Kind::gbnf, [] { return "root ::= [" + times("a-zA-Z") + "]"; }, "", "q"},
    {"gbnf_comment", Kind::gbnf, [] { return "root ::= \"a\" #" + times("x"); }, "", "a"},
    {"gbnf_larger", Kind::gbnf, [] { return "root ::= \"" + times("a", 17'000'000) + "\""; }, "the limit is 16777216"},
    {"schema_5000_properties", Kind::schema, [] { return "{\"type\":\"object\",\"properties\":{" + count_of("\"k", "\":{}", 5'000) + "}}"; }, "", "{\"k0\":1"},
    {"schema_20000_required", Kind::schema, [] { return "{\"type\":\"object\",\"required\":[" + count_of("\"k", "\"", 20'000) + "]}"; }, "", "{\"k0\":1"},
    {"schema_20000_of_any", Kind::schema, [] { return "{\"anyOf\":[" + count_of("{\"type\":\"object\",\"required\":[\"k", "\"]}", 20'000) + "]}"; }, "too large"},
    {"schema_20000_of_one", Kind::schema, [] { return "{\"oneOf\":[" + count_of("{\"const\":", "}", 20'000) + "]}"; }, "too large"},
    {"schema_20000_in_parts", Kind::schema, [] { return "{\"type\":\"object\",\"allOf\":[" + count_of("{\"properties\":{\"k", "\":{}}}", 20'000) + "]}"; }, "too large"},
    {"schema_5000_formats", Kind::schema, [] { return "{\"type\":\"object\",\"properties\":{" + count_of("\"k", "\":{\"format\":\"none\"}", 5'000) + "}}"; }, "", "{\"k0\":1"},
    {"schema_description", Kind::schema, [] { return "{\"description\":\"" + times("a") + "\"}"; }, "", "1"},
    {"schema_enum", Kind::schema, [] { return "{\"enum\":[" + numbered("\"v", "\"", ",") + "]}"; }, "", "\"v1"},
    {"schema_enum_of_numbers", Kind::schema, [] { return "{\"enum\":[" + numbered("", "", ",") + "]}"; }, "too large", "", true},
    {"schema_enum_twice", Kind::schema, [] { return "{\"enum\":[" + numbered("\"v", "\"", ",", kBytes / 2) + "],\"allOf\":[{\"enum\":[" + numbered("\"w", "\"", ",", kBytes / 2) + "]}]}"; },
     "enum or const beside others of too many values"},
    {"schema_const", Kind::schema, [] { return "{\"const\":{" + numbered("\"k", "\":1", ",") + "}}"; }, "too large"},
    {"schema_const_twice", Kind::schema, [] {
       const std::string same = "{" + numbered("\"k", "\":1", ",", kBytes / 2) + "}";
       return "{\"const\":" + same + ",\"allOf\":[{\"const\":" + same + "}]}";
     }, "too large"},
    {"schema_required", Kind::schema, [] { return "{\"type\":\"object\",\"required\":[" + numbered("\"k", "\"", ",") + "]}"; }, "too large"},
    {"schema_properties", Kind::schema, [] { return "{\"type\":\"object\",\"properties\":{" + numbered("\"k", "\":{}", ",") + "}}"; }, "too large"},
    {"schema_properties_in_parts", Kind::schema, [] { return "{\"type\":\"object\",\"allOf\":[" + numbered("{\"properties\":{\"k", "\":{}}}", ",") + "]}"; }, "too large"},
    {"schema_all_of_nothing", Kind::schema, [] { return "{\"allOf\":[" + times("{},") + "{}]}"; }, "too large"},
    {"schema_any_of_constants", Kind::schema, [] { return "{\"anyOf\":[" + numbered("{\"const\":", "}", ",") + "]}"; }, "too large"},
    {"schema_any_beside_all", Kind::schema, [] { return "{\"allOf\":[" + times("{\"title\":\"t\"},", kBytes / 2) + "{}],\"anyOf\":[" + times("{\"title\":\"t\"},", kBytes / 2) + "{}]}"; }, "too large"},
    {"schema_one_of_constants", Kind::schema, [] { return "{\"oneOf\":[" + numbered("{\"const\":", "}", ",") + "]}"; }, "too large"},
    {"schema_references", Kind::schema, [] { return "{\"allOf\":[" + numbered("{\"$ref\":\"#/$defs/d", "\"}", ",", kBytes / 2) + "],\"$defs\":{" + numbered("\"d", "\":{}", ",", kBytes / 2) + "}}"; }, "too large"},
    {"schema_anchors", Kind::schema, [] { return "{\"allOf\":[" + times("{\"$ref\":\"#a\"},", kBytes / 2) + "{\"$ref\":\"#a\"}],\"x\":[" + times("0,", kBytes / 2) + "{\"$anchor\":\"a\"}]}"; }, "too large"},
    {"schema_remarks", Kind::lenient, [] { return "{\"type\":\"object\",\"properties\":{" + numbered("\"k", "\":{\"uniqueItems\":true}", ",") + "}}"; }, "too large"},
    {"schema_dependencies", Kind::schema, [] { return "{\"type\":\"object\",\"dependentRequired\":{" + numbered("\"k", "\":[\"z\"]", ",") + "}}"; }, "too large"},
    {"schema_deep_text", Kind::schema, [] { return times("{\"items\":"); }, "nest"},
    {"schema_deep", Kind::schema, [] {
       std::string out = "{}";
       for (int i = 0; i < 190; ++i) out = "{\"type\":\"array\",\"items\":" + out + "}";
       return out;
     }, "", "[[[[]]]]"},
    {"schema_pattern", Kind::schema, [] { return "{\"type\":\"string\",\"pattern\":\"" + times("a?") + "\"}"; }, "too large"},
    // 2^40 sets: one of the two branches each
    {"schema_two_to_the_40th", Kind::schema, [] { return "{\"type\":\"object\",\"allOf\":[" + count_of("{\"anyOf\":[{\"required\":[\"a", "\"]},{\"required\":[\"b\"]}]}", 40) + "]}"; }, "too large"},
    {"schema_two_to_the_40th_of_members", Kind::schema, [] {
       return "{\"type\":\"object\",\"allOf\":[" + count_of("{\"anyOf\":[{\"properties\":{\"a", "\":{\"type\":\"null\"}}},{\"properties\":{\"b\":{\"minLength\":2}}}]}", 40) + "]}";
     }, "too large"},
    {"schema_one_of_many", Kind::schema, [] { return "{\"type\":\"object\",\"oneOf\":[" + count_of("{\"required\":[\"a", "\"]}", 200) + "]}"; }, "too large"},
    {"schema_conditions", Kind::schema, [] {
       return "{\"type\":\"object\",\"allOf\":[" + count_of("{\"if\":{\"required\":[\"a", "\"]},\"then\":{\"minProperties\":1},\"else\":{\"maxProperties\":9}}", 40) + "]}";
     }, "too large"},
    {"schema_dead_last", Kind::schema, [] {
       return "{\"type\":\"object\",\"properties\":{" + count_of("\"k", "\":{}", 5'000) + ",\"z\":false},\"required\":[" + count_of("\"k", "\"", 5'000) + ",\"z\"]}";
     }, "properties.z: nothing can match"},
    {"schema_dead_deep", Kind::schema, [] {
       std::string out = "false";
       for (int i = 0; i < 60; ++i) out = "{\"type\":\"object\",\"properties\":{\"a\":" + out + "},\"required\":[\"a\"]}";
       return out;
     }, "a: nothing can match"},
    {"schema_dead_beside_large_ones", Kind::schema, [] {
       return "{\"type\":\"object\",\"properties\":{" + count_of("\"k", "\":{\"$ref\":\"#/$defs/a\"}", 500) + ",\"z\":false},\"required\":[" + count_of("\"k", "\"", 500) +
              ",\"z\"],\"$defs\":{\"a\":{\"type\":\"object\",\"properties\":{" + count_of("\"k", "\":{\"$ref\":\"#/$defs/a\"}", 500) + "}}}}";
     }, "properties.z: nothing can match"},
    {"schema_dead_chain", Kind::schema, [] {
       std::string out = "{\"$ref\":\"#/$defs/d0\",\"$defs\":{";
       for (int i = 0; i < 3'000; ++i) out += "\"d" + std::to_string(i) + "\":{\"$ref\":\"#/$defs/d" + std::to_string(i + 1) + "\"},";
       return out + "\"d3000\":false}}";
     }, "nothing can match"},
    {"regex_text", Kind::regex, [] { return times("abc"); }, "too large"},
    {"regex_alternatives", Kind::regex, [] { return numbered("a", "", "|"); }, "too large"},
    {"regex_optional", Kind::regex, [] { return times("a?"); }, "too large"},
    {"regex_stars", Kind::regex, [] { return times("[a-z]*b"); }, "too large", "", true},
    {"regex_groups", Kind::regex, [] { return times("("); }, "groups nested too deeply"},
    {"regex_counts", Kind::regex, [] { return times("(a{1000}b?){1000}"); }, "too large", "", true},
    {"regex_class", Kind::regex, [] { return "[" + times("a-zA-Z\\u0400-\\u04ff") + "]"; }, "", "q"},
};

std::ostream& operator<<(std::ostream& out, const Hostile& one) { return out << one.name; }

Result<std::shared_ptr<const Constraint>> made(const Hostile& one, std::string text) {
  const auto of_grammar = [](Result<Grammar> grammar) -> Result<std::shared_ptr<const Constraint>> {
    if (!grammar.ok()) return grammar.status();
    return Constraint::make(*std::move(grammar), byte_vocabulary());
  };
  if (one.kind == Kind::gbnf) return of_grammar(compile_gbnf(text, {}));
  if (one.kind == Kind::regex) return of_grammar(compile_regex(text));
  SchemaOptions options;
  options.lenient = one.kind == Kind::lenient;
  INLAY_ASSIGN(CompiledSchema compiled, compile_json_schema(std::move(text), options));
  return Constraint::make(std::move(compiled.grammar), byte_vocabulary());
}

size_t most_memory() {
#ifdef __linux__
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<size_t>(used.ru_maxrss) * 1024;
#else
  return 0;
#endif
}

class ConstraintHostile : public ::testing::TestWithParam<Hostile> {};

TEST_P(ConstraintHostile, EndsWithinItsLimits) {
  const Hostile& one = GetParam();
  const double begin = test::processor_seconds();
  const auto constraint = made(one, one.text());
  const double compiled = test::processor_seconds() - begin;
  EXPECT_EQ(constraint.ok(), *one.error == '\0') << constraint.status().message;
  if (!constraint.ok()) {
    EXPECT_TRUE(constraint.status().code == Code::unsupported || constraint.status().code == Code::format);
    EXPECT_NE(constraint.status().message.find(one.error), std::string::npos) << constraint.status().message.substr(0, 300);
    EXPECT_LT(constraint.status().message.size(), 1000u);
  } else {
    ConstraintState state(*constraint);
    std::vector<uint32_t> mask(byte_vocabulary()->mask_words());
    for (const char byte : std::string_view(one.accepted)) {
      ASSERT_TRUE(state.mask(mask).ok());
      ASSERT_TRUE(mask[static_cast<size_t>(byte) / 32] >> (byte % 32) & 1) << state.text();
      ASSERT_TRUE(state.accept_bytes({&byte, 1}).ok());
    }
    EXPECT_FALSE(state.is_dead());
    EXPECT_LT((*constraint)->memory(), size_t{400} << 20);
  }
  const double seconds = test::processor_seconds() - begin;
  std::printf("%-36s %6.2f s to compile, %6.2f s in all, %5zu MB: %s\n", one.name, compiled, seconds, most_memory() / 1'000'000,
              constraint.ok() ? "a constraint" : constraint.status().message.substr(0, 120).c_str());
  EXPECT_LT(seconds, most_seconds());
  EXPECT_LT(most_memory(), kMostMemory * kLarger);
}

std::vector<Hostile> of_this_size() {
  std::vector<Hostile> out;
  for (const Hostile& one : kHostile) {
    if (kSlower == 1 || !one.only_whole) out.push_back(one);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(, ConstraintHostile, ::testing::ValuesIn(of_this_size()), [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace inlay::constraint
