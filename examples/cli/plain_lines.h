// Lines at a terminal without an editor. The system's own lines end at 4,095 bytes and drop what is typed or pasted beyond, so
// characters are taken one by one here, and the keys that the terminal has for a line do what they do there.
#pragma once

#include <termios.h>

#include <string>

#include "examples/cli/line_reader.h"

namespace inlay::cli {

class PlainLines {
 public:
  // While one lives, the terminal of the standard input holds back no line of its own.
  PlainLines();
  ~PlainLines();
  PlainLines(const PlainLines&) = delete;
  PlainLines& operator=(const PlainLines&) = delete;

  // False: the standard input is no terminal, or none that what is typed can be written to.
  bool has_terminal() const { return echo_ >= 0; }

  // Shows the prompt. Ctrl-C is Outcome::interrupted, with what was typed before it.
  LineReader::Outcome read(const char* prompt, std::string& line);

 private:
  bool take(unsigned char c, const char* prompt, std::string& line, LineReader::Outcome& outcome);
  bool is_key(unsigned char c, int which) const;
  void erase(std::string& line, size_t n_left) const;
  void show(const std::string& text) const;

  termios own_ = {};  // as it was, but for whole lines
  int echo_ = -1;
};

}  // namespace inlay::cli
