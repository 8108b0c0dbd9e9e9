#include "src/base/pulse.h"

#include <utility>

namespace inlay {
namespace {

// Here alone, and in no header: capi/thread_storage.cpp has to know every file that has such a variable.
thread_local Pulse* innermost = nullptr;

}  // namespace

Pulse::Pulse(Body body) : body_(std::move(body)), outer_(innermost) { innermost = this; }
Pulse::~Pulse() { innermost = outer_; }

Status Pulse::beat(uint64_t n_bytes) { return innermost ? innermost->body_(n_bytes) : Status{}; }

}  // namespace inlay
