// Sessions that threads of their own step, whose calls share steps, beside one call that names all, and beside calls that take turns.
//
//   bench_shared_steps MODEL [cpu|cuda] [MOST_SESSIONS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/load.h"

using namespace inlay;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}
template <class T>
T take(Result<T> result) {
  check(result.status());
  return *std::move(result);
}

class Caller final : public StepCaller {
 public:
  explicit Caller(Session& session) : session_(session) {}

  size_t n_sessions() const override { return 1; }
  Session& first_session() const override { return session_; }
  void name_sessions(std::span<Session*> room) override { room[0] = &session_; }
  void take_events(const Status& failed, std::span<Session* const>, std::span<const StepEvent> events) override {
    check(failed);
    check(events[0].status);
  }

 private:
  Session& session_;
};

enum class Way { together, shared, turns };

struct Speed {
  double tokens_per_second, sessions_per_step;
};

Speed run(Engine& engine, size_t n, Way way, uint64_t seed) {
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<Session*> named;
  std::vector<int32_t> prompt(32);
  for (size_t i = 0; i < n; ++i) {
    sessions.push_back(take(engine.create_session({.sampler = {.temperature = 1, .seed = seed * 1000 + i}, .ignore_end_of_generation = true})));
    for (size_t k = 0; k < prompt.size(); ++k) prompt[k] = static_cast<int32_t>(100 + (i * 37 + k * 11) % 1000);
    size_t n_done = 0;
    check(sessions.back()->prefill(prompt, n_done));
    named.push_back(sessions.back().get());
  }
  constexpr int kSteps = 60;
  const uint64_t before = engine.stats().n_decode_steps;
  const double start = now();
  if (way == Way::together) {
    std::vector<StepEvent> events(n);
    for (int i = 0; i < kSteps; ++i) check(engine.decode_step(named, events));
  } else {
    std::vector<std::thread> threads;
    for (Session* session : named) {
      threads.emplace_back([&engine, session, way] {
        Caller caller(*session);
        StepEvent event;
        for (int i = 0; i < kSteps; ++i) check(way == Way::shared ? engine.decode_step(caller) : engine.decode_step({&session, 1}, {&event, 1}));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const double n_tokens = static_cast<double>(n) * kSteps;
  return {n_tokens / (now() - start), n_tokens / static_cast<double>(engine.stats().n_decode_steps - before)};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "bench_shared_steps MODEL [cpu|cuda] [MOST_SESSIONS]\n"), 2;
  const bool cuda = argc > 2 && std::strcmp(argv[2], "cuda") == 0;
  const size_t most = argc > 3 ? static_cast<size_t>(std::atoi(argv[3])) : 32;
  const auto engine = take(Engine::load(argv[1], {.device = cuda ? DeviceKind::cuda : DeviceKind::cpu, .n_context = 512, .max_sessions = static_cast<int32_t>(most)}));
  std::printf("tokens/s (medians of rounds A-B-C-C-B-A)\n sessions   one call   a thread each, sharing   sessions a step   a thread each, in turns\n");
  for (const size_t n : {1u, 2u, 8u, 32u}) {
    if (n > most) break;
    std::vector<double> speeds[3], shared;
    for (uint64_t round = 1; round <= 3; ++round) {
      for (const Way way : {Way::together, Way::shared, Way::turns, Way::turns, Way::shared, Way::together}) {
        const Speed result = run(*engine, n, way, round);
        speeds[static_cast<size_t>(way)].push_back(result.tokens_per_second);
        if (way == Way::shared) shared.push_back(result.sessions_per_step);
      }
    }
    std::printf("%9zu %10.1f %14.1f (%.2f) %17.1f %17.1f (%.2f)\n", n, median(speeds[0]), median(speeds[1]), median(speeds[1]) / median(speeds[0]),
                median(shared), median(speeds[2]), median(speeds[2]) / median(speeds[0]));
  }
}
