// Runs a generator's cases in child processes, and counts what becomes of them.
#pragma once

#include <string>

#include "tests/abuse/generator.h"

namespace inlay::abuse {

struct Options {
  uint64_t count = 1000, seed = 1;
  double seconds = 0;   // 0: no end but the count
  double limit_s = 0;   // 0: the generator's
  int64_t only = -1;    // this case alone
  std::string library;  // in place of the build's
  bool plant = false;   // faults of the program's own, which have to be counted
};

struct Totals {
  uint64_t n_cases = 0, n_calls = 0, n_refused = 0, n_accepted = 0;
  uint64_t n_crashed = 0, n_hung = 0, n_leaked = 0, n_other = 0;
  uint64_t faults() const { return n_crashed + n_hung + n_leaked + n_other; }
};

// Faults are printed as they are found, each with the command that runs its case again.
Totals run(const Generator& generator, const Options& options, const std::string& program);

}  // namespace inlay::abuse
