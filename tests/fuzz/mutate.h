// Random numbers and mutations of inputs that are the same on every machine and compiler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

namespace inlay::fuzz {

using Input = std::vector<uint8_t>;

// splitmix64: small, and the same everywhere, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(next() % n); }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class T, size_t n>
  const T& of(const T (&values)[n]) {
    return values[below(n)];
  }

 private:
  uint64_t state_;
};

// A number that limits are near to, or one near `size`.
inline uint64_t hostile_number(size_t size, Random& random) {
  static constexpr uint64_t kNumbers[] = {
      0,     1,     2,          7,          8,          31,         32,         127,        128,       255,       256,
      65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ull << 32, 1ull << 40, 1ull << 62, INT64_MAX, UINT64_MAX};
  const uint64_t value = random.of(kNumbers);
  return random.below(4) == 0 ? size - random.below(64) : value;
}

inline void overwrite_number(Input& input, Random& random) {
  const uint64_t value = hostile_number(input.size(), random);
  const size_t width = size_t{1} << random.below(4);
  if (input.size() < width) return;
  std::memcpy(input.data() + random.below(input.size() - width + 1), &value, width);
}

// Copies, moves or removes a run of bytes; `other` is another input to take it from.
inline void splice(Input& input, const Input& other, Random& random) {
  const size_t from = random.below(other.size()), at = random.below(input.size());
  const size_t n = std::min(other.size() - from, 1 + random.below(64));
  const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
  const Input run(begin, begin + static_cast<std::ptrdiff_t>(n));
  const auto target = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(3)) {
    case 0:
      input.insert(target, run.begin(), run.end());
      break;
    case 1:
      std::copy_n(run.begin(), std::min(n, input.size() - at), target);
      break;
    default:
      input.erase(target, target + static_cast<std::ptrdiff_t>(std::min(n, input.size() - at)));
      break;
  }
}

// One to four changes of bytes, numbers and runs; `other` is another input to take runs from.
inline void mutate(Input& input, const Input& other, Random& random) {
  const size_t n_steps = 1 + random.below(4);
  for (size_t i = 0; i < n_steps; ++i) {
    if (input.empty()) input.push_back(static_cast<uint8_t>(random.next()));
    switch (random.below(5)) {
      case 0:
        input[random.below(input.size())] ^= static_cast<uint8_t>(1u << random.below(8));
        break;
      case 1:
        input[random.below(input.size())] = static_cast<uint8_t>(random.next());
        break;
      case 2:
        overwrite_number(input, random);
        break;
      case 3:
        splice(input, other, random);
        break;
      default:
        if (random.below(4) == 0) input.resize(random.below(input.size() + 1));
        break;
    }
  }
}

}  // namespace inlay::fuzz
