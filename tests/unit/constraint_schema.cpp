// JSON Schema: which texts a schema lets through, and which schemas are refused, with what message.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/json_schema.h"
#include "tests/unit/constraint_vocabulary.h"

namespace inlay::constraint {
namespace {

enum class Verdict { refused, prefix, complete };

Verdict verdict(const std::shared_ptr<const Constraint>& constraint, const std::string& text) {
  ConstraintState state(constraint);
  EXPECT_TRUE(state.accept_bytes(text).ok());
  return state.is_dead() ? Verdict::refused : state.is_complete() ? Verdict::complete : Verdict::prefix;
}

std::shared_ptr<const Constraint> compiled(const std::string& schema, const SchemaOptions& options = {}) {
  auto grammar = compile_json_schema(schema, options);
  EXPECT_TRUE(grammar.ok()) << schema << ": " << grammar.status().message;
  if (!grammar.ok()) return nullptr;
  auto made = Constraint::make(std::move(grammar->grammar), byte_vocabulary());
  EXPECT_TRUE(made.ok()) << schema << ": " << made.status().message;
  return made.ok() ? *made : nullptr;
}

struct Case {
  const char* schema;
  std::vector<const char*> accepted, refused;
};

const Case kCases[] = {
    {R"({"type":"null"})", {"null"}, {"nul", "true", " null", "null "}},
    {R"(true)", {"{}", "[1, \"a\"]", "-0.5e+3", "{\"a\":{\"\":[]}}"}, {"01", "{a:1}", "[1,]", "\"\t\"", "+1", ".5", "1."}},
    {R"({"type":"integer","minimum":-17,"maximum":203})",
     {"-17", "0", "9", "99", "200", "203"}, {"-18", "204", "210", "1000", "1.0", "007", "-20"}},
    {R"({"type":"number","minimum":0.25,"exclusiveMaximum":10})",
     {"0.25", "0.3", "1", "9.999", "9", "0.250"}, {"0.2", "0.24999", "10", "10.0", "-1", "0", "0.2e1"}},
    {R"({"type":"number","exclusiveMinimum":-1.5,"maximum":-0.75})", {"-1.4999", "-1", "-0.75", "-0.8"}, {"-1.5", "-0.7", "-2", "0", "1"}},
    {R"({"type":"integer","multipleOf":12})", {"0", "12", "-24", "144"}, {"1", "13", "-25"}},
    {R"({"type":"number","multipleOf":0.01})", {"0.5", "1", "2.25", "7.250"}, {"0.125", "1e2"}},
    {R"({"type":"string","minLength":2,"maxLength":3})", {"\"ab\"", "\"\u00e9\u20ac\U0001F600\"", "\"\\n\\\\\""}, {"\"a\"", "\"abcd\""}},
    {R"({"type":"string","pattern":"^a+b$|c"})", {"\"aab\"", "\"xxcyy\""}, {"\"aabx\"", "\"b\""}},
    {R"({"type":"string","pattern":"^[\"\\\\]$"})", {"\"\\\"\"", "\"\\\\\""}, {"\"\"\"", "\"a\""}},
    {R"({"type":"string","format":"date"})", {"\"2024-02-29\"", "\"1999-12-31\""}, {"\"2023-02-29\"", "\"1999-04-31\"", "\"1900-02-29\""}},
    {R"({"type":"string","format":"uri-template"})", {"\"\"", "\"http://a/{x,y.z:3}{?q*}%20é\"", "\"{+a}\""}, {"\"{\"", "\"{}\"", "\"a}\"", "\"{a:0}\"", "\"%2\"", "\"a b\""}},
    {R"({"type":"string","format":"json-pointer"})", {"\"\"", "\"/a~0b/~1\"", "\"/\""}, {"\"a\"", "\"/~2\"", "\"/~\""}},
    {R"({"type":"string","format":"relative-json-pointer"})", {"\"0\"", "\"12/a\"", "\"1#\""}, {"\"\"", "\"01\"", "\"/a\"", "\"1#/a\""}},
    {R"({"enum":["a","ab",1,null,{"x":[true]}]})", {"\"a\"", "\"ab\"", "1", "null", "{\"x\": [true]}"}, {"\"abc\"", "2", "{\"x\":[false]}"}},
    {R"({"type":"string","enum":["a",1,"bcd"],"maxLength":2})", {"\"a\""}, {"1", "\"bcd\""}},
    {R"({"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":2})", {"[1]", "[1, 2]", "[1,2]"}, {"[]", "[1,2,3]", "[true]"}},
    {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"null"}],"items":false})", {"[]", "[1]", "[1,null]"}, {"[null]", "[1,null,1]"}},
    {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["b"],"additionalProperties":false})",
     {R"({"a":1,"b":2})", R"({"b":2})", "{ \"b\": 2 }", "{\n  \"a\": 1,\n  \"b\": 2\n}"},
     {R"({"a":1})", R"({})", R"({"b":2,"a":1})", R"({"b":2,"c":1})", R"({"a":1,"a":1,"b":2})"}},
    {R"({"properties":{"a":{"type":"integer"}},"required":["z"]})",
     {R"({"a":1,"z":true})", R"({"z":[]})", R"({"z":1,"other":1,"ab":2})", "3"}, {R"({"z":1,"a":1})", R"({"a":"x","z":1})", R"({"z":1,"\u0061":1})"}},
    {R"({"type":"object","patternProperties":{"^x":{"type":"integer"},"y$":{"minimum":5}},"additionalProperties":false})",
     {R"({"xa":1,"by":7,"xy":6})", "{}"}, {R"({"xy":1})", R"({"a":1})", R"({"x":"s"})"}},
    {R"({"type":"object","propertyNames":{"maxLength":2},"maxProperties":2})", {R"({"ab":1,"c":2})"}, {R"({"abc":1})", R"({"a":1,"b":2,"c":3})"}},
    {R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"minProperties":2,"additionalProperties":false})",
     {R"({"a":1,"c":2})", R"({"b":1,"c":2})"}, {R"({"a":1})", R"({"c":1})"}},
    // Other keys count as one: they could be the same.
    {R"({"type":"object","minProperties":1})", {R"({"x":1})", R"({"x":1,"y":2})"}, {"{}", R"({"x":1,})"}},
    {R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"minProperties":2})",
     {R"({"a":1,"c":2})", R"({"a":1,"x":2})", R"({"c":1,"x":2,"x":3})"}, {R"({"a":1})", R"({"x":1})", R"({"x":1,"x":2})", R"({"x":1,"y":2})"}},
    {R"({"type":"object","properties":{"a":{},"b":{}},"required":["z"],"minProperties":4,"maxProperties":4})",
     {R"({"a":1,"b":2,"z":3,"x":4})"}, {R"({"a":1,"b":2,"z":3})", R"({"a":1,"z":3,"x":1,"x":4})", R"({"b":1,"z":3,"x":1,"y":4})", R"({"a":1,"b":2,"z":3,"x":4,"y":5})"}},
    {R"({"type":"object","properties":{"a":{},"b":false},"minProperties":2})", {R"({"a":1,"x":2})"}, {R"({"a":1,"b":2})", R"({"x":1,"x":2})", R"({"x":1,"y":2})"}},
    {R"({"type":"object","patternProperties":{"^x":{"type":"integer"}},"additionalProperties":{"type":"null"},"required":["a"],"minProperties":2})",
     {R"({"a":null,"x":1})", R"({"a":null,"y":null})"}, {R"({"a":null})", R"({"x":1,"y":null})"}},
    // Objects of both branches have other keys alone, and are looked for as if these were told apart.
    {R"({"oneOf":[{"type":"object","properties":{"a":{"type":"object","properties":{"q":{"type":"integer"}},"required":["q"]}},"minProperties":2},)"
     R"({"type":"object","properties":{"a":{"type":"object","properties":{"q":{"type":"null"}},"required":["q"]}}}]})",
     {R"({"x":1})", R"({"a":{"q":null},"x":1})", R"({"a":{"q":1},"x":1})", "{}"}, {R"({"x":1,"y":2})", R"({"x":1,"x":2})", R"({"a":{"q":1}})"}},
    {R"({"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}}]})", {"[]", "[[\"a\"],\"b\"]"}, {"[1]", "1"}},
    {R"({"oneOf":[{"type":"integer","multipleOf":2},{"type":"integer","multipleOf":3}]})", {"2", "3", "4", "9"}, {"6", "12", "1", "0"}},
    {R"({"oneOf":[{"required":["a"]},{"required":["b"]}],"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false})",
     {R"({"a":1})", R"({"b":1})"}, {R"({"a":1,"b":1})", "{}"}},
    {R"({"allOf":[{"properties":{"a":{"minimum":1}}},{"properties":{"a":{"maximum":3,"type":"integer"}}}],"type":"object","additionalProperties":false})",
     {R"({})"}, {R"({"a":2})"}},
    {R"({"allOf":[{"properties":{"a":{"minimum":1}}},{"properties":{"a":{"maximum":3,"type":"integer"}}}],"type":"object","required":["a"]})",
     {R"({"a":2})"}, {R"({"a":0})", R"({"a":4})", R"({"a":"x"})"}},
    {R"({"not":{"type":["object","array"]},"type":["object","string","integer"]})", {"1", "\"\""}, {"{}"}},
    {R"({"type":"string","not":{"enum":["a","b"]}})", {"\"c\"", "\"ab\"", "\"\""}, {"\"a\"", "\"b\""}},
    {R"({"type":"object","properties":{"t":{"enum":["x","y"]},"v":{}},"required":["t"],"if":{"properties":{"t":{"const":"x"}}},"then":{"required":["v"]},"additionalProperties":false})",
     {R"({"t":"x","v":1})", R"({"t":"y"})", R"({"t":"y","v":2})"}, {R"({"t":"x"})"}},
    {R"({"type":"object","dependentRequired":{"a":["b"]},"properties":{"a":{},"b":{}},"additionalProperties":false})",
     {R"({"a":1,"b":1})", R"({"b":1})", "{}"}, {R"({"a":1})"}},
    {R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"n":{"$ref":"#/$defs/n"}},"required":["v"],"additionalProperties":false}}})",
     {R"({"v":1,"n":{"v":2,"n":{"v":3}}})"}, {R"({"v":1,"n":{}})"}},
    {R"({"allOf":[{"properties":{"first":{}}}],"properties":{"last":{}},"type":"object"})", {R"({"first":1,"last":2})"}, {R"({"last":2,"first":1})"}},
    {R"({"type":"array","uniqueItems":true,"items":{"enum":["a","b",1]}})",
     {"[]", R"(["a"])", R"(["b", "a", 1])", R"([1,"b"])"}, {R"(["a","a"])", R"(["a",1,"a"])", R"(["a","b",1,"a"])", R"(["c"])"}},
    {R"({"type":"array","uniqueItems":true,"items":{"type":["boolean","null"]},"minItems":2})",
     {"[true,false]", "[null,true,false]"}, {"[]", "[true]", "[true,true]", "[false,null,false]", "[true,false,null,true]"}},
    {R"({"type":"array","uniqueItems":true,"items":{"$ref":"#/$defs/v"},"maxItems":2,"$defs":{"v":{"oneOf":[{"const":1},{"const":12},{"type":"boolean"},{"const":true}]}}})",
     {"[1,12]", "[12,1]", "[false]"}, {"[1,1]", "[12,12]", "[true]", "[1,12,false]"}},
    {R"({"type":"array","uniqueItems":true,"items":{"enum":[1,1.0,2,{"a":[1],"b":2},{"b":2,"a":[1]}]}})",
     {R"([1,2,{"a":[1],"b":2}])"}, {R"([{"a":[1],"b":2},{"a":[1],"b":2}])", "[1,1.0]", R"([1,2,{"a":[1],"b":2},1])"}},
    {R"({"allOf":[{"uniqueItems":true},{"items":{"enum":["x","y","zz"]}},{"items":{"maxLength":1}}],"type":"array"})",
     {R"(["x","y"])", R"(["y"])"}, {R"(["zz"])", R"(["x","x"])"}},
    {R"({"type":"array","contains":{"const":1}})", {"[1]", "[0,1]", "[1,{},1,1]"}, {"[]", "[0]", "[11]"}},
    {R"({"type":"array","items":{"type":"integer"},"contains":{"minimum":5},"minContains":2,"maxContains":3,"maxItems":4})",
     {"[5,6]", "[1,5,9,2]", "[5,5,5]", "[0,7,7,7]"}, {"[5]", "[1,2,3]", "[5,5,5,5]", "[1,1,1,5]", "[5,5,\"x\"]", "[]"}},
    {R"({"type":"array","items":{"enum":["a","b"]},"contains":{"const":"a"},"minItems":3,"maxItems":3,"minContains":0,"maxContains":1})",
     {R"(["a","b","b"])", R"(["b","b","b"])"}, {R"(["a","b","a"])", R"(["b","b"])"}},
    {R"({"type":"array","items":{"const":2},"contains":{"const":2},"minContains":2,"maxContains":4,"minItems":3})", {"[2,2,2]", "[2,2,2,2]"}, {"[2,2]", "[2,2,2,2,2]"}},
    {R"({"contains":{"type":"string"},"minContains":0})", {"[]", "[1]", "3"}, {"[1,]"}},
    {R"({"minContains":4,"type":"array"})", {"[]"}, {"[,]"}},
    {R"({"type":"array","contains":false,"maxContains":3,"minContains":0})", {"[]", "[1,2,3,4]"}, {"[,]"}},
    {R"({"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"integer"}]},"contains":{"type":"integer"},"maxContains":1})",
     {"[1]", "[[1],2]", "[[[1],1],1]"}, {"[]", "[[1]]", "[[[1]],1]", "[1,1]", "[[],1]"}},
    {R"({"contains":{"const":1},"enum":[[1,2],[2],[1,1],"s"],"maxContains":1})", {"[1,2]", "\"s\""}, {"[2]", "[1,1]"}},
    {R"({"uniqueItems":true,"maxItems":1,"type":"array"})", {"[{}]", "[]"}, {"[1,2]"}},
    {R"({"uniqueItems":true,"enum":[[1,1],[1,2],[[1],[1]],"s"]})", {"[1,2]", "\"s\""}, {"[1,1]", "[[1],[1]]"}},
    {R"({"uniqueItems":true,"type":"string"})", {"\"s\""}, {"[]"}},
    {R"({"type":"object","properties":{"a":{"type":"null"}},"unevaluatedProperties":false})", {"{}", R"({"a":null})"}, {R"({"b":1})", R"({"a":1})", R"({"a":null,"b":1})"}},
    {R"({"allOf":[{"$ref":"#/$defs/p"},{"patternProperties":{"^x":{"type":"integer"}}}],"type":"object","properties":{"b":{}},"unevaluatedProperties":{"type":"boolean"},)"
     R"("$defs":{"p":{"properties":{"a":{"type":"null"}},"allOf":[{"properties":{"c":{}}}]}}})",
     {R"({"a":null,"c":1,"b":2,"x1":3,"other":true})", "{}", R"({"z":false})"}, {R"({"a":1})", R"({"x1":true})", R"({"other":1})"}},
    {R"({"properties":{"a":{}},"additionalProperties":{"type":"integer"},"unevaluatedProperties":false,"type":"object"})", {R"({"a":"s","b":1})"}, {R"({"b":"s"})"}},
    {R"({"type":"object","allOf":[{"properties":{"b":{}},"unevaluatedProperties":{"type":"null"}}],"unevaluatedProperties":false})", {R"({"b":1,"c":null})"}, {R"({"c":1})"}},
    {R"({"type":"object","properties":{"a":{},"t":{"enum":[1,2]}},"if":{"properties":{"t":{"const":1}}},"then":{"required":["a"]},"required":["t"],"unevaluatedProperties":false})",
     {R"({"a":0,"t":1})", R"({"t":2})"}, {R"({"t":1})", R"({"t":2,"b":1})"}},
    {R"({"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"maxProperties":0}],"not":{"properties":{"q":false},"required":["q"]},"unevaluatedProperties":false})",
     {R"({"a":1})", "{}"}, {R"({"q":1})", R"({"a":1,"q":1})"}},
    {R"({"type":"object","dependentRequired":{"a":["b"]},"properties":{"a":{},"b":{}},"unevaluatedProperties":false})", {R"({"a":1,"b":1})", "{}"}, {R"({"a":1})", R"({"c":1})"}},
    {R"({"properties":{"o":{"$ref":"#/$defs/o"}},"$defs":{"o":{"type":"object","properties":{"o":{"$ref":"#/$defs/o"}},"unevaluatedProperties":false}},"type":"object"})",
     {R"({"o":{"o":{}}})"}, {R"({"o":{"o":{"x":1}}})"}},
    {R"({"const":{"a":1,"b":2},"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":{"type":"integer"}})", {R"({"a":1,"b":2})"}, {"{}"}},
    {R"({"unevaluatedItems":false})", {"[]", "{}", "1"}, {"[1]"}},
    {R"({"type":"array","prefixItems":[{"type":"integer"}],"unevaluatedItems":{"type":"null"}})", {"[]", "[1]", "[1,null,null]"}, {"[null]", "[1,1]"}},
    {R"({"type":"array","allOf":[{"prefixItems":[{},{"type":"string"}]},{"$ref":"#/$defs/p"}],"unevaluatedItems":false,"$defs":{"p":{"prefixItems":[{"type":"integer"}]}}})",
     {"[]", "[1,\"s\"]"}, {"[1,\"s\",2]", "[\"s\"]", "[1,2]"}},
    {R"({"type":"array","items":{"type":"integer"},"unevaluatedItems":false})", {"[1,2]"}, {"[null]"}},
    {R"({"type":"array","allOf":[{"prefixItems":[{"type":"null"}],"unevaluatedItems":{"type":"integer"}}],"unevaluatedItems":false})", {"[null,1,2]"}, {"[1]", "[null,null]"}},
    {R"({"type":"array","prefixItems":[{},{}],"anyOf":[{"prefixItems":[{"const":1}]},{"maxItems":1}],"unevaluatedItems":false})", {"[1,2]", "[2]"}, {"[2,2]", "[1,2,3]"}},
    {R"({"const":[1,2],"allOf":[{"prefixItems":[{}]}],"unevaluatedItems":{"type":"integer"}})", {"[1,2]"}, {"[1]"}},
    {R"({"enum":[[1,"s"],[1,2]],"allOf":[{"prefixItems":[{}]}],"unevaluatedItems":{"type":"integer"}})", {"[1,2]"}, {"[1,\"s\"]"}},
    {R"({"$schema":"http://json-schema.org/draft-04/schema#","minimum":3,"exclusiveMinimum":true,"type":"integer"})", {"4"}, {"3"}},
};

