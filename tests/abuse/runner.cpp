#include "tests/abuse/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/abuse/children.h"
#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kEndSeconds = 30;           // for the end of a child's process
constexpr uint64_t kGrowthBytes = 24 << 20;  // of a process when it runs its cases again

constexpr size_t kPlantedBytes = 64 << 20;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// ---- what a process holds

// A joined thread is in the list for a moment longer, and what it holds.
void check_held(Case& the_case, Held& before, Tally& tally) {
  const Clock::time_point begin = Clock::now();
  Held after = held_by_this_process();
  for (int i = 0; i < 10'000 && (after.n_threads > before.n_threads || after.n_descriptors > before.n_descriptors); ++i) {
    if (the_case.planted && since(begin) > 1) break;  // what was planted stays, and a case that takes long counts as hung
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    after = held_by_this_process();
  }
  if (after.n_descriptors > before.n_descriptors) {
    ++tally.n_leaked;
    the_case.say("leaked: " + std::to_string(after.n_descriptors - before.n_descriptors) + " descriptors");
  }
  if (after.n_threads > before.n_threads) {
    ++tally.n_leaked;
    the_case.say("leaked: " + std::to_string(after.n_threads - before.n_threads) + " threads");
  }
  before = after;  // each is counted once
}

// ---- faults of the program's own: a generator that counts none of them would count none of the library's

[[noreturn]] void sleep_for_good() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void plant(Case& the_case) {
  switch (the_case.index) {
    case 1:
      std::abort();
    case 3:
      sleep_for_good();
    case 5:
      keep_a_descriptor();
      break;
    case 7:
      std::thread(sleep_for_good).detach();
      break;
    case 8: {
      static char* volatile leaked;
      leaked = new char[kPlantedBytes];
      std::memset(leaked, 1, kPlantedBytes);
      leaked = nullptr;
      break;
    }
    case 9:
      the_case.violated("planted");
      break;
    default:
      break;
  }
}

}  // namespace

// ---- the child

void be_child(const Batch& batch, Tally& tally) {
  const Generator& generator = *batch.generator;
  Case before(tally, batch.seed, batch.begin);
  std::string why;
  if (generator.opens_library && !open_library(why)) before.violated(why);
  if (!generator.prepare(before)) {
    before.violated("cannot begin");
    std::_Exit(3);
  }
  Held held = held_by_this_process();
  const auto run_all = [&] {
    for (uint64_t i = batch.begin; i < batch.end; ++i) {
      tally.case_index = i;
      Case the_case(tally, batch.seed, i);
      the_case.planted = batch.plant;
      if (batch.plant) plant(the_case);
      (generator.run(the_case) == Outcome::refused ? tally.n_refused : tally.n_accepted)++;
      check_held(the_case, held, tally);
      ++tally.n_cases;
    }
  };
  const uint64_t fresh = private_bytes();
  run_all();
  if (generator.measures_memory && !INLAY_SANITIZED && batch.end - batch.begin > 1 && private_bytes() > fresh + kGrowthBytes) {
    // The same cases once more: what an allocator keeps for the largest of them does not grow again, what is lost does.
    const Tally counted = tally;
    const uint64_t once = private_bytes();
    run_all();
    const uint64_t twice = private_bytes();
    tally = counted;
    if (twice > once + kGrowthBytes) {
      ++tally.n_leaked;
      before.say("leaked: " + std::to_string((twice - once) >> 20) + " MiB up to case " + std::to_string(batch.end - 1));
    }
  }
  generator.finish();
  tally.ended = true;
  std::exit(0);  // a sanitizer looks for what was not freed
}

