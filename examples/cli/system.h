// What the tool asks of the operating system: its arguments and terminal, files by name, other programs' time.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace inlay::cli {

// At the beginning of main: the arguments as UTF-8. Texts go in and out as bytes, without a change of line ends.
std::vector<std::string> begin_program(int argc, char** argv);

bool is_terminal(std::FILE* stream);  // somebody sits there; the null device and pipes are none
int terminal_columns(std::FILE* stream);  // 80 where that cannot be known
bool input_waits();                       // a pipe at the standard input has text that was not read

// As std::fopen with `mode` r, w or x (a new file); binary, and not inherited by child processes. Null, and errno.
std::FILE* open_file(const std::string& path, char mode);
// Takes the other file's place, if there is one; false, and errno.
bool replace_file(const std::string& from, const std::string& to);
void remove_file(const std::string& path);

// A line without its end from the standard input; false at the end. Ctrl-C at a terminal ends no line.
bool read_line(std::string& line);

// Writes without a buffer, where no memory can be taken.
void write_error(const char* text, size_t n);

// Seconds of processor time that everything else on the machine has taken, processors taken away by a host included;
// negative where the system does not tell.
double seconds_of_others();

}  // namespace inlay::cli
