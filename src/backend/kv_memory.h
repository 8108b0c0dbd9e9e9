// Where keys and values lie: one KV group after the other. On hosts a group is block after block, in a block layer after
// layer, of each layer the keys and then the values: a short sequence touches few pages. On GPUs it is layer after layer,
// of each layer the keys of all blocks and then the values.
#pragma once

#include <cstdint>

#include "src/backend/backend.h"

namespace inlay {

enum class KvOrder : uint8_t { blocks, pools };

class KvMemory {
 public:
  // block_bytes: of the keys of one block in one layer, and of its values.
  KvMemory(const Plan& plan, const BackendConfig& config, uint64_t block_bytes, KvOrder order);

  uint64_t bytes() const { return bytes_; }
  uint64_t block_bytes() const { return block_bytes_; }

  // A pool: the keys or the values of all blocks in one layer.
  uint64_t keys_at(int32_t layer) const {
    const KvLayer& l = layers_[static_cast<size_t>(layer)];
    return pools_at(l.group) + static_cast<uint64_t>(2 * l.index) * between_pools(l.group);
  }
  uint64_t values_at(int32_t layer) const {
    return keys_at(layer) + between_pools(layers_[static_cast<size_t>(layer)].group);
  }
  // From a block of a pool to its next one.
  uint64_t block_stride(int32_t layer) const {
    return groups_[static_cast<size_t>(layers_[static_cast<size_t>(layer)].group)].block_stride;
  }
  // Of a group: its first pool, the distance from one to the next, their number.
  uint64_t pools_at(int32_t group) const { return groups_[static_cast<size_t>(group)].offset; }
  uint64_t between_pools(int32_t group) const { return groups_[static_cast<size_t>(group)].between_pools; }
  int32_t n_pools(int32_t group) const { return groups_[static_cast<size_t>(group)].n_pools; }
  // From a block to the next one in each of them.
  uint64_t block_stride_of(int32_t group) const { return groups_[static_cast<size_t>(group)].block_stride; }
  // Of a block in all layers of the group.
  uint64_t block_bytes_of(int32_t group) const { return block_bytes_ * static_cast<uint64_t>(n_pools(group)); }

 private:
  friend void copy_kv_block(const KvMemory& memory, std::byte* cache, int32_t kv_group, int32_t from, int32_t to);
  struct Group {
    uint64_t offset, between_pools, block_stride;
    int32_t n_pools;
  };

  uint64_t block_bytes_, bytes_ = 0;
  std::vector<Group> groups_;
  std::vector<KvLayer> layers_;
};

// On the host: a block of a group, in all layers.
void copy_kv_block(const KvMemory& memory, std::byte* cache, int32_t kv_group, int32_t from, int32_t to);
// Likewise: Backend::copy_kv_to_host() and its opposite.
void copy_kv_out(const KvMemory& memory, const std::byte* cache, const Backend::KvBlocks& blocks, std::byte* to);
void copy_kv_in(const KvMemory& memory, std::byte* cache, const Backend::KvBlocks& blocks, const std::byte* from);

}  // namespace inlay
