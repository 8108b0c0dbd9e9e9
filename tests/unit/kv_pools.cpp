// Block tables of layers with and without windows under many random operations, beside a model that knows what every
// block must contain. Every query of every step finds the keys that it sees, no block is lost and none is given twice.
#include "src/engine/kv_pools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace inlay {
namespace {

constexpr int32_t kContext = 400, kSessions = 5;

// What is done wrongly, so that the model shows that it would find it.
enum class Fault { none, slides_too_far, loses_spare_blocks, writes_shared_blocks, releases_twice, ignores_the_window, moves_backwards };

struct Sequence {
  bool exists = false;
  KvHoldings kv;
  std::vector<int64_t> tokens;  // each names its position and everything before it
  int32_t n_cached = 0;
  int32_t run_first = 0, run_end = 0;  // of a run that was begun; run_end is n_cached or less: none
  int32_t most = 0;                    // tokens of its steps
  int32_t held_end = 0;                // position up to which blocks were taken to be held
  bool runs_again = false;             // the last token can be run again, as after a step
};

class Simulation {
 public:
  Simulation(std::vector<KvGroup> groups, std::vector<int32_t> n_blocks, uint32_t seed, Fault fault = Fault::none)
      : groups_(std::move(groups)),
        config_{.n_kv_blocks = KvBlockCounts(n_blocks), .n_context = kContext},
        pools_(groups_, config_),
        random_(seed),
        fault_(fault) {
    for (const int32_t n : n_blocks) cache_.emplace_back(static_cast<size_t>(n * kKvBlockTokens), -1);
  }

  void run(int n_operations) {
    for (int i = 0; i < n_operations; ++i) {
      Sequence& s = sequences_[below(kSessions)];
      if (!s.exists) {
        s = {.exists = true, .kv = pools_.no_blocks()};
      } else if (s.n_cached < s.run_end) {
        below(20) == 0 ? give_up(s) : step(s);
      } else {
        begin_something(s);
      }
      check_blocks();
    }
    for (Sequence& s : sequences_) {
      if (!s.exists) continue;
      let_go(s);
      pools_.cut(s.kv, 0);
    }
    if (pools_.n_used() != 0) fail("blocks are in use without a sequence");
  }

  const std::string& failure() const { return failure_; }
  int n_full(size_t group) const { return n_full_[group]; }
  int n_slid() const { return n_slid_; }
  int n_started_anew() const { return n_started_anew_; }
  int n_copies() const { return n_copies_; }
  int n_holds() const { return n_holds_; }
  int n_shifts() const { return n_shifts_; }
  int n_without_shift() const { return n_without_shift_; }  // the window lacks what it would reach back to

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  int32_t up_to(int32_t n) { return static_cast<int32_t>(below(static_cast<size_t>(n))) + 1; }
  void fail(const char* what) {
    if (failure_.empty()) failure_ = what;
  }

  void begin_something(Sequence& s) {
    const auto n_tokens = static_cast<int32_t>(s.tokens.size());
    switch (below(13)) {
      case 12:
        return shift(s);
      case 0:
        return free_sequence(s);
      case 1:
        return fork(s);
      case 2:
        return truncate(s, n_tokens > 0 && below(2) == 0
                               ? n_tokens - std::min(n_tokens, up_to(8))
                               : static_cast<int32_t>(below(static_cast<size_t>(n_tokens) + 1)));
      case 3:
      case 4:
        return begin_run(s, up_to(200), up_to(70));  // a prompt
      default:
        return begin_run(s, up_to(2), 1);  // decoding
    }
  }

