// JSON in: what its reader takes is bounded.
#include "examples/server/json.h"

#include <gtest/gtest.h>

namespace inlay::server {

namespace {

std::string object(size_t n_members) {
  std::string out;
  for (size_t i = 0; i < n_members; ++i) out += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":"a:b:\"c:{[")";
  return "{" + out + "}";
}

std::string refusal_of(const std::string& text) {
  Json value;
  std::string reason;
  return parse_json(text, value, reason) ? "" : reason;
}

TEST(JsonTest, ObjectsHaveFewMembers) {
  const std::string most = object(1024), too_many = object(1025), reason = "the body has an object of more than 1024 members";
  EXPECT_EQ(refusal_of(most), "");
  EXPECT_EQ(refusal_of("[" + most + "," + most + ",{\"x\":" + most + ",\"y\":" + most + "}]"), "");
  for (const std::string& text : {too_many, "[" + most + "," + too_many + "]", "{\"x\":[" + too_many + "]}"}) EXPECT_EQ(refusal_of(text), reason);
}

TEST(JsonTest, ValuesNestAFewLevels) {
  EXPECT_EQ(refusal_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(refusal_of(std::string(65, '[') + std::string(65, ']')), "the body nests deeper than 64 levels");
  for (const char* text : {"]", "}:{", ":", "[}]", "{\"a\":}", "\"\\"}) EXPECT_EQ(refusal_of(text), "the body is not JSON in UTF-8") << text;
}

}  // namespace

}  // namespace inlay::server
