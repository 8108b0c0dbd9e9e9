#include "examples/cli/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace inlay::cli {
namespace {

constexpr int32_t kAfterFirst = 3;    // prompts and steps whose median stands beside the first
constexpr double kSlowSeconds = 10;   // of the first ones: then one more is enough
constexpr double kMostSeconds = 120;  // of all figures, where nobody asked for them
constexpr double kLongSeconds = 5;    // worth a word

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}

// The smallest first.
void add_times(JsonLine& line, const std::vector<double>& sorted) {
  line.number("p50", sorted[sorted.size() / 2], 1);
  line.number("p99", sorted[sorted.size() * 99 / 100], 1);
  line.number("max", sorted.back(), 1);
}

}  // namespace

Benchmark::Benchmark(const inlay_engine* engine, const BenchmarkPlan& plan, std::optional<GivenFigures> given)
    : engine_(engine),
      plan_(plan),
      given_(given),
      n_vocab_(static_cast<uint64_t>(info_of(engine).n_vocab)),
      events_(static_cast<size_t>(plan.max_sessions())) {}

bool Benchmark::ok(inlay_status status, const inlay_error& error, const std::string& what) {
  if (status == INLAY_OK) return true;
  error_ = describe(what, error);
  return false;
}

std::vector<int32_t> Benchmark::tokens(uint64_t seed, int32_t n) const {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i) {  // the finalizer of SplitMix64 over a counter
    uint64_t z = (seed + i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    ids[i] = static_cast<int32_t>((z ^ (z >> 31)) % n_vocab_);
  }
  return ids;
}

bool Benchmark::read_logits(inlay_session* session) {
  inlay_error error;
  auto view = sized<inlay_logits>();
  return ok(inlay_session_view_logits(session, &view, &error), error, "cannot read the logits");
}

bool Benchmark::feed(inlay_session* session, const std::vector<int32_t>& ids) {
  inlay_error error;
  if (ids.empty()) return true;
  return ok(inlay_prefill(session, ids.data(), ids.size(), nullptr, &error), error, "cannot run a prompt") &&
         read_logits(session);
}

bool Benchmark::feed_singly(inlay_session* session, const std::vector<int32_t>& ids) {
  inlay_error error;
  for (const int32_t& id : ids) {
    if (!ok(inlay_prefill(session, &id, 1, nullptr, &error), error, "cannot run a token") || !read_logits(session))
      return false;
  }
  return true;
}

bool Benchmark::cut_back(inlay_session* session, int32_t n_tokens) {
  inlay_error error;
  return ok(inlay_session_truncate(session, static_cast<size_t>(n_tokens), &error), error,
            "cannot cut the session back");
}

// Keys that a sliding window has given up are computed again here, and not in the step that is measured next.
bool Benchmark::go_back(inlay_session* session, int32_t n_tokens) {
  if (n_tokens == 0) return cut_back(session, 0);
  return cut_back(session, n_tokens - 1) && feed_singly(session, tokens(11, 1)) && cut_back(session, n_tokens);
}

bool Benchmark::run() {
  {
    const SessionPtr session = make_session(engine_, sized<inlay_session_params>());
    if (!measure_first(session.get())) return false;
    settle_time();
    if (!measure_prompts(session.get()) || !measure_depths(session.get()))
      return false;
  }
  return measure_batches() && measure_latency();
}

// The first prompt and step of the engine, and the same again, by which the engine is warm.
bool Benchmark::measure_first(inlay_session* session) {
  if (plan_.prompts.empty() && plan_.depths.empty()) return true;
  const int32_t n = plan_.prompts.empty() ? kWarmUpTokens : plan_.prompts.front();
  std::vector<double> prompts, steps;
  const Stopwatch whole;
  for (int32_t i = 0; i <= (whole.seconds() < kSlowSeconds ? kAfterFirst : 1); ++i) {
    if (!cut_back(session, 0)) return false;
    const Stopwatch prompt;
    if (!feed(session, tokens(1 + static_cast<uint64_t>(i) * 7919u, n))) return false;
    prompts.push_back(prompt.seconds() * 1e3);
    const Stopwatch step;
    if (!feed_singly(session, tokens(2, 1))) return false;
    steps.push_back(step.seconds() * 1e3);
    if (!feed_singly(session, tokens(5, std::min(n, kWarmUpTokens) - 1))) return false;
  }
  first_seconds_ = whole.seconds();
  const auto keep = [&](const std::string& key, const std::vector<double>& ms) {
    first_.push_back({key, ms.front(), median({ms.begin() + 1, ms.end()})});
    std::fprintf(stderr, "first %s: %.2f ms, then %.2f ms\n", key.c_str(), first_.back().first_ms,
                 first_.back().median_ms);
  };
  keep("pp" + std::to_string(n), prompts);
  keep("step@" + std::to_string(n), steps);
  return true;
}

