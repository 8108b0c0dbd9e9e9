// A 64-bit hash of bytes, to find damage and tell things apart. Not against those who want two things to have the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace inlay {

// Every word of 8 bytes is mixed in by a bijection: a change in one word always changes the value. How the bytes are cut into calls does not matter.
class Hash64 {
 public:
  void add(std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    size_t n = bytes.size();
    n_bytes_ += n;
    while (n > 0 && n_pending_ > 0) {
      pending_[n_pending_++] = *at++;
      --n;
      if (n_pending_ == sizeof pending_) mix_word(pending_), n_pending_ = 0;
    }
    for (; n >= sizeof pending_; at += sizeof pending_, n -= sizeof pending_) mix_word(at);
    while (n > 0) pending_[n_pending_++] = *at++, --n;
  }
  template <class T>
  void add_value(const T& value) {
    add(std::as_bytes(std::span(&value, 1)));
  }

  // Of all that was added so far.
  uint64_t value() const {
    std::byte last[sizeof pending_] = {};
    std::memcpy(last, pending_, n_pending_);
    Hash64 copy = *this;
    copy.mix_word(last);
    copy.mix(n_bytes_);
    return copy.hash_;
  }

 private:
  void mix_word(const std::byte* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    mix(word);
  }
  void mix(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 32;
  }

  uint64_t hash_ = 0x2545f4914f6cdd1du, n_bytes_ = 0;
  std::byte pending_[8] = {};
  size_t n_pending_ = 0;
};

}  // namespace inlay
