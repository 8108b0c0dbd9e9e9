// What requests take and give, part by part:
//
//   copies      keys and values to the host and back; a session saved, restored, and saved beside others that decode
//   beginnings  prompts that begin alike
//   shared      the same in a pool that has room for their beginning once
//   returning   conversations that come back, more than the pool holds
//   submit      how long a call that submits a long text takes
//   prompts     many short prompts beside one as long as all of them
//   steps       a step of requests beside one of sessions that a host steps itself
//   frames      how well run() keeps a frame's budget
//   gaps        the time between the tokens of readers, while prompts or vectors of others are computed
//   arrivals    64 requests that arrive by and by, all at once, and each as another one ends
//
//   bench_requests MODEL [cpu|cuda] [MAX_SESSIONS] [PART]
//
// INLAY_BENCH_JOBS=FILE writes the arrivals for peer_arrivals.c, to FILE.arrivals and FILE.at-once.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <thread>

#include "src/backend/kv_memory.h"
#include "src/engine/chat_messages.h"
#include "src/engine/requests.h"
#include "src/engine/saved_session.h"

using namespace inlay;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double part_of(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

[[noreturn]] void fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}
void check(const Status& status) {
  if (!status.ok()) fail(status);
}

struct Bench {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<RequestQueue> queue;
  std::mt19937 random{1};
  std::vector<TokenLogprob> tokens = std::vector<TokenLogprob>(4096);
  std::string text = std::string(1 << 16, '\0');
  std::vector<std::pair<uint64_t, RequestEnd>> ended;  // by what the request was submitted with, as poll() comes upon them
  std::map<uint64_t, double> last_token;               // likewise: when poll() came upon it
  std::vector<double> gaps;                            // ms, between the tokens of each

