#include "src/engine/host_chunks.h"

#include <algorithm>

#include "src/backend/kv_memory.h"

namespace inlay {

HostChunks::HostChunks(Backend& backend) : backend_(backend) {
  const KvMemory& memory = backend.kv_memory();
  for (size_t g = 0; g < backend.plan().kv.groups.size(); ++g) chunk_bytes_ = std::max(chunk_bytes_, memory.block_bytes_of(static_cast<int32_t>(g)));
  chunk_bytes_ = std::max(chunk_bytes_, static_cast<uint64_t>(backend.plan().spec.n_vocab) * sizeof(float));
  n_most_stored_ = static_cast<size_t>(std::clamp(memory.bytes(), kLeastStored, kMostStored) / chunk_bytes_);
}

Result<std::byte*> HostChunks::take() {
  if (free_.empty()) {
    free_.reserve(n_taken_ + 1);  // giving back cannot fail
    INLAY_ASSIGN(const std::span<std::byte> memory, backend_.take_host_memory(chunk_bytes_));
    free_.push_back(memory.data());
  }
  std::byte* const out = free_.back();
  free_.pop_back();
  ++n_taken_;
  return out;
}

void HostChunks::give_back(std::byte* chunk) {
  free_.push_back(chunk);
  --n_taken_;
}

}  // namespace inlay
