// Full blocks of keys and values that stay after their sequences, found again by the tokens that they hold and all before these.
// docs/design/requests.md, "What is found again"
//
// An entry is a block with what it continues; the cache has a reference to it. Who uses a chain of entries uses all of it, so that the entry that
// nobody has used for longest continues none that is older.
//
// A block whose room is wanted goes to the store behind the pool, if there is one, and is found there as before: its entry has another place then, and
// nothing else. Entries of the store give way to those that come, those first that nobody has used for longest.
//
// Of a block that holds other tokens than those that are looked for, the first ones may be the same: then a copy of it does for these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/base/status.h"
#include "src/engine/kv_pool.h"

namespace inlay {

// Memory behind the pool's, in slots of one block.
class BlockStore {
 public:
  virtual ~BlockStore() = default;
  virtual int32_t n_slots() const = 0;
  virtual int32_t take() = 0;  // a slot that nobody has, or PrefixCache::kNone
  virtual void give_back(int32_t slot) = 0;
  virtual Status copy_out(int32_t block, int32_t slot) = 0;
  virtual Status copy_in(int32_t slot, int32_t block) = 0;
};

// Tokens from a sequence's first on, and the salt of who computed or looks for them: what has another one is never found.
struct Prefix {
  std::span<const int32_t> tokens;
  uint64_t salt = 0;

  Prefix(std::span<const int32_t> of, uint64_t salted = 0) : tokens(of), salt(salted) {}
  Prefix(std::span<int32_t> of, uint64_t salted = 0) : tokens(of), salt(salted) {}
  Prefix(const std::vector<int32_t>& of, uint64_t salted = 0) : tokens(of), salt(salted) {}
  Prefix first(size_t n) const { return {tokens.first(n), salt}; }
};

class PrefixCache {
 public:
  // root: what the hashes of its beginnings come from.
  explicit PrefixCache(KvPool& pool, BlockStore* store = nullptr, uint64_t root = kHashOfNothing);

  // Where an entry's bytes are: a block of the pool, or behind these a slot of the store.
  bool is_stored(int32_t place) const { return place >= pool_.n_blocks(); }

  // Blocks that hold the first of these tokens, as many as there are, with a reference each for the caller; they count as used now. What is in the store
  // comes back, as far as blocks are free or others give way.
  void take(const Prefix& prefix, std::vector<int32_t>& blocks);
  // Likewise, but none behind the first that is not the entry of that number: the very blocks of before.
  void take_same(const Prefix& prefix, std::span<const uint64_t> numbers, std::vector<int32_t>& blocks);
  uint64_t number_of(int32_t block) const { return entry(block).is_kept ? entry(block).number : 0; }
  size_t n_found(const Prefix& prefix) const;  // how many blocks take() would give, if all has room
  // Their places, without references; not counted as used.
  void find_all(const Prefix& prefix, std::vector<int32_t>& places) const;
  // Behind a chain of the prefix's first blocks, the block of which the most first tokens are the next ones, and how many: at least kLeastPart, else 0 of
  // none.
  struct Part {
    int32_t place = kNone, n = 0;
  };
  Part find_part(const Prefix& prefix, std::span<const int32_t> chain) const;
  // The least number of tokens for which a block is copied. Fewer than these many prompts have in common by their template alone.
  static constexpr size_t kLeastPart = 8;
  // The chain counts as used now.
  void use(std::span<const int32_t> chain);
  // The entry stays where it is until it is let go.
  void hold(int32_t place);
  void let_go(int32_t place);
  Status copy_from_store(int32_t place, int32_t block) { return store_->copy_in(place - pool_.n_blocks(), block); }
  // Keeps those of `blocks` that hold kKvBlockTokens of the tokens each, behind one another. Tokens that are known stay with the block that they have.
  void keep(const Prefix& prefix, std::span<const int32_t> blocks);
  // Gives up to n blocks back to the pool that nobody else uses, those that nobody has used for longest first; how many. What they hold goes to the
  // store. `dropped` gets each.
  template <class Dropped>
  int32_t give_back(int32_t n, const Dropped& dropped) {
    int32_t n_given = 0;
    for_oldest([&](int32_t block) {
      if (!pool_.is_idle(block)) return true;
      if (!move_out(block)) drop(block);
      dropped(block);
      return ++n_given < n;
    });
    return n_given;
  }
  int32_t give_back(int32_t n) {
    return give_back(n, [](int32_t) {});
  }
  // Calls each(block) for the kept blocks of the pool, until it gives false: first those that nobody has used for longest.
  template <class Each>
  void for_oldest(const Each& each) {
    for (int32_t block = used_[0].oldest; block != kNone;) {
      const int32_t newer = entry(block).newer;
      if (!each(block)) return;
      block = newer;
    }
  }

