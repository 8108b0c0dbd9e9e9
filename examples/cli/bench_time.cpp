#include "examples/cli/bench_time.h"

#include <algorithm>
#include <vector>

namespace inlay::cli {
namespace {

constexpr int32_t kEnoughRepetitions = 3, kLeastDrawn = 16, kLeastSteps = 8;

void without_largest(std::vector<int32_t>& values) { values.erase(std::max_element(values.begin(), values.end())); }

// The plan that is a little shorter, of all such the one that saves most; false: there is none.
bool shorten(BenchmarkPlan& plan, const GivenFigures& given, const BenchSpeeds& speeds) {
  if (!given.repetitions && plan.n_repetitions > kEnoughRepetitions) {
    plan.n_repetitions = kEnoughRepetitions;
    return true;
  }
  std::vector<BenchmarkPlan> others;
  const auto offer = [&](bool is_given, std::vector<int32_t> BenchmarkPlan::*values) {
    if (is_given || (plan.*values).size() < 2) return;
    others.push_back(plan);
    without_largest(others.back().*values);
  };
  offer(given.prompts, &BenchmarkPlan::prompts);
  offer(given.depths, &BenchmarkPlan::depths);
  offer(given.batches, &BenchmarkPlan::batches);
  if (!others.empty()) {
    plan = *std::ranges::min_element(others, {}, [&](const BenchmarkPlan& other) { return seconds_of(other, speeds); });
    return true;
  }
  if (!given.repetitions && plan.n_repetitions > 1) return --plan.n_repetitions, true;
  if (!given.n_drawn && !plan.depths.empty() && plan.n_drawn > kLeastDrawn) return plan.n_drawn /= 2, true;
  if (!given.batches && !plan.batches.empty() && plan.batch_steps > kLeastSteps) return plan.batch_steps /= 2, true;
  return false;
}

std::string joined(const std::vector<int32_t>& values) {
  std::string text;
  for (const int32_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

}  // namespace

double seconds_of(const BenchmarkPlan& plan, const BenchSpeeds& speeds) {
  double seconds = 0;
  for (const double depth : plan.prompts.empty() ? std::vector<int32_t>() : plan.prompt_depths) {
    seconds += depth * speeds.prompt_seconds;
    for (const double n : plan.prompts)
      seconds += plan.n_repetitions * (n * speeds.prompt_seconds + (depth > 0 ? speeds.step_seconds : 0));
  }
  for (const double depth : plan.depths) {
    const double n_steps = std::min(plan.n_drawn, kDepthWarmUpTokens) + plan.n_repetitions * (plan.n_drawn + 1.0);
    seconds += depth * speeds.prompt_seconds + n_steps * speeds.step_seconds;
  }
  for (const double n : plan.batches) {
    // A step of many sessions reads the weights as one does, and computes as a prompt of as many tokens.
    const double step = std::max(speeds.step_seconds, n * speeds.prompt_seconds);
    const double n_steps = std::min(plan.batch_steps, kBatchWarmUpSteps) + 1.0 * plan.n_repetitions * plan.batch_steps;
    seconds += n * (plan.batch_prompt + plan.n_repetitions) * speeds.prompt_seconds + n_steps * step;
  }
  return seconds + (plan.n_latency > 0 ? plan.n_latency + kLatencyWarmUpSteps : 0) * speeds.step_seconds;
}

std::string fit_time(BenchmarkPlan& plan, const GivenFigures& given, const BenchSpeeds& speeds, double most_seconds) {
  const BenchmarkPlan before = plan;
  while (seconds_of(plan, speeds) > most_seconds && shorten(plan, given, speeds)) continue;
  std::string changes;
  const auto note = [&](const char* option, const std::string& was, const std::string& is) {
    if (was != is) changes += (changes.empty() ? "" : " ") + std::string(option) + " " + is;
  };
  note("-r", std::to_string(before.n_repetitions), std::to_string(plan.n_repetitions));
  note("--pp", joined(before.prompts), joined(plan.prompts));
  note("--depths", joined(before.depths), joined(plan.depths));
  note("--tg", std::to_string(before.n_drawn), std::to_string(plan.n_drawn));
  note("--batch", joined(before.batches), joined(plan.batches));
  note("--batch-steps", std::to_string(before.batch_steps), std::to_string(plan.batch_steps));
  return changes;
}

}  // namespace inlay::cli