namespace {

// ---- the parent

// Whether it hung, and was ended.
bool hangs(Child& child, double limit_s) {
  const volatile Tally& tally = child.tally();
  uint64_t seen = tally.case_index;
  bool at_end = false;
  Clock::time_point begin = Clock::now();
  while (!child.ends_within(50)) {
    if (tally.case_index != seen || tally.ended != at_end) {
      seen = tally.case_index;
      at_end = tally.ended;
      begin = Clock::now();
    }
    if (since(begin) > on_this_machine(at_end ? kEndSeconds : limit_s)) return child.kill(), true;
  }
  return false;
}

void print_fault(const Generator& generator, const Options& options, uint64_t index, const std::string& what,
                 const std::string& output, const std::string& program) {
  std::printf("%s case %llu: %s\n  again: %s %s --seed %llu --only %llu%s%s\n", generator.name,
              static_cast<unsigned long long>(index), what.c_str(), program.c_str(), generator.name,
              static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(index),
              options.library.empty() ? "" : " --library ", options.library.c_str());
  if (!output.empty()) std::printf("  it wrote: %s\n", output.c_str());
}

// How a child ended, in the totals; the number of the case to go on with.
uint64_t conclude(const Generator& generator, const Options& options, Child& child, bool hung, uint64_t end, Totals& totals,
                  const std::string& program) {
  const Tally& tally = const_cast<const Tally&>(child.tally());  // nobody writes to it any more
  const std::string output = child.output(4000);
  const Ending ending = child.ending();
  if (tally.n_said > 0) std::printf("%.*s", static_cast<int>(tally.n_said), tally.said);
  totals.n_cases += tally.n_cases;
  totals.n_calls += tally.n_calls;
  totals.n_refused += tally.n_refused;
  totals.n_accepted += tally.n_accepted;
  totals.n_crashed += tally.n_crashed;
  totals.n_hung += tally.n_hung;
  totals.n_leaked += tally.n_leaked;
  totals.n_other += tally.n_other;
  if (ending.good && !hung) {
    if (!output.empty()) {
      ++totals.n_other;
      print_fault(generator, options, tally.case_index, "wrote to the host's output, in this case or one before",
                  output, program);
    }
    return end;
  }
  if (!tally.ended) ++totals.n_cases;
  std::string what = ending.how;
  if (hung) {
    ++totals.n_hung;
    what = tally.ended ? "the process does not end" : "hung";
  } else if (output.find("LeakSanitizer") != std::string::npos) {
    ++totals.n_leaked;
  } else {
    ++totals.n_crashed;
  }
  print_fault(generator, options, tally.case_index, what, output, program);
  return tally.ended ? end : tally.case_index + 1;
}

}  // namespace

void Case::say(const std::string& line) {
  const std::string text = "case " + std::to_string(index) + ": " + line + "\n";
  if (text.size() > sizeof tally_.said - tally_.n_said) return;
  std::memcpy(tally_.said + tally_.n_said, text.data(), text.size());
  tally_.n_said += static_cast<uint32_t>(text.size());
}

Totals run(const Generator& generator, const Options& options, const std::string& program) {
  Totals totals;
  const double limit_s = options.limit_s > 0 ? options.limit_s : generator.limit_s;
  const Clock::time_point begin = Clock::now();
  const uint64_t first = options.only < 0 ? 0 : static_cast<uint64_t>(options.only);
  const uint64_t last = options.only < 0 ? options.count : first + 1;
  for (uint64_t at = first; at < last && (options.seconds == 0 || since(begin) < options.seconds);) {
    const uint64_t end = std::min(last, (at / generator.per_batch + 1) * generator.per_batch);
    std::string why;
    const std::unique_ptr<Child> child = Child::start({&generator, options.seed, at, end, options.plant}, why);
    if (!child) {
      std::printf("%s: cannot make a child process: %s\n", generator.name, why.c_str());
      ++totals.n_other;
      break;
    }
    const bool hung = hangs(*child, limit_s);
    at = conclude(generator, options, *child, hung, end, totals, program);
    std::error_code ignored;
    std::filesystem::remove_all(scratch_folder(), ignored);
  }
  return totals;
}

}  // namespace inlay::abuse