TEST(ConstraintSchema, LetsThroughWhatTheSchemaSays) {
  for (const Case& one : kCases) {
    const auto constraint = compiled(one.schema);
    if (!constraint) continue;
    for (const char* text : one.accepted) EXPECT_EQ(verdict(constraint, text), Verdict::complete) << one.schema << " " << text;
    for (const char* text : one.refused) EXPECT_NE(verdict(constraint, text), Verdict::complete) << one.schema << " " << text;
  }
}

struct Refusal {
  const char* schema;
  Code code;
  const char* message;  // a part of it
};

const Refusal kRefusals[] = {
    {"{", Code::format, "schema: line 1"},
    {"[]", Code::format, "the document is an array, expected a schema"},
    {R"({"type":"text"})", Code::format, "type is 'text', expected null, boolean"},
    {R"({"properties":{"a":{"uniqueItems":true}}})", Code::unsupported, "properties.a.uniqueItems: uniqueItems is supported where"},
    {R"({"uniqueItems":true,"items":{"type":"string"}})", Code::unsupported, "uniqueItems: uniqueItems is supported where"},
    {R"({"uniqueItems":true,"prefixItems":[{"const":1}],"items":{"const":2}})", Code::unsupported, "uniqueItems is supported where"},
    {R"({"uniqueItems":true,"items":{"enum":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]}})", Code::unsupported, "at most 32 values"},
    {R"({"uniqueItems":1})", Code::format, "uniqueItems"},
    {R"({"minProperties":2})", Code::unsupported, "minProperties: minProperties is supported up to one more than the members that are named"},
    {R"({"items":{"properties":{"a":{}},"minProperties":3}})", Code::unsupported, "items.minProperties: minProperties is supported up to"},
    {R"({"properties":{"a":{},"b":false,"c":false},"minProperties":3})", Code::unsupported, "minProperties: minProperties is supported up to"},
    {R"({"patternProperties":{"^(a|b)$":{}},"additionalProperties":false,"minProperties":2})", Code::unsupported, "minProperties is supported up to"},
    {R"({"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}},"minProperties":4},{"minProperties":2}]})", Code::unsupported, "allOf[1].minProperties: minProperties"},
    {R"({"not":{"maxProperties":3}})", Code::unsupported, "minProperties is supported up to"},
    {R"({"not":{"uniqueItems":true}})", Code::unsupported, "uniqueItems is not supported where it must not hold"},
    {R"({"not":{"unevaluatedProperties":false}})", Code::unsupported, "unevaluatedProperties is not supported where it must not hold"},
    {R"({"items":{"contains":{},"prefixItems":[{}]}})", Code::unsupported, "items.contains: contains is not supported beside"},
    {R"({"contains":{},"allOf":[{"contains":{"type":"null"}}]})", Code::unsupported, "contains is not supported beside"},
    {R"({"contains":{},"uniqueItems":true,"items":{"enum":[1,2]}})", Code::unsupported, "contains is not supported beside"},
    {R"({"contains":{"additionalProperties":false},"maxContains":1})", Code::unsupported, "additionalProperties is not supported where it must not hold"},
    {R"({"not":{"contains":{}}})", Code::unsupported, "contains is not supported where it must not hold"},
    {R"({"contains":3})", Code::format, "contains"},
    {R"({"contains":{},"minContains":-1})", Code::format, "minContains"},
    {R"x({"pattern":"(?=a)"})x", Code::unsupported, "pattern: the pattern at byte 3: look-ahead"},
    {R"({"pattern":"a{2,1}"})", Code::format, "minimum is larger"},
    {R"({"$ref":"other.json"})", Code::unsupported, "$ref: \"other.json\" is another text"},
    {R"({"$ref":"#/nowhere"})", Code::format, "names nothing in the schema"},
    {R"({"multipleOf":0.3})", Code::unsupported, "multipleOf"},
    {R"({"contains":{"type":"null"},"unevaluatedItems":false})", Code::unsupported, "unevaluatedItems: unevaluatedItems is supported where"},
    {R"({"prefixItems":[{}],"anyOf":[{"prefixItems":[{},{}]},{}],"unevaluatedItems":false})", Code::unsupported, "unevaluatedItems is supported where"},
    {R"({"if":{"items":{"type":"null"}},"unevaluatedItems":false})", Code::unsupported, "unevaluatedItems is supported where"},
    {R"({"not":{"unevaluatedItems":false}})", Code::unsupported, "unevaluatedItems is not supported where it must not hold"},
    {R"({"unevaluatedItems":3})", Code::format, "unevaluatedItems"},
    {R"({"properties":{"a":{}},"anyOf":[{"properties":{"b":{}}},{}],"unevaluatedProperties":false})", Code::unsupported, "unevaluatedProperties: unevaluatedProperties is supported where"},
    {R"({"oneOf":[{"additionalProperties":true,"required":["a"]},{"required":["b"]}],"unevaluatedProperties":false})", Code::unsupported, "unevaluatedProperties is supported where"},
    {R"({"if":{"properties":{"a":{}}},"unevaluatedProperties":false})", Code::unsupported, "unevaluatedProperties is supported where"},
    {R"({"if":{"patternProperties":{"a":{}}},"then":{},"unevaluatedProperties":false})", Code::unsupported, "unevaluatedProperties is supported where"},
    {R"({"dependentSchemas":{"a":{"properties":{"b":{}}}},"unevaluatedProperties":false})", Code::unsupported, "unevaluatedProperties is supported where"},
    {R"({"unevaluatedProperties":3})", Code::format, "unevaluatedProperties"},
};

