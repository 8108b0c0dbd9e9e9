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

// Fails if something that was written to the standard output is lost.
void check_output();

// "what: MESSAGE (STATUS)".
std::string describe(const std::string& what, const inlay_error& error);

// The same for what is done with a file: "what PATH: MESSAGE (STATUS)", with the path once, also where the library
// names it or a file in it.
std::string describe(const std::string& what, const std::string& path, const inlay_error& error);

// Fail with the library's message unless the status is INLAY_OK: with kExitUsage where an argument is at fault.
void check(inlay_status status, const inlay_error& error, const std::string& what);
void check(inlay_status status, const inlay_error& error, const std::string& what, const std::string& path);

}  // namespace inlay::cli
