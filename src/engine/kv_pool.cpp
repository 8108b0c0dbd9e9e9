#include "src/engine/kv_pool.h"

namespace inlay {

KvPool::KvPool(int32_t n_blocks) : references_(static_cast<size_t>(n_blocks), 0) {
  free_.reserve(references_.size());
  for (int32_t block = n_blocks - 1; block >= 0; --block) free_.push_back(block);  // low numbers leave first
}

int32_t KvPool::take() {
  const int32_t block = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(block)] = 1;
  return block;
}

void KvPool::share(int32_t block) { ++references_[static_cast<size_t>(block)]; }

void KvPool::release(int32_t block) {
  if (--references_[static_cast<size_t>(block)] == 0) free_.push_back(block);
}

}  // namespace inlay
