#include <cstdio>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"

namespace inlay::cli {

int plan_command(int argc, char** argv) {
  LoadOptions load;
  load.n_context = load.max_sessions = 1;
  Options options("plan MODEL [options]",
                  "Prints the list of operations that a step runs, each with the bytes that it moves and the\n"
                  "floating-point operations of one token.");
  load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 1);
  if (rest.empty()) options.usage_error("no model given");

  const EnginePtr engine = load_file(rest[0], load);
  const std::string text =
      text_of([&](char* buffer, size_t cap, size_t* needed,
                  inlay_error* error) { return inlay_plan_text(engine.get(), buffer, cap, needed, error); },
              "no plan");
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace inlay::cli
