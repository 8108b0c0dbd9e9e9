// Requests by random schedules, on a clock that belongs to the schedule: arrivals, cancels, timeouts, sessions beside them, a pool of a quarter of
// the need, all ways of computing. The logits of each request are to the bit those that it has alone, and a seed says all that happens.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using test::Collected;

constexpr size_t kJobs = 14;
constexpr int32_t kPlaces = 4;
constexpr size_t kLasting = kPlaces + 1;  // requests that neither a timeout nor a cancel ends: after any step one is left

uint64_t hash_of(std::span<const float> logits) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : std::as_bytes(logits)) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}

class RequestSchedules : public test::EngineRequests {
 protected:
  void TearDown() override { queue_.reset(), engine_.reset(); }  // the clock is of this object
  enum class Way : uint8_t { steps, rounds, units, queues, thread };
  struct Job {
    uint64_t id = 0;
    std::vector<int32_t> prompt;
    RequestOptions options;
    bool is_cancelled = false;
    std::vector<uint64_t> logits;  // hashes, of each draw
    bool lasts() const { return options.timeout_us == 0 && !is_cancelled; }
  };
  struct Beside {  // a session of the host's
    std::shared_ptr<Session> session;
    std::vector<int32_t> prompt;
    int32_t n_left = 0;
    std::vector<int32_t> tokens;
    std::vector<uint64_t> logits;
  };
  struct Counts {
    uint64_t n_put_out = 0, n_timeouts = 0, n_cancelled = 0, n_aged = 0, n_cached = 0, n_sessions = 0, n_compared = 0;
  };

  bool on_cpu() const { return GetParam() == DeviceKind::cpu; }
  // With a device that computes by itself what happens depends on how fast that is.
  bool replays() const { return on_cpu() || way_ != Way::queues; }
  int32_t below(int32_t n) { return static_cast<int32_t>(random_() % static_cast<uint32_t>(n)); }
  // Time passes where the engine computes, launches, and a little where it asks for it.
  int64_t passes(int64_t most) {
    const auto us = static_cast<int64_t>(clock_random_() % static_cast<uint64_t>(most + 1));
    now_ += us;
    return us;
  }
  template <class... Parts>
  void note(const char* what, Parts... parts) {
    std::string line = what;
    ((line += ' ' + std::to_string(parts)), ...);
    log_.push_back(std::move(line));
  }

