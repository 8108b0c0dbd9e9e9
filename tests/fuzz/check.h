// A property that a fuzz target demands of the code under test.
#pragma once

#include <cstdio>
#include <cstdlib>

// Says which property failed and ends the program by abort(), at which libFuzzer keeps the input.
#define FUZZ_CHECK(condition)                                                        \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)
