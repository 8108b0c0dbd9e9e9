// Ctrl-C, SIGTERM and SIGHUP as a request that the work under way ends in good order, instead of a signal that kills
// the program. On Windows Ctrl-Break is a Ctrl-C, and a window that is closed a SIGTERM.
#pragma once

#include "include/capi/inlay.h"

namespace inlay::cli {

// From now on a thread of its own waits for these signals. Call it before any other thread starts, so that all leave it
// the signals.
void watch_interrupts();

// `restore` is called before a signal ends the program; what it changed of the terminal is put back there.
void before_end_by_signal(void (*restore)());

// While one lives, the first Ctrl-C sets interrupted() and cancels the generation that the next prefill begins, if
// there is a session; the second ends the program. While none lives, the first one does. They do not nest. SIGTERM and
// SIGHUP count as Ctrl-C where there is no session, otherwise they end the program. Work that `writes` a file removes
// it before the program ends, whatever else comes: the second Ctrl-C says no more than the first.
class InterruptScope {
 public:
  explicit InterruptScope(const inlay_session* session, bool writes = false);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // Another prefill of the session is about to begin; false: Ctrl-C came, and it shall not.
  bool begin_generation();
  // There is text now that Ctrl-C ends in good order. Before, outside of a conversation, there is nothing to leave in order, and
  // the first Ctrl-C ends the program at once.
  void text_begins();

  bool interrupted() const;
  int exit_code() const;  // 128 + the signal's number, as shells count it
};

// While one lives, Ctrl-C within an InterruptScope ends the work and never the program. Elsewhere the first one calls
// `hint`, and the second ends the program if no line was taken between the two.
class ConversationScope {
 public:
  explicit ConversationScope(void (*hint)());
  ~ConversationScope();
  ConversationScope(const ConversationScope&) = delete;
  ConversationScope& operator=(const ConversationScope&) = delete;

  void line_taken();
  // Ctrl-C as a character, where the terminal makes no signal of it.
  void pressed();
};

}  // namespace inlay::cli
