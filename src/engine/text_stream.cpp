#include "src/engine/text_stream.h"

#include <algorithm>
#include <cstring>

namespace inlay {
namespace {

constexpr size_t kReserve = 4096;  // so that ordinary tokens never allocate

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Length of the longest end of `text` that is a proper beginning of `stop`.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == stop.substr(0, n)) return n;
  }
  return 0;
}

}  // namespace

TextStream::TextStream() {
  tail_.reserve(kReserve);
  ready_.reserve(kReserve);
}

Status TextStream::set_stops(std::vector<std::string> stops) {
  if (stops.size() > kMaxStops) {
    return error(Code::invalid_argument, "%zu stop strings are more than %zu", stops.size(), kMaxStops);
  }
  for (size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].empty() || stops[i].size() > kMaxStopBytes) {
      return error(Code::invalid_argument, "stop string %zu has %zu bytes, expected 1 to %zu", i, stops[i].size(), kMaxStopBytes);
    }
  }
  stops_ = std::move(stops);
  return {};
}

void TextStream::release(size_t n) {
  if (taken_ == ready_.size()) {
    ready_.clear();
    taken_ = 0;
  }
  ready_.append(tail_, 0, n);
  tail_.erase(0, n);
}

bool TextStream::append(std::string_view bytes) {
  utf8_.append(bytes, tail_);
  size_t first = std::string::npos, keep = 0;
  for (const std::string& stop : stops_) {
    first = std::min(first, tail_.find(stop));
    keep = std::max(keep, overlap(tail_, stop));
  }
  if (first != std::string::npos) {
    tail_.resize(first);
    utf8_.clear();
    release(first);
    return true;
  }
  release(tail_.size() - keep);
  return false;
}

void TextStream::flush() {
  utf8_.flush(tail_);
  release(tail_.size());
}

void TextStream::clear() {
  utf8_.clear();
  tail_.clear();
  ready_.clear();
  taken_ = 0;
}

size_t TextStream::take(char* out, size_t n) {
  size_t end = std::min(n, n_ready());
  if (end < n_ready()) {
    while (end > 0 && is_continuation(ready_[taken_ + end])) --end;
  }
  std::memcpy(out, ready_.data() + taken_, end);
  taken_ += end;
  return end;
}

}  // namespace inlay
