#include "src/sampler/dry.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inlay {
namespace {

constexpr float kLargestBias = std::numeric_limits<float>::max();

bool has_breaker(const SamplerParams& params, std::string_view text) {
  return std::ranges::any_of(params.dry_breakers, [&](const std::string& breaker) {
    return !breaker.empty() && text.find(breaker) != std::string_view::npos;
  });
}

// The last breaker that begins in the first n bytes: where it ends. 0: there is none.
size_t end_of_breaker(const SamplerParams& params, std::string_view text, size_t n) {
  size_t begin = 0, end = 0;
  for (const std::string& breaker : params.dry_breakers) {
    if (breaker.empty() || n == 0) continue;
    const size_t at = text.rfind(breaker, n - 1);
    if (at == std::string_view::npos || (end > 0 && at < begin)) continue;
    end = end > 0 && at == begin ? std::max(end, at + breaker.size()) : at + breaker.size();
    begin = at;
  }
  return end;
}

}  // namespace

void DryBias::reserve(size_t n_context) {
  alike_.reserve(n_context);
  repeats_.reserve(n_context);
  merged_.reserve(n_context + kMaxBias);
  text_.reserve(4 * kMaxDryBreakerBytes);
}

// From the end on: text_ is the text of the token at hand and what a breaker that begins in it can reach behind it.
size_t DryBias::tokens_behind_breaker(const SamplerParams& params, std::span<const int32_t> window,
                                      const TokenText& text) {
  size_t longest = 0;
  for (const std::string& breaker : params.dry_breakers) longest = std::max(longest, breaker.size());
  if (longest == 0 || !text) return window.size();
  text_.clear();
  for (size_t i = window.size(); i-- > 0;) {
    const std::string_view own = text(window[i]);
    text_.insert(0, own);
    const size_t end = end_of_breaker(params, text_, own.size());
    if (end > 0) {
      size_t covered = own.size(), next = i + 1;
      for (; covered < end; ++next) covered += text(window[next]).size();
      return window.size() - next;
    }
    text_.resize(std::min(text_.size(), longest - 1));
  }
  return window.size();
}

// alike_[k]: in how many tokens the window less its last k ones ends like the whole. [begin, end), counted from the
// window's end, is the stretch that reaches furthest of those known to be like the end itself: the lengths inside it
// follow from lengths found before.
void DryBias::find_repeats(std::span<const int32_t> window, size_t limit, size_t allowed_length) {
  const auto from_end = [&](size_t k) { return window[window.size() - 1 - k]; };
  const size_t m = window.size();
  alike_.assign(m, 0);
  repeats_.clear();
  size_t begin = 0, end = 0;
  for (size_t k = 1; k < m; ++k) {
    size_t n = k < end ? std::min<size_t>(end - k, static_cast<size_t>(alike_[k - begin])) : 0;
    while (k + n < m && from_end(n) == from_end(k + n)) ++n;
    if (k + n > end) begin = k, end = k + n;
    alike_[k] = static_cast<int32_t>(n);
    const size_t length = std::min(n, limit);
    if (length >= allowed_length) repeats_.push_back({from_end(k - 1), static_cast<int32_t>(length)});
  }
}

std::span<const LogitBias> DryBias::merge(const SamplerParams& params, std::span<const int32_t> history,
                                          const TokenText& text) {
  merged_.clear();
  if (!has_dry(params)) return {};
  const auto window = params.dry_window < 0 || history.size() <= static_cast<size_t>(params.dry_window)
                          ? history
                          : history.last(static_cast<size_t>(params.dry_window));
  const size_t limit = tokens_behind_breaker(params, window, text);
  const auto allowed = static_cast<size_t>(params.dry_allowed_length);
  if (limit < allowed) return {};
  find_repeats(window, limit, allowed);
  std::ranges::sort(repeats_, [](const Repeat& a, const Repeat& b) {
    return a.token != b.token ? a.token < b.token : a.length > b.length;
  });
  const auto same = [](const Repeat& a, const Repeat& b) { return a.token == b.token; };
  repeats_.erase(std::unique(repeats_.begin(), repeats_.end(), same), repeats_.end());
  if (text) std::erase_if(repeats_, [&](const Repeat& r) { return has_breaker(params, text(r.token)); });
  if (repeats_.empty()) return {};

  merged_.assign(params.bias.begin(), params.bias.end());
  for (const Repeat& r : repeats_) {
    const double cost =
        params.dry_multiplier * std::pow(static_cast<double>(params.dry_base), r.length - params.dry_allowed_length);
    const auto own = std::ranges::find(params.bias, r.token, &LogitBias::token);
    const double bias = own == params.bias.end() ? 0.0 : own->bias;
    const bool banned = bias == -std::numeric_limits<double>::infinity();
    const auto both =
        banned ? static_cast<float>(bias) : static_cast<float>(std::max(bias - cost, -static_cast<double>(kLargestBias)));
    if (own == params.bias.end()) {
      merged_.push_back({r.token, both});
    } else {
      merged_[static_cast<size_t>(own - params.bias.begin())].bias = both;
    }
  }
  return merged_;
}

}  // namespace inlay
