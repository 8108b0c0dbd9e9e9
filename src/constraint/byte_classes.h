// Partitions of the 256 bytes into classes, each stored once. Class 0 is of the bytes that lead nowhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/constraint/byte_set.h"
#include "src/constraint/hashing.h"

namespace inlay::constraint {

using ByteMap = std::array<uint8_t, 256>;  // the class of each byte

// Splits one partition by sets.
class ClassBuilder {
 public:
  explicit ClassBuilder(const ByteSet& live) : live_(live) {
    n_ = live.empty() ? 1 : 2;
    for (uint32_t b = 0; b < 256; ++b) map_[b] = live.has(static_cast<uint8_t>(b)) ? 1 : 0;
  }

  void split(const ByteSet& set);
  const ByteMap& map() const { return map_; }
  uint32_t size() const { return n_; }

 private:
  ByteSet live_;
  ByteMap map_;
  uint32_t n_;
};

class ByteClasses {
 public:
  uint32_t number(const ClassBuilder& builder) { return number(builder.map(), builder.size()); }
  uint32_t combined(uint32_t a, uint32_t b);  // bytes are of one class if they are in both
  const ByteMap& map(uint32_t number) const { return maps_[number]; }
  uint32_t size(uint32_t number) const { return sizes_[number]; }
  // The bytes that are not of class 0, where they are at most kFew.
  static constexpr size_t kFew = 40;
  struct Few {
    uint8_t n = 0;  // more: kFew + 1
    std::array<uint8_t, kFew> bytes{};
  };
  const Few& few(uint32_t number) const { return few_[number]; }
  void clear();
  size_t memory() const { return maps_.size() * (sizeof(ByteMap) + sizeof(Few) + 4) + pairs_.size() * sizeof(Pair) + numbers_.bytes() + pair_numbers_.bytes(); }

 private:
  struct Pair {
    uint32_t a, b, combined;
  };
  uint32_t number(const ByteMap& map, uint32_t size);

  std::vector<ByteMap> maps_;
  std::vector<uint32_t> sizes_;
  std::vector<Few> few_;
  std::vector<Pair> pairs_;
  NumberTable numbers_, pair_numbers_;
};

}  // namespace inlay::constraint
