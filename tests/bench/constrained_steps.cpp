// Decode steps of sessions that write JSON by a schema, beside steps of the same sessions without one.
//
//   bench_constrained_steps MODEL [cpu|cuda] [MOST_SESSIONS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/load.h"

using namespace inlay;

namespace {

constexpr const char* kSchema = R"({"type": "array", "minItems": 60, "items": {"type": "object", "properties": {
  "name": {"type": "string", "maxLength": 24}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
  "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3}, "score": {"type": "number"}, "ok": {"type": "boolean"}},
  "required": ["name", "age", "tags", "score", "ok"], "additionalProperties": false}})";

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

[[noreturn]] void fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}
void check(const Status& status) {
  if (!status.ok()) fail(status);
}
template <class T>
T take(Result<T> result) {
  if (!result.ok()) fail(result.status());
  return *std::move(result);
}

struct Bench {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<const constraint::Constraint> constraint;

  // Seconds a step of n sessions.
  double steps(size_t n, bool constrained, uint64_t seed) const {
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<Session*> named;
    std::vector<int32_t> prompt(32);
    for (size_t i = 0; i < n; ++i) {
      SessionOptions options{.sampler = {.temperature = 1, .seed = seed * 1000 + i}, .ignore_end_of_generation = !constrained};
      if (constrained) options.constraint = constraint;
      sessions.push_back(take(engine->create_session(options)));
      for (size_t k = 0; k < prompt.size(); ++k) prompt[k] = static_cast<int32_t>(100 + (i * 37 + k * 11) % 1000);
      size_t n_done = 0;
      check(sessions.back()->prefill(prompt, n_done));
      named.push_back(sessions.back().get());
    }
    constexpr int kWarmUp = 8, kSteps = 60;
    std::vector<StepEvent> events(n);
    double start = 0;
    for (int i = 0; i < kWarmUp + kSteps; ++i) {
      if (i == kWarmUp) start = now();
      check(engine->decode_step(named, events));
      for (const StepEvent& event : events) {
        if (event.finish_reason != FinishReason::none) fail(error(Code::internal, "a text has ended after %d steps", i));
      }
    }
    return (now() - start) / kSteps;
  }
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "bench_constrained_steps MODEL [cpu|cuda] [MOST_SESSIONS]\n"), 2;
  const bool cuda = argc > 2 && std::strcmp(argv[2], "cuda") == 0;
  const int most = argc > 3 ? std::atoi(argv[3]) : 64;
  Bench bench{take(Engine::load(argv[1], {.device = cuda ? DeviceKind::cuda : DeviceKind::cpu, .n_context = 1024, .max_sessions = most})), nullptr};
  bench.constraint = take(bench.engine->make_constraint({.text = kSchema})).constraint;
  std::printf("a step, us (medians of rounds, A-B-B-A)\n sessions       free   schema   speed with it\n");
  for (const size_t n : {1u, 8u, 32u, 64u}) {
    if (n > static_cast<size_t>(most)) break;
    std::vector<double> a, b;
    for (uint64_t round = 1; round <= 4; ++round) {
      a.push_back(bench.steps(n, false, round));
      b.push_back(bench.steps(n, true, round));
      b.push_back(bench.steps(n, true, round + 10));
      a.push_back(bench.steps(n, false, round + 10));
    }
    std::printf("%9zu %10.1f %8.1f %8.3f\n", n, median(a) * 1e6, median(b) * 1e6, median(a) / median(b));
  }
}