  std::vector<int32_t> prompt(int32_t n) {
    std::vector<int32_t> out;
    for (int32_t i = 0; i < n; ++i) out.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(std::min(engine->spec().n_vocab, 30000))));
    return out;
  }
  static SessionOptions drawing(int32_t n) { return {.max_tokens = n, .ignore_end_of_generation = true}; }
  void submit(std::vector<int32_t> given, int32_t n_drawn, uint64_t user = 0) {
    uint64_t id = 0;
    check(engine->requests().submit(queue, std::move(given), {.session = drawing(n_drawn), .user = user}, id));
  }
  // How many tokens and ends there were.
  std::pair<size_t, size_t> poll() {
    size_t n_tokens = 0, n_ends = 0;
    for (;;) {
      const auto n = queue->poll({.n_events = 256, .tokens = tokens, .text = text}, [&](size_t, const RequestEvent& event) {
        n_tokens += event.n_tokens;
        n_ends += event.is_end;
        if (event.is_end && event.end.reason == FinishReason::error) fail(event.end.status);
        if (event.n_tokens > 0) note_tokens(event.user, event.n_tokens);
        if (!event.is_end) return;
        ended.emplace_back(event.user, event.end);
        last_token.erase(event.user);
      });
      if (!n.ok()) fail(n.status());
      if (*n == 0) break;
    }
    engine->requests().note_polled();
    return {n_tokens, n_ends};
  }
  // Tokens that come together have no time between them.
  void note_tokens(uint64_t user, size_t n) {
    const auto [last, is_first] = last_token.try_emplace(user, now());
    if (!is_first) gaps.push_back((now() - last->second) * 1e3);
    gaps.insert(gaps.end(), n - 1, 0.0);
    last->second = now();
  }
  void run_to_the_end() {
    while (run({}).n_requests > 0) poll();
    poll();
  }
  RunResult run(const RunBudget& budget) {
    auto result = engine->requests().run(budget);
    if (!result.ok()) fail(result.status());
    return *result;
  }

  // Seconds a step of n sequences, prompts apart.
  double steps_of_sessions(size_t n, int32_t n_steps, int32_t n_tokens = 32) {
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<Session*> named;
    for (size_t i = 0; i < n; ++i) {
      auto made = engine->create_session(drawing(0));
      if (!made.ok()) fail(made.status());
      size_t n_done = 0;
      check((*made)->prefill(prompt(n_tokens), n_done));
      named.push_back(made->get());
      sessions.push_back(*std::move(made));
    }
    std::vector<StepEvent> events(n);
    check(engine->decode_step(named, events));
    const double start = now();
    for (int32_t i = 0; i < n_steps; ++i) check(engine->decode_step(named, events));
    return (now() - start) / n_steps;
  }
  double steps_of_requests(size_t n, int32_t n_steps) {
    for (size_t i = 0; i < n; ++i) submit(prompt(32), n_steps + 3);
    size_t n_first = 0;
    while (n_first < n) n_first += (run({.one_step = true}), poll().first);
    const double start = now();
    for (int32_t i = 0; i < n_steps; ++i) run({.one_step = true}), poll();
    const double took = (now() - start) / n_steps;
    run_to_the_end();
    return took;
  }

  void steps() {
    std::printf("a step, us (medians of rounds, A-B-B-A)\nsequences   decode_step   requests   ratio\n");
    for (const size_t n : {1u, 4u, 8u, 16u, 32u}) {
      if (n > static_cast<size_t>(engine->info().max_sessions)) break;
      std::vector<double> a, b;
      for (int round = 0; round < 3; ++round) {
        a.push_back(steps_of_sessions(n, 40));
        b.push_back(steps_of_requests(n, 40));
        b.push_back(steps_of_requests(n, 40));
        a.push_back(steps_of_sessions(n, 40));
      }
      std::printf("%9zu %13.1f %10.1f %7.3f\n", n, part_of(a, 0.5) * 1e6, part_of(b, 0.5) * 1e6, part_of(b, 0.5) / part_of(a, 0.5));
    }
  }

  // 60 frames a second of a game, requests of 300 + 60 tokens without end.
  void frames() {
    std::printf("frames: budget ms, longer than it by ms p50, p99, most; tokens a second, of those without a budget\n");
    const auto feed = [&](int32_t n_requests) {
      for (; n_requests < 3; ++n_requests) submit(prompt(300), 60);
    };
    double unbounded = 0;
    for (const int budget_ms : {0, 1, 2, 4, 8}) {
      std::vector<double> over;
      size_t n_tokens = 0;
      int32_t n_requests = 0;
      const double start = now();
      double computed = 0;
      for (int frame = 0; frame < 240 && now() - start < 20; ++frame) {
        feed(n_requests);
        const double began = now();
        n_requests = run({.us = budget_ms * 1000, .one_step = budget_ms == 0}).n_requests;
        const double took = now() - began;
        computed += took;
        if (budget_ms > 0 && frame >= 20) over.push_back(std::max(0.0, took * 1e3 - budget_ms));
        n_tokens += poll().first;
        const double frame_ends = began + 1.0 / 60;
        if (budget_ms > 0 && now() < frame_ends) std::this_thread::sleep_for(std::chrono::duration<double>(frame_ends - now()));
      }
      const double rate = static_cast<double>(n_tokens) / computed;
      if (budget_ms == 0) unbounded = rate;
      std::printf("%6d %8.3f %8.3f %8.3f %10.1f %8.3f\n", budget_ms, part_of(over, 0.5), part_of(over, 0.99), part_of(over, 1), rate, rate / unbounded);
      run_to_the_end();
    }
  }

  // The same where the call does not wait for the device: what it takes of the host, and tokens a second at 60 frames a second.
  void frames_without_waiting() {
    std::printf("frames, not waiting: budget ms, of the host us (0: none), the call took ms p50, p99, most; tokens a second at 60 frames, waiting, not waiting\n");
    constexpr int kRows[][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {2, 500}, {2, 200}, {8, 200}};
    for (const auto& [budget_ms, host_us] : kRows) {
      std::vector<double> took;
      double rates[2] = {};
      for (const bool waits : {true, false}) {
        size_t n_tokens = 0;
        int32_t n_requests = 0;
        constexpr int kFrames = 240;
        for (int frame = 0; frame < kFrames; ++frame) {
          for (; n_requests < 3; ++n_requests) submit(prompt(300), 60);
          const double began = now(), frame_ends = began + 1.0 / 60;
          n_requests = run({.us = budget_ms * 1000, .host_us = waits ? 0 : host_us, .no_wait = !waits}).n_requests;
          if (!waits && frame >= 20) took.push_back((now() - began) * 1e3);
          n_tokens += poll().first;
          if (now() < frame_ends) std::this_thread::sleep_for(std::chrono::duration<double>(frame_ends - now()));
        }
        rates[waits ? 0 : 1] = static_cast<double>(n_tokens) * 60 / kFrames;
        run_to_the_end();
      }
      std::printf("%6d %6d %8.3f %8.3f %8.3f %10.1f %8.1f\n", budget_ms, host_us, part_of(took, 0.5), part_of(took, 0.99), part_of(took, 1), rates[0], rates[1]);
    }
  }

  enum class Arrivals : uint8_t { by_and_by, at_once, closed };  // closed: a request for each that ends
  struct Job {
    double at;
    int32_t n_prompt, n_answer;
  };
  struct Step {
    double seconds;
    int32_t n_prompt, n_drawn;  // tokens
  };

  // Seconds a step of n sessions behind texts of that length, at 1, 2, 4 ... sessions.
  std::vector<double> decode_steps(size_t most, int32_t n_tokens) {
    std::vector<double> out;
    for (size_t n = 1; n <= most; n *= 2) out.push_back(steps_of_sessions(n, 16, n_tokens));
    return out;
  }
  static double step_of(const std::vector<double>& measured, int32_t n) {
    const double at = std::log2(std::max(1, n));
    const auto low = std::min(static_cast<size_t>(at), measured.size() - 1), high = std::min(low + 1, measured.size() - 1);
    const double a = static_cast<double>(1 << low), b = static_cast<double>(1 << high);
    return high == low ? measured[low] : measured[low] + (measured[high] - measured[low]) * (n - a) / (b - a);
  }
  double seconds_of_prompt(int32_t n_tokens) {
    std::vector<double> out;
    for (int i = 0; i < 5; ++i) {
      auto one = engine->create_session(drawing(0));
      if (!one.ok()) fail(one.status());
      size_t n_done = 0;
      const double start = now();
      check((*one)->prefill(prompt(n_tokens), n_done));
      out.push_back(now() - start);
    }
    return part_of(out, 0.5);
  }

  // Beside a replay: all prompts at the speed of one of their mean length, and each step's decode rows at what so many sessions take.
  void arrivals(int n_requests, int32_t longest_prompt, int32_t longest_answer, Arrivals way, int n_at_a_time) {
    std::vector<Job> jobs;
    double prompt_tokens = 0, drawn = 0;
    for (int i = 0; i < n_requests; ++i) {
      jobs.push_back({0, longest_prompt / 32 + static_cast<int32_t>(random() % static_cast<uint32_t>(longest_prompt * 31 / 32)),
                      longest_answer / 8 + static_cast<int32_t>(random() % static_cast<uint32_t>(longest_answer * 7 / 8))});
      prompt_tokens += jobs.back().n_prompt;
      drawn += jobs.back().n_answer;
    }
    const auto most = static_cast<size_t>(std::min(engine->info().max_sessions, n_requests));
    const auto mean = static_cast<int32_t>(prompt_tokens / n_requests);
    const std::vector<double> decode = decode_steps(most, mean);
    const double per_prompt_token = seconds_of_prompt(mean) / mean;
    const double least = prompt_tokens * per_prompt_token + drawn / static_cast<double>(most) * decode.back();
    std::exponential_distribution<double> gap(n_requests / (least / 2));  // so that the last one comes after half of that, on average
    double at = 0;
    for (Job& job : jobs) job.at = way == Arrivals::by_and_by ? at += gap(random) : 0;
    const char* path = std::getenv("INLAY_BENCH_JOBS");
    if (path != nullptr && way != Arrivals::closed) write_jobs(path, jobs, way == Arrivals::at_once);
    const RequestCounts counts_before = engine->requests().counts();
    std::vector<Step> steps;
    double idle = 0;
    size_t n_ends = 0, next = 0;
    std::vector<double> late(jobs.size());  // how long a request waited for the step at hand before it was submitted
    ended.clear();
    gaps.clear();
    const double start = now();
    while (n_ends < jobs.size()) {
      for (; next < jobs.size() && now() - start >= jobs[next].at && next - n_ends < static_cast<size_t>(n_at_a_time); ++next) {
        late[next] = way == Arrivals::by_and_by ? now() - start - jobs[next].at : 0;
        submit(prompt(jobs[next].n_prompt), jobs[next].n_answer, next);
      }
      const EngineStats before = engine->stats();
      const double began = now();
      const RunResult result = run({.one_step = true});
      n_ends += poll().second;
      const EngineStats after = engine->stats();
      const double took = now() - began;
      const auto n_prompt = static_cast<int32_t>(after.n_prefill_tokens - before.n_prefill_tokens);
      const auto n_drawn = static_cast<int32_t>(result.n_tokens);
      n_prompt + n_drawn > 0 ? steps.push_back({took, n_prompt, n_drawn}) : void(idle += took);
    }
    const double took = now() - start;
    double bound = idle + prompt_tokens * per_prompt_token, pure = 0, pure_bound = 0, mixed = 0, mixed_bound = 0;
    int32_t n_pure = 0;
    for (const Step& step : steps) {
      const double decodes = step.n_drawn > 0 ? step_of(decode, step.n_drawn) : 0;
      bound += decodes;
      const bool is_pure = step.n_prompt == 0;
      (is_pure ? pure : mixed) += step.seconds;
      (is_pure ? pure_bound : mixed_bound) += decodes + step.n_prompt * per_prompt_token;
      n_pure += is_pure;
    }
    const RequestCounts counts = engine->requests().counts();
    std::printf("%d requests (prompts to %d, answers to %d%s): %.3f s; replay %.3f s; ratio %.3f; put out %llu, computed again %llu tokens, copied back %llu\n", n_requests,
                longest_prompt, longest_answer, way == Arrivals::by_and_by ? "" : way == Arrivals::at_once ? ", all at once" : ", each as one ends", took, bound, took / bound,
                static_cast<unsigned long long>(counts.n_put_out - counts_before.n_put_out),
                static_cast<unsigned long long>(counts.n_computed_again - counts_before.n_computed_again),
                static_cast<unsigned long long>(counts.n_copied_back - counts_before.n_copied_back));
    std::printf("  idle %.3f s; %d steps of drawn tokens alone %.3f s, replay %.3f; %zu with prompts %.3f s, replay %.3f\n", idle, n_pure, pure, pure_bound,
                steps.size() - static_cast<size_t>(n_pure), mixed, mixed_bound);
    std::vector<double> first, between;
    for (const auto& [i, end] : ended) {
      first.push_back(late[i] * 1e3 + static_cast<double>(end.queued_us + end.prompt_us) * 1e-3);
      between.push_back(static_cast<double>(end.decode_us) * 1e-3 / std::max(1, end.n_drawn - 1));
    }
    std::printf("  %.0f tokens/s drawn; to the first token p50 %.1f, p99 %.1f ms; from one to the next p50 %.2f, p99 %.2f ms (of the requests' means %.2f, %.2f)\n", drawn / took,
                part_of(first, 0.5), part_of(first, 0.99), part_of(gaps, 0.5), part_of(gaps, 0.99), part_of(between, 0.5), part_of(between, 0.99));
  }
  // For peer_arrivals.c.
  static void write_jobs(const std::string& path, const std::vector<Job>& jobs, bool all_at_once) {
    std::FILE* file = std::fopen((path + (all_at_once ? ".at-once" : ".arrivals")).c_str(), "w");
    if (file == nullptr) fail(error(Code::io, "cannot write %s", path.c_str()));
    for (const Job& job : jobs) std::fprintf(file, "%.6f %d %d\n", job.at, job.n_prompt, job.n_answer);
    std::fclose(file);
  }

  // Milliseconds until the first token of one prompt.
  double first_token(std::vector<int32_t> given) {
    const double start = now();
    submit(std::move(given), 1);
    run_to_the_end();
    return (now() - start) * 1e3;
  }
  static std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // Prompts that begin alike: all at once while nobody has computed the beginning, then one after the other beside prompts as long as their rest.
  void beginnings(int n, int32_t n_common, int32_t n_rest) {
    const std::vector<int32_t> common = prompt(n_common);
    ended.clear();
    const double start = now();
    for (int i = 0; i < n; ++i) submit(joined(common, prompt(n_rest)), 1);
    run_to_the_end();
    const double together = (now() - start) * 1e3;
    int32_t n_computed = 0;
    for (const auto& [user, end] : ended) n_computed += end.n_prompt - end.n_cached;
    std::vector<double> hits, alone;
    for (int i = 0; i < n; ++i) {
      alone.push_back(first_token(prompt(n_rest)));
      hits.push_back(first_token(joined(common, prompt(n_rest))));
      hits.push_back(first_token(joined(common, prompt(n_rest))));
      alone.push_back(first_token(prompt(n_rest)));
    }
    const double first = first_token(prompt(n_common + n_rest));
    std::printf("%d prompts with %d tokens in common and %d of their own, at once: %.1f ms, %d tokens computed, %d without repetition\n", n, n_common, n_rest, together, n_computed,
                n_common + n * n_rest);
    std::printf("  first token, one after the other: p50 %.2f, p99 %.2f ms; prompts of %d tokens %.2f, %.2f ms; ratio %.3f; one that finds nothing %.1f ms\n", part_of(hits, 0.5),
                part_of(hits, 0.99), n_rest, part_of(alone, 0.5), part_of(alone, 0.99), part_of(hits, 0.5) / part_of(alone, 0.5), first);
  }

  // The first tokens of n prompts that come at once, beside that of one as long as all of them.
  void prompts(int32_t n, int32_t n_tokens) {
    std::vector<double> many, one;
    const auto of_many = [&] {
      std::vector<std::vector<int32_t>> given;
      for (int32_t i = 0; i < n; ++i) given.push_back(prompt(n_tokens));
      const double start = now();
      for (auto& tokens_of_one : given) submit(std::move(tokens_of_one), 1);
      run_to_the_end();
      return (now() - start) * 1e3;
    };
    for (int round = 0; round < 5; ++round) {
      many.push_back(of_many());
      one.push_back(first_token(prompt(n * n_tokens)));
      one.push_back(first_token(prompt(n * n_tokens)));
      many.push_back(of_many());
    }
    std::printf("%d prompts of %d tokens at once %.2f ms, one of %d tokens %.2f ms, ratio %.3f (medians, A-B-B-A)\n", n, n_tokens, part_of(many, 0.5), n * n_tokens, part_of(one, 0.5),
                part_of(many, 0.5) / part_of(one, 0.5));
  }

  enum class Others : uint8_t { none, prompts, vectors };
  static constexpr uint64_t kOther = 1'000'000;  // the user of a request of others

  // Readers that draw without end, and one request of others at a time.
  void gaps_beside(const char* what, Others others, int32_t n_other, int64_t max_step_us, double seconds) {
    constexpr uint64_t kReaders = 8;
    const int32_t n_drawn = engine->info().n_context - 200;
    for (uint64_t i = 0; i < kReaders; ++i) submit(prompt(64), n_drawn, i);
    while (last_token.size() < kReaders) run({.max_step_us = max_step_us, .one_step = true}), poll();
    gaps.clear();
    ended.clear();
    size_t n_others = 0;
    bool is_out = false;
    const double start = now();
    std::vector<double> steps;
    while (now() - start < seconds && ended.size() <= n_others) {
      if (others != Others::none && !is_out) {
        uint64_t id = 0;
        RequestOptions options{.session = drawing(1), .user = kOther};
        if (others == Others::vectors) options = {.kind = RequestKind::embed, .embed = {.pooling = Pooling::mean}, .user = kOther};
        check(engine->requests().submit(queue, prompt(n_other), std::move(options), id));
        is_out = true;
      }
      const double began = now();
      run({.max_step_us = max_step_us, .one_step = true});
      poll();
      steps.push_back((now() - began) * 1e3);
      if (ended.size() > n_others) is_out = false, ++n_others;
    }
    const double took = now() - start;
    std::printf("  %s: p50 %.2f, p99 %.2f, longest %.2f ms; %.0f tokens/s drawn, %.0f tokens/s of others\n", what, part_of(gaps, 0.5), part_of(gaps, 0.99), part_of(gaps, 1),
                static_cast<double>(gaps.size()) / took, static_cast<double>(n_others) * n_other / took);
    for (const auto& request : queue->live()) engine->requests().cancel(*request);
    run_to_the_end();
    last_token.clear();
  }
  void gaps_of_readers(int32_t n_prompt, int32_t n_text, double seconds) {
    std::printf("from one token to the next of 8 readers\n");
    gaps_beside("alone", Others::none, 0, 0, seconds);
    for (const int max_ms : {0, 20, 10, 5}) {
      const std::string what = "beside prompts of " + std::to_string(n_prompt) + " tokens, max_step_us " + std::to_string(max_ms * 1000);
      gaps_beside(what.c_str(), Others::prompts, n_prompt, max_ms * 1000, seconds);
    }
    for (const int max_ms : {0, 5}) {
      const std::string what = "beside vectors of " + std::to_string(n_text) + " tokens, max_step_us " + std::to_string(max_ms * 1000);
      gaps_beside(what.c_str(), Others::vectors, n_text, max_ms * 1000, seconds);
    }
  }

  // The longest step of others while a session is saved again and again by another thread.
  void saved_beside_steps(int32_t n_tokens, int n_steps) {
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<Session*> named;
    const auto begin = [&](int32_t n) {
      auto made = engine->create_session(drawing(0));
      if (!made.ok()) fail(made.status());
      size_t n_done = 0;
      check((*made)->prefill(prompt(n), n_done));
      return *std::move(made);
    };
    for (int i = 0; i < 4; ++i) sessions.push_back(begin(32)), named.push_back(sessions.back().get());
    const std::shared_ptr<Session> other = begin(n_tokens);
    std::vector<StepEvent> events(named.size());
    const auto steps_of = [&] {
      std::vector<double> out;
      for (int i = 0; i < n_steps; ++i) {
        const double start = now();
        check(engine->decode_step(named, events));
        out.push_back((now() - start) * 1e3);
      }
      return out;
    };
    (void)steps_of();
    const std::vector<double> before = steps_of();
    std::atomic<bool> is_over{false};
    int n_saved = 0;
    std::vector<std::byte> state;
    std::thread saver([&] {
      for (; !is_over.load(); ++n_saved) {
        auto saved = SavedSession::of(*other);
        if (!saved.ok()) fail(saved.status());
        state.resize(saved->n_bytes());
        check(saved->write(std::span(state)));
      }
    });
    const std::vector<double> beside = steps_of();
    is_over.store(true);
    saver.join();
    std::printf("a step of 4 sessions: p50 %.2f, p99 %.2f, longest %.2f ms; beside another one's %d saves of %d tokens: %.2f, %.2f, %.2f ms\n", part_of(before, 0.5), part_of(before, 0.99),
                part_of(before, 1), n_saved, n_tokens, part_of(beside, 0.5), part_of(beside, 0.99), part_of(beside, 1));
  }

  // Keys and values to the host and back, as requests that are put out take; and a session saved and restored.
  void copies(int32_t n_tokens) {
    Backend& backend = engine->backend();
    const auto n_blocks = std::min<int32_t>(kv_blocks_for(n_tokens), backend.config().n_kv_blocks[0]);
    std::vector<int32_t> blocks(static_cast<size_t>(n_blocks));
    std::iota(blocks.begin(), blocks.end(), 0);
    const uint64_t bytes = backend.kv_memory().block_bytes_of(0) * blocks.size();
    const auto memory = backend.take_host_memory(bytes);
    if (!memory.ok()) fail(memory.status());
    const auto speed = [](uint64_t n, double seconds) { return static_cast<double>(n) * 1e-9 / seconds; };
    for (int i = 0; i < 3; ++i) {
      const double start = now();
      check(backend.copy_kv_to_host({0, blocks}, memory->data()));
      check(backend.wait_for_copies());
      const double out = now();
      check(backend.copy_kv_from_host({0, blocks}, memory->data()));
      check(backend.wait_for_copies());
      std::printf("copies of %d tokens, %.1f MB: out %.2f GB/s, in %.2f GB/s\n", n_tokens, static_cast<double>(bytes) * 1e-6, speed(bytes, out - start), speed(bytes, now() - out));
    }
    auto session = engine->create_session({});
    if (!session.ok()) fail(session.status());
    size_t n_done = 0;
    const double began = now();
    check((*session)->prefill(prompt(n_tokens), n_done));
    const double computed = now();
    auto saved = SavedSession::of(**session);
    if (!saved.ok()) fail(saved.status());
    std::vector<std::byte> state(saved->n_bytes());
    for (int i = 0; i < 3; ++i) {
      const double start = now();
      check(saved->write(std::span(state)));
      const double out = now();
      const auto again = restore_session(engine, std::span<const std::byte>(state));
      if (!again.ok()) fail(again.status());
      const double in = now();
      std::printf("a session of %d tokens: prompt %.3f s, saved %.3f s (%.2f GB/s), restored %.3f s (%.2f GB/s)\n", n_tokens, computed - began, out - start,
                  speed(state.size(), out - start), in - out, speed(state.size(), in - out));
    }
  }
};

