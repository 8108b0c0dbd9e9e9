#include "examples/cli/benchmark_plan.h"

#include <algorithm>

namespace inlay::cli {
namespace {

int32_t largest(const std::vector<int32_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

int32_t BenchmarkPlan::n_context() const {
  int32_t n = std::max(n_drawn, kDepthWarmUpTokens);
  if (!prompts.empty()) n = std::max(n, largest(prompts) + std::max(largest(prompt_depths), kWarmUpTokens));
  if (!depths.empty()) n = std::max(n, largest(depths) + std::max(n_drawn, kDepthWarmUpTokens));
  // One more: the token that the last step draws.
  if (!batches.empty()) n = std::max(n, batch_prompt + std::max(batch_steps, kBatchWarmUpSteps) + 2);
  if (n_latency > 0) n = std::max(n, batch_prompt + kLatencyWarmUpSteps + n_latency + 1);
  return n;
}

int32_t BenchmarkPlan::max_sessions() const { return std::max(1, largest(batches)); }

}  // namespace inlay::cli
