// How the tool ends when it cannot go on: one line on stderr, and an exit code that tells a mistake on the command line
// from a failure.
#pragma once

#include <string>

#include "include/capi/inlay.h"

namespace inlay::cli {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells count it

// Prints `inlay: message` and exits.
[[noreturn]] void fail(int exit_code, const std::string& message);

// "what: MESSAGE (STATUS)".
std::string describe(const std::string& what, const inlay_error& error);

// Fails with the library's message unless the status is INLAY_OK.
void check(inlay_status status, const inlay_error& error, const std::string& what);

}  // namespace inlay::cli