// The speeds are those of the first figures.
void Benchmark::settle_time() {
  if (first_.size() < 2 || !given_) return;
  const double n_prompt = plan_.prompts.empty() ? kWarmUpTokens : plan_.prompts.front();
  const BenchSpeeds speeds = {first_[0].median_ms * 1e-3 / n_prompt, first_[1].median_ms * 1e-3};
  const double asked = seconds_of(plan_, speeds);
  const std::string changes = fit_time(plan_, *given_, speeds, kMostSeconds - first_seconds_);
  if (!changes.empty())
    std::fprintf(stderr, "inlay: all default figures would take about %.0f s; to end within two minutes: %s\n", asked, changes.c_str());
  const double seconds = seconds_of(plan_, speeds);
  if (seconds > kLongSeconds) std::fprintf(stderr, "inlay: the figures take about %.0f s\n", seconds);
}

bool Benchmark::measure_prompts(inlay_session* session) {
  for (const int32_t depth : plan_.prompt_depths) {
    if (plan_.prompts.empty()) break;
    if (!cut_back(session, 0) || !feed(session, tokens(3, depth))) return false;
    for (const int32_t n : plan_.prompts) {
      std::vector<double> seconds;
      for (int32_t r = 0; r < plan_.n_repetitions; ++r) {
        const std::vector<int32_t> ids = tokens(1000003u * static_cast<uint64_t>(r + 1), n);
        if (!go_back(session, depth)) return false;
        const Stopwatch watch;
        if (!feed(session, ids)) return false;
        seconds.push_back(watch.seconds());
      }
      add("pp" + std::to_string(n) + (depth > 0 ? "@" + std::to_string(depth) : ""), n, 1, seconds);
    }
  }
  return true;
}

bool Benchmark::measure_depths(inlay_session* session) {
  for (const int32_t depth : plan_.depths) {
    if (!cut_back(session, 0) || !feed(session, tokens(3, depth))) return false;
    if (!feed_singly(session, tokens(4, std::min(plan_.n_drawn, kDepthWarmUpTokens)))) return false;
    std::vector<double> seconds;
    for (int32_t r = 0; r < plan_.n_repetitions; ++r) {
      const std::vector<int32_t> ids = tokens(5000011u * static_cast<uint64_t>(r + 1), plan_.n_drawn);
      if (!go_back(session, depth)) return false;
      const Stopwatch watch;
      if (!feed_singly(session, ids)) return false;
      seconds.push_back(watch.seconds());
    }
    add("tg" + std::to_string(plan_.n_drawn) + "@" + std::to_string(depth), plan_.n_drawn, plan_.n_drawn, seconds);
  }
  return true;
}

// One token more than the prompt: a session that was cut back runs its last token in the next step, so that every step
// runs one token with batch_prompt or more before it.
bool Benchmark::fill_batch(std::vector<SessionPtr>& owned, int32_t n_sessions) {
  auto params = sized<inlay_session_params>();
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  inlay_error error;
  for (int32_t i = 0; i < n_sessions; ++i) {
    inlay_session* session = nullptr;
    if (!ok(inlay_session_create(engine_, &params, &session, &error), error,
            "cannot create session " + std::to_string(i + 1) + " of " + std::to_string(n_sessions)))
      return false;
    owned.emplace_back(session);
    if (!feed(session, tokens(7 + 100003u * static_cast<uint64_t>(i), plan_.batch_prompt + 1))) return false;
  }
  return true;
}

bool Benchmark::step_batch(const std::vector<inlay_session*>& sessions, int32_t n_steps) {
  inlay_error error;
  for (int32_t i = 0; i < n_steps; ++i) {
    if (!ok(inlay_decode_step(sessions.data(), sessions.size(), events_.data(), sizeof(inlay_event), &error), error,
            "cannot decode")) {
      return false;
    }
    for (inlay_session* session : sessions) {
      if (!read_logits(session)) return false;
    }
  }
  return true;
}

bool Benchmark::measure_batches() {
  for (const int32_t n_sessions : plan_.batches) {
    std::vector<SessionPtr> owned;
    if (!fill_batch(owned, n_sessions)) return false;
    std::vector<inlay_session*> sessions;
    for (const SessionPtr& session : owned) sessions.push_back(session.get());
    if (!step_batch(sessions, std::min(plan_.batch_steps, kBatchWarmUpSteps))) return false;
    std::vector<double> seconds;
    for (int32_t r = 0; r < plan_.n_repetitions; ++r) {
      for (inlay_session* session : sessions) {
        if (!go_back(session, plan_.batch_prompt + 1)) return false;
      }
      const Stopwatch watch;
      if (!step_batch(sessions, plan_.batch_steps)) return false;
      seconds.push_back(watch.seconds());
    }
    add("batch" + std::to_string(n_sessions), static_cast<double>(n_sessions) * plan_.batch_steps, plan_.batch_steps,
        seconds);
  }
  return true;
}

