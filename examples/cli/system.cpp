#include "examples/cli/system.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <csignal>

namespace inlay::cli {

std::vector<std::string> begin_program(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit of file sizes fails, and is an error in words
  return {argv, argv + argc};
}

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

int terminal_columns(std::FILE* stream) {
  winsize size = {};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool input_waits() {
  struct stat facts = {};
  int n = 0;
  return fstat(STDIN_FILENO, &facts) == 0 && S_ISFIFO(facts.st_mode) && ioctl(STDIN_FILENO, FIONREAD, &n) == 0 && n > 0;
}

std::FILE* open_file(const std::string& path, char mode) {
  return std::fopen(path.c_str(), mode == 'r' ? "rbe" : mode == 'w' ? "wbe" : "wbxe");
}

bool replace_file(const std::string& from, const std::string& to) { return std::rename(from.c_str(), to.c_str()) == 0; }

void remove_file(const std::string& path) { (void)unlink(path.c_str()); }

bool read_line(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::getc(stdin)) != EOF && c != '\n') line.push_back(static_cast<char>(c));
  return c == '\n' || !line.empty();
}

void write_error(const char* text, size_t n) { (void)!write(STDERR_FILENO, text, n); }

double seconds_of_others() {
  std::FILE* file = open_file("/proc/stat", 'r');
  if (!file) return -1.0;
  // Ticks as user, nice, system, idle, iowait, irq, softirq, steal.
  unsigned long long t[8] = {};
  const int n = std::fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", t, t + 1, t + 2, t + 3, t + 4, t + 5,
                            t + 6, t + 7);
  std::fclose(file);
  timespec own = {};
  if (n != 8 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) return -1.0;
  const double busy =
      static_cast<double>(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return busy - static_cast<double>(own.tv_sec) - static_cast<double>(own.tv_nsec) * 1e-9;
}

}  // namespace inlay::cli
