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

  void note(size_t unit, int32_t n_rows, double us) { note(longest_[unit][bucket_of(n_rows)], us); }
  void note_step(int32_t n_rows, double us) { note(steps_[bucket_of(n_rows)], us); }
  // Of several units that took so long together: each has the part of it that it was expected to have.
  void note(size_t first, size_t end, int32_t n_rows, double us) {
    const double expected = expect(first, end, n_rows);
    for (size_t unit = first; unit < end; ++unit) {
      const double part = expected > 0 ? expect(unit, n_rows) / expected : 1 / static_cast<double>(end - first);
      if (part > 0) note(unit, n_rows, us * part);
    }
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

  double expect(size_t first, size_t end, int32_t n_rows) const {
    double sum = 0;
    for (size_t unit = first; unit < end; ++unit) sum += expect(unit, n_rows);
    return sum;
  }

  double expect_step(int32_t n_rows) const { return steps_[bucket_of(n_rows)]; }  // likewise
  // Of a unit of which nothing is known what the longest of so many rows has taken.
  double expect_any(size_t unit, int32_t n_rows) const {
    const double known = expect(unit, n_rows);
    return known > 0 ? known : longest(n_rows);
  }
  double expect_any_step(int32_t n_rows) const {  // likewise
    const double known = expect_step(n_rows);
    return known > 0 ? known : *std::ranges::max_element(steps_);
  }
  double longest(int32_t n_rows) const {
    double most = 0;
    for (const Times& times : longest_) most = std::max(most, times[bucket_of(n_rows)]);
    return most;
  }

  static constexpr int32_t kFewest = 16;
  // How many rows a step may have so that it, or the longest of its units, is expected not to take longer: kFewest at least. Twice as many as were
  // measured are tried at most.
  int32_t rows_of_step(double us) const {
    return rows_within(us, [this](size_t bucket) { return steps_[bucket]; });
  }
  int32_t rows_of_units(double us) const {
    return rows_within(us, [this](size_t bucket) {
      double most = 0;
      for (const Times& times : longest_) most = std::max(most, times[bucket]);
      return most;
    });
  }

 private:
  static constexpr size_t kBuckets = 14;
  using Times = std::array<double, kBuckets>;  // by rows up to 1, 2, 4, ...

  // Rises at once, but no more than twofold: a thread that lost its processor for a while says little of the next unit.
  static void note(double& longest, double us) {
    if (longest == 0) longest = us;
    longest = us > longest ? std::min(us, 2 * longest) : longest + (us - longest) / 8;
  }
  template <class Taken>
  static int32_t rows_within(double us, const Taken& taken_by) {
    int32_t n = kFewest;
    for (size_t bucket = bucket_of(kFewest); bucket < kBuckets; ++bucket) {
      const double taken = taken_by(bucket);
      if (taken == 0) continue;
      if (taken > us) return std::max(kFewest, std::min(n, static_cast<int32_t>(uint64_t{1} << bucket) / 2));
      n = static_cast<int32_t>(uint64_t{1} << bucket) * (2 * taken <= us ? 2 : 1);
    }
    return n;
  }

  static size_t bucket_of(int32_t n_rows) {
    return std::min(kBuckets - 1, static_cast<size_t>(std::bit_width(static_cast<uint32_t>(std::max(1, n_rows)) - 1)));
  }

  std::vector<Times> longest_;  // of each unit
  Times steps_{};
};

}  // namespace inlay
