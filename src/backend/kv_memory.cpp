#include "src/backend/kv_memory.h"

#include <cstring>

#include "src/base/alloc.h"

namespace inlay {

KvMemory::KvMemory(const Plan& plan, const BackendConfig& config, uint64_t block_bytes)
    : block_bytes_(block_bytes), layers_(plan.kv.layers) {
  constexpr uint64_t kAlignment = HostBuffer::kAlignment;
  uint64_t offset = 0;
  for (size_t g = 0; g < plan.kv.groups.size(); ++g) {
    const uint64_t used = block_bytes * static_cast<uint64_t>(config.n_kv_blocks[g]);
    groups_.push_back({.offset = offset,
                       .pool_bytes = (used + kAlignment - 1) / kAlignment * kAlignment,
                       .n_pools = 2 * plan.kv.groups[g].n_layers});
    offset += group_bytes(g);
  }
}

void copy_kv_block(const KvMemory& memory, std::byte* cache, int32_t kv_group, int32_t from, int32_t to) {
  const uint64_t n = memory.block_bytes();
  for (int32_t i = 0; i < memory.n_pools(kv_group); ++i) {
    std::byte* pool = cache + memory.pools_at(kv_group) + static_cast<uint64_t>(i) * memory.pool_bytes(kv_group);
    std::memcpy(pool + static_cast<uint64_t>(to) * n, pool + static_cast<uint64_t>(from) * n, n);
  }
}

}  // namespace inlay
