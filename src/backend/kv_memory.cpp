#include "src/backend/kv_memory.h"

#include <cstring>

#include "src/base/alloc.h"

namespace inlay {

KvMemory::KvMemory(const Plan& plan, const BackendConfig& config, uint64_t block_bytes, KvOrder order)
    : block_bytes_(block_bytes), layers_(plan.kv.layers) {
  constexpr uint64_t kAlignment = HostBuffer::kAlignment;
  const auto align = [](uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; };
  for (size_t g = 0; g < plan.kv.groups.size(); ++g) {
    const auto n_blocks = static_cast<uint64_t>(config.n_kv_blocks[g]);
    Group group{.offset = bytes_, .between_pools = 0, .block_stride = 0, .n_pools = 2 * plan.kv.groups[g].n_layers};
    const auto n_pools = static_cast<uint64_t>(group.n_pools);
    if (order == KvOrder::blocks) {
      group.between_pools = align(block_bytes);
      group.block_stride = group.between_pools * n_pools;
      bytes_ += group.block_stride * n_blocks;
    } else {
      group.between_pools = align(block_bytes * n_blocks);
      group.block_stride = block_bytes;
      bytes_ += group.between_pools * n_pools;
    }
    groups_.push_back(group);
  }
}

void copy_kv_block(const KvMemory& memory, std::byte* cache, int32_t kv_group, int32_t from, int32_t to) {
  const KvMemory::Group& group = memory.groups_[static_cast<size_t>(kv_group)];
  std::byte* const first = cache + group.offset;
  std::memcpy(first + static_cast<uint64_t>(to) * group.block_stride,
              first + static_cast<uint64_t>(from) * group.block_stride, group.block_stride);
}

void copy_kv_out(const KvMemory& memory, const std::byte* cache, const Backend::KvBlocks& blocks, std::byte* to) {
  for (const int32_t block : blocks.blocks) {
    const std::byte* from = cache + memory.pools_at(blocks.kv_group) + static_cast<uint64_t>(block) * memory.block_stride_of(blocks.kv_group);
    for (int32_t pool = 0; pool < memory.n_pools(blocks.kv_group); ++pool, to += memory.block_bytes(), from += memory.between_pools(blocks.kv_group))
      std::memcpy(to, from, memory.block_bytes());
  }
}

void copy_kv_in(const KvMemory& memory, std::byte* cache, const Backend::KvBlocks& blocks, const std::byte* from) {
  for (const int32_t block : blocks.blocks) {
    std::byte* to = cache + memory.pools_at(blocks.kv_group) + static_cast<uint64_t>(block) * memory.block_stride_of(blocks.kv_group);
    for (int32_t pool = 0; pool < memory.n_pools(blocks.kv_group); ++pool, from += memory.block_bytes(), to += memory.between_pools(blocks.kv_group))
      std::memcpy(to, from, memory.block_bytes());
  }
}

}  // namespace inlay
