// What the server has done, as text for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "examples/server/model.h"

namespace inlay::server {

struct Metrics {
  std::map<int, uint64_t> responses;  // by status
  uint64_t n_prompt_tokens = 0, n_cached_tokens = 0, n_drawn_tokens = 0;
  uint64_t n_requests = 0, n_left = 0, n_failed = 0, n_embeddings = 0;
  uint64_t queued_us = 0, prompt_us = 0, decode_us = 0;
  size_t n_connections = 0, n_working = 0;

  void add(const inlay_request_event& end);
  std::string text(const Model& model) const;
};

}  // namespace inlay::server
