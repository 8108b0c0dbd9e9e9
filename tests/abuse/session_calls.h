// A call of every function that takes a session or an engine, with arguments that are right.
#pragma once

#include <span>

#include "tests/abuse/host.h"

namespace inlay::abuse {

struct Handles {
  inlay_engine* engine = nullptr;
  inlay_session* session = nullptr;
  int32_t n_vocab = 0;
};

struct HandleCall {
  const char* name;
  bool of_session;
  inlay_status (*run)(const Handles&, inlay_error*);  // what it makes is freed
  bool slow = false;                                  // it measures for seconds
};

std::span<const HandleCall> handle_calls();

}  // namespace inlay::abuse
