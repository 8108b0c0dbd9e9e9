// A conversation in a file: JSON, an array of messages, each an object of `role` and `content`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inlay::cli {

struct Messages {
  struct Turn {
    std::string line, answer;
  };
  std::string system;  // empty: no message of the system
  std::vector<Turn> turns;
};

// A message of the system first, or none; then those of user and assistant in turn, the last one of assistant. False, and the
// reason, where the text is anything else.
bool read_messages(std::string_view text, Messages& messages, std::string& reason);

}  // namespace inlay::cli
