#include <cstdio>
#include <sstream>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/json_line.h"

namespace inlay::cli {
namespace {

// What the engine decided while it was loaded: why it is on this device, and how its steps are driven.
std::vector<std::string> decisions_of(const inlay_engine* engine) {
  std::vector<std::string> decisions;
  uint64_t cursor = 0;
  for (;;) {
    inlay_error error;
    inlay_log_level level = INLAY_LOG_OFF;
    char line[1024];
    size_t needed = 0;
    if (inlay_log_read(engine, &cursor, &level, line, sizeof line, &needed, &error) != INLAY_OK) return decisions;
    if (level == INLAY_LOG_INFO) decisions.emplace_back(line, needed);
  }
}

// A row of the plan's text: number, layer or -, kind, bytes of weights, keys and values, activations, flops, names of weights.
bool read_operation(const std::string& row, JsonLine& operation) {
  std::istringstream stream(row);
  uint64_t number = 0, weights = 0, kv = 0, activations = 0, flops = 0;
  std::string layer, kind, name, type;
  if (!(stream >> number >> layer >> kind >> weights >> kv >> activations >> flops)) return false;
  operation.integer("op", number);
  int64_t index = 0;
  if (parse_integer(layer, 0, INT32_MAX, index)) operation.integer("layer", static_cast<uint64_t>(index));
  operation.text("kind", kind);
  operation.integer("weight_bytes", weights);
  operation.integer("kv_bytes", kv);
  operation.integer("activation_bytes", activations);
  operation.integer("flops", flops);
  std::vector<std::string> names;
  while (stream >> name >> type) names.push_back(json_text(name + " " + type));
  operation.list("weights", names);
  return true;
}

void print_json(const std::string& text, const std::vector<std::string>& decisions) {
  std::istringstream rows(text);
  std::vector<std::string> operations, log;
  for (std::string row; std::getline(rows, row);) {
    JsonLine operation;
    if (read_operation(row, operation)) operations.push_back(operation.finished());
  }
  for (const std::string& decision : decisions) log.push_back(json_text(decision));
  JsonLine line;
  line.list("operations", operations);
  line.list("log", log);
  std::printf("%s\n", line.finished().c_str());
}

}  // namespace

int plan_command(int argc, char** argv) {
  LoadOptions load;
  load.n_context = load.max_sessions = 1;
  load.keeps_decisions = true;
  Options options("plan MODEL [options]",
                  "Prints the list of operations that a step runs, each with the bytes that it moves and the\n"
                  "floating-point operations of one token, and how the device runs them.");
  bool json = false;
  options.flag("--json", json, "print one line of JSON");
  load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 1);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");

  const EnginePtr engine = load_file(rest[0], load);
  const std::string text =
      text_of([&](char* buffer, size_t cap, size_t* needed,
                  inlay_error* error) { return inlay_plan_text(engine.get(), buffer, cap, needed, error); },
              "cannot print the plan");
  const std::vector<std::string> decisions = decisions_of(engine.get());
  if (json) {
    print_json(text, decisions);
    return 0;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  for (const std::string& decision : decisions) std::printf("# %s\n", decision.c_str());
  return 0;
}

}  // namespace inlay::cli
