#include "src/backend/cpu/packed_weights.h"

#include <algorithm>
#include <cstring>

namespace inlay {
namespace {

uint64_t held_bytes(const Weight& w, const cpu::Kernels& kernels) {
  uint64_t n = static_cast<uint64_t>(w.n_cols) * sizeof(float);
  if (w.n_rows > 1) {
    n = static_cast<uint64_t>(cpu::n_tiles(w.n_rows)) * kernels.linear[static_cast<size_t>(w.dtype)].tile_bytes(w.n_cols);
  }
  return (n + HostBuffer::kAlignment - 1) / HostBuffer::kAlignment * HostBuffer::kAlignment;
}

}  // namespace

uint64_t PackedWeights::bytes(const Plan& plan, const cpu::Kernels& kernels) {
  uint64_t n = 0;
  for (const Weight& w : plan.weights) n += held_bytes(w, kernels);
  return n;
}

Result<PackedWeights> PackedWeights::load(const Plan& plan, WeightReader& reader, const cpu::Kernels& kernels, ThreadPool& pool,
                                          const LoadProgress& progress) {
  PackedWeights packed;
  INLAY_ASSIGN(packed.storage_, HostBuffer::allocate(bytes(plan, kernels), "weights"));
  uint64_t offset = 0, done = 0, total = 0;
  for (const Weight& w : plan.weights) total += w.n_bytes();
  const ReadProgress within = [&](uint64_t n_done) { return !progress || progress(done + n_done, total); };
  for (const Weight& w : plan.weights) {
    packed.offsets_.push_back(offset);
    std::byte* to = packed.storage_.data() + offset;
    if (w.n_rows == 1) {
      INLAY_ASSIGN(const std::vector<float> values, reader.read_vector(w));
      std::memcpy(to, values.data(), values.size() * sizeof(float));
    } else {
      INLAY_ASSIGN(const std::byte* from, reader.read(w, &pool, within));
      const cpu::LinearKernel& kernel = kernels.linear[static_cast<size_t>(w.dtype)];
      const int64_t tiles = cpu::n_tiles(w.n_rows);
      const int64_t grain = std::max<int64_t>(1, std::min<int64_t>(64, tiles / (4 * pool.size())));
      pool.parallel_for(tiles, grain, [&](int64_t begin, int64_t end, int) {
        kernel.pack(from, w.n_rows, w.n_cols, begin, end, to);
      });
    }
    reader.discard(w);
    offset += held_bytes(w, kernels);
    done += w.n_bytes();
    if (progress && !progress(done, total)) return error(Code::cancelled, "loading was cancelled");
  }
  return packed;
}

}  // namespace inlay
