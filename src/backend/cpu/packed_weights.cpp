#include "src/backend/cpu/packed_weights.h"

#include <algorithm>
#include <cstring>

#include "src/base/mutex.h"

namespace inlay {
namespace {

uint64_t held_bytes(const Weight& w, const cpu::Kernels& kernels) {
  uint64_t n = static_cast<uint64_t>(w.n_cols) * sizeof(float);
  if (w.n_rows > 1) {
    n = static_cast<uint64_t>(cpu::n_tiles(w.n_rows)) * kernels.linear[static_cast<size_t>(w.dtype)].tile_bytes(w.n_cols);
  }
  return (n + HostBuffer::kAlignment - 1) / HostBuffer::kAlignment * HostBuffer::kAlignment;
}

constexpr uint64_t kPackedAtOnce = uint64_t{64} << 20;  // bytes between two calls of progress, of a matrix that was read before

// Reads, converts and packs a matrix with all threads, each a range of tiles at a time, so that no more of it than these
// ranges is held twice.
class MatrixPacking {
 public:
  MatrixPacking(const WeightReader& reader, ThreadPool& pool)
      : reader_(reader), pool_(pool), threads_(static_cast<size_t>(pool.size())) {}

  Status pack(const Weight& w, const cpu::LinearKernel& kernel, std::byte* to, const ReadProgress& progress) {
    constexpr uint64_t kBytesAtOnce = uint64_t{1} << 20;  // of a thread
    constexpr int64_t kCopied = 64 << 20, kConverted = 4 << 20;  // elements between two calls of progress
    const uint64_t row = w.n_bytes() / static_cast<uint64_t>(w.n_rows), tile = row * cpu::kTileRows;
    const int64_t n_tiles = cpu::n_tiles(w.n_rows), n_elements = w.file_dtype == w.dtype ? kCopied : kConverted;
    const int64_t step = std::clamp<int64_t>(n_elements / (cpu::kTileRows * w.n_cols), 1, n_tiles);
    const int64_t even = std::max<int64_t>(1, step / (4 * pool_.size()));
    const int64_t grain = std::min(even, std::max<int64_t>(1, static_cast<int64_t>(kBytesAtOnce / tile)));
    for (int64_t first = 0; first < n_tiles; first += step) {
      const int64_t n = std::min(step, n_tiles - first);
      pool_.parallel_for(n, grain, [&](int64_t begin, int64_t end, int thread) {
        keep(pack_tiles(w, kernel, first + begin, first + end, to, threads_[static_cast<size_t>(thread)]));
      });
      INLAY_TRY(failure());
      if (progress && first + n < n_tiles && !progress(static_cast<uint64_t>(first + n) * tile))
        return error(Code::cancelled, "loading was cancelled");
    }
    return {};
  }

 private:
  struct Memory {
    ReadScratch scratch;
    std::vector<std::byte> rows;
  };

  Status pack_tiles(const Weight& w, const cpu::LinearKernel& kernel, int64_t begin, int64_t end, std::byte* to,
                    Memory& memory) const {
    const uint64_t row = w.n_bytes() / static_cast<uint64_t>(w.n_rows);
    const int64_t first = begin * cpu::kTileRows, n_rows = std::min(end * cpu::kTileRows, w.n_rows) - first;
    const uint64_t n_bytes = row * static_cast<uint64_t>(n_rows);
    if (memory.rows.size() < n_bytes) memory.rows.resize(n_bytes);
    INLAY_TRY(reader_.read_range(w, row * static_cast<uint64_t>(first), std::span(memory.rows).first(n_bytes),
                                 memory.scratch));
    kernel.pack(memory.rows.data(), n_rows, w.n_cols, 0, end - begin,
                to + static_cast<uint64_t>(begin) * kernel.tile_bytes(w.n_cols));
    return {};
  }

  void keep(Status status) {
    if (status.ok()) return;
    const Lock lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
  }

  Status failure() {
    const Lock lock(mutex_);
    return failure_;
  }

  const WeightReader& reader_;
  ThreadPool& pool_;
  std::vector<Memory> threads_;
  Mutex mutex_;
  Status failure_ INLAY_GUARDED_BY(mutex_);
};

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
  MatrixPacking packing(reader, pool);
  for (const Weight& w : plan.weights) {
    packed.offsets_.push_back(offset);
    std::byte* to = packed.storage_.data() + offset;
    if (w.n_rows == 1) {
      INLAY_ASSIGN(const std::vector<float> values, reader.read_vector(w));
      std::memcpy(to, values.data(), values.size() * sizeof(float));
    } else if (const cpu::LinearKernel& kernel = kernels.linear[static_cast<size_t>(w.dtype)]; reader.is_concurrent()) {
      INLAY_TRY(packing.pack(w, kernel, to, within));
    } else {
      INLAY_ASSIGN(const std::byte* from, reader.read(w, &pool, within));
      const int64_t tiles = cpu::n_tiles(w.n_rows);
      const int64_t grain = std::max<int64_t>(1, std::min<int64_t>(64, tiles / (4 * pool.size())));
      const int64_t step = std::max<int64_t>(grain, static_cast<int64_t>(kPackedAtOnce / kernel.tile_bytes(w.n_cols)));
      for (int64_t first = 0; first < tiles; first += step) {
        if (first > 0 && !within(w.n_bytes())) return error(Code::cancelled, "loading was cancelled");
        pool.parallel_for(std::min(step, tiles - first), grain, [&](int64_t begin, int64_t end, int) {
          kernel.pack(from, w.n_rows, w.n_cols, first + begin, first + end, to);
        });
      }
    }
    INLAY_TRY(reader.finish(w));
    offset += held_bytes(w, kernels);
    done += w.n_bytes();
    if (progress && !progress(done, total)) return error(Code::cancelled, "loading was cancelled");
  }
  return packed;
}

}  // namespace inlay
