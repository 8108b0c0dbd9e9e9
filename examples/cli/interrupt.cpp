#include "examples/cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#ifdef _WIN32
#include "src/base/windows_api.h"
#else
#include <pthread.h>
#include <signal.h>
#endif

#include "examples/cli/failure.h"
#include "examples/cli/system.h"

namespace inlay::cli {
namespace {

int exit_code_of(int signal_number) { return signal_number == SIGINT ? kExitInterrupted : 128 + signal_number; }

std::mutex mutex;  // of what follows it; the flag is read without
bool in_scope = false, scope_writes = false, scope_has_text = false;
const inlay_session* scope_session = nullptr;
uint64_t scope_generation = 0;
std::atomic<int> requested = 0;  // the signal's number
void (*restore_terminal)() = nullptr;
void (*conversation_hint)() = nullptr;  // of the ConversationScope, if there is one
bool hint_given = false;

// As the signal does that nobody waits for.
[[noreturn]] void end_by(int signal_number) {
  if (restore_terminal) restore_terminal();
#ifndef _WIN32
  if (signal_number != SIGINT) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(signal_number);
  }
#endif
  std::_Exit(exit_code_of(signal_number));
}

// Ctrl-C where a conversation waits for a line.
void press_at_prompt() {
  if (std::exchange(hint_given, true)) end_by(SIGINT);
  conversation_hint();
}

void take(int signal_number) {
  const std::lock_guard lock(mutex);
  // A text can end at once: only what leaves something behind is asked to stop by SIGTERM.
  const bool asked = in_scope && (signal_number == SIGINT || !scope_session);
  const bool talks = conversation_hint && signal_number == SIGINT;
  if (talks && !in_scope) {
    press_at_prompt();
    return;
  }
  if (asked && scope_session && !scope_has_text && !talks) {
    write_error("\n", 1);  // behind the ^C of a terminal
    end_by(signal_number);
  }
  if (asked && (scope_writes || talks) && requested != 0) return;
  if (!asked || requested.exchange(signal_number) != 0) end_by(signal_number);
  if (scope_session) inlay_session_cancel_generation(scope_session, scope_generation, nullptr);
}

#ifdef _WIN32
// On a thread that Windows starts. A window that is closed, and a user who leaves, count as SIGTERM: the program ends when this
// returns, so what has to remove a file is waited for, as long as Windows waits.
BOOL WINAPI handle(DWORD event) {
  const bool pressed = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  take(pressed ? SIGINT : SIGTERM);
  if (!pressed) Sleep(INFINITE);
  return TRUE;
}
#else
void wait_for_interrupts(sigset_t signals) {
  for (int signal_number = 0; sigwait(&signals, &signal_number) == 0;) take(signal_number);
}

bool is_ignored(int signal_number) {  // as by nohup
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}
#endif

}  // namespace

#ifdef _WIN32
void watch_interrupts() { SetConsoleCtrlHandler(handle, TRUE); }
#else
void watch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  for (const int other : {SIGTERM, SIGHUP}) {
    if (!is_ignored(other)) sigaddset(&signals, other);
  }
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  try {
    std::thread(wait_for_interrupts, signals).detach();
  } catch (const std::exception&) {  // no thread, or no memory for it: signals end the program as they do others
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}
#endif

void before_end_by_signal(void (*restore)()) {
  const std::lock_guard lock(mutex);
  restore_terminal = restore;
}

InterruptScope::InterruptScope(const inlay_session* session, bool writes) {
  const std::lock_guard lock(mutex);
  in_scope = true;
  scope_writes = writes;
  scope_session = session;
  requested = 0;
}

bool InterruptScope::begin_generation() {
  const std::lock_guard lock(mutex);
  inlay_session_info info = {};
  info.struct_size = sizeof info;
  inlay_session_get_info(scope_session, &info, nullptr);
  scope_generation = info.generation + 1;
  return requested == 0;
}

void InterruptScope::text_begins() {
  const std::lock_guard lock(mutex);
  scope_has_text = true;
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(mutex);
  in_scope = scope_has_text = false;
  scope_session = nullptr;
}

bool InterruptScope::interrupted() const { return requested.load(std::memory_order_relaxed) != 0; }

int InterruptScope::exit_code() const { return exit_code_of(requested.load()); }

ConversationScope::ConversationScope(void (*hint)()) {
  const std::lock_guard lock(mutex);
  conversation_hint = hint;
  hint_given = false;
}

ConversationScope::~ConversationScope() {
  const std::lock_guard lock(mutex);
  conversation_hint = nullptr;
}

void ConversationScope::line_taken() {
  const std::lock_guard lock(mutex);
  hint_given = false;
}

void ConversationScope::pressed() {
  const std::lock_guard lock(mutex);
  press_at_prompt();
}

}  // namespace inlay::cli
