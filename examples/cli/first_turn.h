// Which turns of a conversation a model's context has room for.
#pragma once

#include <cstddef>
#include <functional>

namespace inlay::cli {

// From which of `n_turns` turns on a conversation fits into the context; the last one always stays. `n_tokens(i)` is
// what it takes from turn i on. It fits with room for an answer besides; where something must go, so much goes that
// half of the context is free, so that the rest is not run again at every turn.
size_t first_turn_that_stays(size_t first, size_t n_turns, size_t n_context, size_t n_answer,
                             const std::function<size_t(size_t)>& n_tokens);

}  // namespace inlay::cli