  void begin_run(Sequence& s, int32_t n, int32_t most) {
    n = std::min(n, kContext - static_cast<int32_t>(s.tokens.size()));
    if (n == 0 && s.n_cached == static_cast<int32_t>(s.tokens.size())) return;
    const auto end = static_cast<int32_t>(s.tokens.size()) + n;
    const bool holds = most > 1 && below(3) == 0;
    if (most > 1) let_go(s);
    const int32_t reserved = holds ? std::min(kContext, end + up_to(80)) : end;
    const int32_t used = pools_.n_used();
    const Status status =
        pools_.reserve(s.kv, {.first = s.n_cached, .end = reserved, .most = most}, [&](int32_t g, int32_t from, int32_t to) {
          ++n_copies_;
          if (fault_ != Fault::writes_shared_blocks) copy(g, from, to);
          return Status();
        });
    if (status.code == Code::kv_full) {
      const bool windowed = status.message.find("window of") != std::string::npos;
      for (size_t g = 0; g < groups_.size(); ++g) n_full_[g] += windowed == (groups_[g].window > 0);
      if (pools_.n_used() != used) fail("a run that was refused has taken blocks");
      if (end <= s.held_end) fail("a run was refused whose blocks were held");
      return;
    }
    if (holds) {
      pools_.hold(s.kv);
      s.held_end = reserved;
      ++n_holds_;
    }
    s.run_first = static_cast<int32_t>(s.tokens.size());
    for (int32_t i = 0; i < n; ++i) s.tokens.push_back(++last_token_);
    s.run_end = end;
    s.most = most;
  }

  void step(Sequence& s) {
    const int32_t end = std::min(s.run_end, s.n_cached + s.most);
    for (size_t g = 0; g < groups_.size(); ++g) {
      const auto n_new = static_cast<size_t>(kv_blocks_for(end)) -
                         std::min(s.kv[g].table.size(), static_cast<size_t>(kv_blocks_for(end)));
      if (n_new > s.kv[g].spare.size()) return fail("a run lacks blocks that were reserved");
    }
    pools_.cover(s.kv, end);
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (int32_t p = s.n_cached; p < end; ++p) at(s, g, p) = s.tokens[static_cast<size_t>(p)];
      for (int32_t p = s.n_cached; p < end; ++p) look(s, g, p);
      check_bound(s, g);
    }
    s.n_cached = end;
    s.runs_again = true;
    const int32_t first = s.kv.back().first;
    pools_.slide(s.kv, fault_ == Fault::slides_too_far ? end + 32 : end);
    n_slid_ += s.kv.back().first - first;
    if (s.n_cached < s.run_end) return;
    if (fault_ == Fault::loses_spare_blocks) {
      for (KvHolding& h : s.kv) h.spare.clear();
    }
    pools_.settle(s.kv);
  }

  // The keys that a query at position p sees.
  void look(Sequence& s, size_t g, int32_t p) {
    const int32_t window = fault_ == Fault::ignores_the_window ? 0 : groups_[g].window;
    for (int32_t key = first_key(window, p); key <= p; ++key) {
      if (s.kv[g].table[static_cast<size_t>(key / kKvBlockTokens)] == kNoKvBlock)
        return fail("a block is gone that a query sees");
      if (at(s, g, key) != s.tokens[static_cast<size_t>(key)]) return fail("a query sees keys of others");
    }
  }

  void check_bound(const Sequence& s, size_t g) {
    const int32_t window = groups_[g].window;
    const auto n_held = static_cast<int32_t>(s.kv[g].table.size()) - s.kv[g].first;
    if (window > 0 && n_held > kv_blocks_of_window(window, s.most)) fail("more blocks than the window needs");
  }

  void give_up(Sequence& s) {
    let_go(s);
    s.tokens.resize(static_cast<size_t>(std::max(s.run_first, s.n_cached)));
    rewind(s, static_cast<int32_t>(s.tokens.size()));
  }

  void let_go(Sequence& s) {
    pools_.let_go(s.kv);
    s.held_end = 0;
  }

  void truncate(Sequence& s, int32_t n) {
    let_go(s);
    s.tokens.resize(static_cast<size_t>(n));
    rewind(s, n);
  }

