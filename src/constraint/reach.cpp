#include "src/constraint/reach.h"

#include <algorithm>

#include "src/base/ascii.h"

namespace inlay::constraint {

namespace {

uint32_t set_of(uint8_t byte) {
  const char c = static_cast<char>(byte);
  if (c >= 'a' && c <= 'z') return 0;
  if (c >= 'A' && c <= 'Z') return 1;
  if (is_ascii_digit(c) || c == '_' || c == '-') return 2;
  return byte < 0x80 ? 3 : 4;
}

// The bytes of well-formed UTF-8 behind a first one: how many, and the range of the second one.
struct Sequence {
  uint32_t n_more;
  uint8_t first, last;
};

Sequence sequence_after(uint32_t byte) {
  if (byte < 0xE0) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte < 0xF0) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  return {3, 0x80, byte == 0xF4 ? uint8_t{0x8F} : uint8_t{0xBF}};
}

void add_new(std::vector<RegexId>& list, RegexId id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

// What follows after one byte of a range.
void step_range(RegexStore& regexes, RegexId id, uint32_t first, uint32_t last, std::vector<RegexId>& out) {
  uint32_t previous = UINT32_MAX;
  for (uint32_t byte = first; byte <= last; ++byte) {
    const uint32_t of_class = regexes.classes().map(regexes.classes_of(id))[byte];
    if (of_class == previous) continue;
    previous = of_class;
    add_new(out, regexes.step(id, static_cast<uint8_t>(byte)));
  }
}

}  // namespace

uint32_t character_set_of(std::string_view text) {
  uint32_t out = 0;
  for (const char c : text) out = std::max(out, set_of(static_cast<uint8_t>(c)));
  return out;
}

Reach::After Reach::after(RegexStore& regexes, RegexId id, uint32_t set) {
  if (after_.size() <= id) after_.resize(id + 1);
  if (after_[id][set].begin != UINT32_MAX) return after_[id][set];
  std::vector<RegexId> found;
  if (set < 4) {
    for (uint32_t byte = 0x20; byte < 0x80; ++byte)
      if (set_of(static_cast<uint8_t>(byte)) == set && byte != '"' && byte != '\\') {
        uint32_t last = byte;
        while (last + 1 < 0x80 && set_of(static_cast<uint8_t>(last + 1)) == set && last + 1 != '"' && last + 1 != '\\') ++last;
        step_range(regexes, id, byte, last, found);
        byte = last;
      }
  } else {
    // First bytes in runs that the expression does not tell apart and that go on alike
    for (const auto& [first, last] : {std::pair(0xC2u, 0xDFu), {0xE0u, 0xE0u}, {0xE1u, 0xECu}, {0xEDu, 0xEDu}, {0xEEu, 0xEFu},
                                     {0xF0u, 0xF0u}, {0xF1u, 0xF3u}, {0xF4u, 0xF4u}}) {
      const Sequence sequence = sequence_after(first);
      std::vector<RegexId> now, next;
      step_range(regexes, id, first, last, now);
      for (uint32_t i = 0; i < sequence.n_more; ++i) {
        next.clear();
        for (const RegexId at : now) step_range(regexes, at, i == 0 ? sequence.first : 0x80u, i == 0 ? sequence.last : 0xBFu, next);
        now.swap(next);
      }
      for (const RegexId at : now) add_new(found, at);
    }
  }
  const After out{static_cast<uint32_t>(next_.size()), static_cast<uint32_t>(found.size())};
  next_.insert(next_.end(), found.begin(), found.end());
  return after_[id][set] = out;
}

// At most kLongestReach deep.
bool Reach::takes(RegexStore& regexes, RegexId id, uint32_t set, uint32_t n) {
  if (n == 0) return id != kNothing;
  if (id == kNothing) return false;
  if (known_.size() <= id) known_.resize(id + 1);
  if (n <= known_[id].taken[set]) return true;
  if (known_[id].not_taken[set] != 0 && n >= known_[id].not_taken[set]) return false;
  bool all = true;
  for (uint32_t part = 0; part <= set && all; ++part) {
    const After list = after(regexes, id, part);
    for (uint32_t i = 0; i < list.size && all; ++i) {
      const RegexId next = next_[list.begin + i];
      all = next == id ? true : takes(regexes, next, set, n - 1);
    }
  }
  if (regexes.is_full()) return false;
  if (all)
    known_[id].taken[set] = static_cast<uint8_t>(n);
  else
    known_[id].not_taken[set] = static_cast<uint8_t>(n);
  return all;
}

bool Reach::may_take(RegexStore& regexes, RegexId id, uint32_t n) {
  if (id == kNothing) return false;
  if (n == 0 || regexes.nullable(id)) return true;
  if (known_.size() <= id) known_.resize(id + 1);
  if (n <= known_[id].may) return true;
  if (known_[id].may_not != 0 && n >= known_[id].may_not) return false;
  bool any = false;
  for (uint32_t part = 0; part < kCharacterSets && !any; ++part) {
    const After list = after(regexes, id, part);
    for (uint32_t i = 0; i < list.size && !any; ++i) {
      const RegexId next = next_[list.begin + i];
      any = next == id || may_take(regexes, next, n - 1);
    }
  }
  if (regexes.is_full()) return true;
  (any ? known_[id].may : known_[id].may_not) = static_cast<uint8_t>(n);
  return any;
}

uint32_t Reach::of(RegexStore& regexes, RegexId id, uint32_t set) {
  uint32_t out = 0;
  while (out < kLongestReach && takes(regexes, id, set, out + 1)) ++out;
  return out;
}

uint32_t Reach::most(RegexStore& regexes, RegexId id) {
  uint32_t out = 0;
  while (out <= kLongestReach && may_take(regexes, id, out + 1)) ++out;
  return out;
}

void Reach::reset() {
  known_.clear();
  after_.clear();
  next_.clear();
}

}  // namespace inlay::constraint
