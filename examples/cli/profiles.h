// Profiles of single steps, for `bench --profile`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/cli/engine.h"

namespace inlay::cli {

struct ProfilePlan {
  std::vector<int32_t> depths;   // a decode step after each
  std::vector<int32_t> prompts;        // a prompt in one step for each,
  std::vector<int32_t> prompt_depths;  // after each of these
  int32_t n_repetitions = 0;
  bool timeline = false;  // every operation, not only the kinds
  std::string trace;      // file for all of them; empty: none
};

// Prints a table for each step.
void print_profiles(const inlay_engine* engine, const ProfilePlan& plan);

}  // namespace inlay::cli