  void begin(uint32_t seed) {
    random_.seed(seed);
    clock_random_.seed(~seed);
    way_ = static_cast<Way>(seed % (on_cpu() ? 5 : 4));
    has_share_ = way_ == Way::thread && below(2) == 0;
    scale_ = std::array<int64_t, 4>{20, 300, 5000, 60'000}[has_share_ ? 0 : static_cast<size_t>(below(4))];
    now_ = 1'000'000;
    queued_us_ = 0;
    jobs_.clear();
    log_.clear();
    collected_.clear();
    beside_ = {};
    is_submitted_ = false;
    EngineOptions options{.n_context = 128, .max_sessions = kPlaces, .n_threads = 1, .prefill_chunk = 32};
    if (below(2) == 0) options.kv_budget_bytes = block_bytes_ * kPlaces;  // a quarter
    load_with(options);
    if (below(2) == 0) engine_->requests().live().store_put_outs(64);
    engine_->requests().live().set_hooks({.now = [this] { return passes(has_share_ ? scale_ / 4 : 2), now_; },
                                          .drew = [this](const Request& request, int32_t slot) { drew(request, slot); }});
    Inspection inspection{.fault = [this] { return computed(), Status(); }};
    if (way_ == Way::queues) {
      inspection.progress = [this] {
        if (clock_random_() % 2 == 0) return TicketProgress{};
        return TicketProgress{.is_done = true, .seconds = 1e-6 * static_cast<double>(std::exchange(queued_us_, 0))};
      };
      inspection.launch = [this](std::span<const StepUnit> units) {
        for (size_t i = 0; i < units.size(); ++i) passes(scale_ / 8), queued_us_ += scale_;
      };
    }
    if (on_cpu()) engine_->backend().set_inspection(std::move(inspection));
  }
  void drew(const Request& request, int32_t slot) {
    const auto job = std::ranges::find(jobs_, request.id, &Job::id);
    const auto logits = on_cpu() ? engine_->backend().logits(slot) : Result<Backend::Logits>(Backend::Logits{});
    ASSERT_TRUE(job != jobs_.end() && logits.ok());
    job->logits.push_back(hash_of(logits->values));
  }
  // What the device has done; here others come and leave, while the step is under way.
  void computed() {
    passes(scale_);
    act();
  }
  void act() {
    if (jobs_.size() < kJobs && below(6) == 0) arrive();
    while (way_ == Way::thread && jobs_.size() < kJobs && n_lasting() < kLasting) arrive();
    if (!jobs_.empty() && below(60) == 0) cancel(static_cast<size_t>(below(static_cast<int32_t>(jobs_.size()))));
    is_submitted_ = jobs_.size() == kJobs;
  }
  size_t n_lasting() const {
    size_t n = 0;
    for (const auto& request : queue_->live()) n += std::ranges::find(jobs_, request->id, &Job::id)->lasts() ? 1 : 0;
    return n;
  }
  void arrive() {
    Job job{.prompt = prompt(1 + below(70), std::array{3, 50, 90}[static_cast<size_t>(below(3))]), .options = plain(1 + below(40))};
    SessionOptions& session = job.options.session;
    session.sampler = {.temperature = 0.8f, .top_k = 20, .seed = random_()};
    if (below(2) == 0) session.sampler.repetition_penalty = 1.1f;
    if (below(4) == 0) session.sampler.mirostat_tau = 3;
    if (below(4) == 0) session.stops = {"never in the text"};
    if (below(8) == 0) job.options.kind = RequestKind::prefill;
    job.options.priority = below(kTopLevel + 1);
    if (below(3) == 0) job.options.deadline_us = 1 + below(50) * scale_;
    if (below(4) == 0) job.options.timeout_us = 1 + below(150) * scale_;
    if (below(5) == 0) job.options.cache_salt = 1;
    job.id = submit(job.prompt, job.options);
    note("arrives", jobs_.size(), now_, job.prompt.size(), job.options.priority);
    jobs_.push_back(std::move(job));
  }
  void cancel(size_t i) {
    if (way_ == Way::thread && jobs_.size() < kJobs && n_lasting() <= kLasting) return;
    const auto request = queue_->cancel(jobs_[i].id);
    if (!request) return;
    note("is cancelled", i, now_);
    jobs_[i].is_cancelled = true;
    engine_->requests().cancel(*request);
  }
  // Calls for a session, in front of which requests give way.
  void go_beside() {
    if (!beside_.session) {
      if (below(40) != 0) return;
      beside_ = {.session = session({.max_tokens = 60, .ignore_end_of_generation = true}), .prompt = prompt(1 + below(40), 7), .n_left = 1 + below(12)};
      const Status status = prefill(*beside_.session, beside_.prompt);
      ASSERT_TRUE(status.ok()) << status.message;
      ++counts_.n_sessions;
    } else if (below(3) == 0) {
      beside_.tokens.push_back(step(*beside_.session).sample.token);
      const auto logits = beside_.session->view_logits();
      ASSERT_TRUE(logits.ok()) << logits.status().message;
      beside_.logits.push_back(hash_of(*logits));
      if (--beside_.n_left > 0) return;
      if (compares_) expect_begins(beside_.prompt, {.max_tokens = 60, .ignore_end_of_generation = true}, beside_.tokens, beside_.logits, "the session");
      beside_ = {};
    }
  }
  RunBudget budget() {
    const int64_t step_us = below(4) == 0 ? 2 * scale_ : 0;
    switch (way_) {
      case Way::steps: return {.max_step_us = step_us, .one_step = true};
      case Way::units: return {.us = 3 * scale_, .host_us = below(2) * scale_, .max_step_us = step_us};
      case Way::queues: return {.us = below(3) * 2 * scale_, .host_us = below(3) * scale_, .no_wait = below(5) > 0};
      case Way::rounds:
      case Way::thread: break;
    }
    return {.max_step_us = step_us};
  }

  void play(uint32_t seed) {
    begin(seed);
    way_ == Way::thread ? play_by_thread() : play_by_calls();
    poll();
    ASSERT_EQ(collected_.size(), kJobs);
    for (size_t i = 0; i < kJobs; ++i) {
      const Collected& own = collected_[jobs_[i].id];
      note("ends", i, static_cast<int>(own.end.reason), own.end.n_cached, own.end.n_drawn, own.end.queued_us, own.end.prompt_us, own.end.decode_us);
      for (const uint64_t hash : jobs_[i].logits) note("logits", hash);
    }
    const RequestCounts counts = engine_->requests().counts();
    note("in all", counts.n_put_out, counts.n_computed_again, counts.n_stored, counts.n_copied_back, engine_->stats().n_prefill_tokens);
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
    EXPECT_EQ(engine_->stats().n_sessions, 0);
    counts_.n_put_out += counts.n_put_out;
  }
  void play_by_calls() {
    const int most = on_cpu() ? 50'000 : 5'000'000;  // a device may be asked again and again
    for (int i = 0; i < most; ++i) {
      act();
      go_beside();
      const auto result = engine_->requests().run(budget());
      ASSERT_TRUE(result.ok()) << result.status().message;
      if (!on_cpu()) passes(scale_);  // there nobody says when the device has computed
      if (replays()) note("call", now_, result->n_tokens, result->n_requests, n_events_);
      if (below(3) == 0) poll(static_cast<size_t>(1 + below(3)), static_cast<size_t>(1 + below(5)), static_cast<size_t>(4 + below(20)));
      if (below(10) == 0) engine_->requests().end_expired();
      if (below(50) == 0) now_ += below(20) * scale_;
      if (is_submitted_ && result->n_requests == 0 && !beside_.session) return;
    }
    FAIL() << "requests do not come to an end";
  }
  // All that happens does so on the engine's thread, while that has a step under way.
  void play_by_thread() {
    while (n_lasting() < kLasting) arrive();
    ThreadShare share;
    if (has_share_) share = {.busy_us = 2 * scale_, .period_us = 3 * scale_};
    if (below(2) == 0) share.max_step_us = 2 * scale_;
    ASSERT_TRUE(engine_->requests().set_thread(share).ok());
    while (!is_submitted_ || !queue_->live().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(engine_->requests().set_thread({}).ok());
  }

  // That so much of what is drawn alone was drawn.
  void expect_begins(const std::vector<int32_t>& tokens, const SessionOptions& options, std::span<const int32_t> drawn, std::span<const uint64_t> logits, const std::string& what) {
    std::vector<uint64_t> wanted;
    const Collected own = alone(*other_, tokens, options, [&](Session& s) { wanted.push_back(hash_of(*s.view_logits())); });
    if (!on_cpu()) return;
    ASSERT_LE(drawn.size(), own.tokens.size()) << what;
    EXPECT_TRUE(std::ranges::equal(drawn, std::span(own.tokens).first(drawn.size()))) << what;
    ASSERT_EQ(logits.size(), drawn.size()) << what;
    EXPECT_TRUE(std::ranges::equal(logits, std::span(wanted).first(logits.size()))) << what << ": the logits differ";
    ++counts_.n_compared;
  }
  void compare(uint32_t seed) {
    for (const Job& job : jobs_) {
      const Collected& own = collected_[job.id];
      const std::string what = "seed " + std::to_string(seed) + ", request " + std::to_string(&job - &jobs_.front());
      const FinishReason reason = own.end.reason;
      EXPECT_EQ(own.n_ends, 1) << what;
      counts_.n_cached += own.end.n_cached > 0 ? 1 : 0;
      counts_.n_aged += own.end.queued_us > RoundLimits().age ? 1 : 0;
      if (reason == FinishReason::timeout || reason == FinishReason::cancelled) {
        ++(reason == FinishReason::timeout ? counts_.n_timeouts : counts_.n_cancelled);
        EXPECT_TRUE(reason == FinishReason::cancelled ? job.is_cancelled : job.options.timeout_us > 0) << what;
        const int64_t lived = own.end.queued_us + own.end.prompt_us + own.end.decode_us;
        EXPECT_TRUE(reason != FinishReason::timeout || lived >= job.options.timeout_us) << what << ": after " << lived;
        expect_begins(job.prompt, job.options.session, own.tokens, job.logits, what);
      } else if (job.options.kind == RequestKind::prefill) {
        EXPECT_EQ(reason, FinishReason::prefilled) << what << ": " << own.message;
        EXPECT_TRUE(own.tokens.empty()) << what;
      } else {
        expect_near_alone(own, alone(*other_, job.prompt, job.options.session), what);
        expect_begins(job.prompt, job.options.session, own.tokens, job.logits, what);
      }
    }
  }

  std::mt19937 random_, clock_random_;
  Way way_ = Way::steps;
  bool has_share_ = false, compares_ = true;
  int64_t scale_ = 1, now_ = 0, queued_us_ = 0;
  uint64_t block_bytes_ = 0;
  std::vector<Job> jobs_;
  Beside beside_;
  std::atomic<bool> is_submitted_{false};
  std::vector<std::string> log_;
  Counts counts_;
  std::shared_ptr<Engine> other_;
};
INLAY_ON_CPU_AND_CUDA(RequestSchedules);

// Every fourth seed, or each of a few, is played twice.
TEST_P(RequestSchedules, ChangeNoBitAndReplay) {
  other_ = load({.n_context = 128, .max_sessions = 1, .n_threads = 1, .prefill_chunk = 32});
  block_bytes_ = engine_->info().memory.kv / static_cast<uint64_t>(engine_->stats().n_kv_blocks);
  const test::Seeds seeds(20);
  for (uint32_t seed = seeds.first; seed < seeds.end && !HasFatalFailure(); ++seed) {
    compares_ = true;
    play(seed);
    if (HasFatalFailure()) break;
    compare(seed);
    if (seeds.are_many && seed % 4 != 3) continue;
    if (!replays()) continue;
    const std::vector<std::string> first = std::exchange(log_, {});
    compares_ = false;
    play(seed);
    const auto [a, b] = std::ranges::mismatch(first, log_);
    ASSERT_TRUE(a == first.end() && b == log_.end()) << "seed " << seed << " gives something else, line " << a - first.begin() << ": " << (a == first.end() ? "" : *a)
                                                     << "; then: " << (b == log_.end() ? "" : *b);
  }
  ASSERT_FALSE(HasFatalFailure()) << "see above";
  std::printf("%llu put out, %llu timeouts, %llu cancelled, %llu waited for a level, %llu began with cached tokens, %llu sessions, %llu compared to the bit\n",
              static_cast<unsigned long long>(counts_.n_put_out), static_cast<unsigned long long>(counts_.n_timeouts),
              static_cast<unsigned long long>(counts_.n_cancelled), static_cast<unsigned long long>(counts_.n_aged),
              static_cast<unsigned long long>(counts_.n_cached), static_cast<unsigned long long>(counts_.n_sessions),
              static_cast<unsigned long long>(counts_.n_compared));
  expect_few_differ();
  if (!seeds.are_many) return;
  // Each of these happened; how often depends on the device's times.
  for (const uint64_t n : {counts_.n_put_out, counts_.n_timeouts, counts_.n_cancelled, counts_.n_aged, counts_.n_cached, counts_.n_sessions}) EXPECT_GE(n, 2u);
}

}  // namespace
}  // namespace inlay