TEST(ConstraintSchema, RefusesByNameAndPlace) {
  for (const Refusal& one : kRefusals) {
    const auto result = compile_json_schema(one.schema);
    ASSERT_FALSE(result.ok()) << one.schema;
    EXPECT_EQ(result.status().code, one.code) << one.schema << ": " << result.status().message;
    EXPECT_NE(result.status().message.find(one.message), std::string::npos) << one.schema << ": " << result.status().message;
  }
}

TEST(ConstraintSchema, LenientDropsAndRemarks) {
  SchemaOptions lenient;
  lenient.lenient = true;
  const auto result = compile_json_schema(R"({"type":"array","uniqueItems":true,"items":{"format":"no-such"}})", lenient);
  ASSERT_TRUE(result.ok()) << result.status().message;
  ASSERT_EQ(result->remarks.size(), 2u);
  EXPECT_NE((result->remarks[0] + result->remarks[1]).find("uniqueItems is supported where"), std::string::npos);
  EXPECT_NE((result->remarks[0] + result->remarks[1]).find("no-such"), std::string::npos);
  const char* const members = R"({"type":"object","properties":{"a":{"type":"object","minProperties":3}}})";
  EXPECT_FALSE(compile_json_schema(members).ok()) << "negative control: it is refused otherwise";
  const auto dropped = compile_json_schema(members, lenient);
  ASSERT_TRUE(dropped.ok()) << dropped.status().message;
  ASSERT_EQ(dropped->remarks.size(), 1u);
  EXPECT_EQ(dropped->remarks[0], "schema: properties.a.minProperties: minProperties is supported up to one more than the members that are named: other keys could be written twice; it was dropped");
  const auto left = compiled(members, lenient);
  EXPECT_EQ(verdict(left, R"({"a":{"x":1}})"), Verdict::complete);
  EXPECT_NE(verdict(left, R"({"a":{}})"), Verdict::complete) << "one member is left";
}

