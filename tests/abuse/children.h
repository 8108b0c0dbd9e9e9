// Processes of this program that run a generator's cases, and what a process holds.
#pragma once

#include <memory>
#include <string>

#include "tests/abuse/generator.h"

namespace inlay::abuse {

// What a child runs.
struct Batch {
  const Generator* generator = nullptr;
  uint64_t seed = 0, begin = 0, end = 0;
  bool plant = false;
};
[[noreturn]] void be_child(const Batch& batch, Tally& tally);

struct Ending {
  bool good = false;
  std::string how;  // of one that is not good
};

class Child {
 public:
  // None where the system gives no process.
  static std::unique_ptr<Child> start(const Batch& batch, std::string& why);
  virtual ~Child() = default;

  const volatile Tally& tally() const { return *tally_; }
  virtual bool ends_within(int milliseconds) = 0;  // it has ended then
  virtual void kill() = 0;
  virtual Ending ending() = 0;
  virtual std::string output(size_t most) = 0;  // the beginning of what it has written

 protected:
  Tally* tally_ = nullptr;
};

// A limit of time on this machine: `seconds`, and more of them while more than half a process waits for each processor. So a case that
// hangs is told from one that waits for a processor.
double on_this_machine(double seconds);

struct Held {
  size_t n_descriptors = 0, n_threads = 0;
};
Held held_by_this_process();
uint64_t private_bytes();  // of this process's memory, without what its allocator can give back
void limit_memory(uint64_t bytes);  // of this process, from now on
void keep_a_descriptor();           // open, for good

#ifdef _WIN32
// What Child::start has started, in the process that it is: `arguments` are those after "--child".
int be_started_child(int n, char** arguments);
void set_scratch_folder(const std::string& path);
const Generator* find_generator(std::string_view name);
void set_library(const std::string& path);
#endif

}  // namespace inlay::abuse