  void shift(Sequence& s) {
    if (s.n_cached < 2) return;
    const auto first = static_cast<int32_t>(below(static_cast<size_t>(s.n_cached - 1)));
    const int32_t n = std::min(s.n_cached - 1 - first, below(2) == 0 ? up_to(80) : up_to(300));
    const KvPools::Shift shift{first, n, s.n_cached};
    if (!pools_.can_shift(s.kv, shift)) {
      ++n_without_shift_;
      return;
    }
    const int32_t used = pools_.n_used();
    if (!pools_.check_room_to_shift(s.kv, shift).ok()) {
      if (pools_.n_used() > used) fail("a shift that was refused has taken blocks");
      return;
    }
    const auto move = [&](const Backend::KvMove& m) {
      std::vector<int32_t> to;
      for (int32_t p = m.first; p + m.distance < m.end; ++p) to.push_back(p);
      if (fault_ == Fault::moves_backwards) std::ranges::reverse(to);
      std::vector<int64_t>& cells = cache_[static_cast<size_t>(m.kv_group)];
      const auto cell = [&](int32_t p) -> int64_t& {
        return cells[static_cast<size_t>(m.table[static_cast<size_t>(p / kKvBlockTokens)] * kKvBlockTokens + p % kKvBlockTokens)];
      };
      for (const int32_t p : to) cell(p) = cell(p + m.distance);
      return Status();
    };
    const Status status = pools_.shift(s.kv, shift, [&](int32_t g, int32_t from, int32_t to) {
      copy(g, from, to);
      return Status();
    }, move);
    if (!status.ok()) fail("a shift that has room was refused");
    s.tokens.erase(s.tokens.begin() + first, s.tokens.begin() + first + n);
    s.n_cached -= n;
    s.run_end = 0;
    s.runs_again = true;
    s.held_end = std::max(0, s.held_end - n);
    pools_.cut(s.kv, s.n_cached);
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (int32_t p = s.kv[g].first_row; p < s.n_cached; ++p) {
        if (at(s, g, p) != s.tokens[static_cast<size_t>(p)]) return fail("a shift has lost keys");
      }
    }
    ++n_shifts_;
  }

  // The last token is to be run again, as an engine does for its logits.
  void rewind(Sequence& s, int32_t n_tokens) {
    const bool complete = std::exchange(s.runs_again, false) && s.n_cached <= n_tokens;
    s.run_end = 0;
    s.n_cached = std::min(s.n_cached, std::max(0, n_tokens - 1));
    if (!KvPools::can_go_on(groups_, s.kv, s.n_cached)) {
      if (complete) fail("the last token cannot be run again");
      s.n_cached = 0;
      ++n_started_anew_;
    }
    pools_.cut(s.kv, s.n_cached);
  }

  void fork(Sequence& s) {
    const auto child = std::ranges::find(sequences_, false, &Sequence::exists);
    if (child == std::end(sequences_)) return;
    s.held_end = 0;  // copies of what both have are not held
    *child = s;
    child->kv = pools_.no_blocks();
    pools_.share(s.kv, child->kv);
  }

  void free_sequence(Sequence& s) {
    let_go(s);
    pools_.cut(s.kv, 0);
    if (fault_ == Fault::releases_twice && pools_.n_used() > 0) {
      for (const Sequence& other : sequences_) {
        if (!other.exists || &other == &s || other.n_cached < other.run_end) continue;
        KvHoldings again = other.kv;
        pools_.cut(again, 0);
        break;
      }
    }
    s = {};
  }

  // Every block that is in use is one of a sequence, and the free ones are not.
  void check_blocks() {
    int32_t n_held = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      std::set<int32_t> held;
      for (const Sequence& s : sequences_) {
        if (!s.exists) continue;
        const KvHolding& h = s.kv[g];
        held.insert(h.table.begin() + h.first, h.table.end());
        for (const int32_t block : h.spare) {
          if (!held.insert(block).second) fail("a spare block is in use");
        }
      }
      if (held.contains(kNoKvBlock)) fail("a table has no block where it has one");
      n_held += static_cast<int32_t>(held.size());
      if (static_cast<int32_t>(held.size()) != pools_.pool(g).n_used())
        fail("blocks are lost, or given away that are in use");
    }
    if (n_held != pools_.n_used()) fail("the sum of the groups is wrong");
  }

  int64_t& at(Sequence& s, size_t g, int32_t position) {
    const int32_t block = s.kv[g].table[static_cast<size_t>(position / kKvBlockTokens)];
    return cache_[g][static_cast<size_t>(block * kKvBlockTokens + position % kKvBlockTokens)];
  }
  void copy(int32_t g, int32_t from, int32_t to) {
    auto& cells = cache_[static_cast<size_t>(g)];
    std::copy_n(cells.begin() + from * kKvBlockTokens, kKvBlockTokens, cells.begin() + to * kKvBlockTokens);
  }

  const std::vector<KvGroup> groups_;
  const BackendConfig config_;
  KvPools pools_;
  std::mt19937 random_;
  const Fault fault_;
  Sequence sequences_[kSessions];
  std::vector<std::vector<int64_t>> cache_;  // by group: what every position of every block contains
  std::vector<int> n_full_ = std::vector<int>(8, 0);
  int64_t last_token_ = 0;
  int n_slid_ = 0, n_started_anew_ = 0, n_copies_ = 0, n_holds_ = 0, n_shifts_ = 0, n_without_shift_ = 0;
  std::string failure_;
};

