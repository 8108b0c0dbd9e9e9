// From the bytes of a piece to its id: open addressing over the vocabulary's own bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/tokenizer/vocabulary.h"

namespace inlay {

inline uint64_t mix_bits(uint64_t x) {
  x *= 0x9E3779B97F4A7C15ull;
  return x ^ (x >> 32);
}

inline uint64_t hash_bytes(std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t h = n, word = 0;
  for (; n > 8; p += 8, n -= 8) {
    std::memcpy(&word, p, 8);
    h = mix_bits(h ^ word);
  }
  if (n >= 4) {
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + n - 4, 4);
    word = low | static_cast<uint64_t>(high) << 32;
  } else {
    word = 0;
    for (size_t i = 0; i < n; ++i) word = word << 8 | static_cast<unsigned char>(p[i]);
  }
  return mix_bits(mix_bits(h ^ word) + 0xD6E8FEB86659FD93ull);
}

// Of several tokens with the same bytes, the first normal one is found, otherwise the first. Points into the
// vocabulary.
class TokenTable {
 public:
  explicit TokenTable(const Vocabulary& vocabulary);

  // -1 if the bytes are no matchable token
  int32_t find(std::string_view bytes) const {
    if (bytes.size() > max_bytes_) return -1;
    const uint64_t hash = hash_bytes(bytes);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.id < 0) return -1;
      if (slot.tag == tag_of(hash) && vocabulary_.piece(slot.id) == bytes) return slot.id;
    }
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t id = -1;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  void insert(int32_t id);

  const Vocabulary& vocabulary_;
  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t max_bytes_ = 0;  // of a matchable token
};

}  // namespace inlay
