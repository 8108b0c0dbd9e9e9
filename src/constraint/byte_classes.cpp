#include "src/constraint/byte_classes.h"

#include <cstring>
#include <utility>

namespace inlay::constraint {

void ClassBuilder::split(const ByteSet& set) {
  // By old class: the new one of its bytes that are in the set.
  std::array<uint8_t, 256> inside{};
  std::array<uint16_t, 256> n_all{}, n_inside{};
  ByteSet members = set;
  members &= live_;
  if (members.empty()) return;
  for (uint32_t b = 0; b < 256; ++b) ++n_all[map_[b]];
  for_each_byte(members, [&](uint8_t b) { ++n_inside[map_[b]]; });
  const uint32_t n_before = n_;
  for (uint32_t c = 1; c < n_before; ++c) {
    inside[c] = static_cast<uint8_t>(c);
    if (n_inside[c] != 0 && n_inside[c] != n_all[c]) inside[c] = static_cast<uint8_t>(n_++);
  }
  if (n_ != n_before) for_each_byte(members, [&](uint8_t b) { map_[b] = inside[map_[b]]; });
}

uint32_t ByteClasses::number(const ByteMap& map, uint32_t size) {
  uint64_t hash = size;
  for (size_t i = 0; i < map.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, map.data() + i, 8);
    hash = mix(hash, word);
  }
  return numbers_.find_or_add(
      hash, [&](uint32_t number) { return maps_[number] == map; },
      [&] {
        maps_.push_back(map);
        sizes_.push_back(size);
        few_.emplace_back();
        for (uint32_t byte = 0; byte < 256 && few_.back().n <= kFew; ++byte) {
          if (map[byte] == 0) continue;
          if (few_.back().n < kFew) few_.back().bytes[few_.back().n] = static_cast<uint8_t>(byte);
          ++few_.back().n;
        }
        return static_cast<uint32_t>(maps_.size() - 1);
      });
}

uint32_t ByteClasses::combined(uint32_t a, uint32_t b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  const uint32_t pair = pair_numbers_.find_or_add(
      mix(mix(0, a), b), [&](uint32_t number) { return pairs_[number].a == a && pairs_[number].b == b; },
      [&] {
        ByteMap map{};
        std::vector<uint8_t> by_pair(size_t{sizes_[a]} * sizes_[b]);
        uint32_t n = 1;
        for (uint32_t byte = 0; byte < 256; ++byte) {
          const uint32_t x = maps_[a][byte], y = maps_[b][byte];
          if (x == 0 && y == 0) continue;
          uint8_t& known = by_pair[x * sizes_[b] + y];
          if (known == 0) known = static_cast<uint8_t>(n++);
          map[byte] = known;
        }
        pairs_.push_back({a, b, number(map, n)});
        return static_cast<uint32_t>(pairs_.size() - 1);
      });
  return pairs_[pair].combined;
}

void ByteClasses::clear() {
  maps_.clear();
  sizes_.clear();
  few_.clear();
  pairs_.clear();
  numbers_.clear();
  pair_numbers_.clear();
}

}  // namespace inlay::constraint
