// Accounting of the KV cache's blocks: one pool for all sessions, blocks shared by reference count after a fork.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace inlay {

class KvPool {
 public:
  explicit KvPool(int32_t n_blocks);

  int32_t n_blocks() const { return static_cast<int32_t>(references_.size()); }
  int32_t n_free() const { return static_cast<int32_t>(free_.size()); }
  int32_t n_idle() const { return n_idle_; }  // that are kept, and used by nobody
  int32_t n_used() const { return n_blocks() - n_free() - n_idle(); }

  int32_t take();                   // needs n_free() > 0; the block has one reference
  void share(int32_t block);        // one reference more
  void release(int32_t block);      // one less; the last one frees it
  bool shared(int32_t block) const { return references_[static_cast<size_t>(block)] > 1; }

  void keep(int32_t block);  // one reference more, for as long as it is kept
  void drop(int32_t block);
  bool frees(int32_t block) const { return references_[static_cast<size_t>(block)] == (is_kept_[static_cast<size_t>(block)] ? 2 : 1); }  // whoever gives up the one use
  bool is_idle(int32_t block) const { return is_kept_[static_cast<size_t>(block)] && references_[static_cast<size_t>(block)] == 1; }

 private:
  std::vector<int32_t> references_;
  std::vector<bool> is_kept_;
  int32_t n_idle_ = 0;
  std::vector<int32_t> free_;  // a stack
};

}  // namespace inlay
