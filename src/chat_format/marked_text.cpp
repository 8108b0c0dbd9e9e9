#include "src/chat_format/marked_text.h"

#include <algorithm>

namespace inlay {
namespace {

// What one search looks at, longer than any marker: a text full of markers that lead nowhere is searched in linear time.
constexpr size_t kWindow = 512;

}  // namespace

void MarkedText::append(std::string_view text) {
  drop_taken();
  text_ += text;
}

void MarkedText::append_mark(const Marker* marker) {
  drop_taken();
  marks_.push_back({text_.size(), marker});
}

void MarkedText::drop_taken() {
  if (at_ + first_ <= (text_.size() + marks_.size()) / 2) return;
  text_.erase(0, at_);
  marks_.erase(marks_.begin(), marks_.begin() + static_cast<ptrdiff_t>(first_));
  for (Mark& mark : marks_) mark.at -= at_;
  at_ = first_ = 0;
}

void MarkedText::clear() {
  text_.clear();
  marks_.clear();
  at_ = first_ = 0;
}

std::string_view MarkedText::run() const {
  const size_t end = first_ < marks_.size() ? marks_[first_].at : text_.size();
  return std::string_view(text_).substr(at_, end - at_);
}

Match MarkedText::front(const Marker& marker) const {
  if (marker.is_token) {
    if (at_mark()) return mark() && mark()->text == marker.text ? Match::yes : Match::no;
    return run().empty() && !closed() ? Match::maybe : Match::no;
  }
  const std::string_view text = run();
  const size_t n = std::min(text.size(), marker.text.size());
  if (text.substr(0, n) != std::string_view(marker.text).substr(0, n)) return Match::no;
  if (n == marker.text.size()) return Match::yes;
  return closed() ? Match::no : Match::maybe;
}

void MarkedText::skip(const Marker& marker) {
  if (marker.is_token)
    skip_mark();
  else
    skip(marker.text.size());
}

MarkedText::Place MarkedText::find(std::span<const Marker* const> markers) const {
  const bool cut = run().size() > kWindow;
  const std::string_view text = run().substr(0, kWindow);
  Place first{text.size(), nullptr};
  for (const Marker* marker : markers) {
    if (marker->is_token || marker->empty()) continue;
    const std::string_view sought = marker->text;
    size_t at = text.substr(0, std::min(text.size(), first.at + sought.size() - 1)).find(sought);
    const bool whole = at != text.npos;
    if (!whole && (cut || !closed())) {  // a begin of it at the end of the text
      at = text.size() - std::min(text.size(), sought.size() - 1);
      while (at < text.size() && !sought.starts_with(text.substr(at))) ++at;
    }
    if (at < first.at) first = {at, nullptr};
    if (at == 0 && whole) return {0, marker};
  }
  return first;
}

}  // namespace inlay
