// What steps took, and how many rows the next one may have.
#include "src/engine/unit_times.h"

#include <gtest/gtest.h>

namespace inlay {
namespace {

TEST(UnitTimes, AtMostTwiceAsManyRowsAsWereMeasured) {
  UnitTimes times(1);
  EXPECT_EQ(times.rows_of_step(1e9), UnitTimes::kFewest);
  times.note_step(16, 1000);
  EXPECT_EQ(times.rows_of_step(1e9), 32);
  EXPECT_EQ(times.rows_of_step(1500), 16) << "twice as many may take twice as long";
  times.note_step(512, 20'000);
  EXPECT_EQ(times.rows_of_step(30'000), 512);
  EXPECT_EQ(times.rows_of_step(50'000), 1024);
  EXPECT_EQ(times.rows_of_step(10'000), 32) << "between 16 and 512 nothing was measured";
}

// A prompt of 8 tokens, then a chunk beside one that draws: nothing has 9 to 16 rows.
TEST(UnitTimes, NumbersOfRowsThatNeverCameAreSteppedOver) {
  UnitTimes times(1);
  times.note_step(8, 1500);
  times.note_step(17, 2000);
  EXPECT_EQ(times.rows_of_step(10'000), 64);
  EXPECT_EQ(times.rows_of_step(3'000), 32);
  EXPECT_EQ(times.rows_of_step(1'000), UnitTimes::kFewest);
}

// Steps of as many rows as it says come to take no longer, also where a power of two is in the way.
TEST(UnitTimes, StepsComeToTakeWhatTheyMay) {
  for (const double us_of_row : {5.0, 19.0, 20.0, 39.0, 40.0, 150.0}) {
    UnitTimes times(1);
    int32_t n = 0;
    for (int i = 0; i < 40; ++i) {
      n = times.rows_of_step(10'000);
      times.note_step(n, 1000 + us_of_row * n);
    }
    EXPECT_LE(1000 + us_of_row * n, 10'000) << us_of_row;
    EXPECT_GT(1000 + us_of_row * 2 * n, 10'000 / 2) << us_of_row;
  }
}

// More rows that took more than in proportion are not tried again and again.
TEST(UnitTimes, WhatMoreRowsTakeIsNotForgotten) {
  UnitTimes times(1);
  int n_over = 0;
  for (int i = 0; i < 200; ++i) {
    const int32_t n = times.rows_of_step(10'000);
    const double us = n > 128 ? 20'000 + 10.0 * n : 1000 + 30.0 * n;
    if (us > 10'000) ++n_over;
    times.note_step(n, us);
  }
  EXPECT_LE(n_over, 2);
}

}  // namespace
}  // namespace inlay
