#include "src/backend/cuda/device_weights.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace inlay {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kStagingBytes = uint64_t{16} << 20;

uint64_t align(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t held_bytes(const Weight& w) {
  if (w.role == WeightRole::ffn_up) return 0;  // packed with ffn_gate
  if (w.n_rows == 1) return align(static_cast<uint64_t>(w.n_cols) * sizeof(float));
  const int64_t n_rows = w.role == WeightRole::ffn_gate ? 2 * w.n_rows : w.n_rows;
  return align(cuda::packed_bytes(w.dtype, n_rows, w.n_cols));
}

// Copies host bytes to the device in pieces; while one piece is on its way the next is read.
class Uploader {
 public:
  static Result<Uploader> make(cudaStream_t stream) {
    Uploader up(stream);
    for (Slot& slot : up.slots_) {
      INLAY_ASSIGN(slot.pinned, PinnedBuffer::allocate(kStagingBytes, "staging memory"));
      INLAY_ASSIGN(slot.done, make_event());
    }
    return up;
  }

  Status upload(const void* from, std::byte* to, uint64_t n) {
    for (uint64_t at = 0; at < n; at += kStagingBytes) {
      Slot& slot = slots_[next_++ % slots_.size()];
      const uint64_t piece = std::min(kStagingBytes, n - at);
      INLAY_TRY(wait_for(slot.done.get(), "uploading weights"));
      std::memcpy(slot.pinned.data(), static_cast<const std::byte*>(from) + at, piece);
      INLAY_CUDA_TRY(cudaMemcpyAsync(to + at, slot.pinned.data(), piece, cudaMemcpyHostToDevice, stream_), "uploading weights");
      INLAY_CUDA_TRY(cudaEventRecord(slot.done.get(), stream_), "uploading weights");
    }
    return {};
  }

 private:
  explicit Uploader(cudaStream_t stream) : stream_(stream) {}
  struct Slot {
    PinnedBuffer pinned;
    Event done;
  };
  cudaStream_t stream_;
  std::array<Slot, 4> slots_;
  size_t next_ = 0;
};

uint64_t largest_matrix(const Plan& plan) {
  uint64_t n = 0;
  for (const Weight& w : plan.weights) {
    if (w.n_rows > 1) n = std::max(n, align(w.n_bytes()));
  }
  return n;
}

}  // namespace

uint64_t DeviceWeights::bytes(const Plan& plan) {
  uint64_t n = 0;
  for (const Weight& w : plan.weights) n += held_bytes(w);
  return n;
}

Status DeviceWeights::check(const Plan& plan) {
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::ffn_in) continue;
    const Weight* gate = plan.weight(op, slot::gate);
    const Weight* up = plan.weight(op, slot::up);
    if (gate->dtype != up->dtype) {
      return error(Code::unsupported, "the CUDA backend wants gate and up of one type; %s is %s, %s is %s", gate->name.c_str(),
                   traits(gate->dtype).name, up->name.c_str(), traits(up->dtype).name);
    }
  }
  return {};
}

Result<DeviceWeights> DeviceWeights::load(const Plan& plan, WeightReader& reader, cudaStream_t stream, const LoadProgress& progress) {
  DeviceWeights held;
  INLAY_ASSIGN(held.storage_, DeviceBuffer::allocate(bytes(plan), "device memory for weights"));
  // The file's bytes of a matrix wait here for the packing kernel; gate and up need two places.
  const uint64_t raw_bytes = largest_matrix(plan);
  INLAY_ASSIGN(DeviceBuffer raw, DeviceBuffer::allocate(2 * raw_bytes, "device memory for packing"));
  INLAY_ASSIGN(Uploader uploader, Uploader::make(stream));
  uint64_t offset = 0, done = 0, total = 0;
  for (const Weight& w : plan.weights) total += w.n_bytes();
  for (const Weight& w : plan.weights) {
    held.offsets_.push_back(offset);
    std::byte* to = held.storage_.data() + offset;
    const bool gate = w.role == WeightRole::ffn_gate, up = w.role == WeightRole::ffn_up;
    if (w.n_rows == 1) {
      INLAY_ASSIGN(const std::vector<float> values, reader.read_vector(w));
      INLAY_TRY(uploader.upload(values.data(), to, values.size() * sizeof(float)));
    } else {
      INLAY_ASSIGN(const std::byte* from, reader.read(w));
      INLAY_TRY(uploader.upload(from, raw.data() + (up ? raw_bytes : 0), w.n_bytes()));
    }
    if (w.n_rows > 1 && !gate) {
      // ffn_up follows ffn_gate in the order of the weights: both are there now.
      const uint64_t target = up ? held.offsets_[held.offsets_.size() - 2] : offset;
      INLAY_CUDA_TRY(cuda::launch_repack({.rows = raw.data(),
                                          .up_rows = up ? raw.data() + raw_bytes : nullptr,
                                          .packed = held.storage_.data() + target,
                                          .n_rows = up ? 2 * w.n_rows : w.n_rows,
                                          .n_cols = w.n_cols,
                                          .dtype = w.dtype,
                                          .order = up ? cuda::RowOrder::gate_up : cuda::RowOrder::plain},
                                         stream),
                     w.name.c_str());
    }
    reader.discard(w);
    offset += held_bytes(w);
    done += w.n_bytes();
    if (progress && !progress(done, total)) {
      INLAY_TRY(wait_for(stream, "uploading weights"));
      return error(Code::cancelled, "loading was cancelled");
    }
  }
  INLAY_TRY(wait_for(stream, "uploading weights"));
  return held;
}

}  // namespace inlay
