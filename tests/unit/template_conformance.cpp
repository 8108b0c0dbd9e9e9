// Every case of tests/data/templates, and of the model vendors' templates if they are at hand: exact text, the message
// of raise_exception, or an error where the reference fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/template/template.h"
#include "tests/support/template_values.h"

namespace inlay::tmpl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Of a time written as 2025-03-04T09:05:07.
std::tm time_of(const std::string& text) {
  const auto number = [&](size_t at, size_t n) {
    int out = 0;
    std::from_chars(text.data() + at, text.data() + at + n, out);
    return out;
  };
  namespace chrono = std::chrono;
  const chrono::year_month_day date(chrono::year(number(0, 4)), chrono::month(static_cast<unsigned>(number(5, 2))),
                                    chrono::day(static_cast<unsigned>(number(8, 2))));
  const chrono::sys_days days(date);
  std::tm out{};
  out.tm_year = number(0, 4) - 1900, out.tm_mon = number(5, 2) - 1, out.tm_mday = number(8, 2);
  out.tm_hour = number(11, 2), out.tm_min = number(14, 2), out.tm_sec = number(17, 2);
  out.tm_wday = static_cast<int>(chrono::weekday(days).c_encoding());
  out.tm_yday = static_cast<int>((days - chrono::sys_days(date.year() / chrono::January / 1)).count());
  return out;
}

// Where the cases come from: a folder with index.json.
struct Set {
  fs::path folder;
  Json index, conversations;

  explicit Set(fs::path where) : folder(std::move(where)), index(Json::parse(read(folder / "index.json"))) {
    if (fs::exists(folder / "conversations.json")) conversations = Json::parse(read(folder / "conversations.json"));
  }

  // A case's own variables, behind those of the conversation that it names.
  Json context_of(const Json& test) const {
    Json out =
        test.contains("conversation") ? conversations.at(test["conversation"].get<std::string>()) : Json::object();
    out.update(test["context"]);
    return out;
  }

  // Empty if the case passes.
  std::string verdict(const std::string& source, const Json& test) const {
    auto parsed = Template::parse(source);
    const std::tm now = time_of(test.value("now", index["now"].get<std::string>()));
    const auto out = parsed.ok() ? parsed->render(value_of(context_of(test)).map(), now) : parsed.status();
    if (test.value("may_refuse", false) && !out.ok() && out.status().code == Code::unsupported) return "";
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

  void run_snippets() const {
    const Json cases = Json::parse(read(folder / "engine.json"))["cases"];
    ASSERT_GT(cases.size(), 0u);
    EXPECT_EQ(cases.size(), index["engine"]["cases"].get<size_t>());
    for (const Json& test : cases)
      EXPECT_EQ(verdict(test["template"], test), "") << test["name"] << ": " << test["template"];
  }

  void run_templates() const {
    ASSERT_GT(index["templates"].size(), 0u);
    for (const Json& entry : index["templates"]) {
      const fs::path where = folder / entry["name"].get<std::string>();
      const std::string source = read(where / "template.jinja");
      const Json cases = Json::parse(read(where / "cases.json"))["cases"];
      ASSERT_GT(cases.size(), 0u) << where;
      EXPECT_EQ(cases.size(), entry["cases"].get<size_t>()) << where;
      for (const Json& test : cases) EXPECT_EQ(verdict(source, test), "") << entry["name"] << ": " << test["name"];
    }
  }
};

const Set& own_set() {
  static const Set set(fs::path(INLAY_TEST_DATA_DIR) / "templates");
  return set;
}

TEST(TemplateConformance, Snippets) { own_set().run_snippets(); }
TEST(TemplateConformance, Templates) { own_set().run_templates(); }

// The ? of a row's template is a variable, whose value is one of a list; its results are texts, null for an error, or 0 where there is no answer.
struct Kinds {
  Json table = Json::parse(read(own_set().folder / "kinds.json"));