struct Setting {
  std::vector<KvGroup> groups;
  std::vector<int32_t> n_blocks;
};
const std::vector<Setting> kSettings = {
    {{{0, 2}}, {30}},
    {{{40, 3}}, {12}},  // its pool is often full
    {{{0, 1}, {5, 5}}, {30, 30}},
    {{{0, 1}, {70, 1}}, {40, 10}},  // the window's pool is full first
    {{{0, 1}, {70, 1}}, {14, 40}},  // the other one is
    {{{1, 1}, {33, 1}, {150, 1}}, {20, 20, 24}},
};

TEST(KvPools, RandomOperationsAgreeWithTheModel) {
  for (const Setting& setting : kSettings) {
    int n_slid = 0, n_started_anew = 0, n_copies = 0, n_holds = 0, n_shifts = 0, n_without_shift = 0;
    for (uint32_t seed = 0; seed < 40; ++seed) {
      Simulation simulation(setting.groups, setting.n_blocks, seed);
      simulation.run(2000);
      ASSERT_EQ(simulation.failure(), "") << "seed " << seed << ", window " << setting.groups.back().window;
      n_slid += simulation.n_slid();
      n_started_anew += simulation.n_started_anew();
      n_copies += simulation.n_copies();
      n_holds += simulation.n_holds();
      n_shifts += simulation.n_shifts();
      n_without_shift += simulation.n_without_shift();
    }
    EXPECT_GT(n_holds, 100);
    const bool has_window = setting.groups.back().window > 0;
    EXPECT_GT(n_shifts, 100);
    EXPECT_EQ(n_without_shift > 100, has_window) << n_without_shift;
    EXPECT_EQ(n_slid > 1000, has_window) << n_slid;
    EXPECT_EQ(n_started_anew > 100, has_window) << n_started_anew;
    EXPECT_GT(n_copies, 100) << "forks were written to";
  }
}

TEST(KvPools, TheModelFindsFaults) {
  for (const Fault fault : {Fault::slides_too_far, Fault::loses_spare_blocks, Fault::writes_shared_blocks,
                            Fault::releases_twice, Fault::ignores_the_window, Fault::moves_backwards}) {
    int n_found = 0;
    for (uint32_t seed = 0; seed < 5; ++seed) {
      Simulation simulation({{0, 1}, {40, 1}}, {40, 40}, seed, fault);
      simulation.run(4000);
      n_found += !simulation.failure().empty();
    }
    EXPECT_EQ(n_found, 5) << "fault " << static_cast<int>(fault);
  }
}

