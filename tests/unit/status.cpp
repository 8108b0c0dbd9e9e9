#include "src/base/status.h"

#include <gtest/gtest.h>

#include <memory>

#include "src/base/format.h"

namespace inlay {
namespace {

Result<int> half(int x) {
  if (x % 2) return error(Code::invalid_argument, "%d is odd", x);
  return x / 2;
}

Status quarter(int x, int& out) {
  INLAY_ASSIGN(const int h, half(x));
  INLAY_ASSIGN(out, half(h));
  return {};
}

TEST(Status, CarriesCodeAndMessage) {
  int out = 0;
  EXPECT_TRUE(quarter(12, out).ok());
  EXPECT_EQ(out, 3);
  const Status s = quarter(6, out);
  EXPECT_EQ(s.code, Code::invalid_argument);
  EXPECT_EQ(s.message, "3 is odd");
  EXPECT_EQ(out, 3) << "a failed step leaves its target alone";
}

TEST(Format, AppendsTextOfAnyLength) {
  const std::string name(3000, 'x');
  std::string out = "a";
  append_format(out, "%s", "");
  EXPECT_EQ(out, "a");
  append_format(out, " %d %s", 7, name.c_str());
  EXPECT_EQ(out, "a 7 " + name);
  EXPECT_EQ(error(Code::format, "%s|", name.c_str()).message, name + "|");
}

TEST(Status, ResultOfSuccessWithoutValueIsAnError) {
  const Result<int> r = Status{};
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.status().code, Code::internal);
}

TEST(Status, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> r = std::make_unique<int>(7);
  const std::unique_ptr<int> p = *std::move(r);
  EXPECT_EQ(*p, 7);
}

}  // namespace
}  // namespace inlay
