// What the host sets for its thread changes no result: rounding, denormals, traps and the locale. One row for every public
// function. Each call finds the host's settings and leaves them, and callbacks run with them.
#include <locale.h>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/capi/function_calls.h"
#include "tests/support/german_locale.h"

namespace inlay::test {
namespace {

std::string where_they_differ(const std::string& a, const std::string& b) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const size_t from = at - std::min<size_t>(at, 20);
  return "byte " + std::to_string(at) + ": " + testing::PrintToString(a.substr(from, 60)) + " and " +
         testing::PrintToString(b.substr(from, 60));
}

std::vector<std::string> wrong_with(const std::vector<Host>& hosts, const std::vector<Row>& rows) {
  Report plain;
  const auto expected = observed({"the default", {}, "C"}, rows, plain);
  std::vector<std::string> out = plain.problems;
  for (const Host& host : hosts) {
    Report with;
    const auto found = observed(host, rows, with);
    out.insert(out.end(), with.problems.begin(), with.problems.end());
    // On a busy machine loads tell their progress by the second, too.
    EXPECT_NEAR(with.n_callbacks, plain.n_callbacks, 0.05 * plain.n_callbacks);
    for (const auto& [name, bytes] : found)
      if (expected.at(name) != bytes) out.push_back(name + " follows: " + host.name + ", " + where_they_differ(expected.at(name), bytes));
  }
  return out;
}

std::set<std::string> functions_of(const nlohmann::json& api) {
  std::set<std::string> out;
  for (const auto& f : api["functions"]) out.insert(f["name"].get<std::string>());
  return out;
}

std::set<std::string> without_row(const std::set<std::string>& functions, const std::vector<Row>& rows) {
  std::set<std::string> out = functions;
  for (const Row& row : rows) out.erase(row.name);
  return out;
}

nlohmann::json description() { return nlohmann::json::parse(file_bytes(INLAY_SOURCE_DIR "/bindings/api/inlay.json")); }

TEST(HostState, EveryFunctionHasARow) {
  nlohmann::json api = description();
  EXPECT_EQ(without_row(functions_of(api), table()), std::set<std::string>());
  api["functions"].push_back({{"name", "inlay_new"}});
  EXPECT_EQ(without_row(functions_of(api), table()), std::set<std::string>{"inlay_new"});
}

TEST(HostState, FloatingPointSettingsChangeNothing) {
  EXPECT_EQ(wrong_with(float_hosts(), table()), std::vector<std::string>());
}

// ---- the locale

class HostLocale : public testing::Test {
 protected:
  void SetUp() override {
    if (!locale_.is_there()) GTEST_SKIP() << "needs the locale de_DE";
  }
  GermanLocale locale_;
};

TEST_F(HostLocale, ChangesNothing) {
  EXPECT_EQ(wrong_with({{"German", {}, GermanLocale::kName}}, table()), std::vector<std::string>());
}

// ---- the controls: functions that follow the host

volatile double one = 1, three = 3, ten = 10, smallest = 1e-310, zero = 0, result = 0;

double third() { return one / three; }
double minus_third() { return -one / three; }
double tenth() { return one / ten; }
double denormal() { return smallest * one; }
double text_number(char* buf, size_t cap) { return std::snprintf(buf, cap, "%.1f", 1.5); }
void set_rounding() { std::fesetround(FE_UPWARD); }
#if defined(__x86_64__)
void raise_flag() { result = third(); }
#endif

TEST(HostState, ACarelessFunctionIsNoticed) {
  const std::vector<Row> rows = {
      {"third", [](const World&) { return bytes_of(CALL(third)) + bytes_of(CALL(minus_third)) + bytes_of(CALL(tenth)); }},
      {"denormal", [](const World&) { return bytes_of(CALL(denormal)); }},
  };
  for (const Host& host : float_hosts()) {
    const auto wrong = wrong_with({host}, rows);
    const auto has = [&](const char* words) {
      return std::ranges::any_of(wrong, [&](const std::string& w) { return w.starts_with(words); });
    };
#if defined(__x86_64__) || defined(__aarch64__)
    EXPECT_EQ(has("third follows"), (host.state.control >> kRoundingAt & 3) != 0) << host.name;
    EXPECT_EQ(has("denormal follows"), (host.state.control & (kFlushToZero | kDenormalsAreZero)) != 0) << host.name;
#endif
  }
  EXPECT_NE(wrong_with({}, {{"third", [](const World&) { return std::string(); }}}), std::vector<std::string>());
  EXPECT_NE(wrong_with({}, {{"set_rounding", [](const World&) { return CALL(set_rounding), std::string(); }}}), std::vector<std::string>());
#if defined(__x86_64__)
  EXPECT_NE(wrong_with({}, {{"raise_flag", [](const World&) { return CALL(raise_flag), std::string(); }}}), std::vector<std::string>());
#endif
}

#if defined(__GLIBC__) && defined(__x86_64__)  // ARM64 processors have no traps
TEST(HostState, TrapsAreOn) {
  const auto divide = [] {
    write_state(float_hosts()[1].state);
    volatile double infinite = one / zero;
    (void)infinite;
  };
  ASSERT_EQ(float_hosts()[1].name, "rounding 0 traps");
  EXPECT_DEATH(divide(), "");  // a sanitizer turns the signal into an exit
}
#endif

TEST_F(HostLocale, ACarelessTextIsNoticed) {
  const std::vector<Row> rows = {{"text_number", [](const World&) {
                                    char buf[16];
                                    CALL(text_number, buf, sizeof buf);
                                    return std::string(buf);
                                  }}};
  const auto wrong = wrong_with({{"German", {}, GermanLocale::kName}}, rows);
  ASSERT_FALSE(wrong.empty());
  EXPECT_TRUE(wrong.back().starts_with("text_number follows: German")) << wrong.back();
}

}  // namespace
}  // namespace inlay::test