// A step of one session; adds the microseconds of each slice.
bool Benchmark::draw_in_slices(inlay_session* const* session, std::vector<double>& slices) {
  inlay_error error;
  for (int32_t left = 1; left > 0;) {
    const Stopwatch watch;
    const inlay_status status =
        inlay_decode_slice(session, 1, plan_.slice_units, events_.data(), sizeof(inlay_event), &left, &error);
    slices.push_back(watch.seconds() * 1e6);
    if (!ok(status, error, "cannot decode a slice")) return false;
  }
  return true;
}

// As a host writes text: one session, tokens drawn at random, each call timed from its beginning to its event.
bool Benchmark::measure_latency() {
  if (plan_.n_latency == 0) return true;
  auto sampler = sized<inlay_sampler_params>();
  sampler.temperature = 0.8f, sampler.top_k = 40, sampler.top_p = 0.95f, sampler.seed = 1;
  auto params = sized<inlay_session_params>();
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  params.sampler = &sampler;
  inlay_error error;
  const SessionPtr session = make_session(engine_, params);
  if (!feed(session.get(), tokens(11, plan_.batch_prompt))) return false;
  inlay_session* const one[] = {session.get()};
  for (int32_t i = -kLatencyWarmUpSteps; i < plan_.n_latency; ++i) {
    const Stopwatch watch;
    if (plan_.slice_units > 0) {
      if (i == 0) {
        slices_.clear();
        const inlay_status begun =
            inlay_decode_slice(one, 1, 0, events_.data(), sizeof(inlay_event), &step_units_, &error);
        if (!ok(begun, error, "cannot decode a slice")) return false;
      }
      if (!draw_in_slices(one, slices_)) return false;
    } else if (!ok(inlay_decode_step(one, 1, events_.data(), sizeof(inlay_event), &error), error, "cannot decode")) {
      return false;
    }
    if (i >= 0) latencies_.push_back(watch.seconds() * 1e6);
  }
  std::sort(latencies_.begin(), latencies_.end());
  std::sort(slices_.begin(), slices_.end());
  return true;
}

void Benchmark::add(const std::string& key, double n_tokens, int32_t n_steps, std::vector<double> seconds) {
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  const double middle = median(seconds);
  measured_.push_back({key, n_tokens / middle, n_tokens / *most, n_tokens / *least, middle / n_steps});
  const Measurement& m = measured_.back();
  std::fprintf(stderr, "%s: %.2f tokens/s, %.2f to %.2f\n", key.c_str(), m.median, m.low, m.high);
}

bool Benchmark::has_impossible(uint64_t step_bytes, const MemoryLimits& limits) const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [&](const Measurement& m) { return is_impossible(step_bytes, m.step_seconds, limits); });
}

void Benchmark::take_back_impossible(uint64_t step_bytes, const MemoryLimits& limits) {
  std::string wrong;
  std::erase_if(measured_, [&](const Measurement& m) {
    if (!is_impossible(step_bytes, m.step_seconds, limits)) return false;
    wrong += (wrong.empty() ? "" : ", ") + m.key + " " +
             short_number(static_cast<double>(step_bytes) / m.step_seconds * 1e-9) + " GB/s";
    return true;
  });
  error_ = "impossible speed, something is not computed: a step reads " +
           short_number(static_cast<double>(step_bytes) * 1e-9) + " GB at least; the memory gives " +
           short_number(limits.bytes_per_second * 1e-9) + " GB/s, and it would be " + wrong;
}

void Benchmark::report_first(JsonLine& line) const {
  for (const First& f : first_) line.pair(f.key, f.first_ms, f.median_ms, 2);
}

void Benchmark::report(JsonLine& line) const {
  for (const Measurement& m : measured_) line.number(m.key, m.median, 2);
  if (!latencies_.empty()) {
    JsonLine latency;
    latency.integer("tokens", latencies_.size());
    add_times(latency, latencies_);
    line.object("latency_us", latency);
  }
  if (!slices_.empty()) {
    JsonLine slice;
    slice.integer("units", static_cast<uint64_t>(plan_.slice_units));
    slice.integer("step_units", static_cast<uint64_t>(step_units_));
    add_times(slice, slices_);
    line.object("slice_us", slice);
  }
}

void Benchmark::report_ranges(JsonLine& line) const {
  for (const Measurement& m : measured_) line.pair(m.key, m.low, m.high, 2);
}

}  // namespace inlay::cli
