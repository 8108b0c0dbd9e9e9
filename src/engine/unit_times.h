// What the units of steps take, for who has to be back at a certain time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace inlay {

class UnitTimes {
 public:
  explicit UnitTimes(size_t n_units) : longest_(n_units) {}

  void note(size_t unit, int32_t n_rows, double us) {
    double& longest = longest_[unit][bucket_of(n_rows)];
    longest = std::max(us, longest + (us - longest) / 16);
  }

  // Microseconds, rather too many than too few; 0: nothing is known.
  double expect(size_t unit, int32_t n_rows) const {
    const auto& times = longest_[unit];
    const size_t own = bucket_of(n_rows);
    if (times[own] > 0) return times[own];
    for (size_t i = own; i-- > 0;) {
      if (times[i] > 0) return times[i] * static_cast<double>(uint64_t{1} << (own - i));
    }
    return 0;
  }

  // How many rows of prompts a step may have so that none of its units, or with `whole` all of them, are expected to take longer. Twice as many
  // as were measured are tried at most.
  int32_t rows_within(double us, bool whole) const {
    int32_t n = kFewest;
    for (size_t bucket = bucket_of(kFewest); bucket < kBuckets; ++bucket) {
      double sum = 0, most = 0;
      for (const auto& times : longest_) sum += times[bucket], most = std::max(most, times[bucket]);
      if (most == 0) break;
      const double taken = whole ? sum : most;
      if (taken > us) return std::max(kFewest, static_cast<int32_t>(uint64_t{1} << bucket) / 2);
      n = static_cast<int32_t>(uint64_t{1} << bucket) * (2 * taken <= us ? 2 : 1);
    }
    return n;
  }

 private:
  static constexpr size_t kBuckets = 14;
  static constexpr int32_t kFewest = 16;
  static size_t bucket_of(int32_t n_rows) {
    return std::min(kBuckets - 1, static_cast<size_t>(std::bit_width(static_cast<uint32_t>(std::max(1, n_rows)) - 1)));
  }

  std::vector<std::array<double, kBuckets>> longest_;  // of each unit, by rows up to 1, 2, 4, ...
};

}  // namespace inlay
