// Looking into single steps: how long each op takes, and where two engines begin to differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/engine/engine.h"
#include "src/profile/profile.h"

namespace inlay {

struct ProfileRequest {
  int32_t n_tokens = 1;       // of the step; 1: a decode step, which also draws
  int32_t n_past = 0;         // tokens cached before it
  int32_t n_repetitions = 0;  // 0: kDefaultRepetitions
};
inline constexpr int32_t kDefaultRepetitions = 20;
inline constexpr size_t kMaxProfiles = 16;  // that an engine keeps

// Runs the step in a session of its own. Other calls on the engine wait between its steps.
Result<Profile> profile_step(Engine& engine, const ProfileRequest& request);

// What an op left behind in two engines.
struct OpDifference {
  const char* step = "";  // "prompt", or "decode" for the last token
  int32_t op_index = 0;
  OpKind kind = OpKind::embed;
  int32_t layer = -1;  // -1: outside of layers
  const char* what = "";
  int64_t n_rows = 0, n_cols = 0;
  double cosine = 0;
  double nmse = 0;            // squared differences over squares of the first engine's values; NaN if any value is none
  double max_difference = 0;  // and where it is
  int64_t row = 0, col = 0;
};

struct Comparison {
  std::vector<OpDifference> ops;

  // The first whose error is above the limit or no number, -1 if there is none.
  int32_t first_over(double nmse_limit) const;
};

// Runs all tokens but the last as one step and the last as another, in a session of each engine. INVALID_ARGUMENT if
// the engines' plans have other ops or sizes.
Result<Comparison> compare_engines(Engine& a, Engine& b, std::span<const int32_t> tokens);

// One line an op, and which is the first over the limit.
std::string comparison_table(const Comparison& comparison, double nmse_limit);

}  // namespace inlay
