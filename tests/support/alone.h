// Tests that measure what all programs of a machine share: the memory that a GPU has left, the time that work takes. ctest runs a
// test with `alone_` in its name while no other test runs (inlay_test in tests/CMakeLists.txt).
#pragma once

#include <gtest/gtest.h>

#include <string_view>

namespace inlay::test {

// Called by what measures, so that no test measures in company.
inline void expect_to_be_alone() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  ASSERT_NE(test, nullptr);
  EXPECT_NE(std::string_view(test->name()).find("alone_"), std::string_view::npos)
      << test->name() << " measures what other programs change: its name has to say alone_";
}

}  // namespace inlay::test