TEST(ConstraintSchema, NothingCanMatch) {
  constexpr const char* kWhole = "the document";
  const struct {
    const char *schema, *place;
  } kRows[] = {
      {"false", kWhole},
      {R"({"enum":[]})", kWhole},
      {R"({"allOf":[{"type":"string"},{"type":"null"}]})", kWhole},
      {R"({"type":"integer","minimum":3,"maximum":2})", kWhole},
      {R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})", "properties.a"},
      {R"({"type":"array","uniqueItems":true,"items":{"enum":[1,1.0,2]},"minItems":3})", kWhole},
      {R"({"type":"array","contains":{},"maxItems":2,"minContains":3})", kWhole},
      {R"({"type":"array","items":{"type":"null"},"contains":{"const":1}})", kWhole},
      {R"({"type":"array","items":{"const":1},"contains":{"const":1},"minItems":3,"maxContains":2})", kWhole},
      {R"({"type":"object","required":["a"],"unevaluatedProperties":false})", "unevaluatedProperties"},
      {R"({"type":"object","properties":{"ok":false,"deep":{"type":"integer","minimum":5,"maximum":3}},"required":["deep"]})", "properties.deep"},
      {R"({"type":"object","properties":{"a":{"type":"array","minItems":2,"prefixItems":[{}],"items":{"enum":[]}}},"required":["a"]})", "properties.a.items"},
      {R"({"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"allOf":[{},false]}}})", "$defs.a.allOf[1]"},
      {R"({"anyOf":[{"type":"object","properties":{"a":false},"required":["a"]},false]})", "anyOf[0].properties.a"},
      {R"({"type":"object","anyOf":[false,{}],"properties":{"a":false},"required":["a"]})", "properties.a"},
      {R"({"oneOf":[{"type":"null"},{"type":"null"}]})", kWhole},
      {R"({"allOf":[{"type":"object","properties":{"a":{"type":"null"}}},{"required":["a"],"properties":{"a":{"type":"string"}}}]})", "allOf[0].properties.a"},
  };
  for (const auto& row : kRows) {
    const auto result = compile_json_schema(row.schema);
    ASSERT_FALSE(result.ok()) << row.schema;
    EXPECT_EQ(result.status().code, Code::format);
    EXPECT_EQ(result.status().message, "schema: " + std::string(row.place) + ": nothing can match") << row.schema;
  }
  EXPECT_TRUE(compile_json_schema(R"({"type":"object","properties":{"a":false}})").ok()) << "a member that is never written is none that is needed";
}

