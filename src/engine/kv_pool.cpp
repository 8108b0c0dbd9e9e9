#include "src/engine/kv_pool.h"

namespace inlay {

KvPool::KvPool(int32_t n_blocks) : references_(static_cast<size_t>(n_blocks), 0), is_kept_(static_cast<size_t>(n_blocks), false) {
  free_.reserve(references_.size());
  for (int32_t block = n_blocks - 1; block >= 0; --block) free_.push_back(block);  // low numbers leave first
}

int32_t KvPool::take() {
  const int32_t block = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(block)] = 1;
  return block;
}

void KvPool::share(int32_t block) {
  if (is_idle(block)) --n_idle_;
  ++references_[static_cast<size_t>(block)];
}

void KvPool::release(int32_t block) {
  if (--references_[static_cast<size_t>(block)] == 0) free_.push_back(block);
  if (is_idle(block)) ++n_idle_;
}

void KvPool::keep(int32_t block) {
  ++references_[static_cast<size_t>(block)];
  is_kept_[static_cast<size_t>(block)] = true;
}

void KvPool::drop(int32_t block) {
  if (is_idle(block)) --n_idle_;
  is_kept_[static_cast<size_t>(block)] = false;
  release(block);
}

}  // namespace inlay
