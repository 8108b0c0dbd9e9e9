// inlay: the command-line tool. It uses the public C API and nothing else of the project.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "examples/cli/commands.h"
#include "examples/cli/failure.h"
#include "examples/cli/interrupt.h"
#include "examples/cli/system.h"

namespace {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* about;
};

constexpr Command kCommands[] = {
    {"run", inlay::cli::run_command, "write text as it is decoded; without a prompt it converses"},
    {"info", inlay::cli::info_command, "print a model's sizes, metadata and memory plan"},
    {"plan", inlay::cli::plan_command, "print every operation of a step with its bytes and flops"},
    {"tokenize", inlay::cli::tokenize_command, "turn text into tokens, or tokens into text"},
    {"bench", inlay::cli::bench_command, "measure prefill and decode, as one line of JSON"},
    {"compare", inlay::cli::compare_command, "find the first operation at which two devices or two files differ"},
    {"perplexity", inlay::cli::perplexity_command, "measure how well a model foresees a text, and how far it is from another"},
    {"embed", inlay::cli::embed_command, "turn texts into vectors"},
    {"convert", inlay::cli::convert_command, "write a model as a GGUF file of another type"},
};

void print_help(std::FILE* to) {
  std::fprintf(to, "usage: inlay COMMAND [ARGUMENTS]\n       inlay --version\n\ncommands:\n");
  for (const Command& command : kCommands) std::fprintf(to, "  %-10s %s\n", command.name, command.about);
  std::fprintf(to,
               "\ninlay COMMAND --help lists a command's options.\n"
               "exit codes: 0 done, 1 failed, 2 wrong arguments, 130 interrupted\n");
}

int run(int argc, char** argv) {
  using namespace inlay::cli;
  if (argc < 2) {
    print_help(stderr);
    return kExitUsage;
  }
  const std::string name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(stdout);
    return 0;
  }
  if (name == "--version") {
    const unsigned abi = inlay_abi_version();
    std::printf("inlay %s (ABI %u.%u)\n", inlay_version_string(), abi >> 16, abi & 0xFFFFu);
    return 0;
  }
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    watch_interrupts();
    return command.run(argc - 2, argv + 2);
  }
  std::error_code problem;
  if (std::filesystem::exists(name, problem)) fail(kExitUsage, name + " is no command; for a model: inlay run " + name);
  fail(kExitUsage,
       (name[0] == '-' ? "unknown option " : "unknown command ") + name + " (inlay --help lists the commands)");
}

std::terminate_handler default_terminate;

// The C++ library terminates where it has no memory for an exception; then none is under way.
[[noreturn]] void end_without_memory() {
  if (std::current_exception()) default_terminate();
  constexpr char kSaid[] = "inlay: out of memory\n";
  inlay::cli::write_error(kSaid, sizeof kSaid - 1);
  std::_Exit(inlay::cli::kExitFailed);
}

}  // namespace

int main(int argc, char** argv) {
  default_terminate = std::set_terminate(end_without_memory);
  try {
    std::vector<std::string> words = inlay::cli::begin_program(argc, argv);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int code = run(static_cast<int>(words.size()), arguments.data());
    inlay::cli::check_output();
    return code;
  } catch (const std::bad_alloc&) {
    std::fputs("inlay: out of memory\n", stderr);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "inlay: %s\n", failure.what());
  }
  return inlay::cli::kExitFailed;
}
