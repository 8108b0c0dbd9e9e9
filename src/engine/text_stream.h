// From drawn tokens to text that may leave: whole UTF-8 characters, nothing that could be the start of a stop string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

class TextStream {
 public:
  TextStream();

  Status set_stops(std::vector<std::string> stops);
  // Adds the bytes of one token. True if a stop string is complete: the text before it is ready, the rest is dropped.
  bool append(std::string_view bytes);
  void flush();  // the sequence ended: what was held back becomes ready
  void clear();  // forgets held and ready text, keeps the stop strings

  size_t n_ready() const { return ready_.size() - taken_; }
  size_t take(char* out, size_t n);  // whole characters only

  static constexpr size_t kMaxStops = 64, kMaxStopBytes = 1024;

 private:
  void release(size_t n);  // the first n bytes of tail_ are certain

  std::vector<std::string> stops_;
  Utf8Assembler utf8_;
  std::string tail_;   // complete characters, not yet known to be outside of a stop string
  std::string ready_;
  size_t taken_ = 0;   // bytes of ready_ that have left
};

}  // namespace inlay