struct Returning {
  int32_t n_conversations, n_first, n_more, n_drawn, n_turns;
  int32_t n_tokens() const { return n_first + n_turns * (n_more + n_drawn); }
  int32_t n_blocks() const { return n_conversations * kv_blocks_for(n_tokens()); }
};

// n requests with a common beginning, in a pool that has room for it once and for the rests of all, beside one that has room for all of each.
void shared(const char* path, DeviceKind device, int32_t n, int32_t n_common, int32_t n_rest, int32_t n_drawn) {
  const int32_t n_blocks = kv_blocks_for(n_rest + n_drawn) + 1;  // of each, with that in which the beginning may end
  for (const bool is_small : {true, false}) {
    EngineOptions options{.device = device, .n_context = n_common + n_rest + n_drawn + kKvBlockTokens, .max_sessions = n};
    EngineOptions one = options;
    one.kv_budget_bytes = 1;
    const uint64_t block = Engine::plan_memory(path, one).status().required;
    options.kv_budget_bytes = block * static_cast<uint64_t>(is_small ? kv_blocks_for(n_common) + n * n_blocks : n * (kv_blocks_for(n_common) + n_blocks));
    auto engine = Engine::load(path, options);
    if (!engine.ok()) fail(engine.status());
    Bench bench{.engine = *engine, .queue = (*engine)->requests().add_queue(*engine, {.max_unread_tokens = 100'000})};
    const std::vector<int32_t> common = bench.prompt(n_common);
    bench.submit(Bench::joined(common, bench.prompt(n_rest)), 1);
    bench.run_to_the_end();
    const uint64_t n_steps = (*engine)->stats().n_decode_steps;
    const double start = now();
    for (int32_t i = 0; i < n; ++i) bench.submit(Bench::joined(common, bench.prompt(n_rest)), n_drawn);
    bench.run_to_the_end();
    std::printf("%d requests, %d tokens in common, %d of their own, %d drawn, %d blocks: %.0f tokens/s, %llu steps, %llu put out\n", n, n_common, n_rest, n_drawn, (*engine)->stats().n_kv_blocks,
                n * n_drawn / (now() - start), static_cast<unsigned long long>((*engine)->stats().n_decode_steps - n_steps),
                static_cast<unsigned long long>((*engine)->requests().counts().n_put_out));
  }
}

// More conversations than the pool has room for, four times as many, one turn of each after the other: to the first token of all turns but the first, with
// memory of the host for so many of the blocks.
void returning(const char* path, DeviceKind device, const Returning& r, double part_on_host) {
  EngineOptions options{.device = device, .n_context = r.n_tokens() + 1, .max_sessions = 4};
  EngineOptions one = options;
  one.kv_budget_bytes = 1;
  const uint64_t block = Engine::plan_memory(path, one).status().required;
  options.kv_budget_bytes = block * static_cast<uint64_t>(r.n_blocks() / 4);
  options.prefix_cache_host_bytes = block * static_cast<uint64_t>(part_on_host * r.n_blocks());
  auto engine = Engine::load(path, options);
  if (!engine.ok()) fail(engine.status());
  Bench bench{.engine = *engine, .queue = (*engine)->requests().add_queue(*engine, {.max_unread_tokens = 100'000})};
  std::vector<std::vector<int32_t>> conversations;
  for (int32_t i = 0; i < r.n_conversations; ++i) conversations.push_back(bench.prompt(r.n_first));
  std::vector<double> first;
  uint64_t n_cached = 0, n_prompt = 0;
  double began = now();
  for (int32_t turn = 0; turn < r.n_turns; ++turn) {
    if (turn == 1) began = now();
    for (std::vector<int32_t>& tokens : conversations) {
      bench.ended.clear();
      bench.submit(tokens, r.n_drawn);
      bench.run_to_the_end();
      const RequestEnd& end = bench.ended.back().second;
      if (turn > 0) {
        first.push_back(static_cast<double>(end.queued_us + end.prompt_us) * 1e-3);
        n_cached += static_cast<uint64_t>(end.n_cached);
        n_prompt += static_cast<uint64_t>(end.n_prompt);
      }
      const std::vector<int32_t> more = bench.prompt(r.n_drawn + r.n_more);  // in place of the answer: as long
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
  }
  const auto stored = (*engine)->stats().stored;
  std::printf("%5.0f MB on the host: first token p50 %.1f, p99 %.1f ms; %.0f %% of the prompts found; %llu blocks went, %llu came back, %llu given up; turns behind the first %.2f s\n",
              static_cast<double>((*engine)->info().prefix_cache_host_bytes) * 1e-6, part_of(first, 0.5), part_of(first, 0.99),
              100 * static_cast<double>(n_cached) / static_cast<double>(n_prompt), static_cast<unsigned long long>(stored.n_moved_out),
              static_cast<unsigned long long>(stored.n_moved_back), static_cast<unsigned long long>(stored.n_given_up), now() - began);
}

void returning(const char* path, DeviceKind device) {
  const Returning r = device == DeviceKind::cuda ? Returning{64, 4000, 100, 32, 3} : Returning{16, 500, 40, 16, 3};
  std::printf("%d conversations of %d turns, the first of %d tokens, a pool for a quarter\n", r.n_conversations, r.n_turns, r.n_first);
  for (const double part : {0.0, 1.0, 0.5, 0.5, 1.0, 0.0}) returning(path, device, r, part);
}

// A call with a text that nearly fills the context, rendered and divided into tokens by the caller's thread, while the engine's thread computes: as inlay_submit does it.
void submits(const char* path, DeviceKind device, int n_times) {
  Result<std::shared_ptr<Engine>> engine = error(Code::internal, "no context was tried");
  size_t n_tokens = 0;
  for (const int32_t n_context : {36'000, 32'000, 8'000}) {
    n_tokens = static_cast<size_t>(n_context) * 7 / 8;
    engine = Engine::load(path, {.device = device, .n_context = n_context, .max_sessions = 2});
    if (engine.ok()) break;
  }
  if (!engine.ok()) fail(engine.status());
  const Tokenizer* tokenizer = (*engine)->tokenizer();
  if (tokenizer == nullptr) fail(error(Code::unsupported, "the model has no tokenizer"));
  Bench bench{.engine = *engine, .queue = (*engine)->requests().add_queue(*engine, {.max_unread_tokens = 100'000})};
  constexpr std::array kWords{"the", "river", "Anna", "walked", "42", "quietly", "because", "houses,", "stone.", "\n", "it's", "under", "a", "remembered", "(later)", "winter"};
  std::string words;
  std::vector<int32_t> encoded;
  while (encoded.size() < n_tokens) {
    for (size_t i = 0; i < n_tokens / 32; ++i) {
      words += kWords[bench.random() % kWords.size()] + std::string(" ");
      for (size_t n = bench.random() % 7 + 2; n > 0; --n) words += static_cast<char>('a' + bench.random() % 26);  // a word that is in no vocabulary
      words += ' ';
    }
    encoded.clear();
    check(tokenizer->encode(words, {}, encoded));
  }
  const std::string messages = R"([{"role": "user", "content": ")" + std::regex_replace(words, std::regex("\n"), "\\n") + "\"}]";
  check((*engine)->requests().set_thread(ThreadShare{}));
  const bool has_template = tokenize_chat(**engine, messages, {}).ok();
  for (const bool computes : {false, true}) {
    for (const bool as_messages : {false, true}) {
      if (as_messages && !has_template) continue;
      std::vector<double> took;
      for (int i = 0; i < n_times; ++i) {
        uint64_t id = 0;
        if (computes && bench.queue->live().empty()) bench.submit(bench.prompt(64), 2000);
        const double start = now();
        std::vector<int32_t> given;
        if (as_messages) {
          auto tokens = tokenize_chat(**engine, messages, {});
          if (!tokens.ok()) fail(tokens.status());
          given = *std::move(tokens);
        } else {
          check(tokenizer->encode(words, {}, given));
        }
        check((*engine)->requests().submit(bench.queue, std::move(given), {.session = Bench::drawing(1)}, id));
        took.push_back((now() - start) * 1e3);
        if (const auto request = bench.queue->cancel(id)) (*engine)->requests().cancel(*request);
        bench.poll();
      }
      std::printf("submit of %zu tokens as %s%s: p50 %.2f, p99 %.2f ms\n", encoded.size(), as_messages ? "messages" : "text", computes ? " while the engine's thread computes" : "",
                  part_of(took, 0.5), part_of(took, 0.99));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 4 ? argv[4] : "";
  const std::array parts{"copies", "beginnings", "shared", "returning", "submit", "prompts", "steps", "frames", "gaps", "arrivals"};
  if (argc < 2 || (!part.empty() && std::ranges::find(parts, part) == parts.end())) {
    std::fprintf(stderr, "bench_requests MODEL [cpu|cuda] [MAX_SESSIONS] [PART]\nPART:");
    for (const char* name : parts) std::fprintf(stderr, " %s", name);
    return std::fprintf(stderr, "\n"), 2;
  }
  const auto is_asked = [&](const char* name) { return part.empty() || part == name; };
  const bool cuda = argc > 2 && std::strcmp(argv[2], "cuda") == 0;
  const DeviceKind device = cuda ? DeviceKind::cuda : DeviceKind::cpu;
  if (is_asked("returning")) returning(argv[1], device);
  if (is_asked("submit")) submits(argv[1], device, 100);
  if (is_asked("shared")) cuda ? shared(argv[1], device, 32, 2000, 40, 64) : shared(argv[1], device, 16, 2000, 20, 32);
  if (part == "returning" || part == "submit" || part == "shared") return 0;
  auto engine = Engine::load(argv[1], {.device = device, .n_context = 4608, .max_sessions = argc > 3 ? std::atoi(argv[3]) : 32, .kv_budget_bytes = uint64_t{16} << 30});
  if (!engine.ok()) fail(engine.status());
  Bench bench{.engine = *engine, .queue = (*engine)->requests().add_queue(*engine, {.max_unread_tokens = 100'000})};
  if (is_asked("copies")) bench.copies(cuda ? 4000 : 500);
  if (is_asked("copies")) bench.saved_beside_steps(cuda ? 4000 : 500, 300);
  if (is_asked("beginnings")) cuda ? bench.beginnings(32, 2000, 40) : bench.beginnings(8, 1000, 40);
  if (is_asked("prompts")) cuda ? bench.prompts(32, 128) : bench.prompts(8, 64);
  if (is_asked("steps")) bench.steps();
  if (is_asked("frames")) bench.frames();
  if (is_asked("frames") && cuda) bench.frames_without_waiting();
  if (is_asked("gaps")) cuda ? bench.gaps_of_readers(2000, 200, 3) : bench.gaps_of_readers(500, 100, 10);
  if (!is_asked("arrivals")) return 0;
  for (const auto way : {Bench::Arrivals::by_and_by, Bench::Arrivals::at_once, Bench::Arrivals::closed}) {
    const int n = cuda ? 64 : 32, n_all = way == Bench::Arrivals::closed ? 3 * n : 64;
    cuda ? bench.arrivals(n_all, 2048, 256, way, way == Bench::Arrivals::closed ? n : n_all) : bench.arrivals(n_all, 256, 48, way, way == Bench::Arrivals::closed ? n : n_all);
  }
}
