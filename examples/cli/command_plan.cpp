#include <cstdio>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"

namespace inlay::cli {
namespace {

// What the engine decided while it was loaded: why it is on this device, and how its steps are driven.
void print_decisions(const inlay_engine* engine) {
  uint64_t cursor = 0;
  for (;;) {
    inlay_error error;
    inlay_log_level level = INLAY_LOG_OFF;
    char line[1024];
    size_t needed = 0;
    if (inlay_log_read(engine, &cursor, &level, line, sizeof line, &needed, &error) != INLAY_OK) return;
    if (level == INLAY_LOG_INFO) std::printf("# %.*s\n", static_cast<int>(needed), line);
  }
}

}  // namespace

int plan_command(int argc, char** argv) {
  LoadOptions load;
  load.n_context = load.max_sessions = 1;
  load.keeps_decisions = true;
  Options options("plan MODEL [options]",
                  "Prints the list of operations that a step runs, each with the bytes that it moves and the\n"
                  "floating-point operations of one token, and how the device runs them.");
  load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 1);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");

  const EnginePtr engine = load_file(rest[0], load);
  const std::string text =
      text_of([&](char* buffer, size_t cap, size_t* needed,
                  inlay_error* error) { return inlay_plan_text(engine.get(), buffer, cap, needed, error); },
              "cannot print the plan");
  std::fwrite(text.data(), 1, text.size(), stdout);
  print_decisions(engine.get());
  return 0;
}

}  // namespace inlay::cli
