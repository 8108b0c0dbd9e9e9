// Errors of the system: every number that has a text, and one that has none, whatever the host's locale.
#include "src/base/system_error.h"

#include <gtest/gtest.h>
#include <locale.h>

#include <cerrno>
#include <set>
#include <string>

#include "src/base/format.h"
#include "tests/support/german_locale.h"

namespace inlay {
namespace {

TEST(SystemError, EveryRowIsReported) {
  std::set<int> numbers;
  std::set<std::string> texts;
  for (const SystemError& e : system_errors()) {
    EXPECT_TRUE(numbers.insert(e.number).second && texts.insert(e.text).second) << e.text;
    EXPECT_TRUE(e.code != Code::ok && e.code != Code::internal) << e.text;
    const Status status = system_error(e.number, "%s: cannot open the file", "x");
    EXPECT_EQ(status.code, e.code);
    EXPECT_EQ(status.native_code, e.number);
    EXPECT_EQ(status.message, std::string("x: cannot open the file: ") + e.text);
    EXPECT_EQ(thread_error(e.number, "no thread").code, Code::out_of_memory);
    EXPECT_EQ(thread_error(e.number, "no thread").native_code, e.number);
  }
  EXPECT_EQ(system_error(ENOENT, "x").code, Code::not_found);
  EXPECT_EQ(system_error(ENOMEM, "x").code, Code::out_of_memory);
  EXPECT_EQ(system_error(EACCES, "x").code, Code::io);
  const Status unknown = system_error(12345, "x");
  EXPECT_EQ(unknown.code, Code::io);
  EXPECT_EQ(unknown.message, "x: error 12345 of the system");
}

TEST(SystemError, TextsDoNotFollowTheLocale) {
  const test::GermanLocale locale;
  if (!locale.is_there()) GTEST_SKIP() << "needs the locale de_DE";
  setlocale(LC_ALL, locale.kName);
  char by_host[16] = "";
  snprintf(by_host, sizeof by_host, "%.1f", 1.5);
  std::string ours;
  append_format(ours, "%.1f", 1.5);
  char after[16] = "";
  snprintf(after, sizeof after, "%.1f", 1.5);
  EXPECT_STREQ(by_host, "1,5");  // the negative control
  EXPECT_EQ(ours, "1.5");
  EXPECT_STREQ(after, "1,5");  // the host's locale is back
}

}  // namespace
}  // namespace inlay
