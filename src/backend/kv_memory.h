// Where keys and values lie: one KV group after the other, in a group one layer after the other, of each layer the keys
// of all blocks and then the values.
#pragma once

#include <cstdint>

#include "src/backend/backend.h"

namespace inlay {

class KvMemory {
 public:
  // block_bytes: of the keys of one block in one layer, and of its values.
  KvMemory(const Plan& plan, const BackendConfig& config, uint64_t block_bytes);

  uint64_t bytes() const { return groups_.back().offset + group_bytes(groups_.size() - 1); }
  uint64_t block_bytes() const { return block_bytes_; }

  // A pool: the keys or the values of all blocks in one layer.
  uint64_t keys_at(int32_t layer) const {
    const KvLayer& l = layers_[static_cast<size_t>(layer)];
    return pools_at(l.group) + static_cast<uint64_t>(2 * l.index) * pool_bytes(l.group);
  }
  uint64_t values_at(int32_t layer) const {
    return keys_at(layer) + pool_bytes(layers_[static_cast<size_t>(layer)].group);
  }
  // Of a group, one after the other.
  uint64_t pools_at(int32_t group) const { return groups_[static_cast<size_t>(group)].offset; }
  uint64_t pool_bytes(int32_t group) const { return groups_[static_cast<size_t>(group)].pool_bytes; }
  int32_t n_pools(int32_t group) const { return groups_[static_cast<size_t>(group)].n_pools; }

 private:
  struct Group {
    uint64_t offset, pool_bytes;
    int32_t n_pools;
  };
  uint64_t group_bytes(size_t g) const { return groups_[g].pool_bytes * static_cast<uint64_t>(groups_[g].n_pools); }

  uint64_t block_bytes_;
  std::vector<Group> groups_;
  std::vector<KvLayer> layers_;
};

// On the host: one block of every pool of a group.
void copy_kv_block(const KvMemory& memory, std::byte* cache, int32_t kv_group, int32_t from, int32_t to);

}  // namespace inlay
