// One prompt and the text after it, written as it is decoded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "include/capi/inlay.h"

namespace inlay::cli {

// What one prompt and the text after it took.
struct Turn {
  size_t n_prompt = 0;
  double prompt_seconds = 0.0;
  int32_t n_drawn = 0;
  double draw_seconds = 0.0;  // without the first token, whose logits the prompt left behind
  std::vector<int32_t> drawn;
  bool interrupted = false;
  bool context_full = false;
  bool at_most = false;        // as many tokens as were allowed
  bool at_stop_text = false;   // of --stop
  bool at_stop_token = false;  // of --stop-token; the last one of `drawn`
  bool at_dead_end = false;    // of --json-schema and its like
};

// Writes the text of events at once, and knows whether the line was ended.
class TextOutput {
 public:
  void write(const char* text, size_t n);
  void take_rest(inlay_session* session);
  void end_line();
  void end_interrupted_line();                                        // a terminal shows ^C in it
  std::string take_written() { return std::exchange(written_, {}); }  // since the last call

 private:
  std::string written_;
  bool line_ended_ = true;
};

// Ctrl-C ends it. `on_host`: the engine runs on the processor, where the prompt runs in pieces of about 0.1 s, so that Ctrl-C need
// not wait for more, and a terminal shows how far it is. `take_event`: gets each event of a token, in the place of its text.
Turn generate(inlay_session* session, const std::vector<int32_t>& prompt, TextOutput& out, bool on_host,
              const std::function<void(const inlay_event&)>& take_event = nullptr);

}  // namespace inlay::cli
