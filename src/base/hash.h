// A 64-bit hash of bytes, to find damage and tell things apart. Not against those who want two things to have the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace inlay {

// Words of 8 bytes go to four values in turn, which processors compute side by side. Each word is mixed in by a bijection, and so are the four at the
// end: a change in one word always changes the result. How the bytes are cut into calls does not matter.
class Hash64 {
 public:
  void add(std::span<const std::byte> bytes) {
    n_bytes_ += bytes.size();
    if (n_pending_ > 0) {
      bytes = bytes.subspan(keep(bytes.first(std::min(bytes.size(), sizeof pending_ - n_pending_))));
      if (n_pending_ < sizeof pending_) return;
      mix_words(pending_, 1);
      n_pending_ = 0;
    }
    const size_t n_times = bytes.size() / sizeof pending_;
    mix_words(bytes.data(), n_times);
    keep(bytes.subspan(n_times * sizeof pending_));
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
    copy.mix_words(last, 1);
    uint64_t out = n_bytes_;
    for (const uint64_t hash : copy.hashes_) out = mixed(out, hash);
    return out;
  }

 private:
  static constexpr size_t kLanes = 4;

  size_t keep(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(pending_ + n_pending_, bytes.data(), bytes.size());
    n_pending_ += bytes.size();
    return bytes.size();
  }

  static uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
  }
  void mix_words(const std::byte* at, size_t n_times) {
    uint64_t hashes[kLanes];  // registers: bytes may lie anywhere, also in this object
    std::copy_n(hashes_, kLanes, hashes);
    for (size_t i = 0; i < n_times; ++i, at += sizeof pending_) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        uint64_t word;
        std::memcpy(&word, at + lane * sizeof word, sizeof word);
        hashes[lane] = mixed(hashes[lane], word);
      }
    }
    std::copy_n(hashes, kLanes, hashes_);
  }

  uint64_t hashes_[kLanes] = {0x2545f4914f6cdd1du, 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u, 0x1d8e4e27c47d124fu};
  uint64_t n_bytes_ = 0;
  std::byte pending_[8 * kLanes] = {};
  size_t n_pending_ = 0;
};

}  // namespace inlay
