#include "src/backend/cuda/weight_upload.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/context.h"
#include "src/backend/cuda/device.h"
#include "src/base/thread_pool.h"

namespace inlay {
namespace {

// Eight threads read from the system's cache faster than the bus takes it.
constexpr int kMaxThreads = 8;
constexpr size_t kSlots = 2;  // of a thread: one is read into while the other is copied and packed
constexpr uint64_t kAlignment = 256;
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // page-locking 8 MiB takes 4 ms, and threads do it in turn

uint64_t stride_of(uint64_t slot_bytes) { return (slot_bytes + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t largest_of(std::span<const WeightPiece> pieces) {
  uint64_t most = 0;
  for (const WeightPiece& piece : pieces) most = std::max(most, piece.staged_bytes());
  return most;
}

int n_lanes(size_t n_pieces, int32_t n_threads) {
  return std::clamp(std::min<int>(n_threads, kMaxThreads), 1, std::max(1, static_cast<int>(n_pieces)));
}

// What one thread works with. Each slot has its own stream: its copy, then its packing, then its next copy.
class Lane {
 public:
  Lane() = default;
  Lane(Lane&&) = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {  // nothing may still be copied from memory that goes
    for (const Slot& slot : slots_) {
      if (slot.stream) drain(slot.stream.get());
    }
  }

  Status open(uint64_t slot_bytes) {
    const uint64_t stride = stride_of(slot_bytes);
    INLAY_ASSIGN(pinned_, PinnedBuffer::allocate(kSlots * stride, "staging memory"));
    INLAY_ASSIGN(raw_, DeviceBuffer::allocate_unset(kSlots * stride, "device memory for packing"));
    for (size_t i = 0; i < kSlots; ++i) {
      slots_[i].pinned = pinned_.data() + i * stride;
      slots_[i].raw = raw_.data() + i * stride;
      INLAY_ASSIGN(slots_[i].copied, make_event());
      INLAY_ASSIGN(slots_[i].stream, make_stream());
    }
    is_open_ = true;
    return {};
  }
  bool is_open() const { return is_open_; }

  Status upload(const WeightPiece& piece, const Plan& plan, const WeightReader& reader, std::byte* storage) {
    Slot& slot = slots_[next_++ % kSlots];
    const Weight& w = plan.weights[piece.weight];
    const uint64_t at = piece.n_bytes / static_cast<uint64_t>(piece.n_rows) * static_cast<uint64_t>(piece.first_row);
    INLAY_TRY(wait_for(slot.copied.get(), "uploading weights"));
    INLAY_TRY(reader.read_range(w, at, {slot.pinned, piece.n_bytes}, scratch_));
    const bool interleaved = piece.up != kNoWeight;
    if (interleaved) {
      INLAY_TRY(reader.read_range(plan.weights[piece.up], at, {slot.pinned + piece.up_at(), piece.n_bytes}, scratch_));
    }
    INLAY_CUDA_TRY(
        cudaMemcpyAsync(slot.raw, slot.pinned, piece.staged_bytes(), cudaMemcpyHostToDevice, slot.stream.get()),
        w.name.c_str());
    INLAY_CUDA_TRY(cudaEventRecord(slot.copied.get(), slot.stream.get()), "uploading weights");
    return cuda_status(cuda::launch_repack({.rows = slot.raw,
                                            .up_rows = interleaved ? slot.raw + piece.up_at() : nullptr,
                                            .packed = storage + piece.packed_at,
                                            .n_rows = interleaved ? 2 * piece.n_rows : piece.n_rows,
                                            .n_cols = w.n_cols,
                                            .dtype = w.dtype,
                                            .order = interleaved ? cuda::RowOrder::gate_up : cuda::RowOrder::plain},
                                           slot.stream.get()),
                       w.name.c_str());
  }

  Status finish() {
    Status status;
    for (Slot& slot : slots_) {
      if (!slot.stream) continue;
      Status waited = wait_for(slot.stream.get(), "uploading weights");
      if (status.ok()) status = std::move(waited);
    }
    return status;
  }

 private:
  struct Slot {
    std::byte* pinned = nullptr;
    std::byte* raw = nullptr;
    Event copied;
    Stream stream;
  };
  PinnedBuffer pinned_;
  DeviceBuffer raw_;
  std::array<Slot, kSlots> slots_;
  ReadScratch scratch_;
  size_t next_ = 0;
  bool is_open_ = false;
};

// The pieces, handed out to the threads of a pool. The first thing that goes wrong ends the others at their next piece.
class Upload {
 public:
  Upload(const WeightSource& source, std::byte* storage, const PrimaryContext& context)
      : source_(source),
        storage_(storage),
        context_(context),
        pieces_(source.layout.pieces(source.plan, kPieceBytes)),
        left_(source.plan.weights.size()),
        slot_bytes_(largest_of(pieces_)) {
    for (const WeightPiece& piece : pieces_) {
      ++left_[piece.weight];
      if (piece.up != kNoWeight) ++left_[piece.up];
    }
    for (const Weight& w : source.plan.weights) n_total_ += w.n_bytes();
  }

  Status vectors() {
    std::vector<std::byte> image(source_.layout.n_vector_bytes());
    for (size_t i = 0; i < source_.plan.weights.size(); ++i) {
      const Weight& w = source_.plan.weights[i];
      if (w.n_rows != 1) continue;
      INLAY_ASSIGN(const std::vector<float> values, source_.reader.read_vector(w));
      std::memcpy(image.data() + source_.layout.offset(static_cast<WeightIndex>(i)), values.data(),
                  values.size() * sizeof(float));
      INLAY_TRY(source_.reader.finish(w));
      n_reported_ += w.n_bytes();
    }
    INLAY_TRY(copy_to_device(storage_, image.data(), image.size(), "uploading weights"));
    return report();
  }

  Status matrices(int n_threads) {
    ThreadPool pool(n_lanes(pieces_.size(), n_threads));
    lanes_ = std::vector<Lane>(static_cast<size_t>(pool.size()));
    pool.parallel_for(static_cast<int64_t>(pieces_.size()), 1, [this](int64_t begin, int64_t end, int thread) {
      for (int64_t i = begin; i < end; ++i) run_piece(static_cast<size_t>(i), thread);
    });
    catch_up();
    if (thrown_) std::rethrow_exception(thrown_);
    INLAY_TRY(std::move(status_));
    for (Lane& lane : lanes_) INLAY_TRY(lane.finish());
    return {};
  }

 private:
  // Memory may run out on any thread, and a loop of the pool must not be left by a throw: what is thrown goes on from
  // the loading thread, after the loop.
  void run_piece(size_t i, int thread) {
    if (stopped_.load()) return;
    try {
      stop(upload_piece(pieces_[i], lanes_[static_cast<size_t>(thread)]));
      if (thread == 0) catch_up();  // the loading thread, the only one that may call the host
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      stopped_ = true;
    }
  }

  Status upload_piece(const WeightPiece& piece, Lane& lane) {
    const ContextScope scope(context_);
    INLAY_TRY(scope.status());
    if (!lane.is_open()) INLAY_TRY(lane.open(slot_bytes_));
    INLAY_TRY(lane.upload(piece, source_.plan, source_.reader, storage_));
    for (const WeightIndex i : {piece.weight, piece.up}) {
      if (i != kNoWeight && left_[i].fetch_sub(1) == 1) INLAY_TRY(source_.reader.finish(source_.plan.weights[i]));
    }
    n_done_.fetch_add(1);
    return {};
  }

  void stop(Status status) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
    stopped_ = true;
  }

  // Reports one call for each piece that is done, as if they were done in their order.
  void catch_up() {
    while (!stopped_.load() && n_caught_up_ < n_done_.load()) {
      n_reported_ += pieces_[n_caught_up_++].file_bytes();
      stop(report());
    }
  }

  Status report() const {
    if (!source_.progress || source_.progress(n_reported_, n_total_)) return {};
    return error(Code::cancelled, "loading was cancelled");
  }

  const WeightSource& source_;
  std::byte* const storage_;
  const PrimaryContext context_;
  const std::vector<WeightPiece> pieces_;
  std::vector<std::atomic<int64_t>> left_;  // by weight: pieces not yet read
  const uint64_t slot_bytes_;
  uint64_t n_total_ = 0, n_reported_ = 0;
  std::vector<Lane> lanes_;  // by thread
  std::atomic<size_t> n_done_{0};
  size_t n_caught_up_ = 0;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // of the two below
  Status status_;
  std::exception_ptr thrown_;
};

}  // namespace

uint64_t staging_bytes(const Plan& plan, const WeightLayout& layout, int32_t n_threads) {
  const std::vector<WeightPiece> pieces = layout.pieces(plan, kPieceBytes);
  return kSlots * stride_of(largest_of(pieces)) * static_cast<uint64_t>(n_lanes(pieces.size(), n_threads));
}

Status upload_weights(const WeightSource& source, std::byte* storage, int32_t n_threads) {
  int device = 0;
  INLAY_CUDA_TRY(cudaGetDevice(&device), "uploading weights");
  INLAY_ASSIGN(const PrimaryContext context, PrimaryContext::of(device));
  Upload upload(source, storage, context);
  INLAY_TRY(upload.vectors());
  return upload.matrices(source.reader.is_concurrent() ? n_threads : 1);
}

}  // namespace inlay
