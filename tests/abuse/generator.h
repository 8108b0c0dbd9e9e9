// What a generator of abuse is: a numbered row of cases, each made of a seed and its number alone, so that one can be
// run again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/mutate.h"

namespace inlay::abuse {

// What the library made of a case.
enum class Outcome { refused, accepted };

// The figures of a child process, in memory that its parent sees also when the child has ended badly.
struct Tally {
  uint64_t case_index = 0;  // the one that runs
  uint64_t n_cases = 0, n_refused = 0, n_accepted = 0, n_crashed = 0, n_hung = 0, n_leaked = 0, n_other = 0,
           n_calls = 0;
  bool ended = false;  // the child is done with its cases; what follows is the end of its process
  uint32_t n_said = 0;
  char said[1 << 16] = {};  // lines about faults
};

// A case that runs.
class Case {
 public:
  Case(Tally& tally, uint64_t seed, uint64_t number)
      : index(number), random(seed ^ (number * 0xD1342543DE82EF95u)), tally_(tally) {}

  // A fault that is not a crash: a promise of the header that was broken.
  void violated(const std::string& what) {
    ++tally_.n_other;
    say("violated: " + what);
  }
  // Of a program that a case has started.
  void crashed(const std::string& what) {
    ++tally_.n_crashed;
    say("crashed: " + what);
  }
  void hung(const std::string& what) {
    ++tally_.n_hung;
    say("hung: " + what);
  }
  void say(const std::string& line);
  void count_call() { ++tally_.n_calls; }
  uint64_t n_violations() const { return tally_.n_other; }

  const uint64_t index;
  fuzz::Random random;
  bool planted = false;  // what the case starts shall fail, to be counted

 private:
  Tally& tally_;
};

// A generator. Each batch of cases runs in a child process of its own.
struct Generator {
  const char* name;
  const char* does;
  uint64_t per_batch;      // cases of one process
  double limit_s;          // time of one case, after which it hangs
  bool (*prepare)(Case&);  // in each child, before its first case; false: it cannot begin, and has said why
  Outcome (*run)(Case&);
  void (*finish)();             // in each child, after its last case
  bool refuses = true;          // of a hundred cases some have to be refused, or they are too tame
  bool measures_memory = true;  // false: a case may leave the process larger
  bool opens_library = true;    // before it prepares
  bool sanitized = true;        // false: it takes the place of what a sanitizer takes the place of
};

extern const Generator kLimit, kCalls, kNewThreads, kToolLimit, kToolCalls, kFiles, kGguf, kFolders, kApi, kPairs,
    kForks, kTemplates, kSignals;

// Where the models, the tool and the library of failing calls lie.
std::string source_path(std::string_view path);
std::string model_path(std::string_view name);
std::string tool_path();
std::string library_path();
std::string failing_calls_path();
// A folder of this process for files, in memory where there is such a place.
std::string scratch_folder();

}  // namespace inlay::abuse
