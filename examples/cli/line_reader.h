// The lines that a person types at a terminal: with a line editor where the tool was built with one, plain ones
// elsewhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace inlay::cli {

class PlainLines;

class LineReader {
 public:
  enum class Outcome {
    line,
    interrupted,  // Ctrl-C; the line is what was typed before it and is dropped
    end,          // of the input: Ctrl-D
  };

  // The editor is used where standard input and output are a terminal that can move its cursor. There Tab completes `words` at the
  // beginning of a line.
  LineReader(const char* prompt, std::vector<std::string> words);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Text that was pasted at once is one line, with line ends in it.
  Outcome read(std::string& line);

  // Ctrl-C while a line is typed is Outcome::interrupted, not a signal.
  bool takes_interrupts() const;
  const char* prompt() const { return prompt_; }

 private:
  struct Editor;
  const char* prompt_;
  std::vector<std::string> words_;
  std::unique_ptr<Editor> editor_;
  std::unique_ptr<PlainLines> plain_;  // null: as the system has them
};

}  // namespace inlay::cli