  int32_t n_kept() const { return n_kept_; }  // of the pool
  // What has gone to the store, in blocks: that are there, that ever came there, came back, and were given up there.
  struct StoreCounts {
    int32_t n_stored = 0;
    uint64_t n_moved_out = 0, n_moved_back = 0, n_given_up = 0;
  };
  const StoreCounts& store_counts() const { return counts_; }
  static constexpr int32_t kNone = -1;  // no block

  // The hash of tokens behind others, which have `before`. Whoever chooses the tokens, and knows that, can make two lists of them equal in it.
  static constexpr uint64_t kHashOfNothing = 0x9e3779b97f4a7c15u;
  static uint64_t hash_of(uint64_t before, std::span<const int32_t> tokens);

 private:
  struct Entry {  // of a place
    uint64_t hash = 0, hash_of_first = 0;  // of all its tokens, and of the first kLeastPart
    uint64_t number = 0, parent = 0;  // its own, which no other entry ever had, and that of the one that it continues; 0: none
    uint64_t salt = 0;
    int32_t next_of_hash = kNone, next_of_first = kNone;
    int32_t newer = kNone, older = kNone;  // by use
    bool is_kept = false;
  };

  struct Used {  // the ends of a list by use
    int32_t newest = kNone, oldest = kNone;
  };

  // What comes before a block: the entry that it continues, or else nothing but the salt.
  struct Before {
    uint64_t hash, number, salt;
  };
  Before behind(int32_t parent, uint64_t salt) const;
  int32_t find(const Before& before, std::span<const int32_t> tokens) const;
  std::span<int32_t> tokens_of(int32_t block);
  std::span<const int32_t> tokens_of(int32_t block) const;
  Entry& entry(int32_t block) { return entries_[static_cast<size_t>(block)]; }
  const Entry& entry(int32_t block) const { return entries_[static_cast<size_t>(block)]; }
  int32_t& link_by_hash(int32_t place);   // that leads to it
  int32_t& link_by_first(int32_t place);
  Used& used(int32_t place) { return used_[is_stored(place) ? 1 : 0]; }
  void add(int32_t block, const Before& before, std::span<const int32_t> tokens);
  void drop(int32_t block);
  void forget(int32_t place);                  // the entry, but for the lists by use
  void move_entry(int32_t from, int32_t to);   // likewise
  bool move_out(int32_t block);
  bool move_back(int32_t& place);
  void bring_back(std::vector<int32_t>& chain);
  void put_first(int32_t place);
  void unlink(int32_t place);

  KvPool& pool_;
  BlockStore* const store_;      // or null
  const uint64_t root_;
  std::vector<Entry> entries_;   // one for each place
  std::vector<int32_t> tokens_;  // (places, kKvBlockTokens)
  std::vector<int32_t> heads_;   // of the lists of entries whose hashes end in the same bits
  std::vector<int32_t> heads_of_first_;  // likewise
  std::vector<int32_t> chain_;
  Used used_[2];  // of the pool, of the store
  uint64_t n_made_ = 0;
  int32_t n_kept_ = 0;
  StoreCounts counts_;
};

}  // namespace inlay
