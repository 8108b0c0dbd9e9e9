// The commands of the tool. Each takes the arguments behind its name and returns the exit code.
#pragma once

namespace inlay::cli {

int run_command(int argc, char** argv);
int info_command(int argc, char** argv);
int plan_command(int argc, char** argv);
int tokenize_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int compare_command(int argc, char** argv);
int convert_command(int argc, char** argv);
int embed_command(int argc, char** argv);
int perplexity_command(int argc, char** argv);

}  // namespace inlay::cli
