// How long a benchmark takes, and its default figures cut to what ends in time.
#pragma once

#include <string>

#include "examples/cli/bench_fit.h"
#include "examples/cli/benchmark_plan.h"

namespace inlay::cli {

struct BenchSpeeds {
  double prompt_seconds = 0;  // of a token of a prompt
  double step_seconds = 0;    // of a step of one session
};

// About: what grows with the tokens before is not counted.
double seconds_of(const BenchmarkPlan& plan, const BenchSpeeds& speeds);

// Takes figures away, or makes them shorter, until the plan ends within so many seconds or nothing is left that was not asked
// for by name. Returns what was changed, as fit_figures does.
std::string fit_time(BenchmarkPlan& plan, const GivenFigures& given, const BenchSpeeds& speeds, double most_seconds);

}  // namespace inlay::cli
