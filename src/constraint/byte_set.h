// A set of bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace inlay::constraint {

struct ByteSet {
  std::array<uint64_t, 4> words{};

  static ByteSet range(uint32_t first, uint32_t last) {
    ByteSet out;
    for (uint32_t b = first; b <= last; ++b) out.add(static_cast<uint8_t>(b));
    return out;
  }
  // Every byte but 0xFF, which no UTF-8 text has: a class of its own is left for what leads nowhere.
  static ByteSet all() { return {{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0} >> 1}}; }

  bool has(uint8_t byte) const { return words[byte >> 6] >> (byte & 63) & 1; }
  void add(uint8_t byte) { words[byte >> 6] |= uint64_t{1} << (byte & 63); }
  bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  int size() const {
    return std::popcount(words[0]) + std::popcount(words[1]) + std::popcount(words[2]) + std::popcount(words[3]);
  }
  // Of a set that is not empty.
  uint8_t first() const {
    uint32_t word = 0;
    while (words[word] == 0) ++word;
    return static_cast<uint8_t>(word << 6 | static_cast<uint32_t>(std::countr_zero(words[word])));
  }

  ByteSet& operator|=(const ByteSet& other) {
    for (size_t i = 0; i < 4; ++i) words[i] |= other.words[i];
    return *this;
  }
  ByteSet& operator&=(const ByteSet& other) {
    for (size_t i = 0; i < 4; ++i) words[i] &= other.words[i];
    return *this;
  }
  bool operator==(const ByteSet&) const = default;
};

// Calls each(byte) for the members, in order.
template <class Each>
void for_each_byte(const ByteSet& set, Each&& each) {
  for (uint32_t word = 0; word < 4; ++word)
    for (uint64_t bits = set.words[word]; bits != 0; bits &= bits - 1)
      each(static_cast<uint8_t>(word << 6 | static_cast<uint32_t>(std::countr_zero(bits))));
}

}  // namespace inlay::constraint
