// Which blocks of the KV cache a session has: one table and one pool a KV group. A group with a window keeps the blocks
// of the window alone: those before it go back to the pool while the sequence grows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/backend/backend.h"
#include "src/engine/kv_pool.h"
#include "src/engine/prefix_cache.h"
#include "src/engine/window_cache.h"

namespace inlay {

// What a session has of one group.
struct KvHolding {
  std::vector<int32_t> table;  // block of position p: table[p / kKvBlockTokens]; kNoKvBlock before `first`
  int32_t first = 0;           // entries before it were released
  int32_t first_row = 0;       // the first position that is cached, in that block or behind it
  std::vector<int32_t> spare;  // blocks that the call at hand, or a later one, will put into the table
  int32_t n_held = 0;          // how many it keeps, those of the table included, though no run is under way

  int32_t n_blocks() const { return static_cast<int32_t>(table.size() + spare.size()) - first; }
};
using KvHoldings = std::vector<KvHolding>;  // by group

class KvPools {
 public:
  // groups: as group_kv_layers() sorts them, one without a window first. store: for kept blocks of the one group, where none has a window.
  KvPools(std::span<const KvGroup> groups, const BackendConfig& config, BlockStore* store = nullptr);
  KvPools(const KvPools&) = delete;
  KvPools& operator=(const KvPools&) = delete;

  KvHoldings no_blocks() const;  // with room for all that a session can ever have

  struct Run {
    int32_t first = 0;  // position of the first token to be run: what comes before is cached
    int32_t end = 0;
    int32_t most = 0;  // tokens run at once
  };
  using CopyBlock = std::function<Status(int32_t group, int32_t from, int32_t to)>;
  // Before a run, which then needs no further block: takes as many as it lacks at any one time, and copies blocks to be
  // written that others share. KV_FULL names the group; then nothing was taken.
  Status reserve(KvHoldings& holdings, const Run& run, const CopyBlock& copy);
  // Before each step of it: the tables cover all positions up to `end`.
  void cover(KvHoldings& holdings, int32_t end);
  // After a step, when n_cached positions are cached: blocks before the windows leave the tables, for the rest of the
  // run. What stays suffices to run the last token again.
  void slide(KvHoldings& holdings, int32_t n_cached);
  // After the run: what it left over goes back.
  void settle(KvHoldings& holdings);
  int32_t n_shared(const KvHoldings& holdings, size_t group) const;  // blocks that others use as well

  // What reserve() has taken stays until let_go(), whatever the runs need.
  void hold(KvHoldings& holdings);
  void let_go(KvHoldings& holdings);

  // Whether everything that a query at position n_cached sees is still there.
  static bool can_go_on(std::span<const KvGroup> groups, const KvHoldings& holdings, int32_t n_cached);
  void cut(KvHoldings& holdings, int32_t n_cached);    // no more than n_cached positions are cached

  // Takes n positions from `first` on out of the n_cached ones; those behind them go n to the front.
  struct Shift {
    int32_t first = 0, n = 0, n_cached = 0;
  };
  using Move = std::function<Status(const Backend::KvMove& move)>;
  // Whether the last token that is then cached, and so what follows it, has all that it sees.
  bool can_shift(const KvHoldings& holdings, const Shift& shift) const;
  Status check_room_to_shift(KvHoldings& holdings, const Shift& shift);  // KV_FULL: blocks to be written are shared
  // Both hold. Copies those blocks; cut() shall follow.
  Status shift(KvHoldings& holdings, const Shift& shift, const CopyBlock& copy, const Move& move);

  void share(const KvHoldings& from, KvHoldings& to);  // a fork's tables: the same blocks

  // Blocks of sequences that are gone, for those that begin alike. There are none where all groups have windows. Other calls take them where
  // free ones do not suffice.
  bool has_cache() const { return cache_ != nullptr; }
  int32_t find(const Prefix& prefix) const;                 // how many of the first tokens are found
  // The same for holdings without blocks, which then have them; and behind these a copy of the block that begins as the tokens go on, if there is one.
  int32_t take(const Prefix& prefix, KvHoldings& holdings, const CopyBlock& copy);
  void keep(const Prefix& prefix, const KvHoldings& holdings);  // blocks that hold these tokens
  int32_t n_found_of(const KvHoldings& holdings, const Prefix& prefix) const;  // how many of the first blocks of these holdings are found for the prefix
  static int32_t n_same(const KvHoldings& a, const KvHoldings& b);  // how many first blocks both have, of the counted group without a window

  // What is to be known of a holding that gives its blocks back, so that it can have the same again.
  struct Former {
    int32_t first = 0, first_row = 0;
    std::vector<uint64_t> numbers;  // PrefixCache::number_of() its blocks, from the first on
  };
  Former former(const KvHolding& holding) const;
  void lay_out(std::span<const int32_t> first_rows, KvHoldings& holdings);  // tables that begin with these positions
  // For holdings without blocks: tables that begin where they did, with those first blocks that are still what they were. How many tokens these hold.
  int32_t take_again(const Prefix& prefix, std::span<const Former> formers, KvHoldings& holdings);

  PrefixCache::StoreCounts store_counts() const { return has_cache() ? cache_->store_counts() : PrefixCache::StoreCounts(); }

  std::span<const KvGroup> groups() const { return groups_; }
  const KvPool& pool(size_t group) const { return pools_[group]; }
  static constexpr size_t kCountedGroup = 0;  // whose blocks say what there is room for: the one without a window, if there is one. Of the others a sequence needs few
  int32_t n_blocks() const;
  int32_t n_used() const;
  std::string text() const;  // how many blocks for which layers

 private:
  int32_t n_lacking(size_t group, const KvHolding& holding, const Run& run) const;
  Status own_written(size_t group, KvHolding& holding, const Run& run, const CopyBlock& copy);
  static Backend::KvMove move_of(const KvHolding& holding, const Shift& shift);
  bool make_room(size_t group, int32_t n);  // n free blocks; false: there are not as many
  int32_t give_back(size_t group, int32_t n);
  void find(const Prefix& prefix, std::vector<int32_t>& chain) const;
  int32_t take_part(const Prefix& prefix, KvHoldings& holdings, const CopyBlock& copy);  // behind chain_
  bool has_windows() const { return !windows_.empty(); }
  Status full(size_t group, int32_t n_wanted) const;

  const std::vector<KvGroup> groups_;
  std::vector<KvPool> pools_;
  std::unique_ptr<PrefixCache> cache_;                 // of the first group, if it has no window; by its blocks those of windows are found
  std::vector<std::unique_ptr<WindowCache>> windows_;  // of each group behind that; empty where there is none
  mutable std::vector<int32_t> chain_;                 // scratch
  const int32_t max_table_;  // entries
};

}  // namespace inlay