TEST(KvPools, EitherGroupCanBeFullAndIsNamed) {
  int n_full_window = 0, n_full_other = 0;
  for (uint32_t seed = 0; seed < 10; ++seed) {
    Simulation small_window({{0, 1}, {70, 1}}, {80, 8}, seed), small_other({{0, 1}, {70, 1}}, {14, 80}, seed);
    small_window.run(1000);
    small_other.run(1000);
    EXPECT_EQ(small_window.n_full(0), 0);
    EXPECT_EQ(small_other.n_full(1), 0);
    n_full_window += small_window.n_full(1);
    n_full_other += small_other.n_full(0);
  }
  EXPECT_GT(n_full_window, 100);
  EXPECT_GT(n_full_other, 100);
}

const KvPools::CopyBlock kNoCopies = [](int32_t, int32_t, int32_t) {
  return error(Code::internal, "nothing is shared");
};

// One sequence that is run to the end of a long context.
TEST(KvPools, AWindowTakesItsBlocksAndNoMore) {
  constexpr int32_t kLong = 131072, kWindow = 1024, kChunk = 512;
  const int32_t most = kv_blocks_of_window(kWindow, kChunk);
  EXPECT_EQ(most, 49);
  const KvGroup groups[] = {{.window = kWindow, .n_layers = 1}};
  KvPools pools(groups, {.n_kv_blocks = most, .n_context = kLong});
  KvHoldings kv = pools.no_blocks();
  ASSERT_TRUE(pools.reserve(kv, {.first = 0, .end = kLong, .most = kChunk}, kNoCopies).ok());
  for (int32_t n = 0; n < kLong; n += kChunk) {
    pools.cover(kv, n + kChunk);
    pools.slide(kv, n + kChunk);
    ASSERT_EQ(kv[0].n_blocks(), most);
  }
  pools.settle(kv);
  EXPECT_EQ(pools.n_used(), kWindow / kKvBlockTokens);

  KvPools too_small(groups, {.n_kv_blocks = most - 1, .n_context = kLong});
  kv = too_small.no_blocks();
  const Status status = too_small.reserve(kv, {.first = 0, .end = kLong, .most = kChunk}, kNoCopies);
  EXPECT_EQ(status.code, Code::kv_full);
  EXPECT_NE(status.message.find("window of 1024"), std::string::npos) << status.message;
  EXPECT_EQ(status.required, static_cast<uint64_t>(most));
}

TEST(KvPools, TextTellsThePoolsApart) {
  const KvGroup groups[] = {{.n_layers = 1}, {.window = 8, .n_layers = 5}};
  const KvPools pools(groups, {.n_kv_blocks = KvBlockCounts({7, 3}), .n_context = 256});
  EXPECT_EQ(pools.text(), "7 for 1 layer, 3 for 5 layers with a window of 8");
}

TEST(KvPools, AFailedCopyTakesNothing) {
  const KvGroup groups[] = {{.n_layers = 1}, {.window = 8, .n_layers = 1}};
  KvPools pools(groups, {.n_kv_blocks = 8, .n_context = 256});
  KvHoldings parent = pools.no_blocks(), child = pools.no_blocks();
  ASSERT_TRUE(pools.reserve(parent, {.first = 0, .end = 40, .most = 40}, kNoCopies).ok());
  pools.cover(parent, 40);
  pools.share(parent, child);
  const int32_t used = pools.n_used();
  EXPECT_EQ(pools.reserve(child, {.first = 40, .end = 41, .most = 1}, kNoCopies).code, Code::internal);
  EXPECT_EQ(pools.n_used(), used);
  EXPECT_TRUE(
      pools.reserve(child, {.first = 40, .end = 41, .most = 1}, [](int32_t, int32_t, int32_t) { return Status(); })
          .ok());
  EXPECT_EQ(pools.n_used(), used + 2) << "the block that is written, of both groups";
}

}  // namespace
}  // namespace inlay
