#include "examples/cli/bench_fit.h"

#include <algorithm>

namespace inlay::cli {
namespace {

// The context that a plan of these figures alone needs.
int32_t context_of(const BenchmarkPlan& whole, std::vector<int32_t> prompts, std::vector<int32_t> depths,
                   bool batches) {
  BenchmarkPlan part = whole;
  part.prompts = std::move(prompts);
  part.depths = std::move(depths);
  if (!batches) part.batches.clear();
  if (part.depths.empty()) part.n_drawn = 1;
  part.n_latency = 0;
  return part.n_context();
}

std::string listed(const std::vector<int32_t>& values) {
  std::string text;
  for (const int32_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string fit_figures(BenchmarkPlan& plan, const GivenFigures& given, const std::function<bool(int32_t)>& fits) {
  if (fits(plan.n_context())) return "";
  std::string changes;
  const auto note = [&](const char* option, const std::string& value) {
    changes += (changes.empty() ? "" : " ") + std::string(option) + " " + value;
  };
  const auto prompt_fits = [&](int32_t n) { return fits(context_of(plan, {n}, {}, false)); };
  if (!given.prompts && !plan.prompts.empty()) {
    const std::vector<int32_t> before = plan.prompts;
    std::erase_if(plan.prompts, [&](int32_t n) { return !prompt_fits(n); });
    for (int32_t n = before.front(); plan.prompts.empty() && n > 1;) {
      if (prompt_fits(n /= 2)) plan.prompts = {n};
    }
    if (plan.prompts != before) note("--pp", listed(plan.prompts));
  }
  if (!given.n_drawn && !plan.depths.empty()) {
    const auto [least, most] = std::minmax_element(plan.depths.begin(), plan.depths.end());
    const int32_t before = plan.n_drawn, depth = given.depths ? *most : *least;
    const auto depth_fits = [&] { return fits(context_of(plan, {}, {depth}, false)); };
    while (plan.n_drawn > 1 && !depth_fits()) plan.n_drawn /= 2;
    if (!depth_fits()) plan.n_drawn = before;  // the depth is what is wrong
    if (plan.n_drawn != before) note("--tg", std::to_string(plan.n_drawn));
  }
  if (!given.depths) {
    const std::vector<int32_t> before = plan.depths;
    std::erase_if(plan.depths, [&](int32_t n) { return !fits(context_of(plan, {}, {n}, false)); });
    if (plan.depths != before) note("--depths", listed(plan.depths));
  }
  if (!given.batches && !plan.batches.empty() && !fits(context_of(plan, {}, {}, true))) {
    while (plan.batch_prompt > 1 && !fits(context_of(plan, {}, {}, true)))
      plan.batch_prompt /= 2, plan.batch_steps = std::max(1, plan.batch_steps / 2);
    note("--batch-prompt", std::to_string(plan.batch_prompt));
    note("--batch-steps", std::to_string(plan.batch_steps));
  }
  return changes;
}

}  // namespace inlay::cli