  // Of one result; empty if it is right.
  std::string verdict(const Json& row, size_t which) const {
    std::string source = row[1];
    std::ranges::replace(source, '?', 'v');
    source.insert(0, "{% set v = " + table[row[2].get<std::string>()][which].get<std::string>() + " %}");
    auto test = Json::object({{"context", table["context"]}});
    if (row[3][which].is_null())
      test["engine_error"] = "";
    else
      test["expected"] = row[3][which];
    const std::string wrong = own_set().verdict(source, test);
    if (wrong.ends_with("has no text")) return "";  // of functions and generators: it would be an address
    return wrong.empty() ? "" : source + ": " + wrong;
  }
};

TEST(TemplateConformance, MembersWithAllKindsOfValues) {
  const Kinds kinds;
  size_t n = 0;
  for (const Json& row : kinds.table["rows"]) {
    for (size_t i = 0; i < row[3].size(); ++i) {
      if (row[3][i].is_number()) continue;
      EXPECT_EQ(kinds.verdict(row, i), "") << row[0];
      ++n;
    }
  }
  EXPECT_GT(n, 10000u);
}

TEST(TemplateConformance, KindsNoticeWhatIsWrong) {
  const Kinds kinds;
  const auto first = static_cast<std::string>(kinds.table["values"][0]);
  ASSERT_EQ(first, "none");
  const auto row = [](const char* json) { return Json::parse(json); };
  EXPECT_EQ(kinds.verdict(row(R"(["", "{{ ? is none }}{{ yes }}", "values", ["TrueTrue"]])"), 0), "");
  EXPECT_NE(kinds.verdict(row(R"(["", "{{ ? }}", "values", ["none"]])"), 0), "");
  EXPECT_NE(kinds.verdict(row(R"(["", "{{ ? }}", "values", [null]])"), 0), "");
  EXPECT_NE(kinds.verdict(row(R"(["", "{{ ?() }}", "values", ["None"]])"), 0), "");
}

TEST(TemplateConformance, TemplatesOfModels) {
  const std::string fixtures = INLAY_FIXTURES_DIR;
  const fs::path folder = fs::path(fixtures) / "templates";
  if (fixtures.empty() || !fs::exists(folder / "index.json"))
    GTEST_SKIP() << "needs INLAY_FIXTURES: model vendors' templates are not in this repository";
  const Set set(folder);
  set.run_snippets();
  set.run_templates();
}

// The comparison itself notices a wrong text, a missing error, another message and a refusal for another reason.
TEST(TemplateConformance, VerdictSeesWhatIsWrong) {
  const auto judge = [](const char* source, const char* test) { return own_set().verdict(source, Json::parse(test)); };
  EXPECT_EQ(judge("{{ a }}", R"({"context": {"a": 1}, "expected": "1"})"), "");
  EXPECT_NE(judge("{{ a }}", R"({"context": {"a": 1}, "expected": "2"})"), "");
  EXPECT_NE(judge("{{ a }}", R"({"context": {"a": 1}, "engine_error": "TypeError"})"), "");
  EXPECT_EQ(judge("{{ raise_exception('x') }}", R"({"context": {}, "raised": "x"})"), "");
  EXPECT_NE(judge("{{ raise_exception('x') }}", R"({"context": {}, "raised": "y"})"), "");
  EXPECT_EQ(judge("{{ 1|nosuch }}", R"({"context": {}, "may_refuse": true, "expected": "1"})"), "");
  EXPECT_NE(judge("{{ 1|nosuch }}", R"({"context": {}, "expected": "1"})"), "");
  EXPECT_NE(judge("{{ a }}", R"({"context": {"a": 1}, "may_refuse": true, "expected": "2"})"), "");
  EXPECT_NE(judge("{{ 1 + 'a' }}", R"({"context": {}, "may_refuse": true, "expected": "2"})"), "");
}

TEST(TemplateConformance, CasesHaveTheirConversationAndTime) {
  const auto judge = [](const char* source, const char* test) { return own_set().verdict(source, Json::parse(test)); };
  const char* user = R"({"conversation": "user", "context": {"x": 1}, "expected": "userNone1"})";
  EXPECT_EQ(judge("{{ messages[0].role }}{{ tools }}{{ x }}", user), "");
  const char* time = R"({"context": {}, "now": "2024-12-31T23:59:08", "expected": "Tue 366 2024-12-31 23:59:08"})";
  EXPECT_EQ(judge("{{ strftime_now('%a %j %F %T') }}", time), "");
}

}  // namespace
}  // namespace inlay::tmpl
