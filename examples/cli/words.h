// Words of messages that depend on numbers.
#pragma once

#include <cstdint>
#include <string>

namespace inlay::cli {

// "1 token", "2 tokens": nouns whose plural has an s.
inline std::string counted(uint64_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace inlay::cli
