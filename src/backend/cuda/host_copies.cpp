// Keys, values and logits from the device to the host and back: in the stream, through page-locked memory, so that the host waits for none.
#include <climits>

#include "src/backend/cuda/executor.h"

namespace inlay {
namespace {

// Where a block lies: its pools this far apart on the device, and behind one another on the host.
struct Place {
  std::byte *device, *host;
  uint64_t between, width;
  int32_t n_pools;
};

// Rows at larger distances than the runtime takes are copied one by one.
Status copy(Place place, cudaMemcpyKind kind, cudaStream_t stream) {
  constexpr const char* kWhat = "copying keys and values between host and device";
  const bool to_host = kind == cudaMemcpyDeviceToHost;
  if (place.between <= INT_MAX) {
    const size_t to_pitch = to_host ? place.width : place.between, from_pitch = to_host ? place.between : place.width;
    return cuda_status(cudaMemcpy2DAsync(to_host ? place.host : place.device, to_pitch, to_host ? place.device : place.host, from_pitch, place.width,
                                         static_cast<size_t>(place.n_pools), kind, stream),
                       kWhat);
  }
  for (int32_t i = 0; i < place.n_pools; ++i, place.host += place.width, place.device += place.between)
    INLAY_CUDA_TRY(cudaMemcpyAsync(to_host ? place.host : place.device, to_host ? place.device : place.host, place.width, kind, stream), kWhat);
  return {};
}

}  // namespace

// As kernels/cuda/attention/kv_element.cuh has it.
KvForm CudaExecutor::kv_form() const {
  const bool is_scaled = config_.kv_dtype == KvDType::fp8 || config_.kv_dtype == KvDType::int8;
  KvForm form = kv_form_of_heads(plan_.spec, is_scaled ? 1 : 2);
  form.has_scales = is_scaled;
  return form;
}

Status CudaExecutor::copy_kv(const KvBlocks& blocks, std::byte* host, cudaMemcpyKind kind) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const uint64_t width = kv_memory_.block_bytes();
  Place place{nullptr, host, kv_memory_.between_pools(blocks.kv_group), width, kv_memory_.n_pools(blocks.kv_group)};
  for (const int32_t block : blocks.blocks) {
    place.device = b_.kv.data() + kv_memory_.pools_at(blocks.kv_group) + static_cast<uint64_t>(block) * width;
    INLAY_TRY(copy(place, kind, stream_.get()));
    place.host += kv_memory_.block_bytes_of(blocks.kv_group);
  }
  return {};
}

Status CudaExecutor::copy_kv_to_host(const KvBlocks& blocks, std::byte* to) { return copy_kv(blocks, to, cudaMemcpyDeviceToHost); }

// The host's bytes are read alone.
Status CudaExecutor::copy_kv_from_host(const KvBlocks& blocks, const std::byte* from) { return copy_kv(blocks, const_cast<std::byte*>(from), cudaMemcpyHostToDevice); }

Status CudaExecutor::copy_logits_to_host(int32_t slot, std::byte* to) {
  const auto n = static_cast<uint64_t>(plan_.spec.n_vocab);
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  return cuda_status(cudaMemcpyAsync(to, b_.slots.as<float>() + static_cast<uint64_t>(slot) * n, n * sizeof(float), cudaMemcpyDeviceToHost, stream_.get()),
                     "copying logits to the host");
}

Status CudaExecutor::copy_logits_from_host(int32_t slot, const std::byte* from) {
  const auto n = static_cast<uint64_t>(plan_.spec.n_vocab);
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  logit_reader_.forget(slot);
  return cuda_status(cudaMemcpyAsync(b_.slots.as<float>() + static_cast<uint64_t>(slot) * n, from, n * sizeof(float), cudaMemcpyHostToDevice, stream_.get()),
                     "copying logits to the device");
}

// By an event of its own, so that several threads may wait.
Status CudaExecutor::wait_for_copies() {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_ASSIGN(const Event event, make_event());
  INLAY_CUDA_TRY(cudaEventRecord(event.get(), stream_.get()), "waiting for copies");
  return wait_for(event.get(), "waiting for copies");
}

Result<std::span<std::byte>> CudaExecutor::take_host_memory(uint64_t bytes) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_ASSIGN(PinnedBuffer buffer, PinnedBuffer::allocate(bytes, "copies of keys and values"));
  const Lock lock(host_memory_mutex_);
  host_memory_.push_back(std::move(buffer));
  return std::span(host_memory_.back().data(), bytes);
}

}  // namespace inlay
