// A move within the KV cache, layer by layer, for backends whose cache lies on the host.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/common/op_args.h"
#include "src/backend/kv_memory.h"

namespace inlay {

class HostKvMove {
 public:
  HostKvMove(const Plan& plan, const KvMemory& memory, std::byte* cache, const Backend::KvMove& move);
  HostKvMove(const HostKvMove&) = delete;  // layers point to turns
  HostKvMove& operator=(const HostKvMove&) = delete;

  const std::vector<KvMoveArgs>& layers() const& { return layers_; }  // of the group

 private:
  std::vector<float> turns_;  // of each of the plan's ropes, cosines and then sines
  std::vector<KvMoveArgs> layers_;
};

}  // namespace inlay
