// Every case of the template fixtures: exact text, the message of raise_exception, or an error where the reference
// fails.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/template/template.h"

namespace inlay::tmpl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Value value_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return json.get<int64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      List list;
      for (const Json& item : json) list.items.push_back(value_of(item));
      return list;
    }
    case Json::value_t::object: {
      Map map;
      for (const auto& [key, item] : json.items()) map.set(Value(key), value_of(item));
      return map;
    }
    default:
      return {};
  }
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// 2025-03-04T09:05:07, the time of the fixtures
std::tm fixture_time() {
  std::tm now{};
  now.tm_year = 125, now.tm_mon = 2, now.tm_mday = 4, now.tm_hour = 9, now.tm_min = 5, now.tm_sec = 7;
  now.tm_wday = 2, now.tm_yday = 62;
  return now;
}

Result<std::string> render(const std::string& source, const Json& context) {
  auto parsed = Template::parse(source);
  if (!parsed.ok()) return parsed.status();
  return parsed->render(value_of(context).map(), fixture_time());
}

// Empty if the case passes.
std::string verdict(const std::string& source, const Json& test) {
  const auto out = render(source, test["context"]);
  if (test.contains("expected")) {
    if (!out.ok()) return "error: " + out.status().message;
    return *out == test["expected"].get<std::string>() ? "" : "wrote: " + *out;
  }
  if (out.ok()) return "should fail, but wrote: " + *out;
  const std::string& message = out.status().message;
  if (!message.starts_with("line ")) return "no place in: " + message;
  if (!test.contains("raised")) return "";
  const std::string wanted = "refuses the conversation: " + test["raised"].get<std::string>();
  return out.status().code == Code::invalid_argument && message.ends_with(wanted) ? "" : "wrong message: " + message;
}

const fs::path kFolder = fs::path(INLAY_FIXTURES_DIR) / "templates";
bool has_fixtures() { return !std::string_view(INLAY_FIXTURES_DIR).empty() && fs::exists(kFolder / "index.json"); }

TEST(TemplateConformance, EngineSnippets) {
  if (!has_fixtures()) GTEST_SKIP() << "no fixtures";
  const Json engine = Json::parse(read(kFolder / "engine.json"));
  ASSERT_EQ(engine["cases"].size(), 216u);
  for (const Json& test : engine["cases"])
    EXPECT_EQ(verdict(test["template"], test), "") << test["name"] << ": " << test["template"];
}

TEST(TemplateConformance, TemplatesOfModels) {
  if (!has_fixtures()) GTEST_SKIP() << "no fixtures";
  const Json index = Json::parse(read(kFolder / "index.json"));
  ASSERT_EQ(index["templates"].size(), 16u);
  for (const Json& entry : index["templates"]) {
    const fs::path folder = kFolder / entry["name"].get<std::string>();
    const std::string source = read(folder / "template.jinja");
    const Json cases = Json::parse(read(folder / "cases.json"))["cases"];
    EXPECT_EQ(cases.size(), entry["cases"].get<size_t>());
    for (const Json& test : cases) EXPECT_EQ(verdict(source, test), "") << entry["name"] << ": " << test["name"];
  }
}

// The comparison itself notices a wrong text, a missing error and another message.
TEST(TemplateConformance, VerdictSeesWhatIsWrong) {
  const auto judge = [](const char* source, const char* test) { return verdict(source, Json::parse(test)); };
  EXPECT_EQ(judge("{{ a }}", R"({"context": {"a": 1}, "expected": "1"})"), "");
  EXPECT_NE(judge("{{ a }}", R"({"context": {"a": 1}, "expected": "2"})"), "");
  EXPECT_NE(judge("{{ a }}", R"({"context": {"a": 1}, "engine_error": "TypeError"})"), "");
  EXPECT_EQ(judge("{{ raise_exception('x') }}", R"({"context": {}, "raised": "x"})"), "");
  EXPECT_NE(judge("{{ raise_exception('x') }}", R"({"context": {}, "raised": "y"})"), "");
}

}  // namespace
}  // namespace inlay::tmpl
