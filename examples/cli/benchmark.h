// Measures prefill, decode at a depth, decode of several sessions, and what single tokens take, on a loaded engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/cli/bench_limits.h"
#include "examples/cli/bench_time.h"
#include "examples/cli/benchmark_plan.h"
#include "examples/cli/engine.h"
#include "examples/cli/json_line.h"

namespace inlay::cli {

class Benchmark {
 public:
  // `given`: what of the plan has to stay; the rest is cut to what ends within two minutes. Without it all stays.
  Benchmark(const inlay_engine* engine, const BenchmarkPlan& plan, std::optional<GivenFigures> given = {});

  // False if a call failed; error() tells why, and what was measured before is kept.
  bool run();
  const std::string& error() const { return error_; }
  const BenchmarkPlan& plan() const { return plan_; }  // as it was run
  // Adds a key for each measurement, in tokens per second, and what single tokens took.
  void report(JsonLine& line) const;
  // Adds the time of the first prompt and of the first step after the load, each with the median of those after it.
  void report_first(JsonLine& line) const;
  // Whether there are speeds that the memory cannot give.
  bool has_impossible(uint64_t step_bytes, const MemoryLimits& limits) const;
  // Takes these back; error() then names them.
  void take_back_impossible(uint64_t step_bytes, const MemoryLimits& limits);
  // Adds the smallest and largest value of each.
  void report_ranges(JsonLine& line) const;

 private:
  struct Measurement {
    std::string key;
    double median, low, high;  // tokens per second
    double step_seconds;       // median of what reads the weights once at least: a step or a prompt
  };
  struct First {
    std::string key;
    double first_ms, median_ms;
  };
  bool ok(inlay_status status, const inlay_error& error, const std::string& what);
  // `n` fixed tokens, well mixed over the vocabulary, those that `seed` stands for.
  std::vector<int32_t> tokens(uint64_t seed, int32_t n) const;
  // Runs the tokens as one prompt, until the logits of the last are on the host.
  bool feed(inlay_session* session, const std::vector<int32_t>& ids);
  // Runs them one at a time, each until its logits are on the host.
  bool feed_singly(inlay_session* session, const std::vector<int32_t>& ids);
  bool cut_back(inlay_session* session, int32_t n_tokens);
  bool go_back(inlay_session* session, int32_t n_tokens);
  bool read_logits(inlay_session* session);

  bool measure_first(inlay_session* session);
  void settle_time();
  bool measure_prompts(inlay_session* session);
  bool measure_depths(inlay_session* session);
  bool measure_batches();
  bool measure_latency();
  bool draw_in_slices(inlay_session* const* session, std::vector<double>& slices);
  bool fill_batch(std::vector<SessionPtr>& owned, int32_t n_sessions);
  bool step_batch(const std::vector<inlay_session*>& sessions, int32_t n_steps);
  void add(const std::string& key, double n_tokens, int32_t n_steps, std::vector<double> seconds);

  const inlay_engine* engine_;
  BenchmarkPlan plan_;
  std::optional<GivenFigures> given_;
  uint64_t n_vocab_;
  std::vector<inlay_event> events_;
  std::vector<Measurement> measured_;
  std::vector<First> first_;
  std::vector<double> latencies_, slices_;  // microseconds, the smallest first
  int32_t step_units_ = 0;
  double first_seconds_ = 0;  // that measure_first took
  std::string error_;
};

}  // namespace inlay::cli