TEST(ConstraintSchema, RemarksKeywordsThatAreNotKnown) {
  const auto result = compile_json_schema(R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"a","$comment":"b","title":"c","description":"d","default":1,"examples":[2],
    "deprecated":true,"readOnly":true,"writeOnly":true,"contentMediaType":"e","x-own":3,"$defs":{"f":{"typ":"unread"}},"type":"object","propertes":{"title":{}},
    "properties":{"requierd":{"type":"object","requierd":["a"]},"g":{"const":{"konst":1}}},"then":true,"minContains":1})");
  ASSERT_TRUE(result.ok()) << result.status().message;
  const std::vector<std::string> want = {"schema: propertes: the keyword is not known; it demands nothing",
                                         "schema: properties.requierd.requierd: the keyword is not known; it demands nothing"};
  EXPECT_EQ(result->remarks, want);
  // So many that each remark would be a large part of what a schema may take.
  std::string many = "{\"type\":\"null\"";
  for (int i = 0; i < 20'000; ++i) many += ",\"k" + std::to_string(i) + "\":1";
  const auto large = compile_json_schema(many + "}");
  ASSERT_TRUE(large.ok()) << large.status().message;
  EXPECT_EQ(large->remarks.size(), 100u);
}

}  // namespace
}  // namespace inlay::constraint
