// One step of a model, operation by operation: what each took and moved, beside what the memory can give. Plain
// figures, which the engine fills in; and their forms for people and for trace viewers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace inlay {

struct ProfiledOp {
  int32_t index = 0;      // in the plan
  const char* kind = "";  // static text
  int32_t layer = -1;     // -1: outside of layers
  double begin_us = 0, us = 0;
  uint64_t weight_bytes = 0, kv_bytes = 0, activation_bytes = 0;
  uint64_t flops = 0;

  uint64_t n_bytes() const { return weight_bytes + kv_bytes + activation_bytes; }
};

struct Profile {
  std::string device;
  int64_t n_tokens = 0, n_past = 0;  // of the step; already cached
  int32_t n_repetitions = 0;         // all times are medians of these
  double step_us = 0;                // a whole step, run as always: without times between its ops, host's part included
  double read_bandwidth = 0;         // bytes a second that the device's memory gave to a plain read of a large buffer
  std::vector<ProfiledOp> ops;

  double sum_us() const;  // of the ops
};

// One line an op.
std::string timeline_table(const Profile& profile);
// One line a kind of op, and the sums.
std::string kind_table(const Profile& profile);
// Chrome's trace-event format, for chrome://tracing and Perfetto: each profile is a process of its own.
std::string chrome_trace(std::span<const Profile> profiles);

}  // namespace inlay
