// The figures of a benchmark.
#pragma once

#include <cstdint>
#include <vector>

namespace inlay::cli {

constexpr int32_t kWarmUpTokens = 8, kDepthWarmUpTokens = 16, kBatchWarmUpSteps = 4, kLatencyWarmUpSteps = 16;

struct BenchmarkPlan {
  std::vector<int32_t> prompts = {512, 2048};
  std::vector<int32_t> prompt_depths = {0};  // tokens before each of `prompts`
  std::vector<int32_t> depths = {0, 2048, 8192, 16384};
  std::vector<int32_t> batches = {2, 4, 8, 16, 32};
  int32_t n_repetitions = 5;
  int32_t n_drawn = 128;       // tokens of a repetition at a depth
  int32_t batch_prompt = 128;  // tokens already in each session of a batch
  int32_t batch_steps = 64;    // of a repetition of a batch
  int32_t n_latency = 0;       // tokens that are timed one by one, after batch_prompt others
  int32_t slice_units = 0;     // of each call that makes them; 0: whole steps

  // What the engine must be loaded with.
  int32_t n_context() const;
  int32_t max_sessions() const;
};

}  // namespace inlay::cli
