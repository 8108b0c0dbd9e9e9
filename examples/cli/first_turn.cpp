#include "examples/cli/first_turn.h"

namespace inlay::cli {

size_t first_turn_that_stays(size_t first, size_t n_turns, size_t n_context, size_t n_answer,
                             const std::function<size_t(size_t)>& n_tokens) {
  if (n_tokens(first) + n_answer <= n_context) return first;
  while (first + 1 < n_turns && n_tokens(++first) > n_context / 2) {
  }
  return first;
}

}  // namespace inlay::cli
