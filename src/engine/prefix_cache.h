// Full blocks of keys and values that stay after their sequences, found again by the tokens that they hold and all before these.
// docs/design/requests.md, "What is found again"
//
// An entry is a block with what it continues; the cache has a reference to it. Who uses a chain of entries uses all of it, so that the entry that
// nobody has used for longest continues none that is older.
//
// Of a block that holds other tokens than those that are looked for, the first ones may be the same: then a copy of it does for these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/engine/kv_pool.h"

namespace inlay {

class PrefixCache {
 public:
  explicit PrefixCache(KvPool& pool);

  // Blocks that hold the first of these tokens, as many as there are, with a reference each for the caller; they count as used now.
  void take(std::span<const int32_t> tokens, std::vector<int32_t>& blocks);
  // Likewise, but none behind the first that is not the entry of that number: the very blocks of before.
  void take_same(std::span<const int32_t> tokens, std::span<const uint64_t> numbers, std::vector<int32_t>& blocks);
  uint64_t number_of(int32_t block) const { return entry(block).is_kept ? entry(block).number : 0; }
  size_t n_found(std::span<const int32_t> tokens) const;  // how many blocks take() would give
  // These, without references; not counted as used.
  void find_all(std::span<const int32_t> tokens, std::vector<int32_t>& blocks) const;
  // Behind a chain, the block of which the most first tokens are those that are looked for, and how many: at least kLeastPart, else 0 of none.
  struct Part {
    int32_t block = kNone, n = 0;
  };
  Part find_part(std::span<const int32_t> chain, std::span<const int32_t> tokens) const;
  // The least number of tokens for which a block is copied. Fewer than these many prompts have in common by their template alone.
  static constexpr size_t kLeastPart = 8;
  // The chain counts as used now.
  void use(std::span<const int32_t> chain);
  // Keeps those of `blocks` that hold kKvBlockTokens of the tokens each, behind one another. Tokens that are known stay with the block that they have.
  void keep(std::span<const int32_t> tokens, std::span<const int32_t> blocks);
  // Gives up to n blocks back to the pool that nobody else uses, those that nobody has used for longest first; how many. `dropped` gets each.
  template <class Dropped>
  int32_t give_back(int32_t n, const Dropped& dropped) {
    int32_t n_given = 0;
    for_oldest([&](int32_t block) {
      if (!pool_.is_idle(block)) return true;
      drop(block);
      dropped(block);
      return ++n_given < n;
    });
    return n_given;
  }
  int32_t give_back(int32_t n) {
    return give_back(n, [](int32_t) {});
  }
  // Calls each(block) for the kept blocks, until it gives false: first those that nobody has used for longest.
  template <class Each>
  void for_oldest(const Each& each) {
    for (int32_t block = oldest_; block != kNone;) {
      const int32_t newer = entry(block).newer;
      if (!each(block)) return;
      block = newer;
    }
  }

  int32_t n_kept() const { return n_kept_; }
  static constexpr int32_t kNone = -1;  // no block

  // The hash of tokens behind others, which have `before`. Whoever chooses the tokens can make two lists of them equal in it.
  static constexpr uint64_t kHashOfNothing = 0x9e3779b97f4a7c15u;
  static uint64_t hash_of(uint64_t before, std::span<const int32_t> tokens);

 private:
  struct Entry {  // of the block of its number
    uint64_t hash = 0, hash_of_first = 0;  // of all its tokens, and of the first kLeastPart
    uint64_t number = 0, parent = 0;  // its own, which no other entry ever had, and that of the one that it continues; 0: none
    int32_t next_of_hash = kNone, next_of_first = kNone;
    int32_t newer = kNone, older = kNone;  // by use
    bool is_kept = false;
  };

  uint64_t hash_behind(int32_t parent) const { return parent == kNone ? kHashOfNothing : entry(parent).hash; }  // that stands for all that comes before
  int32_t find(int32_t parent, std::span<const int32_t> tokens) const;
  std::span<int32_t> tokens_of(int32_t block);
  std::span<const int32_t> tokens_of(int32_t block) const;
  Entry& entry(int32_t block) { return entries_[static_cast<size_t>(block)]; }
  const Entry& entry(int32_t block) const { return entries_[static_cast<size_t>(block)]; }
  void add(int32_t block, int32_t parent, std::span<const int32_t> tokens);
  void drop(int32_t block);
  void put_first(int32_t block);
  void unlink(int32_t block);

  KvPool& pool_;
  std::vector<Entry> entries_;   // one for each block of the pool
  std::vector<int32_t> tokens_;  // (blocks, kKvBlockTokens)
  std::vector<int32_t> heads_;   // of the lists of entries whose hashes end in the same bits
  std::vector<int32_t> heads_of_first_;  // likewise
  std::vector<int32_t> chain_;
  int32_t newest_ = kNone, oldest_ = kNone;
  uint64_t n_made_ = 0;
  int32_t n_kept_ = 0;
};

}  // namespace inlay
