// DRY, "don't repeat yourself" (p-e-w 2024): what would go on with a repetition of the sequence's end becomes less
// likely.
//
// The window is the last dry_window tokens h[0 .. m). Its end can repeat from behind the last breaker on: of the texts
// dry_breakers the one that begins last in the window's text; L is the number of tokens that lie whole behind it. At
// each place i > 0 of the window n(i) is the number of tokens, at most L, in which the window before h[i] and the whole
// window end alike. For a token t that stands at places whose largest n(i) is n:
//   dry[t] = dry_multiplier * dry_base ^ (n - dry_allowed_length)
// if n >= dry_allowed_length and t has no breaker in its text, else 0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/sampler/sampler.h"

namespace inlay {

// Text of a token; nothing where there is no tokenizer, and so no breaker.
using TokenText = std::function<std::string_view(int32_t)>;

// The bias of a draw with what DRY subtracts: scratch memory and no state.
class DryBias {
 public:
  void reserve(size_t n_context);  // afterwards merge() hardly ever allocates

  // SamplerParams::bias with DRY's entries, each token once; empty if DRY has none. Valid until the next call.
  std::span<const LogitBias> merge(const SamplerParams& params, std::span<const int32_t> history,
                                   const TokenText& text);

 private:
  struct Repeat {
    int32_t token, length;
  };

  size_t tokens_behind_breaker(const SamplerParams& params, std::span<const int32_t> window, const TokenText& text);
  void find_repeats(std::span<const int32_t> window, size_t limit, size_t allowed_length);

  std::vector<int32_t> alike_;    // n(i), from the end
  std::vector<Repeat> repeats_;
  std::vector<LogitBias> merged_;
  std::string text_;
};

}  // namespace inlay
