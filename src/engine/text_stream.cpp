#include "src/engine/text_stream.h"

#include <algorithm>
#include <cstring>

#include "src/formats/text.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr size_t kReserve = 4096;  // so that ordinary tokens never allocate

// Length of the longest end of `text` that is a proper beginning of `stop`.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == stop.substr(0, n)) return n;
  }
  return 0;
}

// Bytes that a lead byte announces, 1 for what is none.
size_t announced(unsigned char lead) { return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1; }

// Bytes at the end of `text` that may begin a character and do not complete it, as Utf8Assembler holds them.
size_t n_incomplete(std::string_view text) {
  for (size_t n = std::min<size_t>(3, text.size()); n > 0; --n) {
    const std::string_view end = text.substr(text.size() - n);
    if (announced(static_cast<unsigned char>(end[0])) <= n) continue;
    Utf8Assembler utf8;
    std::string out;
    utf8.append(end, out);
    if (out.empty()) return n;
  }
  return 0;
}

// Whether `bytes` go on with the character that `begun` begins, to its end or to their own.
bool continues(std::string_view begun, std::string_view bytes) {
  const size_t missing = announced(static_cast<unsigned char>(begun[0])) - begun.size();
  std::string both(begun);
  both += bytes.substr(0, missing);
  std::string out;
  Utf8Assembler utf8;
  utf8.append(both, out);
  return out.empty() || out == both;
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
  for (Name& name : names_) name.at -= std::min(name.at, n);
}

void TextStream::begin_behind(std::string_view bytes) {
  const size_t n = n_incomplete(bytes);
  begun_ = bytes.substr(bytes.size() - n);
  std::string none;
  utf8_.append(begun_, none);
}

void TextStream::make_room(size_t n_bytes) {
  constexpr size_t kMostOfAByte = 3;  // the sign for what is no character
  const size_t n_tail = tail_.size() + kMostOfAByte * (utf8_.held().size() + n_bytes);
  const auto grow = [](std::string& text, size_t n) {
    if (n > text.capacity()) text.reserve(2 * n);
  };
  grow(tail_, n_tail);
  grow(ready_, ready_.size() + n_tail);
}

bool TextStream::append(std::string_view bytes) {
  struct Undo {  // where memory runs out: for names, whatever make_room() has made
    TextStream& stream;
    size_t n_tail;
    Utf8Assembler utf8;
    std::string begun;  // short
    bool is_done = false;
    ~Undo() {
      if (is_done) return;
      stream.tail_.resize(n_tail);
      stream.utf8_ = utf8;
      stream.begun_ = std::move(begun);
    }
  } undo{*this, tail_.size(), utf8_, begun_};
  const bool stops = add(bytes);
  undo.is_done = true;
  return stops;
}

bool TextStream::add(std::string_view bytes) {
  if (!begun_.empty() && !bytes.empty()) {
    if (!continues(begun_, bytes)) {
      utf8_.clear();
      begun_.clear();
    } else if (n_incomplete(begun_ + std::string(bytes)) == begun_.size() + bytes.size()) {
      begun_ += bytes;
    } else {
      begun_.clear();
    }
  }
  utf8_.append(bytes, tail_);
  return find_stops();
}

bool TextStream::append_name(std::string_view name) {
  const auto may_be_part = [&](const std::string& stop) {
    return stop.find(name) != stop.npos || name.find(stop) != name.npos || overlap(name, stop) > 0 || overlap(stop, name) > 0;
  };
  if (name.empty() || std::none_of(stops_.begin(), stops_.end(), may_be_part)) return false;  // nothing is allocated
  if (names_.size() == kMaxStopBytes) names_.erase(names_.begin());  // no stop string reaches further back
  names_.push_back({tail_.size(), std::string(name)});
  struct Undo {  // where memory runs out
    std::vector<Name>& names;
    bool is_done = false;
    ~Undo() {
      if (!is_done) names.pop_back();
    }
  } undo{names_};
  const bool stops = find_stops();
  undo.is_done = true;
  return stops;
}

// Looks for stop strings, and gives what cannot belong to one.
bool TextStream::find_stops() {
  size_t first = std::string::npos, keep = 0;
  for (const std::string& stop : stops_) {
    first = std::min(first, tail_.find(stop));
    keep = std::max(keep, overlap(tail_, stop));
  }
  size_t keep_from = tail_.size() - keep;
  if (!names_.empty()) find_stops_in_names(first, keep_from);
  if (first != std::string::npos) {
    tail_.resize(first);
    utf8_.clear();
    begun_.clear();
    names_.clear();
    release(first);
    return true;
  }
  release(keep_from);
  return false;
}

// The same in the text with the names in it. Both results are places in the text alone. Names before what is kept go.
void TextStream::find_stops_in_names(size_t& first, size_t& keep_from) {
  std::string all;
  std::vector<size_t> begins;  // of the names in `all`
  size_t given = 0;
  for (const Name& name : names_) {
    all.append(tail_, given, name.at - given);
    given = name.at;
    begins.push_back(all.size());
    all += name.text;
  }
  all.append(tail_, given);
  const auto in_tail = [&](size_t at) {
    size_t out = at;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (at <= begins[i]) break;
      out -= std::min(names_[i].text.size(), at - begins[i]);
    }
    return out;
  };
  size_t keep = 0;
  for (const std::string& stop : stops_) {
    const size_t found = all.find(stop);
    if (found != std::string::npos) first = std::min(first, in_tail(found));
    keep = std::max(keep, overlap(all, stop));
  }
  const size_t from = all.size() - keep;
  size_t n_gone = 0;
  while (n_gone < names_.size() && begins[n_gone] + names_[n_gone].text.size() <= from) ++n_gone;
  names_.erase(names_.begin(), names_.begin() + static_cast<ptrdiff_t>(n_gone));
  keep_from = std::min(keep_from, in_tail(from));
}

void TextStream::flush() {
  if (begun_.empty()) utf8_.flush(tail_);
  begun_.clear();
  utf8_.clear();
  names_.clear();
  release(tail_.size());
}

void TextStream::clear() {
  utf8_.clear();
  begun_.clear();
  names_.clear();
  tail_.clear();
  ready_.clear();
  taken_ = 0;
}

TextStream::Held TextStream::held() const {
  Held out{.stops = stops_, .incomplete = std::string(utf8_.held()), .begun = begun_, .tail = tail_, .ready = ready_.substr(taken_), .names = {}};
  for (const Name& name : names_) out.names.push_back({name.at, name.text});
  return out;
}

Status TextStream::hold(Held held) {
  clear();
  INLAY_TRY(set_stops(std::move(held.stops)));
  std::string complete;
  utf8_.append(held.incomplete, complete);
  bool is_right = complete.empty() && (held.begun.empty() || held.begun == held.incomplete) && is_valid_utf8(held.tail) && is_valid_utf8(held.ready);
  is_right = is_right && held.names.size() <= kMaxStopBytes;
  uint64_t before = 0;
  for (Held::HeldName& name : held.names) {
    is_right = is_right && name.at >= before && name.at <= held.tail.size() && !name.text.empty();
    before = name.at;
    names_.push_back({static_cast<size_t>(name.at), std::move(name.text)});
  }
  begun_ = std::move(held.begun);
  tail_ = std::move(held.tail);
  ready_ = std::move(held.ready);
  if (is_right) return {};
  clear();
  return error(Code::invalid_argument, "the text that is held back cannot be");
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
