#include "examples/cli/generate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "examples/cli/failure.h"
#include "examples/cli/interrupt.h"
#include "examples/cli/progress.h"
#include "examples/cli/system.h"
#include "examples/cli/words.h"

namespace inlay::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kPieceSeconds = 0.1, kSecondsBeforeBar = 1;
constexpr size_t kFirstPiece = 64, kLeastPiece = 32, kMostPiece = 512;

// False if Ctrl-C came first; then `n_done` tokens were run.
bool run_prompt(InterruptScope& scope, inlay_session* session, const std::vector<int32_t>& tokens, bool on_host, size_t& n_done) {
  ProgressBar bar("running the prompt", kSecondsBeforeBar);
  size_t piece = on_host ? kFirstPiece : tokens.size();
  while (n_done < tokens.size()) {
    const size_t n = std::min(piece, tokens.size() - n_done);
    size_t n_run = 0;
    inlay_error error;
    const Clock::time_point start = Clock::now();
    if (!scope.begin_generation()) return false;
    const inlay_status status = inlay_prefill(session, tokens.data() + n_done, n, &n_run, &error);
    n_done += n_run;
    if (status == INLAY_CANCELLED) return false;
    check(status, error, "cannot run the prompt of " + counted(tokens.size(), "token"));
    const double fitting = kPieceSeconds * static_cast<double>(n) / std::max(seconds_since(start), 1e-6);
    if (on_host) piece = std::clamp(static_cast<size_t>(fitting) / kLeastPiece * kLeastPiece, kLeastPiece, kMostPiece);
    bar.show(n_done, tokens.size());
  }
  return true;
}

}  // namespace

void TextOutput::write(const char* text, size_t n) {
  if (n == 0) return;
  std::fwrite(text, 1, n, stdout);
  check_output();
  written_.append(text, n);
  line_ended_ = text[n - 1] == '\n';
}

void TextOutput::take_rest(inlay_session* session) {
  char text[512];
  inlay_error error;
  for (size_t n = 1; n > 0;) {
    check(inlay_session_take_text(session, text, sizeof text, &n, &error), error, "cannot take the text");
    write(text, n);
  }
}

void TextOutput::end_line() {
  if (!std::exchange(line_ended_, true)) std::fputc('\n', stdout), std::fflush(stdout);
}

void TextOutput::end_interrupted_line() {
  if (is_terminal(stdout)) line_ended_ = false;
  end_line();
}

Turn generate(inlay_session* session, const std::vector<int32_t>& prompt, TextOutput& out, bool on_host,
              const std::function<void(const inlay_event&)>& take_event) {
  InterruptScope scope(session);
  Turn turn;
  Clock::time_point start = Clock::now();
  turn.interrupted = !run_prompt(scope, session, prompt, on_host, turn.n_prompt);
  turn.prompt_seconds = seconds_since(start);
  if (turn.interrupted) {
    out.end_interrupted_line();
    return turn;
  }

  scope.text_begins();
  inlay_error error;
  inlay_event event = {};
  while (event.finish_reason == INLAY_FINISH_NONE) {
    const inlay_status status = inlay_decode_step(&session, 1, &event, sizeof event, &error);
    turn.context_full = event.finish_reason == INLAY_FINISH_CONTEXT_FULL || status == INLAY_KV_FULL;
    if (status == INLAY_KV_FULL) break;
    check(status, error, "cannot decode");
    if (event.kind == INLAY_EVENT_TOKEN) {
      if (turn.n_drawn++ == 0) start = Clock::now();
      turn.drawn.push_back(event.token);
    }
    if (take_event) {
      if (event.kind == INLAY_EVENT_TOKEN) take_event(event);
      continue;
    }
    out.write(event.text, event.text_bytes);
    if (event.text_pending > 0) out.take_rest(session);
  }
  turn.draw_seconds = turn.n_drawn > 0 ? seconds_since(start) : 0.0;
  turn.interrupted = event.finish_reason == INLAY_FINISH_CANCELLED;
  turn.at_most = event.finish_reason == INLAY_FINISH_MAX_TOKENS;
  turn.at_stop_text = event.finish_reason == INLAY_FINISH_STOP_STRING;
  turn.at_stop_token = event.finish_reason == INLAY_FINISH_STOP_TOKEN;
  turn.at_dead_end = event.finish_reason == INLAY_FINISH_DEAD_END;
  turn.interrupted ? out.end_interrupted_line() : out.end_line();
  return turn;
}

}  // namespace inlay::cli
