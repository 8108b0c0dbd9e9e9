// Why a request is not served: an HTTP status, and what OpenAI's error object says.
#pragma once

#include <string>

namespace inlay::server {

struct Refusal {
  int status = 400;
  std::string message;
  std::string param;  // the field at fault; empty: null
  std::string code;   // empty: null
};

// {"error": {"message": ..., "type": ..., "param": ..., "code": ...}}
std::string error_body(const Refusal& refusal);

}  // namespace inlay::server
