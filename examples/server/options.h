// What the command line asks for.
#pragma once

#include <cstdint>
#include <string>

#include "examples/server/access.h"
#include "examples/server/http_server.h"
#include "include/capi/inlay.h"

namespace inlay::server {

struct Options {
  std::string model, name;
  std::string address = "127.0.0.1";
  int64_t port = 8080;
  std::string key_file, template_file, format_file;
  AccessRules access;
  HttpOptions http;
  inlay_device_kind device = INLAY_DEVICE_AUTO;
  inlay_pooling pooling = INLAY_POOLING_DEFAULT;
  int64_t n_context = 0, n_threads = 0, n_parallel = 8, kv_mib = 0, prefix_host_mib = 0, n_queue = 256, max_tokens = 0, answer_ms = 600'000, max_step_ms = 100;
};

// -1, or the exit code that the program ends with at once.
int read_options(int argc, char** argv, Options& options);

}  // namespace inlay::server
