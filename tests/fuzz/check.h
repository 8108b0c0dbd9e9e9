// A property that a fuzz target demands of the code under test.
#pragma once

#include <cstdio>
#include <cstdlib>

// Says which property failed and ends the program with an exit code, which libFuzzer reports as a crash.
#define FUZZ_CHECK(condition)                                                        \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(70);                                                                \
    }                                                                                \
  } while (false)
