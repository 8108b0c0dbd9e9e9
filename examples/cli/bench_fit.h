// The default figures of a benchmark, cut to a model's context.
#pragma once

#include <functional>
#include <string>

#include "examples/cli/benchmark_plan.h"

namespace inlay::cli {

// What was asked for by name stays as it is.
struct GivenFigures {
  bool prompts = false, depths = false, n_drawn = false,
       batches = false;  // --batch-prompt and --batch-steps belong to batches
  bool repetitions = false;
};

// Lengths that do not fit are left out; where none is left, shorter ones take their place. `fits(n)`: the model may
// have a context of n tokens. Returns what was changed, for people; empty: nothing.
std::string fit_figures(BenchmarkPlan& plan, const GivenFigures& given, const std::function<bool(int32_t)>& fits);

}  // namespace inlay::cli
