#include "examples/cli/failure.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/base/printable.h"

namespace inlay::cli {

namespace {

int code_for(inlay_status status) { return status == INLAY_INVALID_ARGUMENT ? kExitUsage : kExitFailed; }

}  // namespace

void fail(int exit_code, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "inlay: %s\n", printable(message, LineEnds::kept).c_str());
  std::exit(exit_code);
}

void check_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  fail(kExitFailed, "cannot write to the standard output" + reason);
}

std::string describe(const std::string& what, const inlay_error& error) {
  return what + ": " + std::string(error.message, error.message_len) + " (" + inlay_status_name(error.status) + ")";
}

std::string describe(const std::string& what, const std::string& path, const inlay_error& error) {
  const std::string message(error.message, error.message_len), shown = printable(path);
  const char behind = message.rfind(shown, 0) == 0 && message.size() > shown.size() ? message[shown.size()] : '\0';
  if (behind != ':' && behind != '/') return describe(what + " " + path, error);
  return what + " " + message + " (" + inlay_status_name(error.status) + ")";
}

void check(inlay_status status, const inlay_error& error, const std::string& what) {
  if (status != INLAY_OK) fail(code_for(status), describe(what, error));
}

void check(inlay_status status, const inlay_error& error, const std::string& what, const std::string& path) {
  if (status != INLAY_OK) fail(code_for(status), describe(what, path, error));
}

}  // namespace inlay::cli
