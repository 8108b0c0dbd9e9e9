#include "examples/cli/plain_lines.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "examples/cli/interrupt.h"
#include "examples/cli/system.h"

namespace inlay::cli {
namespace {

constexpr auto kNotWhileTyping = ~static_cast<tcflag_t>(ECHO | ISIG);  // what is typed is shown here, and Ctrl-C is a character

termios before_our_lines;
bool lines_are_ours = false;

void give_terminal_back() {
  if (lines_are_ours) tcsetattr(STDIN_FILENO, TCSANOW, &before_our_lines);
  lines_are_ours = false;
}

// The terminal, where it can be written to; -1: it cannot.
int writable_terminal() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int mode = fcntl(fd, F_GETFL);
    if (isatty(fd) && mode >= 0 && (mode & O_ACCMODE) != O_RDONLY) return fd;
  }
  return -1;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

PlainLines::PlainLines() {
  if (!is_terminal(stdin) || tcgetattr(STDIN_FILENO, &before_our_lines) != 0) return;
  echo_ = writable_terminal();
  if (echo_ < 0) return;
  own_ = before_our_lines;
  own_.c_lflag &= ~static_cast<tcflag_t>(ICANON);
  own_.c_cc[VMIN] = 1;
  own_.c_cc[VTIME] = 0;
  std::atexit(give_terminal_back);
  before_end_by_signal(give_terminal_back);
  lines_are_ours = tcsetattr(STDIN_FILENO, TCSANOW, &own_) == 0;
}

PlainLines::~PlainLines() {
  if (!has_terminal()) return;
  before_end_by_signal(nullptr);
  give_terminal_back();
}

bool PlainLines::is_key(unsigned char c, int which) const { return own_.c_cc[which] == c && c != _POSIX_VDISABLE; }

void PlainLines::show(const std::string& text) const {
  if (!(own_.c_lflag & ECHO)) return;
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(echo_, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    at += n > 0 ? static_cast<size_t>(n) : 0;
  }
}

// What is behind the first bytes of the line goes, from the screen too.
void PlainLines::erase(std::string& line, size_t n_left) const {
  std::string back;
  for (size_t i = n_left; i < line.size(); ++i) {
    if (!continues_character(line[i])) back += "\b \b";
  }
  line.resize(n_left);
  show(back);
}

// False: the line ends with this character.
bool PlainLines::take(unsigned char c, const char* prompt, std::string& line, LineReader::Outcome& outcome) {
  outcome = LineReader::Outcome::line;
  if (c == '\n' || is_key(c, VEOL)) return false;
  if (is_key(c, VINTR)) {
    outcome = LineReader::Outcome::interrupted;
    return false;
  }
  if (is_key(c, VEOF) || c == '\0') {  // a zero is what is left of an end that was typed before the lines were ours
    outcome = LineReader::Outcome::end;
    return !line.empty();
  }
  if (is_key(c, VSUSP) || is_key(c, VQUIT)) {
    tcsetattr(STDIN_FILENO, TCSANOW, &before_our_lines);
    raise(is_key(c, VSUSP) ? SIGTSTP : SIGQUIT);
    termios typing = own_;
    typing.c_lflag &= kNotWhileTyping;
    tcsetattr(STDIN_FILENO, TCSANOW, &typing);
    return show(prompt + line), true;
  }
  if (is_key(c, VERASE)) {
    size_t n = line.size();
    while (n > 0 && continues_character(line[--n])) continue;
    erase(line, n);
  } else if (is_key(c, VWERASE)) {
    const size_t last = line.find_last_not_of(' '), blank = last == line.npos ? line.npos : line.find_last_of(' ', last);
    erase(line, blank == line.npos ? 0 : blank + 1);
  } else if (is_key(c, VKILL)) {
    erase(line, 0);
  } else {
    line += static_cast<char>(c);
    show(std::string(1, static_cast<char>(c)));
  }
  return true;
}

LineReader::Outcome PlainLines::read(const char* prompt, std::string& line) {
  line.clear();
  termios typing = own_;
  typing.c_lflag &= kNotWhileTyping;
  tcsetattr(STDIN_FILENO, TCSANOW, &typing);  // before the prompt is seen
  std::fputs(prompt, stdout);
  std::fflush(stdout);
  LineReader::Outcome outcome = LineReader::Outcome::end;
  for (bool more = true; more;) {
    unsigned char c = 0;
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      outcome = line.empty() ? LineReader::Outcome::end : LineReader::Outcome::line;
      break;
    }
    more = take(c, prompt, line, outcome);
  }
  tcsetattr(STDIN_FILENO, TCSANOW, &own_);
  if (outcome == LineReader::Outcome::line) show("\n");
  if (outcome == LineReader::Outcome::interrupted) show(line.empty() ? "^C" : "^C\n");
  return outcome;
}

}  // namespace inlay::cli
